"""The evidence of a verdict, in words and with as many digits as its interval allows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from qosforge.deltaq.error_spending import confidence_at
from qosforge.deltaq.objective import BoundVerdict, Evidence, ObjectiveVerdict, weakest
from qosforge.reports.table import format_bound
from qosforge.tester.measurement.judging import ClassVerdict

_OF: dict[Evidence, str] = {
    "emulated": "of the configuration read back",
    "predicted": "of the configuration to be entered",
    "measured": "",
}


OpenReason = Literal["few", "near", "tail", "undecided"]
"""What keeps a bound open: too few packets, limits on both sides of it, a tail without a limit, or what concerns
the whole verdict."""


def deciding(verdict: ObjectiveVerdict) -> int:
    """Position of the bound that decided the verdict: of those with its outcome, the one closest to its limit."""

    def used(number: int) -> float:
        bound = verdict.bounds[number]
        if bound.outcome == "broken":
            return -bound.chance
        return (bound.high.number() or 0.0) / bound.requested

    alike = [number for number, bound in enumerate(verdict.bounds) if bound.outcome == verdict.outcome]
    return max(alike or range(len(verdict.bounds)), key=used)


def excess(bound: BoundVerdict) -> tuple[bool, float]:
    """How far a bound is missed, to compare: broken ones come above the others, then by observed ÷ requested."""
    return bound.outcome == "broken", (bound.observed.number() or 0.0) / bound.requested


def observed(bound: BoundVerdict) -> str:
    """The estimate of a bound, to the digits that its interval allows."""
    return _round(bound.observed.number(), bound)


def interval(bound: BoundVerdict) -> str:
    """The limits of a bound, with a unit; empty where they are the estimate itself."""
    low, high = bound.low.number(), bound.high.number()
    if low is None or high is None or low == high:
        return ""
    first, last = _round(low, bound), _round(high, bound)
    if math.isinf(high):
        return f"{first} or more"
    unit = last.partition(" ")[2]
    return f"{first.removesuffix(unit).rstrip()}–{last}" if unit else f"{first} to {last}"


def open_reason(bound: BoundVerdict) -> OpenReason:
    """What keeps an inconclusive bound open.

    Its limits may lie on the right side of it all the same: they say how far the figure is known, and to show that
    so few packets are beyond the bound takes more of them than were seen.
    """
    high, low = bound.high.number(), bound.low.number()
    if bound.heavy_tail:
        return "tail"
    if low is not None and high is not None and low <= bound.requested < high < math.inf:
        return "near"
    return "few"


def why_open(bound: BoundVerdict, undecided: str = "") -> str:
    """Why a bound is inconclusive, in a few words; empty where it is not. ``undecided`` is why nothing is."""
    if bound.outcome != "inconclusive":
        return ""
    if undecided:
        return undecided
    more = f"about {bound.more_packets:,} more packets would decide" if bound.more_packets else ""
    reason = open_reason(bound)
    if reason == "tail":
        return "the longest delays are too long for a limit of the mean"
    if reason == "near":
        return more or "what is requested lies within the limits"
    # The figure may lie far below the bound: what is open is whether that holds of so large a part of all packets.
    beyond = "lost" if bound.kind == "loss" else "later"
    seen = f"{f'{bound.exceedances:,}' if bound.exceedances else 'none'} of {bound.n:,} packets {beyond}"
    part = f" {bound.quantile * 100:.4g} %" if bound.quantile else ""
    return "; ".join(filter(None, (f"{seen}, too few to tell of{part or ' all'}", more)))


def evidence_words(verdicts: Sequence[ClassVerdict]) -> str:
    """What verdicts rest on together, and, where their paths differ, what each path does."""
    found = weakest(each.verdict.evidence for each in verdicts)
    by_path: dict[Evidence, dict[str, None]] = {}
    for each in verdicts:
        by_path.setdefault(each.verdict.evidence, {})[each.path or each.scenario] = None
    if found is None or len(by_path) < 2:
        return found or ""
    paths = "; ".join(f"{', '.join(names)} {evidence}" for evidence, names in by_path.items())
    return f"{found}, the weakest of its paths: {paths}"


def sentences(verdicts: Iterable[ClassVerdict]) -> Iterator[tuple[str, str]]:
    """For each verdict its scenario and path, and the evidence of the bound that decided it."""
    for one in verdicts:
        where = " ".join(part for part in (one.scenario, one.path) if part)
        yield where, sentence(one.verdict.bounds[deciding(one.verdict)], one)


def sentence(bound: BoundVerdict, judged: ClassVerdict) -> str:
    """The evidence of one bound of a class: observation, source, confidence and assumptions."""
    verdict = judged.verdict
    told = f"{bound.n:,} packets, worth {bound.n_effective:,.0f} independent ones"
    parts = [f"{_where(bound, judged)}, {_what(bound, judged.traffic_class)}{_limits(bound, verdict)}", told]
    if verdict.evidence == "measured" and bound.replications == 1:
        parts.append("it is one realisation: its limits say nothing of what differs from one such time to another")
    if bound.episode is not None:
        beyond = "lost" if bound.kind == "loss" else "later than asked"
        few = f"only {bound.exceedances:,}" if bound.exceedances else "none"
        parts.append(
            f"{few} {beyond}, which is taken to happen to up to {_count(bound.episode)} in one go "
            f"(shown for up to {_count(bound.longest_episode or 0)})"
        )
    if bound.heavy_tail:
        parts.append("the longest delays are so long that the mean has no limits")
    if bound.clock_error:
        parts.append(f"clocks may lie {format_bound(bound.clock_error, 'delay')} apart, which the limits count in")
    if verdict.undecided:
        parts.append(f"{verdict.undecided}, so that nothing is decided")
    if verdict.lacking:
        parts.append(f"the tester did not say {' or '.join(verdict.lacking)}")
    return "; ".join(parts)


def _limits(bound: BoundVerdict, verdict: ObjectiveVerdict) -> str:
    limits = interval(bound)
    if not limits:
        return ""
    level = confidence_at(verdict.confidence, verdict.look, verdict.looks) * 100
    both = max(0.0, 2 * level - 100)
    return f" ({limits}, each limit at {level:.4g} % and both together at {both:.4g} %)"


def _where(bound: BoundVerdict, judged: ClassVerdict) -> str:
    evidence, count = judged.verdict.evidence, bound.replications
    lasting = f" of {judged.seconds:g} s" if judged.seconds is not None else ""
    if evidence == "measured":
        told = f"in {count} measurements{lasting}" if count > 1 else f"in one measurement{lasting}"
    else:
        told = f"in {count} simulation{'s' * (count != 1)}{lasting} {_OF[evidence]}"
    if judged.warm_up_seconds:
        told += f", {judged.warm_up_seconds:g} s before {'each' if count > 1 else 'it'} left out"
    return told


def _what(bound: BoundVerdict, traffic_class: str) -> str:
    figure = observed(bound)
    share = f"{(bound.quantile or 0) * 100:g} % of {traffic_class} packets"
    match bound.kind:
        case "delay":
            return f"{share} took at most {figure}"
        case "variation":
            return f"{share} took at most {figure} longer than the fastest"
        case "mean":
            return f"the {traffic_class} packets that arrived took {figure} on average"
        case "loss":
            return f"{figure} of {traffic_class} packets were lost"


def _count(packets: float) -> str:
    whole = math.floor(packets)
    return f"{whole:,} packets" if packets >= 10 else "1 packet" if packets == 1 else f"{packets:.2g} packets"


def _round(value: float | None, bound: BoundVerdict) -> str:
    """A figure of a bound for people, with no digit that its interval leaves open."""
    if value is None:
        return "–"
    low, high = bound.low.number() or 0.0, bound.high.number() or 0.0
    if math.isinf(high):  # nothing is known above: what lies below the estimate tells how far it is known
        high = 2 * (bound.observed.number() or 0.0) - low
    if not math.isfinite(value) or not math.isfinite(high) or high <= low:
        return format_bound(value, bound.kind)
    scale, unit = (100, "%") if bound.kind == "loss" else (1e3, "ms")
    digits = max(0, -math.floor(math.log10((high - low) * scale / 2)))
    return f"{value * scale:,.{digits}f} {unit}" if value else f"0 {unit}"
