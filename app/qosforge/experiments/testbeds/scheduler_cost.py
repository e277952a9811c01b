"""What a scheduler costs the processor, by how often it looks at classes, beside simulations of it.

Scenarios with ``cost`` are counted, the others are simulated by the link-sharing testbed. The twin counts how often
a scheduler looks at a class (its limit, its suspension, its turn) and charges one; a processor that makes
``visits_per_second`` of such steps, and does nothing else, sends so many packets per second. Nothing depends on the
machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from statistics import median

import qosforge_twin

from qosforge.experiments.cases import Case, Json, SubjectSelection
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.link_sharing import documents, simulated_cases

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
        {kind: {_METRIC: steps / _visits_per_packet(text, seed)} for kind, text in chosen.items()}
        for seed in range(1, experiment.setup["trials"] + 1)
    )
    values = {kind: {_METRIC: median(one[kind][_METRIC] for one in repeats)} for kind in chosen}
    subjects = {kind: SubjectSelection() for kind in chosen}
    return Case(scenarios=(name,), document=None, subjects=subjects, values=values, repeats=repeats)


def _counting(document: Json) -> str:
    """The scenario whose scheduler counts."""
    for node in document["nodes"]:
        for port in node["ports"]:
            if "egress" in port:
                port["egress"]["scheduler"]["count_visits"] = True
    return json.dumps(document)


def _visits_per_packet(text: str, seed: int) -> float:
    answer: Json = json.loads(qosforge_twin.run(text, seed))
    (port,) = (port for port in answer["ports"] if "class_visits" in port)
    return float(port["class_visits"] / sum(queue["packets_out"] for queue in port["queues"]))
