"""Policy-maps of a plan as text, those inside classes before those that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.plan.model import Egress, Ingress, Queue
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.red import RedLines, red_lines
from qosforge.platforms.cisco_ios.trains import has, hqf
from qosforge.platforms.mqc.policers import PoliceLines, police_lines
from qosforge.templating import render


@dataclass(frozen=True)
class _ClassLines:
    """One class of an output policy as it is entered; ``limit`` is None where it is the device's own."""

    queue: Queue
    red: RedLines | None
    limit: str | None
    police: PoliceLines | None


def marking_policy(request: DeviceRequest, ingress: Ingress) -> str:
    """The policy-map of an input."""
    return render(
        "mqc/marking_policy.j2",
        name=ingress.policy,
        rules=ingress.rules,
        ip="" if has(request, "marking_both_versions") else "ip ",
        policers=_policers(request, ingress),
    )


def _policers(request: DeviceRequest, ingress: Ingress) -> dict[str, PoliceLines]:
    below = has(request, "police_actions_below")
    return {rule.name: police_lines(rule.police, below=below) for rule in ingress.rules if rule.police}


def queueing_policies(request: DeviceRequest, egress: Egress) -> Iterator[tuple[str, str]]:
    """Names and texts of the policy-maps of an output; what has no policy has none."""
    if egress.policy is None or egress.scheduler is None:
        return
    for queue in egress.scheduler.queues:
        if queue.child is not None:
            yield from queueing_policies(request, queue.child)
    policers = {rule.queue: rule.police for rule in egress.rules}
    lines = []
    for queue in egress.scheduler.queues:
        police = policers.get(queue.number)
        entry = _ClassLines(
            queue=queue,
            red=red_lines(queue.red) if queue.red else None,
            limit=_limit(request, queue),
            police=police_lines(police, below=has(request, "police_actions_below")) if police else None,
        )
        nothing = (queue.share, queue.red, queue.shape_rate, entry.limit, police) == (None,) * 5
        # The device has the class of everything else of itself.
        if queue.number != egress.default_queue or not nothing:
            lines.append(entry)
    yield egress.policy, render("cisco_ios/queueing_policy.j2", name=egress.policy, classes=lines)


def _limit(request: DeviceRequest, queue: Queue) -> str | None:
    if queue.limit_bytes is not None:
        return f"{queue.limit_bytes} bytes"
    if queue.limit_ms is not None:
        return f"{queue.limit_ms} ms"
    if queue.limit_packets in (None, CAPABILITIES.class_queue_limit.value):
        return None
    return f"{queue.limit_packets} packets" if hqf(request) else str(queue.limit_packets)
