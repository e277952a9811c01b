"""What a scheduler costs the processor, by how often it looks at classes, beside simulations of it.

Scenarios with ``cost`` are counted, the others are simulated by the link-sharing testbed. The twin counts how often
a scheduler looks at a class (its limit, its suspension, its turn) and charges one; a processor that makes
``visits_per_second`` of such steps, and does nothing else, sends so many packets per second. Nothing depends on the
machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from msgspec.structs import replace

from qosforge.experiments.cases import Case, SubjectSelection
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.link_sharing import documents, simulated_cases
from qosforge.twin.scenario import NodeSpec, PortSpec, TwinScenario
from qosforge.twin.schedulers import CbqScheduler, DcbqeScheduler, DcbqScheduler
from qosforge.twin.simulation import simulate

_METRIC = "packets_per_second"


def cases(experiment: Experiment) -> Iterator[Case]:
    """The counted scenarios, one repetition for each seed from 1, and the simulated ones."""
    counted = [name for name, scenario in experiment.scenarios.items() if scenario.get("cost")]
    yield from simulated_cases(experiment, [name for name in experiment.scenarios if name not in counted])
    for name in counted:
        yield _counted(experiment, name)


def _counted(experiment: Experiment, name: str) -> Case:
    steps = float(experiment.setup["visits_per_second"])
    chosen = {kind: _counting(document) for kind, document in documents(experiment, name)}
    repeats = tuple(
        {kind: {_METRIC: steps / _visits_per_packet(document, seed)} for kind, document in chosen.items()}
        for seed in range(1, experiment.setup["trials"] + 1)
    )
    values = {kind: {_METRIC: median(one[kind][_METRIC] for one in repeats)} for kind in chosen}
    subjects = {kind: SubjectSelection() for kind in chosen}
    return Case(scenarios=(name,), document=None, subjects=subjects, values=values, repeats=repeats)


def _counting(document: TwinScenario) -> TwinScenario:
    """The scenario with a scheduler that counts."""
    return replace(document, nodes=tuple(map(_counting_node, document.nodes)))


def _counting_node(node: NodeSpec) -> NodeSpec:
    return replace(node, ports=tuple(map(_counting_port, node.ports)))


def _counting_port(port: PortSpec) -> PortSpec:
    scheduler = None if port.egress is None else port.egress.scheduler
    if port.egress is None or not isinstance(scheduler, CbqScheduler | DcbqScheduler | DcbqeScheduler):
        return port
    return replace(port, egress=replace(port.egress, scheduler=replace(scheduler, count_visits=True)))


def _visits_per_packet(document: TwinScenario, seed: int) -> float:
    (port,) = (port for port in simulate(document, seed).ports if port.class_visits is not None)
    return float((port.class_visits or 0) / sum(queue.packets_out for queue in port.queues))
