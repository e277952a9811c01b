"""Typed view of this platform's capability data."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ruamel.yaml import YAML

from qosforge.errors import InputError, Place
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit
from qosforge.resources import read_text

PORT = re.compile(r"(?:[1-8]/)?\d{1,2}")


@cache
def capabilities() -> dict[str, Any]:
    """The capability data."""
    data: dict[str, Any] = YAML(typ="safe", pure=True).load(
        read_text("qosforge/platforms/nortel_5510/capabilities.yaml")
    )
    return data


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
    return tuple(capabilities()["queue_sets"]["value"])


def queue_set_known(number: int) -> bool:
    """Whether the capability data describe this queue set."""
    return number in capabilities()["queue_sets"]["value"]


@cache
def scheduler(queue_set: int) -> Scheduler:
    """The queues of a queue set: strict ones by number first, the rest by weighted round robin."""
    queues = tuple(
        Queue(
            number=number,
            priority=weight == "strict",
            share=None if weight == "strict" else Share(unit=ShareUnit.WEIGHT, value=weight),
            limit_packets=capabilities()["queue_limit"]["value"],
        )
        for number, weight in enumerate(capabilities()["queue_sets"]["value"][queue_set], start=1)
    )
    weighted = any(not q.priority for q in queues)
    return Scheduler(discipline=Discipline.WRR if weighted else Discipline.STRICT, queues=queues)


def factory_queue(queue_set: int, cos: int) -> int:
    """The queue of an 802.1p priority in a queue set as delivered."""
    queue: int = capabilities()["factory_queue_of_priority"]["value"][cos]
    return min(queue, len(scheduler(queue_set).queues))


@cache
def factory_dscp_to_cos() -> tuple[int, ...]:
    """The egress map as delivered: 64 priorities."""
    table = capabilities()["factory_dscp_to_cos"]["value"]
    return tuple(table.get(dscp, 0) for dscp in range(64))


@cache
def factory_cos_to_dscp() -> tuple[int, ...]:
    """The ingress map as delivered: 8 DSCPs."""
    return tuple(capabilities()["factory_cos_to_dscp"]["value"])


def port_count(model: str) -> int:
    """Ports of a model such as ``5510-48T``."""
    ports = capabilities()["ports"]
    count: int = ports["value"].get(model, ports["otherwise"])
    return count
