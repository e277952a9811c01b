"""Device profiles: what a box does to packets beside what is configured, as data with sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML

from app.errors import Place, ServiceError
from app.resources import read_text


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Room(_Model):
    """What a queue holds: one figure for all queues of a port, or one per queue from queue 0 on."""

    packets: int | tuple[int, ...] | None = None
    bytes: int | tuple[int, ...] | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        if (self.packets is None) == (self.bytes is None):
            raise ValueError("give the room in packets or in bytes")
        return self

    def of(self, queue: int) -> dict[str, int]:
        """The limit of a queue, counted from 0, as the twin takes it."""
        unit, value = ("limit_packets", self.packets) if self.packets is not None else ("limit_bytes", self.bytes)
        assert value is not None
        return {unit: value if isinstance(value, int) else value[queue]}


class Discipline(_Model):
    """What the box really does when it is told to serve by a discipline.

    ``scheduler`` is the twin's, without weights; ``slots`` is the number of steps in which the box holds weights;
    ``room`` replaces the profile's where queues are carved otherwise under this discipline.
    """

    scheduler: Mapping[str, Any]
    slots: int | None = Field(default=None, gt=0)
    room: Room | None = None


class DeviceProfile(_Model):
    """One kind of box.

    ``transmit_fifo`` packets handed to the hardware cannot be overtaken; ``latency`` is the fixed time through the
    box and ``per_packet`` the time between two packets that the line is held beside their bits, both in seconds.
    ``sources`` says, for every figure, where it comes from.
    """

    version: Literal[1] = 1
    title: str
    transmit_fifo: int = Field(default=1, ge=1)
    latency: float = Field(default=0.0, ge=0)
    per_packet: float = Field(default=0.0, ge=0)
    room: Room | None = None
    disciplines: Mapping[str, Discipline] = {}
    sources: Mapping[str, str]

    @model_validator(mode="after")
    def _every_figure_has_a_source(self) -> Self:
        figures = self.model_fields_set - {"version", "title", "sources"}
        missing = sorted(figures - set(self.sources))
        if missing:
            raise ValueError(f"no source is given for {', '.join(missing)}")
        return self


def read_profile(file: str) -> DeviceProfile:
    """The profile in a data file, named by its path below the project's root.

    Raises:
        ServiceError: there is none, or it is wrong; names the file and the field.
    """
    raw = YAML(typ="safe").load(read_text(file))
    try:
        return DeviceProfile.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise ServiceError(first["msg"], Place(file=file, path=path or None), "correct the profile") from None
