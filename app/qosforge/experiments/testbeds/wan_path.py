"""A chain of routers over an ocean: the INFN-FNAL tests of remote control beside TCP and UDP.

Stations send through ``router1`` over one or more lines to the last router and back; the carrier polices the
cells of one direction. Rates count ATM cells on every link.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from qosforge.errors import ServiceError
from qosforge.experiments.cases import Case, read_described
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.wan_routers import router_ports
from qosforge.experiments.testbeds.wan_subjects import subjects
from qosforge.experiments.testbeds.wan_traffic import WanTraffic, cell_bits, flows
from qosforge.resources import SOURCES, read_yaml
from qosforge.twin.described import read_policer
from qosforge.twin.filters import MatchSpec
from qosforge.twin.part import VERSION
from qosforge.twin.scenario import (
    PS,
    EgressRule,
    EgressSpec,
    IngressOtherwise,
    IngressSpec,
    LinkSpec,
    NodeSpec,
    PortSpec,
    QueueSpec,
    SeriesSpec,
    TwinScenario,
)
from qosforge.twin.schedulers import FIFO, StrictScheduler

_FOLDER = "qosforge/experiments/data/paths"
LAN_QUEUE = EgressSpec(queues=(QueueSpec(name="lan", limit_packets=20000),), scheduler=FIFO)
"""Stations and LAN ports hold whatever TCP windows allow."""
SERIES = SeriesSpec(every_ps=PS // 10)
KNOWN = frozenset(
    {
        "tcp_forward",
        "tcp_reverse",
        "tcp_each_line",
        "udp",
        "remote_control",
        "probe",
        "lines",
        "policed",
        "routers",
        "priority_at",
        "together",
    }
)


def cases(experiment: Experiment) -> Iterator[Case]:
    """One case for every scenario.

    Raises:
        ServiceError: the path or a scenario has a key that is not known, or asks for what does not exist.
    """
    for name, scenario in experiment.scenarios.items():
        if unknown := sorted(set(scenario) - KNOWN):
            raise ServiceError(
                f"{experiment.name}: scenario {name} has {', '.join(unknown)}",
                hint=f"use {', '.join(sorted(KNOWN))}",
            )
        if "together" in scenario:
            continue
        names = [
            name,
            *(other for other, what in experiment.scenarios.items() if name in what.get("together", ())),
        ]
        yield _case(experiment, scenario, names)


@cache
def path(name: str) -> Mapping[str, Any]:
    """The data of a path.

    Raises:
        ServiceError: there is none of this name.
    """
    known = sorted(file.stem for file in (SOURCES / _FOLDER).glob("*.yaml"))
    if name not in known:
        raise ServiceError(f"no path is called {name!r}", hint=f"use one of {', '.join(known)}")
    data: Mapping[str, Any] = read_yaml(f"{_FOLDER}/{name}.yaml")
    return data


def propagation_ps(route: Mapping[str, Any], lines: int) -> int:
    """Propagation of one line, so that the empty path has the smallest round trip of the paper."""
    bits = cell_bits(route["idle_rtt_bytes"])
    one_way = bits * lines / (route["line_mbps"] * 1e6) + bits * 2 / (route["access_mbps"] * 1e6)
    seconds: float = (route["idle_rtt_ms"] / 1000 / 2 - one_way) / lines
    return round(seconds * PS)


def _case(experiment: Experiment, scenario: Mapping[str, Any], names: list[str]) -> Case:
    setup = experiment.setup
    route = path(setup["path"])
    traffic = WanTraffic(route, setup, scenario, lines=scenario.get("lines", route["lines"]))
    sent = flows(traffic)
    document = TwinScenario(
        version=VERSION,
        duration_ps=round((setup["warm_up"] + setup["seconds"]) * PS),
        warmup_ps=round(setup["warm_up"] * PS),
        nodes=(*_routers(experiment, traffic), *_stations(traffic)),
        links=tuple(_links(traffic)),
        flows=tuple(sent),
    )
    return Case(
        scenarios=tuple(names),
        document=document,
        subjects=subjects(traffic, sent),
        load=scenario.get("tcp_forward"),
        trials=setup["trials"],
    )


def _routers(experiment: Experiment, traffic: WanTraffic) -> list[NodeSpec]:
    """Routers in a chain: ``up`` leads to FNAL, ``down`` to INFN, and every station has a port."""
    nodes: list[NodeSpec] = []
    for number in range(1, traffic.lines + 2):
        name = f"router{number}"
        line, lan = _service(experiment, traffic, name, mirrored=number > 1)
        line = replace(line, series=SERIES)
        ports: list[PortSpec] = []
        if number <= traffic.lines:
            ports.append(PortSpec(name="up", egress=line))
        if number > 1:
            policed = number - 1 in traffic.scenario.get("policed", [1])
            ingress = _carrier(traffic.route) if policed else IngressSpec()
            ports.append(PortSpec(name="down", egress=line, ingress=ingress))
        ports += [replace(lan, name=station) for station, at in traffic.stations.items() if at == number]
        nodes.append(NodeSpec(name=name, ports=tuple(ports)))
    return nodes


def _service(
    experiment: Experiment, traffic: WanTraffic, name: str, *, mirrored: bool
) -> tuple[EgressSpec, PortSpec]:
    """How a router serves its lines, and its ports to stations."""
    route = traffic.route
    lan = PortSpec(name="lan", egress=LAN_QUEUE)
    if name in traffic.scenario.get("routers", {}):
        device = experiment.devices.get(traffic.scenario["routers"][name])
        if device is None:
            wanted = traffic.scenario["routers"][name]
            problem = f"{experiment.name}: {name}: {wanted} is no device of the experiment"
            raise ServiceError(problem, hint="add it to devices")
        line, lan = router_ports({**device, "mirrored": mirrored}, name, route)
        assert line.egress is not None
        return line.egress, replace(lan, egress=LAN_QUEUE)
    if name in traffic.scenario.get("priority_at", ()):
        return _probe_first(route), lan
    only = QueueSpec(name="all", limit_packets=route["queue_packets"])
    return EgressSpec(queues=(only,), scheduler=FIFO), lan


def _carrier(route: Mapping[str, Any]) -> IngressSpec:
    """What the carrier polices, if it does."""
    if not route["policer"]:
        return IngressSpec()
    return IngressSpec(otherwise=IngressOtherwise(police=read_described(read_policer, route["policer"])))


def _probe_first(route: Mapping[str, Any]) -> EgressSpec:
    """A line that sends remote control before everything else."""
    room = route["queue_packets"]
    return EgressSpec(
        rules=(EgressRule(match=MatchSpec(application=("robin",)), queue=1),),
        queues=(QueueSpec(name="all", limit_packets=room), QueueSpec(name="robin", limit_packets=room)),
        scheduler=StrictScheduler(order=(1, 0)),
    )


def _stations(traffic: WanTraffic) -> list[NodeSpec]:
    nic = PortSpec(name="nic", egress=replace(LAN_QUEUE, series=SERIES))
    return [NodeSpec(name=station, ports=(nic,)) for station in traffic.stations]


def _links(traffic: WanTraffic) -> list[LinkSpec]:
    route = traffic.route
    delay = propagation_ps(route, traffic.lines)
    lines = [
        LinkSpec(
            a=(f"router{number}", "up"),
            b=(f"router{number + 1}", "down"),
            rate_bps=round(route["line_mbps"] * 1e6),
            delay_ps=delay,
            framing="atm",
        )
        for number in range(1, traffic.lines + 1)
    ]
    access = [
        LinkSpec(
            a=(station, "nic"),
            b=(f"router{at}", station),
            rate_bps=round(route["access_mbps"] * 1e6),
            framing="atm",
        )
        for station, at in traffic.stations.items()
    ]
    return [*lines, *access]
