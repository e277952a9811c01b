"""The intent language, version 1: what is wanted, without a vendor's words."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from app.dscp import parse_dscp
from app.units import Rate, Ratio, Seconds

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_TEXT = re.compile(r"[\w .,;:()/%+=&'–-]*")
RESERVED_CLASS = "default"


def _name(value: str) -> str:
    # Names reach device templates: one newline would be a command on a router.
    if _NAME.fullmatch(value) is None:
        raise ValueError(f"{value!r} is not a name: letters, digits, '-' and '_' only, beginning with a letter")
    return value


def _text(value: str) -> str:
    if _TEXT.fullmatch(value) is None or not value.isprintable():
        raise ValueError(f"{value!r} has characters that are not allowed in free text")
    return value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str | int | dict) else value


Name = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_name)]
Text = Annotated[str, Field(max_length=200), AfterValidator(_text)]
Dscp = Annotated[int, BeforeValidator(parse_dscp)]
Cos = Annotated[int, Field(ge=0, le=7, strict=True)]
Percent = Annotated[int, Field(ge=1, le=100, strict=True)]
Requirement = bool  # True: prefer (a missing one is a warning), False: require (an error)


class Model(BaseModel):
    """Base of all intent models: immutable, no unknown key."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MatchTerm(Model):
    """One alternative of a match; the given fields must all hold, each field lists alternatives."""

    application: Annotated[tuple[Name, ...], BeforeValidator(_listed)] = ()
    dscp: Annotated[tuple[Dscp, ...], BeforeValidator(_listed)] = ()
    cos: Annotated[tuple[Cos, ...], BeforeValidator(_listed)] = ()

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.application or self.dscp or self.cos):
            raise ValueError("an empty match: give application, dscp or cos")
        return self


class Match(Model):
    """Which packets belong to a class."""

    any: Annotated[tuple[MatchTerm, ...], Field(min_length=1)]


class Mark(Model):
    """The marks a class carries behind the edge."""

    dscp: Dscp | None = None
    cos: Cos | None = None


class Priority(Model):
    """Low-latency queuing: served first, up to a share of the link or a rate."""

    percent: Percent | None = None
    rate: Rate | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.percent is None) == (self.rate is None):
            raise ValueError("give a priority either as percent or as rate")
        return self


class Bandwidth(Model):
    """A guaranteed share: of the link, of what priority leaves, or a rate."""

    percent: Percent | None = None
    remaining_percent: Percent | None = None
    rate: Rate | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(v is not None for v in (self.percent, self.remaining_percent, self.rate)) != 1:
            raise ValueError("give a bandwidth as exactly one of percent, remaining_percent and rate")
        return self


class Wred(Model):
    """Weighted random early detection with the platform's profile."""

    prefer: Requirement = True


def _wred(value: object) -> object:
    return {} if value is True else None if value is False else value


class Treatment(Model):
    """How a class is served."""

    priority: Priority | None = None
    bandwidth: Bandwidth | None = None
    wred: Annotated[Wred | None, BeforeValidator(_wred)] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.priority and self.bandwidth:
            raise ValueError("a class is served by priority or by bandwidth, not by both")
        if self.priority and self.wred:
            raise ValueError("WRED does not go with priority: a policed priority queue is not managed by drops")
        return self


_QUANTILE = re.compile(r"p\d{1,2}(\.\d+)?")


def _quantile(value: str) -> str:
    if _QUANTILE.fullmatch(value) is None or not 0 < float(value[1:]) < 100:
        raise ValueError(f"{value!r} is not a quantile: write p50, p95, p99 or p99.9")
    return value


class ObjectiveSpec(Model):
    """What ΔQ a class must keep: one-way delay quantiles, delay variation, loss."""

    delay: dict[Annotated[str, AfterValidator(_quantile)], Seconds] = Field(default_factory=dict)
    variation: Seconds | None = None
    loss: Ratio | None = None

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
            raise ValueError(f"class {self.name!r} has no match (only 'default' may go without)")
        return self


class Fragment(Model):
    """Fragment so that one fragment blocks the link for at most this long."""

    blocking_delay: Seconds


class When(Model):
    """On which links: those with a rate below this."""

    rate_below: Rate


class LinkEfficiencyRule(Model):
    """RTP header compression and fragmentation with interleaving on slow links."""

    when: When
    header_compression: Literal["rtp"] | None = None
    fragment: Fragment | None = None
    prefer: Requirement = True


Listed = Annotated[tuple[Name, ...], BeforeValidator(_listed)]


class Scope(Model):
    """Where an intent applies: devices by role, their interfaces by tag, one direction."""

    role: Listed
    interfaces: Listed
    direction: Literal["input", "output"]
    policy: Name | None = None


class Verify(Model):
    """A tester run: which classes between which hosts, beside what load, for how long."""

    from_: Name = Field(alias="from")
    to: Name
    classes: Annotated[tuple[Name, ...], Field(min_length=1)]
    beside: tuple[Name, ...] = ()
    seconds: Annotated[int, Field(ge=1, le=3600, strict=True)] = 30
    confidence: Annotated[Ratio, Field(gt=0.5, lt=1)] = 0.95

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


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
        names = [c.name for c in self.classes]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"class {name!r} is defined {names.count(name)} times")
        _check_sums(self.classes)
        for position, check in enumerate(self.verify):
            for name in (*check.classes, *check.beside):
                if name not in names:
                    known = ", ".join(names)
                    raise ValueError(f"verify[{position}]: unknown class {name!r} (classes: {known})")
        return self


def _check_sums(classes: tuple[TrafficClass, ...]) -> None:
    shares = [c.treatment.bandwidth for c in classes if c.treatment.bandwidth]
    kinds = {kind for share in shares for kind in share.model_dump(exclude_none=True)}
    if len(kinds) > 1:
        raise ValueError(f"bandwidth is given in mixed units ({', '.join(sorted(kinds))}): use one for all classes")
    remaining = sum(share.remaining_percent or 0 for share in shares)
    if remaining > 100:
        raise ValueError(f"the remaining_percent of all classes sum to {remaining}: at most 100")
    priority = sum(c.treatment.priority.percent or 0 for c in classes if c.treatment.priority)
    total = priority + sum(share.percent or 0 for share in shares)
    if total > 100:
        raise ValueError(f"the percents of all classes sum to {total}: at most 100")


def fragment_bytes(rate_bps: int, blocking_delay: float) -> int:
    """Bytes that a link of ``rate_bps`` sends in ``blocking_delay`` seconds, never rounded up.

    Source: ITESM campus model, section 3.2.1: rate × blocking delay = fragment size in bits.
    """
    return int(round(rate_bps * blocking_delay, 6)) // 8
