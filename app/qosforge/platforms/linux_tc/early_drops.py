"""Early detection of a class as the kernel's ``red``, or as its ``gred`` where marks have profiles of their own.

Thresholds, limit and weight that an intent does not give follow tc-red(8): an upper threshold of a quarter of the
limit, a lower one of a third of that, and a burst of (min + min + max) / (3 * avpkt), at least of min / avpkt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from napalm_linux_tc.gred import MOST_QUEUES
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

RED, GRED = "red", "gred"
"""The schedulers, as ``tc`` and the ``features`` of an inventory name them: with one profile, and with several."""
_COLOURS = {"green": "low", "yellow": "medium", "red": "high"}
_OF_LIMIT = 4
_OF_MAXIMUM = 3


@dataclass
class EarlyDrops:
    """The fields of a queue that drops early, none where it does not, and what is to be said of it."""

    fields: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def lower_early_drops(
    request: DeviceRequest, class_request: ClassRequest, place: Place, queue: Queue, *, filters: bool = True
) -> EarlyDrops:
    """Early detection of a class's queue, whose limit and share are known.

    The ``features`` of the request are the schedulers that the kernel has; ``filters`` tells whether packets may be
    directed to virtual queues at this output.
    """
    wred, drops = class_request.treatment.wred, EarlyDrops()
    if wred is None:
        return drops
    if queue.fair:
        drops.findings.append(_refused(place, wred, "beside-fair-queue"))
        return drops
    curves: dict[tuple[QueueSize, QueueSize, float], set[int]] = {}
    for each in wred.profiles:
        curves.setdefault((each.minimum, each.maximum, each.probability), set()).update(_named(each))
    several = len(curves) > 1
    scheduler = GRED if several else RED
    if scheduler not in request.features:
        drops.findings.append(_refused(place, wred, "kernel-unknown", scheduler=scheduler))
        return drops
    if several and not filters:
        drops.findings.append(_refused(place, wred, "filtered-input"))
        return drops
    if curves and not _marks(request, class_request) <= set.union(*curves.values()):
        drops.findings.append(_refused(place, wred, "marks-without-profile"))
        return drops
    limits = _limits(class_request, queue, wred, drops, place)
    if limits is None:
        return drops
    limit, profiles = limits
    weight = _weight(wred, profiles)
    greatest = max(profile.maximum for profile in profiles)
    if greatest.bit_length() + weight > FIXED_POINT_BITS:
        facts = {"exponent": weight, "maximum": greatest}
        return EarlyDrops(findings=[_refused(place, wred, "weight-out-of-range", **facts)])
    stated = class_request.treatment.queue_limit
    if stated is not None and stated.packets is not None:
        drops.findings.append(_in_bytes(place, f"a queue of {stated.packets} packets", f"{limit} B"))
    if several:
        marks = (tuple(sorted(named)) for named in curves.values())
        profiles = tuple(p.model_copy(update={"dscp": d}) for p, d in zip(profiles, marks, strict=True))
    drops.fields = {"limit_packets": None, "limit_bytes": limit, "red": red_of(profiles, weight, ecn=wred.ecn)}
    return drops


def red_of(profiles: tuple[RedProfile, ...], weight: int, *, ecn: bool) -> Red:
    """Early detection as the kernel has it: ``gred`` where profiles are for marks, else ``red``.

    ``red`` hears of an idle time only where its dequeue finds nothing, which HTB and HFSC do not ask of an empty
    queue; ``gred`` knows it when its last packet leaves.
    """
    by_dscp = any(profile.dscp for profile in profiles)
    return Red(
        by_dscp=by_dscp,
        weight_exponent=weight,
        unit="bytes",
        profiles=profiles,
        ecn=ecn,
        even=True,
        idle_decay=by_dscp,
    )


def without_numbers(place: Place, wred: Wred) -> Finding:
    """What is said of a class whose profiles are more than an interface has virtual queues."""
    return _refused(place, wred, "virtual-queues", most=MOST_QUEUES)


def _limits(
    class_request: ClassRequest, queue: Queue, wred: Wred, drops: EarlyDrops, place: Place
) -> tuple[int, tuple[RedProfile, ...]] | None:
    """The limit of the queue in bytes and its profiles, one a curve; None where the kernel has none such."""
    size = CAPABILITIES.red_packet.value
    held = queue.limit_bytes or (queue.limit_packets or CAPABILITIES.queue_limit.default) * size
    if not wred.profiles:
        maximum = max(held // _OF_LIMIT, _OF_MAXIMUM * CAPABILITIES.red_threshold.minimum)
        return held, (
            RedProfile(
                minimum=maximum // _OF_MAXIMUM,
                maximum=maximum,
                denominator=CAPABILITIES.red_default_denominator.value,
            ),
        )
    curves = {(p.minimum, p.maximum, p.probability): p for p in reversed(wred.profiles)}
    found = [_profile(asked, queue, wred, drops, place) for asked in reversed(curves.values())]
    profiles = tuple(profile for profile in found if profile is not None)
    if len(profiles) < len(found):
        return None
    greatest = max(profile.maximum for profile in profiles)
    limit = held if class_request.treatment.queue_limit else max(held, _OF_LIMIT * greatest)
    if limit < greatest:
        words = {"requested": f"an upper threshold of {greatest} B", "applied": f"a queue of {limit} B"}
        drops.findings.append(note("wred-approximate", place, variant="never-reached", **words))
    return limit, profiles


def _profile(asked: WredProfile, queue: Queue, wred: Wred, drops: EarlyDrops, place: Place) -> RedProfile | None:
    """A profile in bytes, and what is to be said of it; None where the kernel takes no such one."""
    size, bounds = CAPABILITIES.red_packet.value, CAPABILITIES.red_threshold
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
    drops.findings.extend(_approximations(place, asked, minimum, maximum, denominator))
    return RedProfile(minimum=minimum, maximum=maximum, denominator=denominator)


def _bytes(depth: QueueSize, rate: int, packet_bytes: int) -> int:
    return depth.value * packet_bytes if depth.unit == "packets" else int(depth.bytes_at(rate))


def _weight(wred: Wred, profiles: Collection[RedProfile]) -> int:
    """The exponent of the average's weight: that of the intent, or what tc-red(8) advises for the lowest.

    The kernel keeps one average for all profiles, and has to have room for the highest.
    """
    if wred.weight_exponent is not None:
        return wred.weight_exponent
    lowest = min(profiles, key=lambda profile: profile.minimum)
    room = FIXED_POINT_BITS - max(profile.maximum for profile in profiles).bit_length()
    return int(min(usual_weight(lowest.minimum, lowest.maximum), room))


def _named(profile: WredProfile) -> set[int]:
    """The DSCPs that a profile is for."""
    named = {*profile.dscp} | {d for d in range(64) if d >> 3 in profile.precedence}
    if profile.colour is not None:
        named |= {d for d in DSCP_NAMES.values() if drop_precedence(d) == _COLOURS[profile.colour]}
    return named


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
