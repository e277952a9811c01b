"""The intent language, version 1: the requested treatment of traffic, independent of vendors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from qosforge.intent.applications import OwnApplication
from qosforge.intent.base import Dscp, Duration, IntentModel, Many, Name, Requirement, Some, Text
from qosforge.intent.conflict_rules import Branch, conflicts, policy_conflicts, unjudged, unknown_classes
from qosforge.intent.match import VOICE_VLAN, Match, MatchTerm
from qosforge.intent.objective import ObjectiveSpec
from qosforge.intent.policing import Police, PoliceAction, Remark
from qosforge.intent.queue_size import Bytes, QueueSize
from qosforge.intent.scope import OWN_PREFIX, PortShape, Scope, TransmitRing
from qosforge.intent.shaping import Shape
from qosforge.intent.treatment import (
    MOST_CLASSES,
    RESERVED_CLASS,
    Bandwidth,
    Mark,
    OutputMark,
    Priority,
    TrafficClass,
    Treatment,
)
from qosforge.intent.wred import QueueLimit, Wred, WredProfile
from qosforge.keep_rule import KeepRule
from qosforge.units import Rate, Ratio

__all__ = [
    "OWN_PREFIX",
    "RESERVED_CLASS",
    "VOICE_VLAN",
    "Bandwidth",
    "Fragment",
    "FragmentMethod",
    "Intent",
    "IntentModel",
    "LinkEfficiencyRule",
    "Mark",
    "Match",
    "MatchTerm",
    "Name",
    "ObjectiveSpec",
    "OutputMark",
    "Police",
    "PoliceAction",
    "PortShape",
    "Priority",
    "QueueLimit",
    "QueueSize",
    "Remark",
    "Scope",
    "Shape",
    "TrafficClass",
    "TransmitRing",
    "Treatment",
    "Verify",
    "When",
    "Wred",
    "WredProfile",
    "every_class",
    "fragment_bytes",
]


def _confidence(value: float) -> float:
    if not 0.5 < value < 1:
        raise ValueError(f"a confidence of {value * 100:g} % is of no use: give it above 50 % and below 100 %")
    return value


FramingName = Literal["ethernet", "hdlc", "ppp", "mlppp", "frame-relay", "atm"]
BLOCKING_PART = 0.8
"""Part of a voice packet's time that a fragment may block (ITESM campus model, section 3.2.1)."""
FragmentMethod = Literal["frf12", "multilink", "ip-mtu"]
MOST_ENTRIES = 512
"""Scopes, verifications, own applications and rules of link efficiency that an intent may have, each."""
MOST_JUDGED = 64
"""Classes that one verification may name."""


class Fragment(IntentModel):
    """Fragment so that one fragment blocks the link for at most this long, or has at most this size.

    ``packetisation`` is the time between two packets of a call: a fragment may block for 0.8 of it. ``by`` are
    the methods allowed, by default all in the order of the ITESM model: FRF.12 on Frame Relay, multilink on PPP,
    else a smaller IP MTU.
    """

    blocking_delay: Duration | None = None
    packetisation: Duration | None = None
    size: Bytes | None = None
    by: Some[FragmentMethod] = ("frf12", "multilink", "ip-mtu")

    @property
    def blocking(self) -> float | None:
        """Seconds that a fragment may block; None where its size is given."""
        if self.packetisation is not None:
            return self.packetisation * BLOCKING_PART
        return self.blocking_delay

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(v is not None for v in (self.blocking_delay, self.packetisation, self.size)) != 1:
            raise ValueError(
                "a fragment is sized in one way: give exactly one of blocking_delay, packetisation and size"
            )
        return self


class When(IntentModel):
    """On which links: those with a rate below this, of these framings (all of them unless given)."""

    rate_below: Rate | None = None
    framing: Many[FramingName] = ()

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.rate_below is None and not self.framing:
            raise ValueError("an empty 'when': give rate_below or framing")
        return self


class LinkEfficiencyRule(IntentModel):
    """RTP header compression, fragmentation with interleaving and a short transmit ring on slow links."""

    when: When
    header_compression: Literal["rtp"] | None = None
    fragment: Fragment | None = None
    transmit_ring: TransmitRing | None = None
    prefer: Requirement = True


