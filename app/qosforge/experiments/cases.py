"""What is run for an experiment: cases for the twin, and what of them makes up each subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from qosforge.errors import ServiceError
from qosforge.experiments.model import Experiment
from qosforge.twin.scenario import TwinScenario

_Part = TypeVar("_Part")
CurvePoints = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class SubjectSelection:
    """What of a run belongs to one subject.

    ``flows`` are names of the twin's flows, ``port`` is ``(node, port)`` where they queue and ``queues`` the names
    of their queues there. ``expected`` are figures of a model by metric, ``facts`` figures of the set-up (load per
    sender, weight, bounds), both in the units of the metrics' names. ``whole`` is the subject that shares are taken
    of, ``peers`` are the subjects that share with this one, ``rivals`` the same class in every scheduler that is
    compared (itself too), read at the same load. ``round_trip``: delays are round trips of transactions, with
    ``without_timeouts`` of those that had no retransmission timeout.
    """

    flows: tuple[str, ...] = ()
    port: tuple[str, str] | None = None
    queues: tuple[str, ...] = ()
    expected: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    whole: str | None = None
    peers: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    round_trip: bool = False
    without_timeouts: bool = False


@dataclass(frozen=True)
class Case:
    """One set-up at one load, run ``trials`` times with different seeds.

    It counts for all of ``scenarios``. ``document`` is the twin's scenario; None where nothing is simulated.
    ``curves`` are, by subject and by what they are of, points ``(x, y)`` to be drawn.
    ``values`` are metrics, by subject, that are computed and not read from rows; ``repeats`` are such, one for each
    repetition (their median stands for all).
    """

    scenarios: tuple[str, ...]
    document: TwinScenario | None
    subjects: Mapping[str, SubjectSelection]
    load: float | None = None
    trials: int = 1
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    repeats: tuple[Mapping[str, Mapping[str, float]], ...] = ()
    curves: Mapping[str, Mapping[str, CurvePoints]] = field(default_factory=dict)


class Testbed(Protocol):
    """Turns an experiment's data into cases."""

    def __call__(self, experiment: Experiment) -> Iterator[Case]:
        """All cases of the experiment.

        Raises:
            ServiceError: the data asks for what the testbed does not know.
        """
        ...


def read_described(read: Callable[[Mapping[str, Any]], _Part], described: Mapping[str, Any]) -> _Part:
    """A part of the twin's scenario that an experiment's data describe by the twin's keys.

    Raises:
        ServiceError: the twin has no such part.
    """
    try:
        return read(described)
    except ValueError as error:
        raise ServiceError(
            f"the data of an experiment are no part of a scenario: {error}", hint="see twin/SCENARIO.md"
        ) from None
