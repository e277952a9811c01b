"""Classifiers, marks and policers of the twin's scenario."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from qosforge.twin.part import ScenarioPart

Colour = Literal["green", "yellow", "red"]
Discard = Literal["cell", "partial_packet", "early_packet"]
PolicedLayer = Literal["frame", "ip"]
PortRange = tuple[int, int]


class MatchSpec(ScenarioPart, frozen=True, kw_only=True):
    """The packets of a rule: all terms that are given must hold, and a term is a list of alternatives."""

    dscp: tuple[int, ...] | None = None
    cos: tuple[int, ...] | None = None
    precedence: tuple[int, ...] | None = None
    group: tuple[int, ...] | None = None
    application: tuple[str, ...] | None = None
    protocol: tuple[int, ...] | None = None
    src: tuple[str, ...] | None = None
    dst: tuple[str, ...] | None = None
    src_ports: tuple[PortRange, ...] | None = None
    dst_ports: tuple[PortRange, ...] | None = None
    any_port: tuple[PortRange, ...] | None = None
    vlan: tuple[int, ...] | None = None
    src_mac: tuple[str, ...] | None = None
    dst_mac: tuple[str, ...] | None = None
    input: tuple[str, ...] | None = None
    colour: tuple[Colour, ...] | None = None
    any: tuple[MatchSpec, ...] | None = None
    not_: MatchSpec | None = field(name="not", default=None)


EVERYTHING = MatchSpec()


class MarkSpec(ScenarioPart, frozen=True, kw_only=True):
    """New marks of a packet; what is absent stays."""

    dscp: int | None = None
    precedence: int | None = None
    cos: int | None = None
    group: int | None = None
    colour: Colour | None = None


class Marked(ScenarioPart, frozen=True, kw_only=True):
    """An action of a policer that sets marks; in an interface's list the next policer may come after it."""

    dscp: int | None = None
    precedence: int | None = None
    cos: int | None = None
    group: int | None = None
    colour: Colour | None = None
    then: Literal["transmit", "continue"] = "transmit"


ActionName = Literal["transmit", "drop", "continue"]
Action = ActionName | Marked


class _Policer(ScenarioPart, frozen=True, kw_only=True, tag_field="kind"):
    layer: PolicedLayer = "frame"
    conform: Action | None = None
    exceed: Action | None = None


class TokenBucketPolicer(_Policer, frozen=True, kw_only=True, tag="token_bucket"):
    """One bucket."""

    rate_bps: int
    burst_bytes: int


class SingleRatePolicer(_Policer, frozen=True, kw_only=True, tag="srtcm"):
    """RFC 2697."""

    rate_bps: int
    burst_bytes: int
    excess_burst_bytes: int
    colour_aware: bool = False
    violate: Action | None = None


class TwoRatePolicer(_Policer, frozen=True, kw_only=True, tag="trtcm"):
    """RFC 2698."""

    rate_bps: int
    burst_bytes: int
    peak_bps: int
    peak_burst_bytes: int
    colour_aware: bool = False
    violate: Action | None = None


class CarPolicer(_Policer, frozen=True, kw_only=True, tag="car"):
    """``rate-limit`` of IOS, which lends tokens."""

    rate_bps: int
    burst_bytes: int
    extended_burst_bytes: int = 0


class CellPolicer(_Policer, frozen=True, kw_only=True, tag="gcra"):
    """Of ATM cells (ITU-T I.371)."""

    pcr_bps: int
    cdvt_ps: int
    scr_bps: int | None = None
    burst_cells: int | None = None
    discard: Discard = "cell"
    encapsulation_bytes: int = 16


PolicerSpec = TokenBucketPolicer | SingleRatePolicer | TwoRatePolicer | CarPolicer | CellPolicer


class ListedPolice(ScenarioPart, frozen=True, kw_only=True):
    """A policer of an interface, before its rules."""

    match: MatchSpec = EVERYTHING
    police: PolicerSpec
