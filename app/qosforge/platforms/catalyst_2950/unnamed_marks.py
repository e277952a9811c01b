"""DSCPs that no class names, and whose CoS as delivered would put them in the queue of a class.

A 2950 chooses the queue by the CoS, which it makes of a trusted DSCP by one map of the whole switch (command
reference OL-10102-01, p. 2-215). What no class names belongs to the default class, so those DSCPs get CoS 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.dscp import CONTROL_DSCP, dscp_label
from qosforge.findings import DEFAULT
from qosforge.intent.models import RESERVED_CLASS
from qosforge.plan.model import Trust
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES, DSCP_TO_COS, enhanced
from qosforge.platforms.ios_switch.marks import SwitchClassMarks
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.queues import QueueAssignment


def unnamed_marks(marks: dict[str, SwitchClassMarks], assignment: QueueAssignment) -> tuple[int, ...]:
    """The supported DSCPs that no class names, nor network control, and that are not in the default class's queue
    as delivered."""
    named = {dscp for entry in marks.values() for dscp in entry.code_points}
    queues = assignment.cos_to_queue(marks)
    free = CAPABILITIES.supported_dscp.value - named - set(CONTROL_DSCP)
    return tuple(d for d in sorted(free) if queues[DSCP_TO_COS[d]] != assignment.queue_of[RESERVED_CLASS])


def with_default(table: tuple[int, ...], unnamed: tuple[int, ...]) -> tuple[int, ...]:
    """A map from DSCP to CoS that has the unnamed DSCPs go with the default class."""
    return tuple(0 if dscp in unnamed else cos for dscp, cos in enumerate(table))


def note_unnamed(
    request: DeviceRequest, unnamed: tuple[int, ...], marks: Mapping[str, SwitchClassMarks], notes: Notes
) -> None:
    """That frames with these DSCPs change their CoS; or, where an image has no maps, that a class serves them."""
    writes = enhanced(request.image)
    by_dscp = any(i.trust and Trust(i.trust_in or Trust.DSCP) is Trust.DSCP for i in request.interfaces)
    if not unnamed or not (writes or by_dscp):
        return
    delivered = {DSCP_TO_COS[dscp] for dscp in unnamed}
    owners = [name for name, entry in marks.items() if delivered.intersection(entry.cos)]
    notes.note(
        "unnamed-dscp",
        requested=", ".join(f"{dscp_label(dscp)} as CoS {DSCP_TO_COS[dscp]}" for dscp in unnamed),
        applied="CoS 0" if writes else f"served with {', '.join(owners)}",
        variant=DEFAULT if writes else "fixed-map",
        classes=", ".join(owners),
        **({} if writes else {"image": request.image}),
    )
