"""A traffic class: its match, its marks, its treatment and its objective."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from qosforge.dscp import drop_precedence
from qosforge.intent.base import (
    Cos,
    Dscp,
    Flag,
    IntentModel,
    MplsExperimental,
    Name,
    Percent,
    QosGroup,
    Requirement,
    Text,
)
from qosforge.intent.match import Match
from qosforge.intent.objective import ObjectiveSpec
from qosforge.intent.policing import Police, Precedence
from qosforge.intent.queue_size import Bytes
from qosforge.intent.shaping import Shape
from qosforge.intent.wred import Buffers, FairQueue, QueueLimit, Wred
from qosforge.units import Rate

RESERVED_CLASS = "default"
MOST_CLASSES = 256
"""Classes that an intent may have, all levels of its trees together."""


class Mark(IntentModel):
    """The marks a class carries behind the edge.

    ``precedence`` writes the upper three bits of the field alone; ``drop_precedence`` is what a device notes for
    its own queues (and what the last digit of an AF code point says). ``qos_group`` is a number by which the
    outputs of the device that sets it tell the class, ``mpls_imposition`` the EXP of the labels that it puts on,
    ``mpls_topmost`` that of the topmost label of packets that have one. ``keep`` leaves what no class takes the
    marks that it brings, where a device would clear them.
    """

    dscp: Dscp | None = None
    cos: Cos | None = None
    precedence: Precedence | None = None
    drop_precedence: Literal["low", "medium", "high"] | None = None
    qos_group: QosGroup | None = None
    mpls_imposition: MplsExperimental | None = None
    mpls_topmost: MplsExperimental | None = None
    keep: Flag = False

    @property
    def recognised_by(self) -> tuple[Literal["dscp", "precedence"], int] | None:
        """The field and value by which a device behind the edge tells the class; None where nothing is marked."""
        if self.dscp is not None:
            return "dscp", self.dscp
        return ("precedence", self.precedence) if self.precedence is not None else None

    @property
    def code_point(self) -> int | None:
        """The DSCP that says the mark, a precedence by its class selector; None where it is neither."""
        return self.dscp if self.precedence is None else 8 * self.precedence

    @model_validator(mode="after")
    def _apart(self) -> Self:
        given = [field for field in Mark.model_fields if field != "keep" and getattr(self, field) is not None]
        if self.keep and given:
            raise ValueError("a mark that is kept is not written: give keep, or the other marks")
        if not (given or self.keep):
            raise ValueError("an empty mark: give dscp, precedence, cos or another one, or leave it out")
        if self.dscp is not None and self.precedence is not None:
            raise ValueError("dscp and precedence are one field: give one of them")
        said = drop_precedence(self.dscp) if self.dscp is not None else None
        if said is not None and self.drop_precedence not in (None, said):
            raise ValueError(f"the dscp says a {said} drop precedence: give that one, or another dscp")
        return self


class OutputMark(IntentModel):
    """What is written into a class's packets as they leave, whatever mark tells the class before."""

    dscp: Dscp | None = None
    precedence: Precedence | None = None
    cos: Cos | None = None
    mpls_topmost: MplsExperimental | None = None
    prefer: Requirement = False

    @model_validator(mode="after")
    def _some(self) -> Self:
        if (self.dscp, self.precedence, self.cos, self.mpls_topmost) == (None,) * 4:
            raise ValueError("an empty mark: give dscp, precedence, cos or mpls_topmost, or leave it out")
        if self.dscp is not None and self.precedence is not None:
            raise ValueError("dscp and precedence are one field: give one of them")
        return self


class Priority(IntentModel):
    """Served first, up to a share of the link or a rate (low-latency queuing), ``burst`` above it; or without a cap
    (strict priority: it may take the whole link). Of several such classes the first is served first."""

    percent: Percent | None = None
    rate: Rate | None = None
    burst: Bytes | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.percent is not None and self.rate is not None:
            raise ValueError("a priority has both percent and rate: give one of them, or none for strict priority")
        if self.burst is not None and not self.capped:
            raise ValueError("a burst above no cap: give percent or rate")
        return self

    @property
    def capped(self) -> bool:
        """Whether the class may send only up to a cap."""
        return self.percent is not None or self.rate is not None


