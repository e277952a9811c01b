"""An experiment and its claims as they stand in the data files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

VERSION = 1

MEASURED_HERE = "measured here"
"""The authors of figures that are printed nowhere, as data files have them."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Relation(StrEnum):
    """How an obtained value stands to a published one."""

    APPROX = "approx"
    EQUAL = "equal"
    BELOW = "below"
    ABOVE = "above"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    ORDER = "order"
    RATIO = "ratio"


class ClaimKind(StrEnum):
    """Where a claim comes from."""

    THEORY = "theory"
    MEASURED = "measured"
    PAPER_EXPECTED = "paper-expected"
    ORDER = "order"


class ClaimTolerance(_Model):
    """``rel`` is a part of the published value, ``abs`` is in its unit; with both the wider counts."""

    rel: float | None = Field(default=None, ge=0)
    abs: float | None = Field(default=None, ge=0)

    def width(self, published: float) -> float:
        """Largest distance from ``published`` that still agrees with it."""
        return max(abs(published) * (self.rel or 0.0), self.abs or 0.0)


class Operand(_Model):
    """What one side of a comparison is read from; what is absent is the claim's own."""

    experiment: str | None = None
    subject: str | None = None
    scenario: str | None = None
    metric: str | None = None
    against: Operand | None = None


class Ascending(_Model):
    """Operands in growing order; not ``strict``: none falls below the one before."""

    ascending: tuple[Operand, ...] = Field(min_length=2)
    strict: bool = True


class OperandRatio(_Model):
    """``top`` over ``bottom`` stands in ``relation`` to ``is``."""

    top: Operand
    bottom: Operand
    value: float = Field(alias="is")
    relation: Relation


class Claim(_Model):
    """One published statement.

    ``subject`` is ``device.queue``, ``device.flow`` or a device; several joined by ``+`` are compared one by one.
    ``against`` is what a change is counted from. ``derived``: not printed, follows from what is.
    ``reproducible: false``: the paper contradicts itself there or does not give enough; ``note`` says which.
    """

    id: str
    where: str
    subject: str
    scenario: str
    metric: str
    type: Relation
    value: float | Ascending | OperandRatio
    tolerance: ClaimTolerance = ClaimTolerance()
    kind: ClaimKind
    note: str = ""
    printed: str | None = None
    derived: bool = False
    reproducible: bool = True
    against: Operand | None = None

    @model_validator(mode="after")
    def _value_of_its_type(self) -> Self:
        wanted = {Relation.ORDER: Ascending, Relation.RATIO: OperandRatio}.get(self.type, float)
        if not isinstance(self.value, wanted):
            raise ValueError(f"{self.id}: a claim of type {self.type.value} has another kind of value")
        return self


class Plot(_Model):
    """One picture: ``metric`` over the load (or over scenarios) for some subjects.

    The metric ``delay_cdf`` is drawn over the delay: the subjects' curves in a scenario.
    """

    title: str
    metric: str
    subjects: tuple[str, ...]
    scenario: str | None = None
    scenarios: tuple[str, ...] = ()
    x: str = "load"
    logarithmic: bool = False


class Paper(_Model):
    """Where the experiment was published."""

    title: str
    authors: str
    year: int | None = None

    @property
    def published(self) -> bool:
        """Whether its figures are printed somewhere; others were measured for this comparison."""
        return self.authors != MEASURED_HERE

    @property
    def cited(self) -> str:
        """Authors and year, as a table has room for."""
        return self.authors if self.year is None else f"{self.authors} {self.year}"


class Experiment(_Model):
    """One published experiment: how it is set up here, and what is claimed of it.

    ``testbed`` names the code that turns ``setup``, ``devices`` and ``scenarios`` into runs; ``groups`` are names
    for several subjects; ``reasons`` say, by claim, why it does not hold here.
    """

    version: int = Field(ge=VERSION, le=VERSION)
    name: str
    title: str
    paper: Paper
    testbed: str
    delay_reference: str
    conditional_on_delivery: bool = True
    rate_layer: str
    load: str = ""
    setup: Mapping[str, Any] = {}
    devices: Mapping[str, Any] = {}
    scenarios: Mapping[str, Any]
    groups: Mapping[str, tuple[str, ...]] = {}
    assumptions: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()
    reasons: Mapping[str, str] = {}
    claims: tuple[Claim, ...]

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        ids = [claim.id for claim in self.claims]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"claims named twice: {', '.join(twice)}")
        for claim in self.claims:
            if claim.scenario not in self.scenarios:
                raise ValueError(f"{claim.id}: no scenario {claim.scenario!r}")
        unknown = sorted(set(self.reasons) - set(ids))
        if unknown:
            raise ValueError(f"reasons for claims that do not exist: {', '.join(unknown)}")
        return self

    def subjects(self, text: str) -> tuple[str, ...]:
        """The subjects that ``text`` names: joined by ``+``, or a group."""
        return tuple(one for part in text.split("+") for one in self.groups.get(part, (part,)))


class ExperimentLabels(_Model):
    """Readers' words, by the short names of the data files; ``scenarios`` are by experiment."""

    metrics: Mapping[str, str]
    devices: Mapping[str, str]
    parts: Mapping[str, str]
    scenarios: Mapping[str, Mapping[str, str]]

    def metric(self, name: str) -> str:
        """A metric without its unit."""
        return self.metrics.get(name, _words(name))

    def subject(self, name: str) -> str:
        """A subject: a device, ``device.part``, or several joined by ``+``."""
        parts = [one.partition(".")[::2] for one in name.split("+")]
        if len({device for device, _ in parts}) == 1 and parts[0][1]:
            return f"{_joined([self._part(part) for _, part in parts])} of {self._device(parts[0][0])}"
        return _joined([self._of(device, part) for device, part in parts])

    def beside(self, names: Iterable[str]) -> tuple[str, dict[str, str]]:
        """Subjects that stand beside each other, by name: where all are parts of one device, it comes first (else
        empty) and each is without it.
        """
        parts = {name: name.partition(".")[::2] for name in names}
        devices = {device for device, _ in parts.values()}
        if len(devices) == 1 and all(part for _, part in parts.values()):
            return self._device(devices.pop()), {name: self._part(part) for name, (_, part) in parts.items()}
        return "", {name: self.subject(name) for name in parts}

    def scenario(self, experiment: str, name: str) -> str:
        """A scenario of an experiment."""
        return self.scenarios.get(experiment, {}).get(name, _words(name))

    def _of(self, device: str, part: str) -> str:
        return f"{self._part(part)} of {self._device(device)}" if part else self._device(device)

    def _device(self, name: str) -> str:
        return self.devices.get(name, _words(name))

    def _part(self, name: str) -> str:
        return self.parts.get(name, _words(name))


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=\d)", " ", re.sub(r"[-_]", " ", name))


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
