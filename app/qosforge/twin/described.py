"""Parts of scenarios that data files describe by the twin's own keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from qosforge.twin.filters import PolicerSpec
from qosforge.twin.scenario import RedSpec
from qosforge.twin.schedulers import SchedulerSpec
from qosforge.twin.sources import SourceSpec

_Part = TypeVar("_Part")

_SCHEDULERS: msgspec.json.Decoder[SchedulerSpec] = msgspec.json.Decoder(SchedulerSpec)
_SOURCES: msgspec.json.Decoder[SourceSpec] = msgspec.json.Decoder(SourceSpec)
_POLICERS: msgspec.json.Decoder[PolicerSpec] = msgspec.json.Decoder(PolicerSpec)
_RED = msgspec.json.Decoder(RedSpec)


def read_scheduler(described: Mapping[str, Any]) -> SchedulerSpec:
    """The scheduler of a description.

    Raises:
        ValueError: it is none; says where.
    """
    return _read(described, _SCHEDULERS)


def read_source(described: Mapping[str, Any]) -> SourceSpec:
    """The source of a description.

    Raises:
        ValueError: it is none; says where.
    """
    return _read(described, _SOURCES)


def read_policer(described: Mapping[str, Any]) -> PolicerSpec:
    """The policer of a description; a token bucket unless it has another ``kind``.

    Raises:
        ValueError: it is none; says where.
    """
    return _read({"kind": "token_bucket", **described}, _POLICERS)


def read_red(described: Mapping[str, Any]) -> RedSpec:
    """The early detection of a description.

    Raises:
        ValueError: it is none; says where.
    """
    return _read(described, _RED)


def _read(described: Mapping[str, Any], decoder: msgspec.json.Decoder[_Part]) -> _Part:
    # As JSON has it: the numbers of queues are keys, and keys are strings.
    try:
        return decoder.decode(msgspec.json.encode(described))
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
