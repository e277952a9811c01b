"""The policers on the path of a probe: their limits and actions."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from qosforge.calculus.stages import Place

Json = dict[str, Any]

_COLOURS = {"exceed": "yellow", "violate": "red"}


def find_policers(port: Json, report: Json, side: str, at: tuple[str, ...]) -> Iterator[tuple[Place, Json]]:
    """The policers of one side of a port that packets met, in order, by the port's report of them."""
    described = port.get(side) or {}
    for number, listed in enumerate(described.get("police", ())):
        if any(report["policers"][side][number].values()):
            yield (at[0], at[1], f"{side} list", number), listed["police"]
    hit = next((i for i, entry in enumerate(report["rules"][side]) if entry["packets"]), None)
    if hit is not None and (police := _of_rule(described, hit)):
        yield (at[0], at[1], side, hit), police
    if side == "egress":
        for number, (queue, seen) in enumerate(zip(described.get("queues", ()), report["queues"], strict=False)):
            if seen["packets_in"] and queue.get("police"):
                yield (at[0], at[1], "queue", number), queue["police"]


def _of_rule(side: Json, hit: int) -> Json:
    rules = side.get("rules", [])
    rule: Json = rules[hit] if hit < len(rules) else side.get("otherwise") or {}
    return rule.get("police") or {}


def policer_limit(police: Json) -> tuple[int, int] | None:
    """Rate and burst that a policer lets through; None if it drops nothing for good."""
    exceed = police.get("exceed", "drop")
    if police.get("violate", exceed) != "drop":
        return None
    rate, burst = police["rate_bps"], police["burst_bytes"]
    match police.get("kind", "token_bucket"):
        case "car":
            borrowed = police.get("extended_burst_bytes", 0)
            return (rate, burst + (borrowed if borrowed > burst else 0)) if exceed == "drop" else None
        case "srtcm" if exceed != "drop":
            return rate, burst + police["excess_burst_bytes"]
        case "trtcm" if exceed != "drop":
            return police["peak_bps"], police["peak_burst_bytes"]
    return (rate, burst) if exceed == "drop" else None


def other_actions(police: Json) -> list[Json | str]:
    """What a policer may do with packets besides what it does with those that conform, unless it drops them."""
    conform: Json | str = police.get("conform", "transmit")
    exceed: Json | str = police.get("exceed", "drop")
    violate: Json | str = police.get("violate", exceed)
    outcomes = {"exceed": exceed, "violate": violate}
    sent = {outcome: action for outcome, action in outcomes.items() if action != "drop"}
    if police.get("kind") in {"srtcm", "trtcm"}:
        # They colour what they send, unless the action does.
        return [
            {"colour": _COLOURS[outcome]} | (action if isinstance(action, dict) else {})
            for outcome, action in sent.items()
        ]
    return [action for action in sent.values() if action != conform][:1]


def with_actions(nodes: list[Json], actions: Mapping[Place, Json | str]) -> list[Json]:
    """The nodes of a document with policers that do so with packets that conform."""
    changed = copy.deepcopy(nodes)
    ports = {(node["name"], port["name"]): port for node in changed for port in node["ports"]}
    for (node, port, kind, number), action in actions.items():
        described = ports[node, port]
        if kind == "queue":
            police = described["egress"]["queues"][number]["police"]
        elif kind.endswith(" list"):
            police = described[kind.removesuffix(" list")]["police"][number]["police"]
        else:
            police = _of_rule(described[kind], number)
        police["conform"] = action
    return changed
