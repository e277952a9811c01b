"""Device profiles: what a device does to packets beside what is configured, as data with sources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, model_validator

from qosforge.errors import Place, ServiceError
from qosforge.resources import read_yaml
from qosforge.twin.described import read_red
from qosforge.twin.scenario import PS, QueueSpec, RedSpec


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BufferSize(_Model):
    """What a queue holds: one figure for all queues of a port, or one per queue from queue 0 on.

    With packets and bytes the first limit that is reached counts (descriptors and memory). ``early`` is the twin's
    random early detection, where the device drops before it is full.
    """

    packets: int | tuple[int, ...] | None = None
    bytes: int | tuple[int, ...] | None = None
    early: Annotated[RedSpec, PlainValidator(read_red)] | None = None

    @model_validator(mode="after")
    def _some_unit(self) -> Self:
        if self.packets is None and self.bytes is None:
            raise ValueError("give the room in packets or in bytes")
        return self

    def queue(self, name: str, number: int) -> QueueSpec:
        """The twin's queue of this name and room, ``number`` being counted from 0."""
        return QueueSpec(
            name=name,
            limit_packets=self.packets_of(number),
            limit_bytes=_of(self.bytes, number),
            red=self.early,
        )

    def packets_of(self, number: int) -> int | None:
        """The packets that a queue takes."""
        return _of(self.packets, number)


def _of(room: int | tuple[int, ...] | None, number: int) -> int | None:
    return room[number] if isinstance(room, tuple) else room


class DisciplineProfile(_Model):
    """What the device really does when it is told to serve by a discipline.

    ``scheduler`` is the twin's, without weights; ``slots`` is the number of steps in which the device holds
    weights; ``room``, ``latency`` and ``latency_jitter`` replace the profile's where the device differs under this
    discipline.
    """

    scheduler: Mapping[str, Any]
    slots: int | None = Field(default=None, gt=0)
    room: BufferSize | None = None
    latency: float | None = Field(default=None, ge=0)
    latency_jitter: float | None = Field(default=None, ge=0)


class DeviceProfile(_Model):
    """One kind of device.

    ``transmit_fifo`` packets handed to the hardware, the one on the wire included, cannot be overtaken; ``latency``
    is the fixed time through the device, ``latency_jitter`` the longest random time beside it (uniform, packets of
    one port keep their order) and ``per_packet`` the time between two packets that the line is held beside their
    bits, all in seconds. Of the configured size of a multilink fragment ``fragment_header`` bytes are its own
    header. ``sources`` says, for every figure, where it comes from.
    """

    version: Literal[1] = 1
    title: str
    transmit_fifo: int = Field(default=1, ge=1)
    latency: float = Field(default=0.0, ge=0)
    latency_jitter: float = Field(default=0.0, ge=0)
    per_packet: float = Field(default=0.0, ge=0)
    fragment_header: int = Field(default=0, ge=0)
    room: BufferSize | None = None
    disciplines: Mapping[str, DisciplineProfile] = {}
    sources: Mapping[str, str]

    @model_validator(mode="after")
    def _every_figure_has_a_source(self) -> Self:
        figures = self.model_fields_set - {"version", "title", "sources"}
        missing = sorted(figures - set(self.sources))
        if missing:
            raise ValueError(f"no source is given for {', '.join(missing)}")
        return self

    def latencies_ps(self, discipline: str | None = None) -> tuple[int, int]:
        """Latency and the longest jitter of a device, served by ``discipline`` where that makes a difference."""
        own = self.disciplines.get(discipline or "")
        latency, jitter = self.latency, self.latency_jitter
        if own is not None:
            latency = latency if own.latency is None else own.latency
            jitter = jitter if own.latency_jitter is None else own.latency_jitter
        return round(latency * PS), round(jitter * PS)


def platform_profile(platform: str) -> DeviceProfile:
    """The profile of a platform's device.

    Raises:
        ServiceError: the platform's package has none, or it is wrong.
    """
    return read_profile(f"qosforge/platforms/{platform}/profile.yaml")


@cache
def read_profile(file: str) -> DeviceProfile:
    """The profile in a data file, named by its path below the project's root.

    Raises:
        ServiceError: there is none, or it is wrong; names the file and the field.
    """
    raw = read_yaml(file)
    try:
        return DeviceProfile.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise ServiceError(first["msg"], Place(file=file, path=path or None), "correct the profile") from None
