"""One class-based scheduler with sources attached to it: the testbed of Decoupled CBQ (Risso 2001).

Every simulation is run under each scheduler, with the same sources under the same seeds, and stands beside the
fluid model of its tree. Packets are put straight into the queues of the scheduler's port; rates are of whole
packets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qosforge.errors import ServiceError
from qosforge.experiments.cases import Case, SubjectSelection
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.class_traffic import flows, offered_kbps, silent
from qosforge.experiments.testbeds.class_tree import ClassTree, tree
from qosforge.twin.filters import MatchSpec
from qosforge.twin.part import VERSION
from qosforge.twin.scenario import (
    PS,
    EgressRule,
    EgressSpec,
    FlowSpec,
    LinkSpec,
    NodeSpec,
    PortName,
    PortSpec,
    QueueSpec,
    TwinScenario,
)

MODEL = "fluid"
"""The subject that is computed and not run."""
PORT: PortName = ("scheduler", "out")
_RECEIVER: PortName = ("receiver", "in")


@dataclass(frozen=True)
class Simulation:
    """A tree with its traffic, and the set-up it runs in."""

    tree: ClassTree
    setup: Mapping[str, Any]

    @property
    def link_kbps(self) -> float:
        """The rate of the link that is shared."""
        return float(self.setup["link_kbps"])

    def sources(self, traffic: str) -> list[Mapping[str, Any]]:
        """What a class of this traffic sends; raises ServiceError where no traffic is called so."""
        known = {**self.setup["traffic"], **self.setup.get("sending", {})}
        if traffic not in known:
            raise ServiceError(f"no traffic is called {traffic!r}", hint=f"use one of {', '.join(known)}")
        return list(known[traffic])

    def offered_kbps(self) -> dict[str, float]:
        """Mean rate of each leaf that sends."""
        return {
            leaf.name: offered_kbps(leaf, self.sources(leaf.traffic), self.link_kbps)
            for leaf in self.tree.senders
            if leaf.traffic is not None
        }

    def expected_kbps(self) -> dict[str, float]:
        """What each leaf gets in the fluid model."""
        return self.tree.fluid(self.offered_kbps(), self.link_kbps)


def cases(experiment: Experiment) -> Iterator[Case]:
    """All cases: every simulation of every scenario under every scheduler, and the fluid model of each.

    Simulations are numbered through the experiment: the number is the load of their rows.
    """
    return simulated_cases(experiment, list(experiment.scenarios))


def simulated_cases(experiment: Experiment, chosen: Sequence[str]) -> Iterator[Case]:
    """The cases of some scenarios of the experiment."""
    number = 0
    for name in chosen:
        names = (name, *_wholes(experiment, name))
        for simulation in simulations(experiment, name, experiment.scenarios[name]):
            number += 1
            yield fluid_case(simulation, names, number)
            for kind in simulation.setup["schedulers"]:
                yield twin_case(simulation, kind, _source_flows(simulation), names, number)


def documents(experiment: Experiment, name: str) -> Iterator[tuple[str, TwinScenario]]:
    """The twin's scenario under each scheduler, of every simulation of one scenario of the experiment."""
    for simulation in simulations(experiment, name, experiment.scenarios[name]):
        for kind in simulation.setup["schedulers"]:
            yield kind, _document(simulation, kind, _source_flows(simulation))


def _wholes(experiment: Experiment, name: str) -> Iterator[str]:
    """The scenarios that are made of this one, directly or not."""
    for whole, scenario in experiment.scenarios.items():
        if name in scenario.get("together", ()):
            yield whole
            yield from _wholes(experiment, whole)


def simulations(experiment: Experiment, name: str, scenario: Mapping[str, Any]) -> Iterator[Simulation]:
    """The simulations of one scenario; none where it is made of others.

    Raises:
        ServiceError: the data describe no tree.
    """
    if "together" in scenario:
        return
    if "again" in scenario:
        for other in scenario["again"]:
            inner = experiment.scenarios[other]
            yield _simulation(experiment, name, [inner, {k: v for k, v in scenario.items() if k != "again"}])
        return
    for one in scenario.get("simulations", ({},)):
        yield _simulation(experiment, name, [scenario, one])


def _simulation(experiment: Experiment, where: str, layers: list[Mapping[str, Any]]) -> Simulation:
    setup = dict(experiment.setup)
    each: dict[str, Any] = {}
    for layer in layers:
        setup |= {k: v for k, v in layer.items() if k not in ("each", "classes", "simulations")}
        each |= layer.get("each", {})
    structures = experiment.setup["structures"]
    structure = setup.get("structure")
    if structure not in structures:
        raise ServiceError(
            f"{where}: no structure is called {structure!r}", hint=f"use one of {', '.join(structures)}"
        )
    classes: list[Mapping[str, Any]] = [structures[structure], *(layer.get("classes", {}) for layer in layers)]
    chosen = setup.get("only")
    if chosen is not None:
        setup["schedulers"] = {kind: setup["schedulers"][kind] for kind in chosen}
    return Simulation(tree(classes, each, where), setup)


