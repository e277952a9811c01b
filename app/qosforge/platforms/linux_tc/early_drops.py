"""Early detection of a class as the kernel's ``red``: one drop profile of a queue, in bytes.

Thresholds, limit and weight that an intent does not give follow tc-red(8): an upper threshold of a quarter of the
limit, a lower one of a third of that, and a burst of (min + min + max) / (3 * avpkt), at least of min / avpkt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from napalm_linux_tc.red import FIXED_POINT_BITS, usual_weight

from qosforge.dscp import DSCP_NAMES, drop_precedence
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.queue_size import QueueSize
from qosforge.intent.wred import Wred, WredProfile
from qosforge.note import note
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import Queue
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES
from qosforge.platforms.recognition import points_of

RED = "red"
"""The scheduler, as ``tc`` and the ``features`` of an inventory name it."""
_COLOURS = {"green": "low", "yellow": "medium", "red": "high"}
_OF_LIMIT = 4
_OF_MAXIMUM = 3


@dataclass
class EarlyDrops:
    """The fields of a queue that drops early, none where it does not, and what is to be said of it."""

    fields: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def lower_early_drops(
    request: DeviceRequest, class_request: ClassRequest, place: Place, queue: Queue
) -> EarlyDrops:
    """Early detection of a class's queue, whose limit and share are known.

    The ``features`` of the request are the schedulers that the kernel has.
    """
    wred, drops = class_request.treatment.wred, EarlyDrops()
    if wred is None:
        return drops
    if RED not in request.features:
        drops.findings.append(_refused(place, wred, "kernel-unknown", scheduler=RED))
        return drops
    curves = {(p.minimum, p.maximum, p.probability) for p in wred.profiles}
    if len(curves) > 1 or not _for_all(request, class_request, wred.profiles):
        drops.findings.append(_refused(place, wred, "one-profile"))
        return drops
    limits = _limits(class_request, queue, wred, drops, place)
    if limits is None:
        return drops
    limit, profile = limits
    weight = _weight(wred, profile)
    if profile.maximum.bit_length() + weight > FIXED_POINT_BITS:
        facts = {"exponent": weight, "maximum": profile.maximum}
        return EarlyDrops(findings=[_refused(place, wred, "weight-out-of-range", **facts)])
    stated = class_request.treatment.queue_limit
    if stated is not None and stated.packets is not None:
        drops.findings.append(_in_bytes(place, f"a queue of {stated.packets} packets", f"{limit} B"))
    red = Red(weight_exponent=weight, unit="bytes", profiles=(profile,), ecn=wred.ecn, even=True, idle_decay=False)
    drops.fields = {"limit_packets": None, "limit_bytes": limit, "red": red}
    return drops


def _limits(
    class_request: ClassRequest, queue: Queue, wred: Wred, drops: EarlyDrops, place: Place
) -> tuple[int, RedProfile] | None:
    """The limit of the queue in bytes and its profile; None where the kernel takes no such one."""
    size = CAPABILITIES.red_packet.value
    held = queue.limit_bytes or (queue.limit_packets or CAPABILITIES.queue_limit.default) * size
    if not wred.profiles:
        maximum = max(held // _OF_LIMIT, _OF_MAXIMUM * CAPABILITIES.red_threshold.minimum)
        return held, RedProfile(
            minimum=maximum // _OF_MAXIMUM,
            maximum=maximum,
            denominator=CAPABILITIES.red_default_denominator.value,
        )
    asked, bounds = wred.profiles[0], CAPABILITIES.red_threshold
    rate = (queue.share.value if queue.share else 0) * 1000
    minimum, maximum = (_bytes(depth, rate, size) for depth in (asked.minimum, asked.maximum))
    maximum = max(maximum, minimum + 1)
    if not bounds.minimum <= minimum < maximum <= bounds.maximum:
        facts = {"minimum": minimum, "maximum": maximum, "low": bounds.minimum, "high": bounds.maximum}
        drops.findings.append(_refused(place, wred, "thresholds-out-of-range", unit="bytes", **facts))
        return None
    denominator = round(1 / asked.probability)
    if denominator > CAPABILITIES.red_denominator.maximum:
        facts = {"denominator": denominator, "most": CAPABILITIES.red_denominator.maximum}
        drops.findings.append(_refused(place, wred, "probability-too-low", **facts))
        return None
    limit = held if class_request.treatment.queue_limit else max(held, _OF_LIMIT * maximum)
    drops.findings.extend(_approximations(place, asked, minimum, maximum, denominator))
    if limit < maximum:
        words = {"requested": f"an upper threshold of {maximum} B", "applied": f"a queue of {limit} B"}
        drops.findings.append(note("wred-approximate", place, variant="never-reached", **words))
    return limit, RedProfile(minimum=minimum, maximum=maximum, denominator=denominator)


def _bytes(depth: QueueSize, rate: int, packet_bytes: int) -> int:
    return depth.value * packet_bytes if depth.unit == "packets" else int(depth.bytes_at(rate))


def _weight(wred: Wred, profile: RedProfile) -> int:
    """The exponent of the average's weight: that of the intent, or what tc-red(8) advises for the thresholds."""
    if wred.weight_exponent is not None:
        return wred.weight_exponent
    usual: int = usual_weight(profile.minimum, profile.maximum)
    return usual


def _for_all(request: DeviceRequest, class_request: ClassRequest, profiles: Collection[WredProfile]) -> bool:
    """Whether the profiles are for every mark that packets of the class may have at an output."""
    named: set[int] = set()
    for profile in profiles:
        named |= {*profile.dscp} | {d for d in range(64) if d >> 3 in profile.precedence}
        if profile.colour is not None:
            named |= {d for d in DSCP_NAMES.values() if drop_precedence(d) == _COLOURS[profile.colour]}
    return not profiles or _marks(request, class_request) <= named


def _marks(request: DeviceRequest, class_request: ClassRequest) -> set[int]:
    """The DSCPs of a class's packets at an output: what an input wrote, or what they are told by."""
    mark = class_request.mark.dscp if class_request.mark is not None else None
    written = {mark} if mark is not None and any(each.recognise for each in request.interfaces) else set()
    told = [points_of(term) for term in class_request.terms]
    if class_request.is_default or not told or any(points is None for points in told):
        return written or set(range(64))
    return written | {point for points in told for point in points or ()}


def _approximations(
    place: Place, asked: WredProfile, minimum: int, maximum: int, denominator: int
) -> Iterator[Finding]:
    if asked.minimum.unit == "packets":
        asked_words = f"{asked.minimum.value} and {asked.maximum.value} packets"
        yield _in_bytes(place, asked_words, f"{minimum} and {maximum} B")
    if abs(asked.probability * denominator - 1) > 1e-9:
        yield note(
            "wred-approximate",
            place,
            requested=f"{asked.probability * 100:.4g} %",
            applied=f"1/{denominator} ({100 / denominator:.4g} %)",
            variant="whole-packet",
        )


def _in_bytes(place: Place, requested: str, applied: str) -> Finding:
    size = CAPABILITIES.red_packet.value
    return note("wred-approximate", place, variant="in-bytes", size=size, requested=requested, applied=applied)


def _refused(place: Place, wred: Wred, variant: str, **facts: Any) -> Finding:
    words = {"requested": "WRED", "applied": "tail drop"}
    return note("wred-unsupported", place, variant=variant, preferred=wred.prefer, **words, **facts)
