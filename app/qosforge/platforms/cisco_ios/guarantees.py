"""Bandwidth guarantees in the one unit that an image allows per policy.

Per cent is of the rate that the policy divides (the ``bandwidth`` of its interface, or what the class above is
shaped to; with HQF what that has for sure, where that is less), remaining per cent and ratio of what priority
leaves of it. Images that lack a unit take kilobits per second, rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Share, ShareUnit
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import asked_share, requested_shares
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.trains import has, hqf
from qosforge.units import format_rate

_RELATIVE = (ShareUnit.REMAINING_PERCENT, ShareUnit.WEIGHT)
_NEEDS = {ShareUnit.PERCENT: "percent", ShareUnit.REMAINING_PERCENT: "remaining_percent"}
_WORDS = {ShareUnit.PERCENT: "%", ShareUnit.KBPS: "kb/s"}
_BITS = 1000


@dataclass(frozen=True)
class PolicyLevel:
    """Classes of one policy: they divide ``rate`` bits per second and may reserve ``reservable`` per cent of it.

    ``guaranteed`` is what of the rate the device has them reserve parts of, where that is less.
    """

    request: DeviceRequest
    interface: InterfaceRequest
    classes: tuple[ClassRequest, ...]
    rate: int
    reservable: int
    guaranteed: int | None = None

    @property
    def kbps(self) -> int:
        """The rate as the device knows it."""
        return self.rate // _BITS

    @property
    def reference(self) -> int:
        """The bits per second that per cents on the device are of."""
        return self.rate if self.guaranteed is None else min(self.guaranteed, self.rate)

    @property
    def lessened(self) -> bool:
        """Whether per cents on the device are of less than the rate, by more than HQF keeps back anyway."""
        return self.reference * 100 < self.rate * CAPABILITIES.max_reserved_percent_hqf.value

    def place(self, class_request: ClassRequest) -> Place:
        """A class of the policy."""
        return class_place(self.request, class_request, interface=self.interface.name, direction="output")


def served_first(request: DeviceRequest, class_request: ClassRequest) -> bool:
    """Whether a class gets the priority queue: it asks for it, and the image has one (with HQF without a cap)."""
    requested = class_request.treatment.priority
    return requested is not None and (has(request, "priority") if requested.capped else hqf(request))


def strict_levels(level: PolicyLevel, findings: list[Finding]) -> dict[str, int]:
    """The priority levels of a policy's classes by their names; none where its one queue serves them all.

    Of priority classes without a cap the first is served first, which takes a level for each.
    """
    first = [c for c in level.classes if served_first(level.request, c)]
    uncapped = [c for c in first if c.treatment.priority and not c.treatment.priority.capped]
    if len(uncapped) < 2:
        return {}
    most, levels = CAPABILITIES.priority_levels.value, has(level.request, "priority_levels")
    if levels and len(first) <= most:
        return {c.name: number for number, c in enumerate(first, start=1)}
    for c in uncapped[1:]:
        name = uncapped[0].name
        if levels:
            findings.append(
                note("priority-queues-exceeded", level.place(c), variant="levels", first=name, most=most)
            )
        else:
            findings.append(note("priority-queues-exceeded", level.place(c), variant="shared", first=name))
    return {}


def guarantees(level: PolicyLevel, findings: list[Finding]) -> dict[str, Share | None]:
    """What each class is given; where that is not the asked figure in its own unit, a finding has both."""
    shares = {c.name: asked_share(c.treatment) for c in level.classes}
    first = [c for c in level.classes if c.treatment.priority is not None]
    others = [c for c in level.classes if c.treatment.priority is None]
    unit = _unit(level, {s.unit for c in others if (s := shares[c.name]) is not None})
    booked, told = Fraction(0), list[Finding]()
    for c in first:
        share = shares[c.name]
        if share is None:
            findings.extend(_uncapped(level, c))
            continue
        exact = _exact(share, level.kbps)
        booked += exact
        if share.unit is ShareUnit.PERCENT and (level.lessened or not has(level.request, "percent")):
            shares[c.name] = Share(unit=ShareUnit.KBPS, value=math.floor(exact))
            findings.append(_in_kbps(level, c, f"{share.value} % of {level.kbps} kb/s", exact, math.floor(exact)))
    if unit is ShareUnit.KBPS:
        _to_kbps(level, others, shares, booked, told)
    elif unit is ShareUnit.REMAINING_PERCENT:
        _to_remaining(level, others, shares, findings)
    _to_ratio(level, others, shares, findings)
    in_kbps = {c.name for c in others if (s := shares[c.name]) and s.unit is ShareUnit.KBPS}
    findings.extend(f for f in told if f.traffic_class in in_kbps)
    for c in first:
        if not has(level.request, "priority") and shares[c.name] is not None:
            shares[c.name] = _instead(level, c, shares, findings)
    return shares


def _uncapped(level: PolicyLevel, class_request: ClassRequest) -> Iterator[Finding]:
    """An image before HQF has no priority without a rate."""
    if not served_first(level.request, class_request):
        yield note(
            "priority-needs-cap",
            level.place(class_request),
            requested="priority without a cap",
            applied="no priority",
            image=level.request.image,
        )


def _unit(level: PolicyLevel, requested: set[ShareUnit]) -> ShareUnit | None:
    """The one unit of a policy's bandwidths; None where no class has one."""
    if len(requested) != 1:
        return ShareUnit.KBPS if requested else None
    (unit,), request = requested, level.request
    if unit is ShareUnit.PERCENT and level.lessened:
        return ShareUnit.KBPS
    if unit is ShareUnit.WEIGHT:
        if has(request, "remaining_ratio"):
            return unit
        unit = ShareUnit.REMAINING_PERCENT
    return unit if unit not in _NEEDS or has(request, _NEEDS[unit]) else ShareUnit.KBPS


