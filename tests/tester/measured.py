"""One device between two stations, measured on the twin: what a plan makes of constant loads."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import qosforge_twin

from qosforge.inventory.models import Framing
from qosforge.plan.model import Discipline, Egress, InterfacePlan, Queue, Rule, Scheduler, Term
from qosforge.tester.scenario.ports import framing_name

from .test_ports import link, made

Json = dict[str, Any]

PS = 10**12
RATE = 2_000_000
"""Bits per second of the measured line, which `made` takes shares of."""


@dataclass(frozen=True)
class Load:
    """A flow of so many IP bits per second; ``packet`` is what tells it apart beside its mark."""

    dscp: int
    rate: int
    size: int = 500
    packet: Json = field(default_factory=dict)
    kind: str = "cbr"


@dataclass(frozen=True)
class Seen:
    """What became of the loads, in their order, and the reports of the device's two ports."""

    flows: list[Json]
    into: Json
    out: Json
    far: Json

    def frame_rates(self) -> list[float]:
        """Frame bits per second that arrived, by flow."""
        return [flow["throughput_by_layer_bps"]["frame"] for flow in self.flows]


def measure(
    interface: InterfacePlan,
    *loads: Load,
    framing: Framing = Framing.ETHERNET,
    seconds: int = 20,
    far: Json | None = None,
) -> Seen:
    """Send the loads through the interface for so long; ``far`` is the other end's port."""
    port = made(interface, line=link(framing))
    path = [["h", "eth0"], ["a", interface.name]]
    scenario = {
        "version": 1,
        "duration_ps": (seconds + 2) * PS,
        "warmup_ps": 2 * PS,
        "drain": False,
        "nodes": [
            {"name": "h", "ports": [{"name": "eth0"}]},
            {"name": "a", "ports": [port, {"name": "in", "ingress": port["ingress"]}]},
            {"name": "b", "ports": [(far or {}) | {"name": "1"}]},
        ],
        "links": [
            {"a": path[0], "b": ["a", "in"], "rate_bps": 10**9, "framing": "ethernet"},
            {"a": path[1], "b": ["b", "1"], "rate_bps": RATE, "framing": framing_name(framing)},
        ],
        "flows": [
            {
                "name": f"f{number}",
                "path": path,
                "packet": {"dscp": load.dscp, "src_port": 1000 + number} | load.packet,
                "source": {
                    "kind": load.kind,
                    "rate_bps": load.rate,
                    "ip_bytes": load.size,
                    "start_ps": 1000 * number,
                }
                | ({"phase": {"mode": "random"}} if load.kind == "cbr" else {}),
            }
            for number, load in enumerate(loads)
        ],
    }
    answer = json.loads(qosforge_twin.run(json.dumps(scenario), 1))
    ports = {(each["node"], each["port"]): each for each in answer["ports"]}
    return Seen(answer["flows"], ports["a", "in"], ports["a", interface.name], ports["b", "1"])


def by_mark(*dscps: int) -> tuple[Rule, ...]:
    """Rules that give the queue of each place the packets with its mark."""
    return tuple(Rule(name=f"c{n}", any_of=(Term(dscp=(dscp,)),), queue=n) for n, dscp in enumerate(dscps))


def policy(*queues: Queue, rules: tuple[Rule, ...] = (), **egress: Any) -> Egress:
    """A policy of class-based queues, the last of which takes what no rule does."""
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues)
    return Egress(policy="P", rules=rules, default_queue=queues[-1].number, scheduler=scheduler, **egress)


def sending(egress: Egress) -> InterfacePlan:
    """An interface with this output."""
    return InterfacePlan(name="1", egress=egress)
