"""Typed view of this platform's capability data."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from pydantic import BaseModel

from qosforge.errors import InputError, Place
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.platforms.capability_data import CapabilityData, Fact, Range, Sourced, load

PORT = re.compile(r"(?:[1-8]/)?\d{1,2}")


class PortsOfModels(Fact[dict[str, int]]):
    """Ports by model, and those of a model that is not listed."""

    otherwise: int


class DefaultGroup(Fact[str]):
    """The port group as delivered, and what it trusts."""

    trust: str


class ControlDscps(Fact[tuple[int, ...]]):
    """The DSCPs of network control, and their 802.1p priority."""

    cos: int


class FilterLimits(BaseModel):
    """How many filters a port takes."""

    classifiers: int
    counters: int
    meters: int


class FirstId(Fact[int]):
    """The range of numbers that our objects have."""

    last: int


class Nortel5510(CapabilityData):
    """The data of a 5510."""

    ports: PortsOfModels
    queue_sets: Fact[dict[int, tuple[int | Literal["strict"], ...]]]
    factory_queue_set: Fact[int]
    assumed_queue_set: Fact[int]
    factory_queue_of_priority: Fact[dict[int, int]]
    factory_dscp_to_cos: Fact[dict[int, int]]
    factory_cos_to_dscp: Fact[tuple[int, ...]]
    default_group: DefaultGroup
    control_cos: Fact[tuple[int, ...]]
    control_dscps: ControlDscps
    name_limit: Fact[int]
    precedences: Fact[int]
    first_id: FirstId
    queue_limit: Fact[int]
    undo_of_ports: Sourced
    undo_of_queues: Sourced
    undo_of_marks: Sourced
    undo_of_priorities: Sourced
    filter_actions: Sourced
    filter_blocks: Sourced
    filter_policies: Sourced
    filter_limits: Fact[FilterLimits]
    buckets: Fact[tuple[int, ...]]
    meter_rate: Range
    burst_above: Fact[int]
    shaper_bucket_ms: Fact[int]


CAPABILITIES = load("nortel_5510", Nortel5510)


def check_port(interface: str, device: str) -> None:
    """Whether this is a port as the device writes it.

    Raises:
        InputError: it is not.
    """
    if PORT.fullmatch(interface) is None:
        raise InputError(
            f"{interface!r} is not a port",
            Place(device=device, interface=interface if interface.isprintable() else None),
            "name it '19', or '1/19' in a stack",
        )


def queue_sets() -> tuple[int, ...]:
    """Numbers of the queue sets."""
    return tuple(CAPABILITIES.queue_sets.value)


@cache
def scheduler(queue_set: int) -> Scheduler:
    """The queues of a queue set: strict ones by number first, the rest by weighted round robin."""
    queues = tuple(
        Queue(
            number=number,
            priority=weight == "strict",
            share=None if weight == "strict" else Share(unit=ShareUnit.WEIGHT, value=weight),
            limit_packets=CAPABILITIES.queue_limit.value,
        )
        for number, weight in enumerate(CAPABILITIES.queue_sets.value[queue_set], start=1)
    )
    weighted = any(not q.priority for q in queues)
    return Scheduler(discipline=Discipline.WRR if weighted else Discipline.STRICT, queues=queues)


def factory_queue(queue_set: int, cos: int) -> int:
    """The queue of an 802.1p priority in a queue set as delivered."""
    return min(CAPABILITIES.factory_queue_of_priority.value[cos], len(scheduler(queue_set).queues))


@cache
def factory_dscp_to_cos() -> tuple[int, ...]:
    """The egress map as delivered: 64 priorities."""
    table = CAPABILITIES.factory_dscp_to_cos.value
    return tuple(table.get(dscp, 0) for dscp in range(64))
