"""What a scheduler costs the processor, beside simulations of it: packets per second of the twin itself.

Scenarios with ``cost`` are timed, the others are simulated by the link-sharing bench. Schedulers take turns, so
that whatever else the machine does meets them alike; time is the processor time of the thread that runs the twin.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from statistics import median

import qosforge_twin

from app.experiments.benches.link_sharing import documents, simulated
from app.experiments.cases import Case, Json, Selection
from app.experiments.model import Experiment

_METRIC = "packets_per_second"


def cases(experiment: Experiment) -> Iterator[Case]:
    """The timed scenarios, each with its repetitions, and the simulated ones."""
    timed = [name for name, scenario in experiment.scenarios.items() if scenario.get("cost")]
    yield from simulated(experiment, [name for name in experiment.scenarios if name not in timed])
    for name in timed:
        yield _timed(experiment, name)


def _timed(experiment: Experiment, name: str) -> Case:
    texts = {kind: json.dumps(document) for kind, document in documents(experiment, name)}
    repeats = tuple(_best(texts, experiment.setup["best_of"]) for _ in range(experiment.setup["repeats"]))
    values = {kind: {_METRIC: median(one[kind][_METRIC] for one in repeats)} for kind in texts}
    subjects = {kind: Selection() for kind in texts}
    return Case(scenarios=(name,), document=None, subjects=subjects, values=values, repeats=repeats)


def _best(texts: Mapping[str, str], runs: int) -> dict[str, dict[str, float]]:
    """The best of some runs of each: what disturbs a run only ever slows it down."""
    found = dict.fromkeys(texts, 0.0)
    for _ in range(runs):
        for kind, text in texts.items():
            found[kind] = max(found[kind], _packets_per_second(text))
    return {kind: {_METRIC: rate} for kind, rate in found.items()}


def _packets_per_second(text: str) -> float:
    begin = time.thread_time()
    told = qosforge_twin.run(text, 1)
    seconds = time.thread_time() - begin
    answer: Json = json.loads(told)
    return float(sum(flow["delivered"] for flow in answer["flows"]) / seconds)
