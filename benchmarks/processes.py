"""The vector model by SimPy, each sender and the line a process."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

import simpy

from benchmarks.vector import CLASSES, GAP, LIMIT, PS, SENDERS, SERVICE, STARTS, Counts


class _Switch:
    """The port as SimPy processes."""

    def __init__(self, environment: simpy.Environment) -> None:
        self.environment = environment
        self.queues: list[deque[int]] = [deque() for _ in range(CLASSES)]
        self.dropped = [0] * CLASSES
        self.offered = self.sent = self.delays = 0
        self.idle: simpy.Event | None = None

    def sender(self, number: int) -> Generator[simpy.Event, Any, None]:
        queue = self.queues[number % CLASSES]
        yield self.environment.timeout(STARTS[number])
        while True:
            self.offered += 1
            if len(queue) < LIMIT:
                queue.append(self.environment.now)
                if self.idle is not None:
                    self.idle.succeed()
                    self.idle = None
            else:
                self.dropped[number % CLASSES] += 1
            yield self.environment.timeout(GAP)

    def server(self) -> Generator[simpy.Event, Any, None]:
        while True:
            queue = next((queue for queue in self.queues if queue), None)
            if queue is None:
                self.idle = self.environment.event()
                yield self.idle
                continue
            arrived = queue.popleft()
            yield self.environment.timeout(SERVICE)
            self.sent += 1
            self.delays += self.environment.now - arrived


def by_simpy() -> Counts:
    """Counts of one second."""
    environment = simpy.Environment()
    switch = _Switch(environment)
    environment.process(switch.server())
    for sender in range(SENDERS):
        environment.process(switch.sender(sender))
    environment.run(until=PS)
    return Counts(switch.offered, switch.sent, switch.dropped[0], switch.delays / switch.sent / 1e6)
