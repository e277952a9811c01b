"""Running the cases of experiments on all cores, once each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from qosforge.errors import ServiceError
from qosforge.experiments.cases import Case
from qosforge.experiments.catalogue import load_experiment
from qosforge.experiments.model import Experiment
from qosforge.experiments.rows import ResultRow, rows_of
from qosforge.experiments.testbeds import find_testbed
from qosforge.twin.report import TwinReport
from qosforge.twin.simulation import ScenarioError, simulate_all

_SEEDS = 2**64
"""The twin's seeds; trials of the last ones go on with the first."""
_BATCH = 64
"""Cases under way at once: bounds the memory that answers take."""


@dataclass(frozen=True)
class LoadPoint:
    """One case's rows by subject: of all its trials together, and of each."""

    load: float | None
    pooled: Mapping[str, ResultRow]
    trials: tuple[Mapping[str, ResultRow], ...]


@dataclass(frozen=True)
class ExperimentOutcome:
    """An experiment with all its points by scenario."""

    experiment: Experiment
    seed: int
    points: Mapping[str, tuple[LoadPoint, ...]]

    def at(self, scenario: str, subject: str) -> tuple[LoadPoint, ...]:
        """The points of a scenario that measured ``subject``, by rising load."""
        points = [point for point in self.points.get(scenario, ()) if subject in point.pooled]
        return tuple(sorted(points, key=lambda point: point.load or 0.0))


@dataclass
class ExperimentSession:
    """Runs experiments under one seed; each runs once, however many claims or other experiments read it."""

    seed: int = 1
    _outcomes: dict[str, ExperimentOutcome] = field(default_factory=dict)

    def outcome(self, name: str) -> ExperimentOutcome:
        """The outcome of an experiment, run if it was not yet.

        Raises:
            InputError: there is no such experiment.
            ServiceError: the twin refuses a case.
        """
        if name not in self._outcomes:
            self._outcomes[name] = self._run(load_experiment(name))
        return self._outcomes[name]

    def _run(self, experiment: Experiment) -> ExperimentOutcome:
        points: dict[str, list[LoadPoint]] = {name: [] for name in experiment.scenarios}
        for case, answers in _answers(_cases(experiment), self.seed):
            layer = experiment.rate_layer
            point = LoadPoint(case.load, rows_of(case, answers, layer), _trials(case, answers, layer))
            for scenario in case.scenarios:
                points[scenario].append(point)
        return ExperimentOutcome(experiment, self.seed, {name: _beside(found) for name, found in points.items()})


def _trials(case: Case, answers: Sequence[TwinReport], layer: str) -> tuple[Mapping[str, ResultRow], ...]:
    if case.repeats:
        return tuple(rows_of(replace(case, values=values), (), layer) for values in case.repeats)
    return tuple(rows_of(case, [answer], layer) for answer in answers) if len(answers) > 1 else ()


def _beside(points: Sequence[LoadPoint]) -> tuple[LoadPoint, ...]:
    """The points, those of rivals at one load as one, so that their rows can be read together."""
    found: list[LoadPoint] = []
    for point in points:
        rivals = {name for row in point.pooled.values() for name in row.selection.rivals}
        place = next((n for n, other in enumerate(found) if _are_rivals(rivals, point, other)), len(found))
        found[place : place + 1] = [_together(point, *found[place : place + 1])]
    return tuple(found)


def _are_rivals(rivals: set[str], point: LoadPoint, other: LoadPoint) -> bool:
    return point.load == other.load and not rivals.isdisjoint(other.pooled)


def _together(point: LoadPoint, other: LoadPoint | None = None) -> LoadPoint:
    if other is None:
        return point
    trials = tuple({**theirs, **own} for theirs, own in zip(other.trials, point.trials, strict=True))
    return LoadPoint(point.load, {**other.pooled, **point.pooled}, trials)


def _cases(experiment: Experiment) -> Iterator[Case]:
    """The testbed's cases; a figure that the data lack is named with the experiment."""
    try:
        yield from find_testbed(experiment.testbed)(experiment)
    except KeyError as missing:
        raise ServiceError(
            f"experiment {experiment.name}: its data have no {missing}", hint="add it to its experiment.yaml"
        ) from None


def _answers(cases: Iterable[Case], seed: int) -> Iterable[tuple[Case, list[TwinReport]]]:
    batch: list[Case] = []
    for case in cases:
        batch.append(case)
        if len(batch) == _BATCH:
            yield from _simulate(batch, seed)
            batch = []
    yield from _simulate(batch, seed)


def _simulate(batch: Sequence[Case], seed: int) -> Iterable[tuple[Case, list[TwinReport]]]:
    """Trial ``n`` of a case runs under the session's seed plus ``n``."""
    runs = [
        (case.document, (seed + trial) % _SEEDS)
        for case in batch
        if case.document is not None
        for trial in range(case.trials)
    ]
    try:
        answers = simulate_all([document for document, _ in runs], [seed for _, seed in runs])
    except ScenarioError as error:
        raise ServiceError(f"the twin refuses a case: {error}") from None
    for case in batch:
        trials = case.trials if case.document is not None else 0
        yield case, [next(answers) for _ in range(trials)]
