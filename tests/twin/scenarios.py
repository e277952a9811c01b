"""Small scenarios for the twin's tests, as plain dictionaries, and a runner."""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import pytest
import qosforge_twin

SECOND = 10**12
MILLISECOND = 10**9

Part = TypeVar("Part")


def wire(described: msgspec.Struct) -> dict[str, Any]:
    """A part of a scenario as the twin reads it."""
    return json.loads(msgspec.json.encode(described))


def part(described: dict[str, Any], kind: type[Part]) -> Part:
    """A part of a scenario from its JSON."""
    return msgspec.json.decode(json.dumps(described), type=kind)


def run(scenario: dict[str, Any], seed: int = 1) -> dict[str, Any]:
    """The result of a scenario."""
    return json.loads(qosforge_twin.run(json.dumps(scenario), seed))


def refusal(scenario: dict[str, Any]) -> qosforge_twin.ScenarioError:
    """The error that a scenario is refused with."""
    with pytest.raises(qosforge_twin.ScenarioError) as caught:
        qosforge_twin.run(json.dumps(scenario), 1)
    return caught.value


def queues(count: int, limit: int = 100) -> list[dict[str, Any]]:
    """Queues q0, q1, ... of `limit` packets."""
    return [{"name": f"q{i}", "limit_packets": limit} for i in range(count)]


def by_cos(count: int) -> list[dict[str, Any]]:
    """Rules that put CoS n into queue n."""
    return [{"match": {"cos": [i]}, "queue": i} for i in range(count)]


def egress(count: int, scheduler: dict[str, Any], limit: int = 100, **rest: Any) -> dict[str, Any]:
    """An egress with `count` queues chosen by CoS."""
    return {"queues": queues(count, limit), "rules": by_cos(count), "scheduler": scheduler, **rest}


def one_port(
    port: dict[str, Any],
    flows: list[dict[str, Any]],
    rate_bps: int = 10_000_000,
    seconds: float = 1.0,
    framing: str = "none",
    **link: Any,
) -> dict[str, Any]:
    """Flows that start in the egress `port` of node r; node h is at the far end."""
    return {
        "version": 1,
        "duration_ps": round(seconds * SECOND),
        "nodes": [
            {"name": "r", "ports": [{"name": "out", "egress": port}]},
            {"name": "h", "ports": [{"name": "eth0"}]},
        ],
        "links": [{"a": ["r", "out"], "b": ["h", "eth0"], "rate_bps": rate_bps, "framing": framing, **link}],
        "flows": flows,
    }


def flow(name: str, cos: int = 0, packet: dict[str, Any] | None = None, **source: Any) -> dict[str, Any]:
    """A CBR flow (unless `kind` says otherwise) from r to h."""
    return {
        "name": name,
        "path": [["r", "out"]],
        "packet": {"cos": cos, **(packet or {})},
        "source": {"kind": "cbr", **source},
    }


def flows_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Flow reports by name."""
    return {f["name"]: f for f in result["flows"]}


def port_of(result: dict[str, Any], node: str = "r", port: str = "out") -> dict[str, Any]:
    """One port's report."""
    return next(p for p in result["ports"] if (p["node"], p["port"]) == (node, port))


def chain(
    node: dict[str, Any],
    flows: Sequence[dict[str, Any]],
    lines: Sequence[dict[str, Any]],
    ports: Sequence[dict[str, Any]] = (),
    seconds: float = 1.0,
) -> dict[str, Any]:
    """Flows from a over a device in the middle to b; `lines` are the links in order."""
    middle = {"name": "m", "ports": [{"name": "in"}, {"name": "out", **(ports[1] if ports else {})}], **node}
    first = {"name": "out", **(ports[0] if ports else {})}
    return {
        "version": 1,
        "duration_ps": round(seconds * SECOND),
        "nodes": [
            {"name": "a", "ports": [first]},
            middle,
            {"name": "b", "ports": [{"name": "in"}]},
        ],
        "links": [
            {"a": ["a", "out"], "b": ["m", "in"], **lines[0]},
            {"a": ["m", "out"], "b": ["b", "in"], **lines[1]},
        ],
        "flows": [{**f, "path": [["a", "out"], ["m", "out"]]} for f in flows],
    }


def ethernet(rate: int = 10**9, **rest: Any) -> dict[str, Any]:
    """An Ethernet line."""
    return {"rate_bps": rate, "framing": "ethernet", **rest}


def with_mtu(mtu: int) -> dict[str, Any]:
    """A port that cuts packets larger than this."""
    return {
        "egress": {
            "ip_mtu": mtu,
            "queues": [{"name": "q", "limit_packets": 100}],
            "scheduler": {"kind": "fifo"},
        }
    }


CUT = {"switching": "cut_through"}
