"""Trade-offs of the classes without an objective: nothing judges them, so their figures are told where worse.

`qosforge.reports.trade_offs` weighs every class of a scenario against the others, by what it gained or lost of its
throughput and mean delay over all paths; here a class is told by the path where it loses or waits notably more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from qosforge.device_names import name_devices
from qosforge.intent.models import TrafficClass, every_class
from qosforge.prediction.record import Today
from qosforge.reports.table import format_bound, format_delay
from qosforge.tester.measurement.class_figures import ClassFigures
from qosforge.tester.measurement.document import Measurement, When
from qosforge.tester.measurement.pooling import class_figures

LEAST_LOSS = 0.01
"""Part of its packets that a class has to lose more than before, for that to be told."""
LEAST_DELAY_MS = 1.0
LEAST_DELAY_RATIO = 1.5
"""The mean delay of a path has to grow by both, for that to be told."""
GRAVE_LOSS = 0.1
"""Part of its packets from which on a loss is a warning, and no mere trade-off: TCP then waits longer for its
timers than it sends. In the throughput equation of RFC 5348, section 3.1 (with ``b`` = 1 and ``t_RTO`` = 4 RTT),
the term of the timeouts is 9 p (1 + 32 p²) times the other one, which is more than one from p = 0.09 on.
"""

_DOCUMENT = ConfigDict(frozen=True, extra="forbid")
Known = Literal["measured", "simulated"]
"""How it is known what a class got before a change: by a measurement, or by today's configurations in the twin."""


class TradeOffFigure(BaseModel):
    """A figure of a class on the path where it ends worst of those that got worse.

    ``before`` and ``after`` are parts of its packets (``loss``) or milliseconds (``mean delay``).
    """

    model_config = _DOCUMENT

    label: Literal["loss", "mean delay"]
    before: float | None = Field(description="Null where it is not known.")
    after: float
    scenario: str
    path: str

    @property
    def was(self) -> str:
        """What it was before, for people; empty where that is not known."""
        return "" if self.before is None else self._text(self.before)

    @property
    def value(self) -> str:
        """What it is after the change, for people."""
        return self._text(self.after)

    def _text(self, value: float) -> str:
        return format_bound(value, "loss") if self.label == "loss" else format_delay(value)


class UnjudgedTradeOff(BaseModel):
    """A class without an objective that got worse; ``number`` is its place in the policy, from 1 on."""

    model_config = _DOCUMENT

    name: str
    number: int
    figures: tuple[TradeOffFigure, ...]
    paths: int = Field(description="On how many paths it was looked at.")
    known: Known | None = Field(description="How it is known what it got before; null where it is not.")
    unknown: str = Field(default="", description="Why it is not known what it got before, in words.")

    @property
    def is_compared(self) -> bool:
        """Whether it is known what it got before, so that the change is what made it worse."""
        return any(figure.before is not None for figure in self.figures)

    @property
    def is_grave(self) -> bool:
        """Whether it loses so much that little gets through at all."""
        return any(figure.label == "loss" and figure.after >= GRAVE_LOSS for figure in self.figures)


PathKey = tuple[str, str]
"""A scenario, and a path in it."""
FiguresByClass = Mapping[str, Mapping[PathKey, ClassFigures]]
"""By the class's name, then by scenario and path."""


@dataclass(frozen=True)
class Before:
    """What is known of classes before a change, and why nothing is of some scenarios."""

    figures: FiguresByClass = field(default_factory=dict)
    known: Known = "simulated"
    gaps: Mapping[str, str] = field(default_factory=dict)


def before_by_today(today: Today) -> Before:
    """What is known of classes before a change by what the devices hold today."""
    found: dict[str, dict[PathKey, ClassFigures]] = {}
    for scenario in today:
        for one in scenario.figures:
            found.setdefault(one.traffic_class, {})[scenario.scenario, one.path] = one
    gaps = {
        each.scenario: f"{name_devices(each.unread)} {'was' if len(each.unread) == 1 else 'were'} never read"
        if each.unread
        else each.why
        for each in today
        if not each.figures
    }
    return Before(found, "simulated", gaps)


def before_by_measurement(measurement: Measurement) -> Before:
    """What is known of classes before a change by a measurement."""
    return Before(figures_by_class(measurement), "measured")


