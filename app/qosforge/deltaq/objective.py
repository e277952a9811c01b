"""What is asked of a class and what came of it: objectives, verdicts and their bounds, as documents.

Delays are seconds, loss is a ratio. Infinity has no JSON number: a :class:`Quantity` holds ``null`` and says
that it is infinite.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, field_validator, model_validator

Evidence = Literal["predicted", "emulated", "measured"]
"""What a verdict rests on, the weakest first: our model of our configuration, the twin of what the devices hold, or
packets."""

Outcome = Literal["met", "broken", "inconclusive"]
"""What can be said at the stated confidence."""

Kind = Literal["delay", "mean", "variation", "loss"]
"""What a bound is on: a quantile of delay, the mean of what arrives, delay variation, or loss."""

DEFAULT_CONFIDENCE = 0.95
"""Confidence of a verdict when the intent names none."""

DEFAULT_VARIATION_QUANTILE = 0.999
"""ITU-T Y.1541: delay variation is the 1 - 10^-3 quantile of delay minus its minimum."""

UNSEEN_EPISODE = 500
"""Packets that are late or lost in one go, where a sample shows few such episodes and nobody
says how many they may be: ten seconds of a voice call. A burst of so many at once is not rare on real lines
(RFC 3357)."""

LEAST_FOR_MEAN = 1_000
"""Below this many packets the upper limit of a queue's mean misses three times as often as it says."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def quantile_of(label: str) -> float:
    """Turn ``"p99.9"`` into 0.999. ``ValueError`` for all but ``p`` and a percentage in (0, 100)."""
    match = re.fullmatch(r"p(\d{1,2}(?:\.\d{1,6})?)", label)
    if match is None or float(match[1]) == 0:
        raise ValueError(f'a delay quantile is written "p95" or "p99.9", between 0 and 100, not {label!r}')
    return round(float(match[1]) / 100, 8)


class Objective(BaseModel):
    """Bounds on the ΔQ of a class: a quantitative timeliness agreement. At least one bound is needed.

    ``delay`` maps quantile labels to seconds; lost packets count as packets that never arrive, so ``p99``
    is also broken by more than 1 % loss. ``variation`` (seconds) bounds the ``variation_quantile`` minus the
    smallest observed delay. ``loss`` is a ratio above 0: no number of
    packets can show that none is ever lost.

    ``episode_packets`` is how many packets at most are late, or lost, in one go: an assumption that takes the place
    of what a sample cannot show in which few are. Without it, it is what the tester knows of what drops on the way,
    else `UNSEEN_EPISODE`.

    ``mean`` (seconds) is that of the packets that arrive, the IPTD of ITU-T Y.1540. It is there for agreements
    that are written so; prefer a quantile, for a mean forgives every lost packet, and its interval is the only
    one here that assumes something (:mod:`qosforge.deltaq.mean`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    delay: dict[str, Seconds] = Field(default_factory=dict)
    mean: Seconds | None = None
    variation: Seconds | None = None
    variation_quantile: float = Field(default=DEFAULT_VARIATION_QUANTILE, gt=0, lt=1)
    loss: float | None = Field(default=None, gt=0, lt=1)
    episode_packets: int | None = Field(default=None, ge=1)

    @field_validator("delay")
    @classmethod
    def _quantiles_rise(cls, delay: dict[str, float]) -> dict[str, float]:
        ordered = sorted(delay.items(), key=lambda item: quantile_of(item[0]))
        for (low, shorter), (high, longer) in itertools.pairwise(ordered):
            if longer < shorter:
                raise ValueError(f"{high} ({longer} s) cannot be asked to be below {low} ({shorter} s)")
        return dict(ordered)

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.delay and all(bound is None for bound in (self.mean, self.variation, self.loss)):
            raise ValueError("an objective needs at least one bound: delay, mean, variation or loss")
        return self


def least_packets(objective: Objective, confidence: float, episode: float = 1) -> int:
    """How many packets can at least show that an objective is kept: if none lies beyond a bound.

    n ≥ e ln(1 − c)/ln(1 − p) for a bound that a part p may exceed, in episodes of e packets.
    """
    beyond = [1 - quantile_of(label) for label in objective.delay]
    if objective.variation is not None:
        beyond.append(1 - objective.variation_quantile)
    if objective.loss is not None:
        beyond.append(objective.loss)
    # Less the rounding of 1 − p, as where verdicts find the same number by search.
    least = [math.ceil(episode * math.log(1 - confidence) / math.log1p(-part) - 1e-6) for part in beyond]
    return max([*least, *([LEAST_FOR_MEAN] if objective.mean is not None else [])])


class Quantity(BaseModel):
    """A number that may be infinite (``value`` null, ``infinite`` true) or unknown (null and false)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None = None
    infinite: bool = False

    @classmethod
    def of(cls, number: float | None) -> Quantity:
        """Wrap a float that may be ``math.inf``, or ``None`` for one that was not observed."""
        if number is None:
            return cls()
        return cls(infinite=True) if math.isinf(number) else cls(value=number)

    def number(self) -> float | None:
        """Return the float again: ``math.inf``, a number, or ``None``."""
        return math.inf if self.infinite else self.value