def _exact(share: Share, kbps: int) -> Fraction:
    """An absolute share in kb/s."""
    return Fraction(share.value) if share.unit is ShareUnit.KBPS else Fraction(share.value * kbps, 100)


def _in_kbps(
    level: PolicyLevel, class_request: ClassRequest, requested: str, exact: Fraction, held: int
) -> Finding:
    figure = f" = {float(exact):.6g} kb/s" if exact != held else ""
    place, asked, applied = level.place(class_request), f"{requested}{figure}", f"{held} kb/s"
    if level.lessened:
        guaranteed = format_rate(level.reference)
        return note(
            "share-in-kbps", place, requested=asked, applied=applied, variant="guarantee", guaranteed=guaranteed
        )
    return note("share-in-kbps", place, requested=asked, applied=applied, image=level.request.image)


def _to_kbps(
    level: PolicyLevel,
    others: list[ClassRequest],
    shares: dict[str, Share | None],
    booked: Fraction,
    findings: list[Finding],
) -> None:
    """Bandwidths in kb/s. Shares of what is left keep their proportions where the device reserves less than all."""
    fractions = requested_shares(level.classes, level.rate)
    exact = {c.name: Fraction(fractions[c.name]).limit_denominator(10**9) * level.kbps for c in others}
    given = {c.name: share for c in others if (share := shares[c.name]) is not None}
    whole = sum(exact.values())
    room = max(Fraction(level.reference * level.reservable, 100 * _BITS) - booked, Fraction(0))
    if not has(level.request, "priority"):
        # What stands in for priority gets more than its rate: at most half of what is left goes there.
        room -= min((CAPABILITIES.priority_fallback.factor - 1) * booked, room / 2)
    scaled = (
        any(share.unit in _RELATIVE for share in given.values())
        and sum(exact[name] for name in given) > room
        and whole > 0
    )
    least = CAPABILITIES.bandwidth_kbps.minimum
    # A class without a bandwidth would take all that is not reserved: it gets the least the device takes.
    starved = [c.name for c in others if scaled and c.name not in given and not exact[c.name]]
    room = max(room - least * len(starved), Fraction(0))
    for c in others:
        share = given.get(c.name)
        if share is None and not scaled:
            continue
        if share is not None and share.unit is ShareUnit.KBPS:
            continue
        figure = exact[c.name] * room / whole if scaled else exact[c.name]
        if share is not None and share.unit is ShareUnit.PERCENT:
            figure = _exact(share, level.kbps)
        if c.name in starved:
            figure = Fraction(least)
        held = math.floor(figure)
        shares[c.name] = Share(unit=ShareUnit.KBPS, value=held)
        requested = {
            ShareUnit.PERCENT: f"{share.value} % of {level.kbps} kb/s",
            ShareUnit.REMAINING_PERCENT: f"{share.value} % of what priority leaves",
            ShareUnit.WEIGHT: f"weight {share.value}",
        }[share.unit] if share else "what the others leave"  # fmt: skip
        findings.append(_in_kbps(level, c, requested, figure, held))