class Bandwidth(IntentModel):
    """A guaranteed share: of the link, of what priority leaves, a rate, or a weight among its neighbours."""

    percent: Percent | None = None
    remaining_percent: Percent | None = None
    rate: Rate | None = None
    weight: Annotated[int, Field(ge=1, le=1000, strict=True)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(v is not None for v in (self.percent, self.remaining_percent, self.rate, self.weight)) != 1:
            units = "percent, remaining_percent, rate and weight"
            raise ValueError(f"a bandwidth has none or more than one unit: give exactly one of {units}")
        return self


def _asked(value: object) -> object:
    return {} if value is True else None if value is False else value


class Treatment(IntentModel):
    """How a class is served.

    ``children`` divide the class among classes of their own (a link-sharing tree); ``bounded`` keeps it from
    borrowing what others leave; ``level`` orders the classes of a tree that are within their shares (1 first): a
    wish, for few schedulers tell delay and share apart (Floyd and Jacobson 1995, link-sharing).
    """

    priority: Annotated[Priority | None, BeforeValidator(_asked, json_schema_input_type=Priority | bool | None)] = (
        None
    )
    bandwidth: Bandwidth | None = None
    wred: Annotated[Wred | None, BeforeValidator(_asked, json_schema_input_type=Wred | bool | None)] = None
    fair_queue: Annotated[
        FairQueue | None, BeforeValidator(_asked, json_schema_input_type=FairQueue | bool | None)
    ] = None
    queue_limit: QueueLimit | None = None
    buffers: Buffers | None = None
    police: Police | None = None
    mark: OutputMark | None = None
    shape: Shape | None = None
    bounded: Flag = False
    level: Annotated[int, Field(ge=1, le=8, strict=True)] | None = None
    children: Annotated[tuple[TrafficClass, ...], Field(max_length=MOST_CLASSES)] = ()

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.priority and self.bandwidth:
            raise ValueError("a class is served by priority or by bandwidth: not both, remove one")
        if self.priority and self.wred:
            raise ValueError("WRED does not go with priority: remove one, a policed queue is not managed by drops")
        if self.priority and self.fair_queue:
            raise ValueError(
                "fair queueing does not go with priority: remove one, a priority queue is served in order"
            )
        if self.priority and self.shape:
            raise ValueError("a shape does not go with priority: remove one, what is shaped waits")
        if self.children and (self.wred or self.fair_queue or self.queue_limit or self.buffers):
            raise ValueError(
                "a class with children has no queue of its own: give wred, limits and the like to its children"
            )
        if self.bounded and not (self.bandwidth or self.priority):
            raise ValueError("a bounded class keeps to its share: give it a bandwidth")
        if self.bounded and self.priority and not self.priority.capped:
            raise ValueError("a bounded class keeps to its share: give its priority a percent or a rate")
        return self


class TrafficClass(IntentModel):
    """A traffic class: what belongs to it, its mark, its treatment and its objective.

    Among the children of a class ``default`` takes what is left of their parent's packets.
    """

    name: Name
    description: Text = ""
    match: Match | None = None
    mark: Mark | None = None
    treatment: Treatment = Field(default_factory=Treatment)
    objective: ObjectiveSpec | None = None

    @model_validator(mode="after")
    def _default(self) -> Self:
        if self.name == RESERVED_CLASS:
            if self.match is not None:
                raise ValueError("the class 'default' takes what no other class matches: it has no match")
            if self.treatment.priority is not None:
                raise ValueError("the class 'default' cannot have priority: it would take everything first")
        elif self.mark and self.mark.keep:
            raise ValueError("a class keeps the marks that it is not given: leave keep out, it is for 'default'")
        elif self.match is None:
            raise ValueError(
                f"class {self.name!r} has no match: choose an application or a mark for this class, only 'default' "
                "goes without"
            )
        return self


Treatment.model_rebuild()
