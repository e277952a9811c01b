"""Sizes of queues and buckets: packets, bytes, time."""

from __future__ import annotations

import re
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo

from qosforge.units import WRITTEN, shortened

_BYTES = re.compile(r"([0-9]{1,9}) ?(B|kB)")
_DEPTH = re.compile(r"([0-9]{1,9}) ?(packets|packet|B|kB|ms|us|%)")
_FACTORS = {"B": 1, "kB": 1000}


def _parse_bytes(value: object, info: ValidationInfo) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and info.context != WRITTEN:
        return value
    found = _BYTES.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{shortened(value)} is no number of bytes: write it like '8000 B' (units: B, kB)")
    return int(found[1]) * _FACTORS[found[2]]


Bytes = Annotated[
    int,
    Field(ge=1),
    BeforeValidator(_parse_bytes, json_schema_input_type=str),
    PlainSerializer(lambda value: f"{value} B", when_used="json"),
]
"""A number of bytes, written ``8000 B`` or ``8 kB`` (1 kB is 1000 bytes)."""


BytesOrNone = Annotated[
    int,
    Field(ge=0),
    BeforeValidator(_parse_bytes, json_schema_input_type=str),
    PlainSerializer(lambda value: f"{value} B", when_used="json"),
]
"""As `Bytes`, or ``0 B``."""


class QueueSize(NamedTuple):
    """How much of a queue: ``value`` in ``unit``.

    ``ms`` and ``us`` are the time that the queue needs to drain, ``percent`` a part of what it can hold.
    """

    value: int
    unit: Literal["packets", "bytes", "ms", "us", "percent"]

    @property
    def timed(self) -> bool:
        """Whether it is a time."""
        return self.unit in _IN_A_SECOND

    def bytes_at(self, rate: float) -> float:
        """What a queue that drains at so many bits per second has in it, of a time or a number of bytes."""
        return self.value * rate / 8 / _IN_A_SECOND[self.unit] if self.timed else float(self.value)


_IN_A_SECOND = {"ms": 1_000, "us": 1_000_000}
_UNITS: dict[str, Literal["packets", "ms", "us", "percent"]] = {"ms": "ms", "us": "us", "%": "percent"}


def _parse_depth(value: object) -> object:
    if isinstance(value, QueueSize):
        return value
    found = _DEPTH.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[1]) == 0:
        example = "'20 packets', '64 kB', '10 ms' or '80 %'"
        raise ValueError(f"{shortened(value)} is no depth of a queue: write it like {example}, above zero")
    if found[2] in _FACTORS:
        return QueueSize(int(found[1]) * _FACTORS[found[2]], "bytes")
    if found[2] == "%" and int(found[1]) > 100:
        raise ValueError(f"{found[0]} is more than the queue holds: give at most 100 %")
    return QueueSize(int(found[1]), _UNITS.get(found[2], "packets"))


_WRITTEN = {"bytes": "B", "percent": "%"}


def _written_depth(value: QueueSize) -> str:
    return f"{value.value} {_WRITTEN.get(value.unit, value.unit)}"


QueueSizeText = Annotated[
    QueueSize,
    BeforeValidator(_parse_depth, json_schema_input_type=str),
    PlainSerializer(_written_depth, when_used="json"),
]
"""A threshold in a queue, written ``20 packets``, ``64 kB``, ``10 ms``, ``500 us`` or ``80 %``."""