class Verify(IntentModel):
    """A tester run: which classes between which hosts, beside what load, for how long.

    ``objective`` holds what classes must keep on this path, in place of what they must keep everywhere.
    """

    from_: Name = Field(alias="from")
    to: Name
    classes: Annotated[tuple[Name, ...], Field(min_length=1, max_length=MOST_JUDGED)]
    beside: Annotated[tuple[Name, ...], Field(max_length=MOST_JUDGED)] = ()
    seconds: Annotated[int, Field(ge=1, le=3600, strict=True)] = 30
    confidence: Annotated[Ratio, AfterValidator(_confidence)] = 0.95
    objective: Annotated[dict[Name, ObjectiveSpec], Field(max_length=MOST_JUDGED)] = Field(default_factory=dict)

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.from_ == self.to:
            raise ValueError(f"{self.from_!r} cannot verify towards itself: name two stations")
        return self

    @property
    def path(self) -> str:
        """Its path as measurements and verdicts name it."""
        return f"{self.from_}→{self.to}"


class Intent(IntentModel):
    """A whole QoS intent.

    ``keep`` is when its change is kept after it was measured; a network may have a stricter rule. ``cos_to_dscp``
    are the DSCPs of CoS 0 to 7 where a CoS is trusted, but for those that classes mark with both.
    """

    version: Literal[1]
    intent: Name
    description: Text = ""
    tolerance: Ratio = 0.05
    keep: KeepRule | None = None
    applications: Annotated[tuple[OwnApplication, ...], Field(max_length=MOST_ENTRIES)] = ()
    cos_to_dscp: Annotated[tuple[Dscp, ...], Field(min_length=8, max_length=8)] | None = None
    classes: Annotated[tuple[TrafficClass, ...], Field(min_length=1, max_length=MOST_CLASSES)]
    link_efficiency: Annotated[tuple[LinkEfficiencyRule, ...], Field(max_length=MOST_ENTRIES)] = ()
    apply: Annotated[tuple[Scope, ...], Field(min_length=1, max_length=MOST_ENTRIES)]
    verify: Annotated[tuple[Verify, ...], Field(max_length=MOST_ENTRIES)] = ()

    def traffic_class(self, name: str) -> TrafficClass:
        """The class of this name, wherever it stands in the tree (of several ``default`` the outermost).

        Raises:
            KeyError: there is none.
        """
        for entry in (*self.classes, *every_class(self.classes)):
            if entry.name == name:
                return entry
        raise KeyError(name)

    def within(self, name: str) -> frozenset[str]:
        """The name of a class and those of the classes that divide it: what is said of it concerns their packets.

        Raises:
            KeyError: there is no such class.
        """
        below = every_class(self.traffic_class(name).treatment.children)
        return frozenset({name, *(c.name for c in below if c.name != RESERVED_CLASS)})

    def objective_of(self, check: Verify, name: str) -> ObjectiveSpec | None:
        """What the class of this name must keep on the path of a check, presets resolved.

        Raises:
            KeyError: there is no such class.
        """
        requested = check.objective.get(name) or self.traffic_class(name).objective
        return requested.resolved() if requested else None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = [*conflicts(_branches(self.classes))]
        known = [c.name for c in every_class(self.classes)]
        for position, scope in enumerate(self.verify):
            found.extend(unknown_classes(position, scope.classes, scope.beside, known))
            found.extend(unjudged(position, scope.objective, scope.classes))
        found.extend(policy_conflicts([(s.direction, s.policy) for s in self.apply]))
        if found:
            raise ValueError("; ".join(conflict.message for conflict in found))
        return self


def every_class(classes: Sequence[TrafficClass]) -> Iterator[TrafficClass]:
    """The classes of a link-sharing tree, parents before their children."""
    for entry in classes:
        yield entry
        yield from every_class(entry.treatment.children)


def _branches(classes: Sequence[TrafficClass]) -> list[Branch]:
    return [Branch(c.name, c.treatment, _branches(c.treatment.children)) for c in classes]


def fragment_bytes(rate_bps: int, blocking_delay: float) -> int:
    """Bytes that a link of ``rate_bps`` sends in ``blocking_delay`` seconds, never rounded up.

    Source: ITESM campus model, section 3.2.1: rate × blocking delay = fragment size in bits.
    """
    return int(round(rate_bps * blocking_delay, 6)) // 8