class BoundVerdict(BaseModel):
    """What can be said about one bound.

    ``observed`` is the point estimate, ``low`` and ``high`` the limits, each by itself at the verdict's confidence
    (both together at one minus twice the error), in the unit of ``requested`` (seconds, or a ratio for loss).
    ``n_effective`` is the number of independent packets that would tell as much as the ``n`` seen, of
    ``replications`` independent realisations. ``more_packets`` estimates how many further ones would decide an
    inconclusive bound if they behave alike; ``None`` when decided, or when no sensible number would.

    Where few packets lay beyond the bound, ``episode`` is the number of packets that were taken to be late or lost
    in one go, and ``longest_episode`` the largest at which the sample would show that the bound is kept.
    ``chance`` is the probability of as many beyond where the bound is just kept. ``heavy_tail`` where a mean has no
    limits because of its tail. ``clock_error`` (seconds) is how far the clocks that it was measured with may lie
    apart: the limits are that much wider.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    quantile: float | None = Field(description="which quantile is bounded; None for mean and loss")
    label: str = Field(description='for people: "delay p95", "mean delay", "variation p99.9 − min", "loss"')
    requested: float
    observed: Quantity
    low: Quantity
    high: Quantity
    outcome: Outcome
    n: int
    n_effective: float
    exceedances: int = Field(description="packets beyond the bound: later than asked, or lost")
    more_packets: int | None = None
    replications: int = 1
    episode: float | None = None
    longest_episode: float | None = None
    chance: float = 1.0
    heavy_tail: bool = False
    clock_error: float = 0.0


class ObjectiveVerdict(BaseModel):
    """What can be said about an objective: ``broken`` if any bound is, else ``inconclusive`` if any is.

    ``confidence`` is that of the verdict as a whole; of each limit it is `confidence_at` this ``look`` of
    ``looks``. ``undecided`` is why no bound is decided, whatever the figures say; ``lacking`` what the tester did
    not say.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Outcome
    confidence: float
    evidence: Evidence
    bounds: tuple[BoundVerdict, ...]
    look: PositiveInt = 1
    looks: PositiveInt = 1
    undecided: str = ""
    lacking: tuple[str, ...] = ()

    @property
    def more_packets(self) -> int | None:
        """Packets that would decide every bound still open; ``None`` if none is open or one never will be."""
        missing = [bound.more_packets for bound in self.bounds if bound.outcome == "inconclusive"]
        known = [count for count in missing if count is not None]
        return max(known) if known and len(known) == len(missing) else None


def weakest(found: Iterable[Evidence]) -> Evidence | None:
    """The weakest evidence of several, which is that of the whole; ``None`` where there is none."""
    return min(found, key=get_args(Evidence).index, default=None)


def combine(outcomes: list[Outcome]) -> Outcome:
    """Fold outcomes into one: any ``broken`` wins, then any ``inconclusive``; none at all is inconclusive."""
    if "broken" in outcomes:
        return "broken"
    return "inconclusive" if "inconclusive" in outcomes or not outcomes else "met"
