"""The intent language, version 1: what is wanted, without a vendor's words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from app.intent.base import Duration, Model, Name, Requirement, Some, Text
from app.intent.match import Match, MatchTerm
from app.intent.treatment import Bandwidth, Mark, Police, Priority, QueueLimit, Remark, Shape, Treatment, Wred
from app.units import Rate, Ratio, format_seconds, shortened

__all__ = [
    "OWN_PREFIX",
    "RESERVED_CLASS",
    "Bandwidth",
    "Conflict",
    "Fragment",
    "Intent",
    "LinkEfficiencyRule",
    "Mark",
    "Match",
    "MatchTerm",
    "Model",
    "Name",
    "ObjectiveSpec",
    "Police",
    "Priority",
    "QueueLimit",
    "Remark",
    "Scope",
    "Shape",
    "TrafficClass",
    "Treatment",
    "Verify",
    "When",
    "Wred",
    "conflicts",
    "fragment_bytes",
    "policy_conflicts",
    "unknown_classes",
]

RESERVED_CLASS = "default"

_QUANTILE = re.compile(r"p[0-9]{1,2}(\.[0-9]{1,6})?")


def _quantile(value: str) -> str:
    if _QUANTILE.fullmatch(value) is None or not 0 < float(value[1:]) < 100:
        raise ValueError(f"{shortened(value)} is not a quantile between 0 and 100: write p50, p95, p99 or p99.9")
    return value


def _rising(delay: dict[str, float]) -> dict[str, float]:
    ordered = sorted(delay.items(), key=lambda entry: float(entry[0][1:]))
    for (low, shorter), (high, longer) in itertools.pairwise(ordered):
        if longer < shorter:
            raise ValueError(
                f"{high} of {format_seconds(longer)} is below {low} of {format_seconds(shorter)}: "
                "a higher quantile is never shorter"
            )
    return delay


def _some_loss(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(
            f"a loss of {value * 100:g} % is no bound: give it above 0 % (no count of packets proves that none is "
            "ever lost) and below 100 %"
        )
    return value


def _confidence(value: float) -> float:
    if not 0.5 < value < 1:
        raise ValueError(f"a confidence of {value * 100:g} % is of no use: give it above 50 % and below 100 %")
    return value


Quantile = Annotated[str, AfterValidator(_quantile)]


class ObjectiveSpec(Model):
    """What ΔQ a class must keep: one-way delay quantiles, delay variation, loss."""

    delay: Annotated[dict[Quantile, Duration], AfterValidator(_rising)] = Field(default_factory=dict)
    variation: Duration | None = None
    loss: Annotated[Ratio, AfterValidator(_some_loss)] | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.delay and self.variation is None and self.loss is None:
            raise ValueError("an empty objective: give delay, variation or loss")
        return self


class TrafficClass(Model):
    """A traffic class: what belongs to it, its mark, its treatment and its objective."""

    name: Name
    description: Text = ""
    match: Match | None = None
    mark: Mark | None = None
    treatment: Treatment = Treatment()
    objective: ObjectiveSpec | None = None

    @model_validator(mode="after")
    def _default(self) -> Self:
        if self.name == RESERVED_CLASS:
            if self.match is not None:
                raise ValueError("the class 'default' takes what no other class matches: it has no match")
            if self.treatment.priority is not None:
                raise ValueError("the class 'default' cannot have priority: it would take everything first")
        elif self.match is None:
            raise ValueError(f"class {self.name!r} has no match: give one, only 'default' goes without")
        return self


class Fragment(Model):
    """Fragment so that one fragment blocks the link for at most this long."""

    blocking_delay: Duration


class When(Model):
    """On which links: those with a rate below this."""

    rate_below: Rate


class LinkEfficiencyRule(Model):
    """RTP header compression and fragmentation with interleaving on slow links."""

    when: When
    header_compression: Literal["rtp"] | None = None
    fragment: Fragment | None = None
    prefer: Requirement = True


OWN_PREFIX = "QOSFORGE"
"""How the names begin that objects get on a box where the intent gives none."""


def _own(value: str) -> str:
    if value.upper().startswith(OWN_PREFIX):
        raise ValueError(f"{value!r} begins like the names that are given where none is: choose another")
    return value


class Scope(Model):
    """Where an intent applies: devices by role, their interfaces by tag, one direction."""

    role: Some[Name]
    interfaces: Some[Name]
    direction: Literal["input", "output"]
    policy: Annotated[Name, AfterValidator(_own)] | None = None


class Verify(Model):
    """A tester run: which classes between which hosts, beside what load, for how long."""

    from_: Name = Field(alias="from")
    to: Name
    classes: Annotated[tuple[Name, ...], Field(min_length=1)]
    beside: tuple[Name, ...] = ()
    seconds: Annotated[int, Field(ge=1, le=3600, strict=True)] = 30
    confidence: Annotated[Ratio, AfterValidator(_confidence)] = 0.95

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.from_ == self.to:
            raise ValueError(f"{self.from_!r} cannot verify towards itself: name two stations")
        return self


class Intent(Model):
    """A whole QoS intent."""

    version: Literal[1]
    intent: Name
    description: Text = ""
    tolerance: Ratio = 0.05
    classes: Annotated[tuple[TrafficClass, ...], Field(min_length=1)]
    link_efficiency: tuple[LinkEfficiencyRule, ...] = ()
    apply: Annotated[tuple[Scope, ...], Field(min_length=1)]
    verify: tuple[Verify, ...] = ()

    def traffic_class(self, name: str) -> TrafficClass:
        """The class of this name.

        Raises:
            KeyError: there is none.
        """
        for entry in self.classes:
            if entry.name == name:
                return entry
        raise KeyError(name)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = [*conflicts([(c.name, c.treatment) for c in self.classes])]
        for position, scope in enumerate(self.verify):
            found.extend(unknown_classes(position, scope.classes, scope.beside, [c.name for c in self.classes]))
        found.extend(policy_conflicts([(s.direction, s.policy) for s in self.apply]))
        if found:
            raise ValueError("; ".join(conflict.message for conflict in found))
        return self


@dataclass(frozen=True)
class Conflict:
    """Parts of an intent that do not go together; ``path`` is where to look."""

    path: tuple[str | int, ...]
    message: str
    mend: str


def conflicts(classes: Sequence[tuple[str | None, Treatment | None]]) -> Iterator[Conflict]:
    """Names given twice, mixed units and sums over 100, over the classes in order; unknown treatments are none."""
    names = [name for name, _ in classes]
    for position, name in enumerate(names):
        if name is not None and name in names[:position]:
            path = ("classes", position, "name")
            yield Conflict(path, f"class {name!r} is defined twice", "merge the two, or rename one")
    treatments = [treatment for _, treatment in classes if treatment]
    shares = [t.bandwidth for t in treatments if t.bandwidth]
    kinds = {kind for share in shares for kind in share.model_dump(exclude_none=True)}
    if len(kinds) > 1:
        units = ", ".join(sorted(kinds))
        yield Conflict(("classes",), f"bandwidth is given in mixed units ({units})", "use one unit for all classes")
    remaining = sum(share.remaining_percent or 0 for share in shares)
    if remaining > 100:
        message = f"the remaining_percent of all classes sum to {remaining}"
        yield Conflict(("classes",), message, f"at most 100: take away {remaining - 100}")
    total = sum(t.priority.percent or 0 for t in treatments if t.priority) + sum(s.percent or 0 for s in shares)
    if total > 100:
        message = f"the percents of all classes sum to {total}"
        yield Conflict(("classes",), message, f"at most 100: take away {total - 100}")


def unknown_classes(
    position: int, classes: Sequence[str], beside: Sequence[str], known: Sequence[str]
) -> Iterator[Conflict]:
    """Classes that the verification at ``position`` names and nobody defines."""
    for key, names in (("classes", classes), ("beside", beside)):
        for index, name in enumerate(names):
            if name not in known:
                near = get_close_matches(name, known, n=1)
                mend = (
                    f"did you mean {near[0]!r}?"
                    if near
                    else f"classes: {', '.join(filter(str.isprintable, known))}"
                )
                yield Conflict(("verify", position, key, index), f"unknown class {name!r}", mend)


def policy_conflicts(policies: Sequence[tuple[str | None, str | None]]) -> Iterator[Conflict]:
    """Policy names used for both directions: a box holds one policy of a name."""
    for position, (direction, name) in enumerate(policies):
        if name is not None and any(n == name and d != direction for d, n in policies[:position]):
            path = ("apply", position, "policy")
            message = f"policy {name!r} is used for input and for output"
            yield Conflict(path, message, "give each direction a name of its own")


def fragment_bytes(rate_bps: int, blocking_delay: float) -> int:
    """Bytes that a link of ``rate_bps`` sends in ``blocking_delay`` seconds, never rounded up.

    Source: ITESM campus model, section 3.2.1: rate × blocking delay = fragment size in bits.
    """
    return int(round(rate_bps * blocking_delay, 6)) // 8
