"""Shapers: their rate as a number or a percentage, and their bursts, as far as the image takes them."""

from __future__ import annotations

from typing import Any

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.shaping import Shape
from qosforge.note import note
from qosforge.plan.model import Egress, Queue
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.capability_data import Bounds, Range
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, since
from qosforge.platforms.cisco_ios.trains import has, hqf

_FIELDS = ("shape_percent", "shape_burst_bits", "shape_excess_bits", "shape_burst_ms", "shape_excess_ms")


def shaper(
    request: DeviceRequest, requested: Shape | None, asked: int, rate: int, *, place: Place, findings: list[Finding]
) -> dict[str, Any]:
    """The fields of a queue that is shaped to ``rate``, where the intent asks for ``asked`` (b/s).

    A percentage stays one where the device shapes to just that; bursts are left out where it does not take them.
    """
    held: dict[str, Any] = dict.fromkeys(_FIELDS) | {"shape_rate": rate}
    if requested is None:
        return held
    relative = requested.percent is not None and has(request, "police_percent")
    if requested.percent is not None and not relative:
        findings.append(
            note(
                "shape-approximate",
                place,
                requested=f"{requested.percent} % of the rate",
                applied=f"{rate} b/s",
                variant="no-percentage",
                image=request.image,
                since=since("police_percent"),
            )
        )
    relative = relative and rate == asked
    held["shape_percent"] = requested.percent if relative else None
    bursts: dict[str, int] = {}
    for name, size, time in (
        ("shape_burst", requested.burst, requested.burst_time),
        ("shape_excess", requested.excess_burst, requested.excess_burst_time),
    ):
        if time is not None and relative:
            bursts[f"{name}_ms"] = int(round(time * 1000, 6))
        elif size is not None or time is not None:
            bursts[f"{name}_bits"] = 8 * size if size is not None else int(round((time or 0) * rate, 6))
    limits: Bounds | Range = CAPABILITIES.shape_burst_ms if relative else CAPABILITIES.shape_burst
    for field, value in bursts.items():
        least = 0 if field == "shape_excess_bits" else limits.minimum
        if not least <= value <= limits.maximum:
            unit = "ms" if relative else "bits"
            findings.append(
                note(
                    "shape-burst-unsupported",
                    place,
                    requested=f"{value} {unit}",
                    applied="the device's own burst",
                    value=value,
                    unit=unit,
                    low=least,
                    high=limits.maximum,
                    preferred=requested.prefer,
                )
            )
            return held
    return held | bursts


def with_burst(request: DeviceRequest, queue: Queue, rate: int) -> Queue:
    """A queue that is shaped to ``rate`` b/s, with what it sends at once where the device's own burst is too long.

    Priority inside waits for the shaper's next interval, which HQF keeps short by itself.
    """
    stated = queue.shape_burst_bits is not None or queue.shape_percent is not None
    if stated or hqf(request) or queue.child is None or not _serves_priority(queue.child):
        return queue
    limits = CAPABILITIES.shape_burst
    burst = max(limits.minimum, rate // limits.rate_part)
    return queue.model_copy(update={"shape_burst_bits": burst, "shape_excess_bits": 0})


def _serves_priority(egress: Egress) -> bool:
    queues = egress.scheduler.queues if egress.scheduler else ()
    return any(q.priority or (q.child is not None and _serves_priority(q.child)) for q in queues)
