"""The two ingress queues of a 2970, shared by all ports: what priority classes bring is served first."""

from __future__ import annotations

from functools import cache

from qosforge.plan.input_queues import InputQueues
from qosforge.plan.request import DeviceRequest
from qosforge.plan.requested import requested_shares
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES
from qosforge.platforms.ios_switch.marks import SwitchClassMarks
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.queues import scheduled_rates


@cache
def default_input_queues() -> InputQueues:
    """The ingress queues as delivered."""
    data = CAPABILITIES.input_queues
    return InputQueues(
        weights=data.weights,
        buffer_percent=data.buffers,
        priority_queue=data.priority_queue,
        priority_percent=data.priority_percent,
        cos_to_queue=tuple(2 if c in data.cos else 1 for c in range(8)),
        dscp_to_queue=tuple(2 if d in data.dscp else 1 for d in range(64)),
        thresholds=data.thresholds,
    )


def input_queues(request: DeviceRequest, marks: dict[str, SwitchClassMarks], notes: Notes) -> InputQueues | None:
    """Ingress queues for the priority classes of a request; None where it has none.

    Queue 2 takes what they bring, queue 1 the rest. Queue 2 has their share of the ring first, up to the device's
    limit; weights and buffers are divided as the classes ask. Where one of them has no cap, no share can be told:
    queue 2 has all that the device gives it first, and weights and buffers are as delivered.
    """
    first = [c for c in request.classes if c.treatment.priority and c.name in marks]
    if not first:
        return None
    most = CAPABILITIES.input_queues.highest_priority_percent
    capped = all(c.treatment.priority and c.treatment.priority.capped for c in first)
    requested = max(
        sum(requested_shares(request.classes, rate)[c.name] for c in first) for rate in scheduled_rates(request)
    )
    part = min(max(round(100 * requested), 1), 99)
    delivered = default_input_queues()
    weights = (100 - part, part) if capped else delivered.weights
    if part > most or not capped:
        notes.note(
            "input-priority-limited",
            direction="input",
            requested=f"{part} %" if capped else "all of it first",
            applied=f"{most} % first, then {weights[1]} of {sum(weights)} parts of the rest",
        )
    cos = {c for entry in first for c in marks[entry.name].cos if c}
    points = {d for entry in first for d in marks[entry.name].code_points}
    return delivered.model_copy(
        update={
            "weights": weights,
            "buffer_percent": weights if capped else delivered.buffer_percent,
            "priority_queue": 2,
            "priority_percent": min(part, most) if capped else most,
            "cos_to_queue": tuple(2 if c in cos else 1 for c in range(8)),
            "dscp_to_queue": tuple(2 if d in points else 1 for d in range(64)),
        }
    )
