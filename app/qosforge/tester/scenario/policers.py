"""The policers on the path of a probe: their limits and actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from msgspec.structs import replace

from qosforge.calculus.stages import Place
from qosforge.twin.filters import (
    Action,
    CarPolicer,
    CellPolicer,
    Colour,
    ListedPolice,
    Marked,
    PolicerSpec,
    SingleRatePolicer,
    TwoRatePolicer,
)
from qosforge.twin.report import PortReport
from qosforge.twin.scenario import (
    EgressRule,
    EgressSpec,
    IngressRule,
    IngressSpec,
    NodeSpec,
    PortName,
    PortSpec,
    QueueSpec,
)

Side = Literal["ingress", "egress"]

_LIST = {"ingress": "ingress list", "egress": "egress list"}
_QUEUE = "queue"


def find_policers(
    port: PortSpec, report: PortReport, side: Side, at: PortName
) -> Iterator[tuple[Place, PolicerSpec]]:
    """The policers of one side of a port that packets met, in order, by the port's report of them."""
    described: IngressSpec | EgressSpec | None
    if side == "ingress":
        described, outcomes, rules = port.ingress, report.policers.ingress, report.rules.ingress
    else:
        described, outcomes, rules = port.egress, report.policers.egress, report.rules.egress
    if described is None:
        return
    for number, listed in enumerate(described.police):
        if outcomes[number].met:
            yield (*at, _LIST[side], number), listed.police
    hit = next((i for i, entry in enumerate(rules) if entry.packets), None)
    if hit is not None and (police := _of_rule(described, hit)) is not None:
        yield (*at, side, hit), police
    if isinstance(described, EgressSpec):
        for number, (queue, seen) in enumerate(zip(described.queues, report.queues, strict=False)):
            if seen.packets_in and queue.police is not None:
                yield (*at, _QUEUE, number), queue.police


def _of_rule(side: IngressSpec | EgressSpec, hit: int) -> PolicerSpec | None:
    return side.rules[hit].police if hit < len(side.rules) else side.otherwise.police


def policer_limit(police: PolicerSpec) -> tuple[int, int] | None:
    """Rate and burst that a policer lets through; None if it drops nothing for good."""
    exceed = police.exceed or "drop"
    if isinstance(police, CellPolicer):
        raise ValueError("a policer of cells has no burst in bytes")
    if isinstance(police, SingleRatePolicer | TwoRatePolicer) and (police.violate or exceed) != "drop":
        return None
    rate, burst = police.rate_bps, police.burst_bytes
    match police:
        case CarPolicer():
            borrowed = police.extended_burst_bytes
            return (rate, burst + (borrowed if borrowed > burst else 0)) if exceed == "drop" else None
        case SingleRatePolicer() if exceed != "drop":
            return rate, burst + police.excess_burst_bytes
        case TwoRatePolicer() if exceed != "drop":
            return police.peak_bps, police.peak_burst_bytes
    return (rate, burst) if exceed == "drop" else None


def other_actions(police: PolicerSpec) -> list[Action]:
    """What a policer may do with packets besides what it does with those that conform, unless it drops them."""
    conform = police.conform or "transmit"
    exceed = police.exceed or "drop"
    if isinstance(police, SingleRatePolicer | TwoRatePolicer):
        # They colour what they send, unless the action does.
        return [
            _coloured(action, colour)
            for action, colour in ((exceed, _YELLOW), (police.violate or exceed, _RED))
            if action != "drop"
        ]
    return [exceed] if exceed not in ("drop", conform) else []


_YELLOW: Colour = "yellow"
_RED: Colour = "red"


def _coloured(action: Action, colour: Colour) -> Marked:
    if not isinstance(action, Marked):
        return Marked(colour=colour)
    return action if action.colour is not None else replace(action, colour=colour)


def with_actions(nodes: Sequence[NodeSpec], actions: Mapping[Place, Action]) -> tuple[NodeSpec, ...]:
    """The nodes of a scenario with policers that do so with packets that conform."""
    by_port: dict[PortName, dict[tuple[str, int], Action]] = {}
    for (node, port, kind, number), action in actions.items():
        by_port.setdefault((node, port), {})[kind, number] = action
    changed = {node for node, _ in by_port}
    return tuple(
        node
        if node.name not in changed
        else replace(
            node, ports=tuple(_with_actions(port, by_port.get((node.name, port.name), {})) for port in node.ports)
        )
        for node in nodes
    )


_ByPlace = Mapping[tuple[str, int], Action]


def _with_actions(port: PortSpec, actions: _ByPlace) -> PortSpec:
    for (kind, number), action in actions.items():
        port = _with_action(port, kind, number, action)
    return port


def _with_action(port: PortSpec, kind: str, number: int, action: Action) -> PortSpec:
    egress, ingress = port.egress, port.ingress
    if kind == _QUEUE and egress is not None:
        return replace(port, egress=replace(egress, queues=_changed(egress.queues, number, action)))
    listed = kind in _LIST.values()
    if kind in ("egress", _LIST["egress"]) and egress is not None:
        return replace(port, egress=_side_with_action(egress, number, action, listed=listed))
    if ingress is not None:
        return replace(port, ingress=_side_with_action(ingress, number, action, listed=listed))
    return port


_SideSpec = TypeVar("_SideSpec", IngressSpec, EgressSpec)
_Policed = TypeVar("_Policed", ListedPolice, QueueSpec, IngressRule, EgressRule)


def _side_with_action(side: _SideSpec, number: int, action: Action, *, listed: bool) -> _SideSpec:
    if listed:
        return replace(side, police=_changed(side.police, number, action))
    if number < len(side.rules):
        return replace(side, rules=_changed(side.rules, number, action))
    otherwise = side.otherwise
    return replace(side, otherwise=replace(otherwise, police=_conforming(otherwise.police, action)))


def _changed(parts: Sequence[_Policed], number: int, action: Action) -> tuple[_Policed, ...]:
    return tuple(
        replace(part, police=_conforming(part.police, action)) if at == number else part
        for at, part in enumerate(parts)
    )


def _conforming(police: PolicerSpec | None, action: Action) -> PolicerSpec | None:
    return None if police is None else replace(police, conform=action)
