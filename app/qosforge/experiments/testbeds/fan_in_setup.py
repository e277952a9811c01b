"""The set-up of many senders into one output, as experiments' data state it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from qosforge.errors import ServiceError
from qosforge.experiments.model import Experiment
from qosforge.platforms.profile import BufferSize

Positive = Annotated[float, Field(gt=0)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Bursts(_Model):
    """Mean lengths of bursts and of the silence between them, microseconds."""

    on: Positive
    off: Positive


class Setup(_Model):
    """One device in one way of sending; times in seconds unless their name says otherwise.

    ``schedulers`` and ``room`` are those of devices without a ``profile``. ``clock_ppm`` is what a sender's clock
    may be off by, ``series_us`` the windows in which shares are counted.
    """

    senders: Annotated[int, Field(gt=0)]
    queues: Annotated[tuple[str, ...], Field(min_length=1)]
    link_mbps: Positive
    frame_bytes: Annotated[int, Field(ge=64)] | Mapping[str, Annotated[int, Field(ge=64)]]
    traffic: Literal["constant", "poisson", "bursts"]
    clock_ppm: Annotated[float, Field(ge=0)]
    discipline: Literal["strict", "wrr", "fifo"]
    schedulers: Mapping[str, Mapping[str, Any]]
    room: BufferSize
    turn_packets: Annotated[int, Field(gt=0)]
    seconds: Positive
    warm_up: Annotated[float, Field(ge=0)]
    trials: Annotated[int, Field(gt=0)]
    sweep_mbps: tuple[Positive, ...]
    weights: Mapping[str, Positive] = {}
    bursts_us: Bursts | None = None
    series_us: Positive | None = None
    framing: Literal["ethernet", "none"] = "ethernet"
    hops: Literal[1, 2] = 1
    profile: str | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for name, by_queue in (("weights", self.weights), ("frame_bytes", self.frame_bytes)):
            if isinstance(by_queue, Mapping) and by_queue and set(by_queue) != set(self.queues):
                raise ValueError(f"{name}: give one for each of {', '.join(self.queues)}")
        if self.discipline == "wrr" and not self.weights:
            raise ValueError("weights: round robin needs them")
        if self.traffic == "bursts" and self.bursts_us is None:
            raise ValueError("bursts_us: traffic in bursts needs their lengths")
        if self.profile is None and self.discipline not in self.schedulers:
            raise ValueError(f"schedulers: {self.discipline} is not among them")
        return self

    def frame(self, queue: int) -> int:
        """Size of a queue's frames, bytes."""
        return self.frame_bytes if isinstance(self.frame_bytes, int) else self.frame_bytes[self.queues[queue]]

    def queue_of(self, sender: int) -> int:
        """Senders stand in the order of their priorities, as many in each queue."""
        return sender * len(self.queues) // self.senders

    @property
    def weight(self) -> tuple[float, ...]:
        """Weights in the order of the queues, none where the discipline has none."""
        return tuple(self.weights[queue] for queue in self.queues) if self.weights else ()


class LoadSweep(_Model):
    """What of a scenario says what is run, not how.

    ``loads`` per sender in Mb/s, or those of the set-up's sweep ``from`` one ``to`` another; without ``devices``
    all that are run. ``between`` are, by queue, the loads at which it counts. A scenario of others ``together`` has
    nothing of its own.
    """

    devices: tuple[str, ...] | None = None
    loads: tuple[Positive, ...] | None = None
    first: Annotated[float, Field(alias="from")] = 0.0
    last: Annotated[float, Field(alias="to")] = math.inf
    between: Mapping[str, tuple[float, float]] | None = None
    together: tuple[str, ...] = ()


_OF_SWEEP = frozenset(field.alias or name for name, field in LoadSweep.model_fields.items())


def read_sweep(experiment: Experiment, scenario: str) -> LoadSweep:
    """Devices and loads of a scenario.

    Raises:
        ServiceError: the data are wrong; names the experiment and the field.
    """
    raw = experiment.scenarios[scenario]
    place = f"scenarios.{scenario}"
    sweep = _read(LoadSweep, {key: raw[key] for key in _OF_SWEEP & set(raw)}, experiment, place)
    for what, named, known in (
        ("devices", sweep.devices or (), experiment.devices),
        ("together", sweep.together, experiment.scenarios),
    ):
        unknown = sorted(set(named) - set(known))
        if unknown:
            problem = f"experiment {experiment.name}: {place}.{what}: {unknown[0]!r} does not exist"
            raise ServiceError(problem, hint=f"use {', '.join(known)}")
    return sweep


def read_setup(experiment: Experiment, scenario: Mapping[str, Any], device: str) -> Setup:
    """The set-up of a device in a scenario: what is particular to one replaces what is common to all.

    Raises:
        ServiceError: the data are wrong; names the experiment and the field.
    """
    own = {key: value for key, value in scenario.items() if key not in _OF_SWEEP}
    return _read(Setup, {**experiment.setup, **own, **(experiment.devices[device] or {})}, experiment, "setup")


Read = TypeVar("Read", bound=_Model)


def _read(model: type[Read], raw: Mapping[str, Any], experiment: Experiment, place: str) -> Read:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join((place, *(str(part) for part in first["loc"])))
        problem = f"experiment {experiment.name}: {where}: {first['msg']}"
        raise ServiceError(problem, hint="correct the experiment's data") from None