def fluid_case(simulation: Simulation, names: tuple[str, ...], number: int) -> Case:
    """What the fluid model gives each leaf."""
    expected = simulation.expected_kbps()
    values = {f"{MODEL}.{name}": {"throughput_kbps": rate} for name, rate in expected.items()}
    total = math.fsum(expected.values())
    values[f"{MODEL}.all"] = {"throughput_kbps": total, "idle_kbps": simulation.link_kbps - total}
    subjects = {subject: SubjectSelection(expected=found) for subject, found in values.items()}
    return Case(scenarios=names, document=None, subjects=subjects, load=float(number), values=values)


def twin_case(
    simulation: Simulation, kind: str, sent: Mapping[str, Sequence[FlowSpec]], names: tuple[str, ...], number: int
) -> Case:
    """A simulation in the twin under a scheduler; ``sent`` are the flows of each leaf."""
    return Case(
        scenarios=names,
        document=_document(simulation, kind, sent),
        subjects=_subjects(simulation, kind, {name: tuple(f.name for f in found) for name, found in sent.items()}),
        load=float(number),
        trials=simulation.setup["trials"],
    )


def _source_flows(simulation: Simulation) -> dict[str, list[FlowSpec]]:
    """The flows of every leaf."""
    setup = simulation.setup
    return {
        leaf.name: flows(leaf, queue, simulation.sources(leaf.traffic), setup, PORT)
        if leaf.traffic is not None
        else [silent(leaf, queue, PORT, _end_ps(setup))]
        for queue, leaf in enumerate(simulation.tree.leaves)
    }


def _end_ps(setup: Mapping[str, Any]) -> int:
    return round(float(setup["warm_up"] + setup["seconds"]) * PS)


def _document(simulation: Simulation, kind: str, sent: Mapping[str, Sequence[FlowSpec]]) -> TwinScenario:
    setup, leaves = simulation.setup, simulation.tree.leaves
    scheduler = simulation.tree.scheduler({**setup["schedulers"][kind], "estimator": setup["estimator"]})
    egress = EgressSpec(
        queues=tuple(QueueSpec(name=leaf.name, limit_packets=setup["queue_packets"]) for leaf in leaves),
        rules=tuple(EgressRule(match=MatchSpec(cos=(queue,)), queue=queue) for queue in range(1, len(leaves))),
        scheduler=scheduler,
    )
    (node, port), (receiver, end) = PORT, _RECEIVER
    return TwinScenario(
        version=VERSION,
        duration_ps=_end_ps(setup),
        warmup_ps=round(setup["warm_up"] * PS),
        drain=False,
        nodes=(
            NodeSpec(name=node, ports=(PortSpec(name=port, egress=egress),)),
            NodeSpec(name=receiver, ports=(PortSpec(name=end),)),
        ),
        links=(LinkSpec(a=PORT, b=_RECEIVER, rate_bps=round(simulation.link_kbps * 1000), framing="none"),),
        flows=tuple(flow for found in sent.values() for flow in found),
    )


def _subjects(
    simulation: Simulation, kind: str, sent: Mapping[str, tuple[str, ...]]
) -> dict[str, SubjectSelection]:
    expected, tree_ = simulation.expected_kbps(), simulation.tree
    link = simulation.link_kbps / 1000
    sending = tree_.senders
    rivals = simulation.setup["schedulers"]
    shares = {leaf.name: leaf.share for leaf in sending}
    # Best-effort traffic exceeds what it is allocated: its delay says nothing.
    timed = tuple(
        f"{kind}.{leaf.name}" for leaf in sending if leaf.traffic in simulation.setup.get("real_time", ())
    )
    subjects = {
        f"{kind}.{leaf.name}": SubjectSelection(
            flows=sent[leaf.name],
            port=PORT,
            queues=(leaf.name,),
            expected={"throughput_mbps": expected[leaf.name] / 1000, "throughput_kbps": expected[leaf.name]},
            facts={"link_mbps": link, "weight": leaf.share, "whole_mbps": leaf.share * link},
            peers=tuple(f"{kind}.{other.name}" for other in sending),
            rivals=tuple(f"{other}.{leaf.name}" for other in rivals),
        )
        for leaf in tree_.leaves
    }

    def together(chosen: tuple[str, ...], peers: tuple[str, ...]) -> SubjectSelection:
        return SubjectSelection(
            flows=tuple(flow for name in chosen for flow in sent[name]),
            port=PORT,
            queues=chosen,
            expected={"throughput_mbps": math.fsum(expected[name] for name in chosen) / 1000},
            facts={"link_mbps": link, "whole_mbps": link * math.fsum(shares[name] for name in chosen)},
            peers=peers,
        )

    everything = tuple(leaf.name for leaf in sending)
    all_peers = tuple(f"{kind}.{name}" for name in everything)
    subjects[f"{kind}.all"] = subjects[kind] = together(everything, all_peers)
    if timed:
        subjects[kind] = together(tuple(name.partition(".")[2] for name in timed), timed)
    by_priority = {p: tuple(leaf.name for leaf in sending if leaf.priority == p) for p in ("high", "low")}
    if all(by_priority.values()):
        for priority, chosen in by_priority.items():
            subjects[f"{kind}.{priority}"] = together(chosen, all_peers)
    return subjects