def unjudged_trade_offs(
    classes: Sequence[TrafficClass], before: Before, after: FiguresByClass
) -> tuple[UnjudgedTradeOff, ...]:
    """The classes without an objective that fare notably worse ``after``; where nothing is known from before, those
    that lose notably.
    """
    found = []
    for number, each in enumerate(every_class(classes), 1):
        if each.objective is not None or each.name not in after:
            continue
        now = after[each.name]
        figures = tuple(_worse(before.figures.get(each.name, {}), now))
        if not figures:
            continue
        compared = any(figure.before is not None for figure in figures)
        gaps = dict.fromkeys(before.gaps.get(figure.scenario, "") for figure in figures if figure.before is None)
        found.append(
            UnjudgedTradeOff(
                name=each.name,
                number=number,
                figures=figures,
                paths=len(now),
                known=before.known if compared else None,
                unknown="; ".join(filter(None, gaps)),
            )
        )
    return tuple(found)


def worse_beside_objective(
    traffic_class: TrafficClass, before: Mapping[PathKey, ClassFigures], after: Mapping[PathKey, ClassFigures]
) -> tuple[TradeOffFigure, ...]:
    """What a class with an objective fares notably worse in that this does not bound; nothing for one without."""
    if traffic_class.objective is None:
        return ()
    bounds = traffic_class.objective.bounds()
    bounded = {"loss": bounds.loss is not None, "mean delay": bool(bounds.delay) or bounds.mean is not None}
    shared = {key: one for key, one in after.items() if key in before}
    return tuple(figure for figure in _worse(before, shared) if not bounded[figure.label])


def figures_by_class(measurement: Measurement) -> FiguresByClass:
    """What each class got on each path."""
    found: dict[str, dict[PathKey, ClassFigures]] = {}
    for scenario in measurement.scenarios:
        for one in class_figures(scenario):
            found.setdefault(one.traffic_class, {})[scenario.name, one.path] = one
    return found


def _worse(
    before: Mapping[PathKey, ClassFigures], after: Mapping[PathKey, ClassFigures]
) -> Iterator[TradeOffFigure]:
    """What got notably worse, and what is lost on paths of which nothing is known from before; each by the path
    that ends worst: a prediction alone names that, too.
    """
    losses = {key: (before[key].loss if key in before else None, one.loss) for key, one in after.items()}
    lost = {key: sides for key, sides in losses.items() if sides[1] - (sides[0] or 0.0) >= LEAST_LOSS}
    if lost:
        yield _figure("loss", lost)
    delays = {key: (before[key].mean_ms, one.mean_ms) for key, one in after.items() if key in before}
    slowed = {
        key: (fast, slow)
        for key, (fast, slow) in delays.items()
        if fast is not None and slow is not None and _is_slower(fast, slow)
    }
    if slowed:
        yield _figure("mean delay", slowed)


def _figure(
    label: Literal["loss", "mean delay"], paths: Mapping[PathKey, tuple[float | None, float]]
) -> TradeOffFigure:
    (scenario, path), (before, after) = max(paths.items(), key=lambda found: found[1][1])
    # A path without a name is told by its scenario.
    return TradeOffFigure(label=label, before=before, after=after, scenario=scenario, path=path or scenario)


def _is_slower(before_ms: float, after_ms: float) -> bool:
    return after_ms - before_ms >= LEAST_DELAY_MS and after_ms >= LEAST_DELAY_RATIO * before_ms


def trade_off_words(one: UnjudgedTradeOff, side: When) -> str:
    """A trade-off as a sentence without its end; ``side`` is the one that was judged last."""
    told = ", ".join(_figure_words(figure, one.known, side) for figure in one.figures)
    worst = f", the worst of {one.paths} paths" if one.paths > 1 else ""
    worse = "would be worse off" if side == "predicted" else "is worse off"
    if not one.is_compared:
        worse = "would lose packets" if side == "predicted" else "loses packets"
    return f"{one.name} has no objective and {worse}: {told}{worst}{_not_compared(one, side)}"


def _figure_words(figure: TradeOffFigure, known: Known | None, side: When) -> str:
    what = "today" if known == "simulated" and side == "predicted" else known
    before = f"{figure.was} {what} → " if figure.was else ""
    return f"{figure.label} {before}{figure.value}{' predicted' * (side == 'predicted')} on {figure.path}"


def _not_compared(one: UnjudgedTradeOff, side: When) -> str:
    if one.is_compared:
        return ""
    if side != "predicted":
        return " (not measured before the change)"
    return f" (today: not simulated{', ' * bool(one.unknown)}{one.unknown})"