def _to_remaining(
    level: PolicyLevel, others: list[ClassRequest], shares: dict[str, Share | None], findings: list[Finding]
) -> None:
    """Weights in per cent of what priority leaves: whole ones that sum to 100, by the largest remainders."""
    weighted = [c for c in others if (s := shares[c.name]) is not None and s.unit is ShareUnit.WEIGHT]
    if not weighted:
        return
    weights = {c.name: s.value if (s := shares[c.name]) else 1 for c in others}
    total = sum(weights.values())
    held = {name: weight * 100 // total for name, weight in weights.items()}
    left = 100 - sum(held.values())
    for name in sorted(weights, key=lambda name: -(weights[name] * 100 % total))[:left]:
        held[name] += 1
    for name in [name for name, value in held.items() if value == 0]:
        # The device takes 1 % at least: the largest share gives it.
        held[max(held, key=lambda name: held[name])] -= 1
        held[name] = 1
    for c in weighted:
        part = weights[c.name] * 100 / total
        shares[c.name] = Share(unit=ShareUnit.REMAINING_PERCENT, value=held[c.name])
        requested = f"weight {weights[c.name]} of {total} = {part:.4g} % of what priority leaves"
        findings.append(
            note(
                "weight-as-percent",
                level.place(c),
                requested=requested,
                applied=f"{held[c.name]} % of what priority leaves",
                image=level.request.image,
            )
        )


def reserved_percent(level: PolicyLevel, shares: Iterable[Share | None]) -> Fraction:
    """What absolute shares reserve of the rate, in per cent."""
    absolute = [share for share in shares if share is not None and share.unit not in _RELATIVE]
    return sum((_exact(share, level.kbps) for share in absolute), Fraction(0)) * 100 / max(level.kbps, 1)


def most_reservable(level: PolicyLevel, default: Share | None) -> Fraction:
    """What of the rate classes may reserve, in per cent.

    HQF keeps a part where class-default (``default``) reserves nothing.
    """
    percent = level.reservable
    if hqf(level.request) and (default is None or default.unit in _RELATIVE):
        percent = min(percent, CAPABILITIES.max_reserved_percent_hqf.value)
    return Fraction(percent * level.reference, max(level.rate, 1))


def _to_ratio(
    level: PolicyLevel, others: list[ClassRequest], shares: dict[str, Share | None], findings: list[Finding]
) -> None:
    """Where classes reserve what HQF keeps for class-default: shares in the same ratio, which reserve nothing.

    The ratios are as large as the device takes: class-default, and others without a share, have 1 beside them, or
    what the shares leave.
    """
    default = next((shares[c.name] for c in level.classes if c.is_default), None)
    reserving = {c.name: s for c in others if (s := shares[c.name]) and s.unit not in _RELATIVE}
    reserved = reserved_percent(level, shares.values())
    if (
        not reserving
        or not most_reservable(level, default) < reserved <= level.reservable
        or not has(level.request, "remaining_ratio")
    ):
        return
    parts = {name: _exact(share, level.kbps) for name, share in reserving.items()}
    if level.reservable - reserved >= 100 - CAPABILITIES.max_reserved_percent_hqf.value:
        # Less than this is about the 1 that classes without a share have of themselves.
        free = [c.name for c in others if shares[c.name] is None]
        parts |= {name: (100 - reserved) * level.kbps / 100 / len(free) for name in free}
    for c in others:
        if c.name not in parts:
            continue
        share, ratio = reserving.get(c.name), _ratios(parts)[c.name]
        shares[c.name] = Share(unit=ShareUnit.WEIGHT, value=ratio)
        findings.append(
            note(
                "share-as-ratio",
                level.place(c),
                requested=f"{share.value} {_WORDS[share.unit]} of {level.kbps} kb/s"
                if share
                else "what the others leave",
                applied=f"weight {ratio}",
                reserved=float(reserved),
                reservable=float(most_reservable(level, default)),
            )
        )


def _ratios(parts: dict[str, Fraction]) -> dict[str, int]:
    """Whole numbers in the proportions of the parts, as large as the device takes."""
    most = CAPABILITIES.remaining_ratio_most.value
    whole = math.lcm(*(part.denominator for part in parts.values()))
    numbers = {name: int(part * whole) for name, part in parts.items()}
    unit = math.gcd(*numbers.values())
    largest = max(numbers.values()) // unit
    if largest <= most:
        return {name: number // unit * (most // largest) for name, number in numbers.items()}
    return {name: max(1, number * most // (unit * largest)) for name, number in numbers.items()}


def _instead(
    level: PolicyLevel, class_request: ClassRequest, shares: dict[str, Share | None], findings: list[Finding]
) -> Share:
    """A bandwidth for a class that asks for priority: more than its rate, as far as the others leave room."""
    share = shares[class_request.name]
    assert share is not None
    factor = CAPABILITIES.priority_fallback.factor
    booked = sum(
        _exact(s, level.kbps)
        for name, s in shares.items()
        if s and name != class_request.name and s.unit not in _RELATIVE
    )
    room = math.floor(Fraction(level.kbps * level.reservable, 100) - booked)
    held = max(share.value, min(factor * share.value, room))
    findings.append(
        note(
            "priority-as-bandwidth",
            level.place(class_request),
            requested=f"priority {share.value} kb/s",
            applied=f"bandwidth {held} kb/s",
            image=level.request.image,
            times=held / max(share.value, 1),
        )
    )
    return Share(unit=ShareUnit.KBPS, value=held)
