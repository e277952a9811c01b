"""Check whether a measurement could decide the objectives that a prediction leaves inconclusive.

The least number of packets that could show a bound assumes that they are independent
(:mod:`qosforge.validation.evidence`). In a queue they are not, and near a bound many more are needed. A prediction
knows both: how often the bound is exceeded, and how many independent packets its sample is worth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from qosforge.compiler.compile import Compilation
from qosforge.deltaq.error_spending import LOOKS, confidence_at
from qosforge.deltaq.intervals import ratio_upper
from qosforge.deltaq.objective import BoundVerdict
from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.intent.models import Verify
from qosforge.note import note
from qosforge.tester.measurement.document import Measurement, class_sample
from qosforge.tester.measurement.judging import ClassVerdict
from qosforge.tester.replications import REPLICATIONS, Timing

_QUANTILES = (0.999, 0.99, 0.95, 0.9, 0.75, 0.5)
"""What is offered in place of a quantile that cannot be decided."""
_MINUTE = 120
"""Seconds from which on minutes are told."""


def undecidable(
    compilation: Compilation, measurement: Measurement, verdicts: tuple[ClassVerdict, ...]
) -> Iterator[Finding]:
    """``objective-not-decidable``: bounds that a prediction leaves open, and the longest measurement would too."""
    intent, document = compilation.intent.intent, compilation.intent.document
    for verdict in verdicts:
        found = next((p for p, c in enumerate(intent.verify) if _is_of(c, verdict)), None)
        if found is None or verdict.verdict.undecided:
            continue
        check = intent.verify[found]
        longest = round(Timing.of(check.seconds).seconds * REPLICATIONS[-1])
        for bound in verdict.verdict.bounds:
            if bound.outcome != "inconclusive":
                continue
            needed = _seconds(intent.within(verdict.traffic_class), measurement, verdict, bound)
            if needed is not None and needed <= longest:
                continue
            instead = _lower(bound, verdict, measurement, longest, check.confidence)
            yield note(
                "objective-not-decidable",
                Place(
                    traffic_class=verdict.traffic_class,
                    file=document.file,
                    line=document.place(("verify", found)).line,
                ),
                requested=f"decided in {longest} s",
                applied=_time(needed) if needed is not None else "not in any sensible time",
                bound=bound.label,
                source=check.from_,
                target=check.to,
                longest=longest,
                packets=bound.n,
                independent=bound.n_effective,
                **_way_out(bound, needed, instead),
            )


def _is_of(check: Verify, verdict: ClassVerdict) -> bool:
    return check.path == verdict.path and verdict.traffic_class in check.classes


def _seconds(
    names: frozenset[str], measurement: Measurement, verdict: ClassVerdict, bound: BoundVerdict
) -> float | None:
    """Seconds that would decide an open bound if its packets behave alike; None where no number would."""
    sent = float(class_sample(measurement, verdict.scenario, names, path=verdict.path).sent.sum())
    if bound.more_packets is None or not sent:
        return None
    scenario = measurement.scenario(verdict.scenario)
    return (scenario.seconds or 0) * scenario.replications * (1 + bound.more_packets / sent)


def _lower(
    bound: BoundVerdict, verdict: ClassVerdict, measurement: Measurement, longest: float, confidence: float
) -> str:
    """The highest quantile that the longest measurement would show to be kept at the same figure; empty if none."""
    scenario = measurement.scenario(verdict.scenario)
    simulated = (scenario.seconds or 0) * scenario.replications
    if bound.quantile is None or not bound.n or not simulated:
        return ""
    size = bound.n_effective * longest / simulated
    part = bound.exceedances / bound.n
    level = confidence_at(confidence, LOOKS)
    shown = (q for q in _QUANTILES if q < bound.quantile and ratio_upper(part * size, size, level) <= 1 - q)
    quantile = next(shown, None)
    return "" if quantile is None else f"p{quantile * 100:g}"


def _way_out(bound: BoundVerdict, needed: float | None, instead: str) -> dict[str, Any]:
    """What would decide a bound: a longer measurement, a lower quantile, or both; as variant and facts."""
    facts: dict[str, Any] = {}
    if needed is not None:
        seconds = math.ceil(needed * REPLICATIONS[0] / REPLICATIONS[-1])
        facts |= {"needed": _time(needed), "seconds": seconds}
    if instead:
        facts |= {"instead": instead, "milliseconds": bound.requested * 1e3}
    if needed is None:
        return facts | {"variant": "lower" if instead else "too-near"}
    return facts | {"variant": DEFAULT if instead else "longer"}


def _time(seconds: float) -> str:
    return f"about {seconds:.0f} s" if seconds < _MINUTE else f"about {seconds / 60:,.0f} minutes"
