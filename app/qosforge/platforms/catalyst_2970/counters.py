"""Counters of egress queues: the enqueued and dropped packets of ``show mls qos interface ... statistics``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qosforge.plan.model import Discipline, Plan
from qosforge.platforms.base import QueueCount

_SECTION = re.compile(r"output queues (?P<what>enqueued|dropped):")
_ROW = re.compile(r"queue (?P<queue>[0-3]): +(?P<numbers>\d+(?: +\d+)*)")
_EXPEDITE = re.compile(r"^Egress Priority Queue : (?P<state>enabled|disabled)\s*$", re.MULTILINE)

EXPEDITE_QUEUE = 1
"""The queue that ``priority-queue out`` serves first."""


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """Two commands for every port, while QoS is on: when it is off no queue is chosen."""
    return tuple(command for port in _counted(plan) for command in (_statistics(port), _queueing(port)))


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """The four queues of every port.

    Raises:
        ValueError: an answer lacks the queues' table, or the state of the expedite queue.
    """
    return tuple(count for port in _counted(plan) for count in _port(answers, port))


def _counted(plan: Plan) -> Iterator[str]:
    for interface in plan.interfaces:
        scheduler = interface.egress.scheduler
        if scheduler is not None and scheduler.discipline is not Discipline.FIFO:
            yield interface.name


def _statistics(port: str) -> str:
    return f"show mls qos interface {port} statistics"


def _queueing(port: str) -> str:
    return f"show mls qos interface {port} queueing"


def _port(answers: Mapping[str, str], port: str) -> Iterator[QueueCount]:
    # The device counts its queues from 0 here and from 1 in its configuration.
    tables: dict[str, dict[int, int]] = {"enqueued": {}, "dropped": {}}
    table: dict[int, int] | None = None
    for line in answers[_statistics(port)].splitlines():
        if match := _SECTION.fullmatch(line.strip()):
            table = tables[match["what"]]
        elif table is not None and (match := _ROW.fullmatch(line.strip())):
            table[int(match["queue"]) + 1] = sum(int(number) for number in match["numbers"].split())
    state = _EXPEDITE.search(answers[_queueing(port)])
    if not tables["enqueued"] or tables["enqueued"].keys() != tables["dropped"].keys():
        raise ValueError(f"the statistics of {port} have no table of queues")
    if state is None:
        raise ValueError(f"the queueing of {port} does not tell of the priority queue")
    for queue, packets in tables["enqueued"].items():
        first = state["state"] == "enabled" and queue == EXPEDITE_QUEUE
        yield QueueCount(port, "output", str(queue), packets, tables["dropped"][queue], first)
