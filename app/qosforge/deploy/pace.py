"""How many devices are worked with at once, and how fast they begin: a runner of Nornir's that holds limits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from nornir.core.inventory import Host
from nornir.core.task import AggregatedResult, MultiResult, Task

from qosforge.inventory.models import Network
from qosforge.inventory.rollout import MOST_AT_ONCE, RolloutLimit

_LOOK_SECONDS = 0.2
"""How often it is asked whether the devices have to be left, while one waits for its turn."""


class Pace:
    """The limits of a network: which of them a device counts for, and when the next one may begin.

    One for all that a process does with a network in a run, so that a rate holds from one wave to the next.
    """

    def __init__(self, network: Network) -> None:
        limits = network.changes.rollout.limits
        whole = limits.network.model_copy(update={"at_once": limits.network.at_once or MOST_AT_ONCE})
        self._limits: dict[str, RolloutLimit] = {"": whole}
        self._scopes: dict[str, tuple[str, ...]] = {}
        for device in network.devices:
            scopes = [""]
            if device.site:
                scopes.append(f"site {device.site}")
                self._limits[scopes[-1]] = limits.site
            if device.platform in limits.platform:
                scopes.append(f"platform {device.platform}")
                self._limits[scopes[-1]] = limits.platform[device.platform]
            self._scopes[device.name] = tuple(scopes)
        self._next: dict[str, float] = {}

    @property
    def most(self) -> int:
        """The most devices that are ever worked with at once, but for those of one step."""
        return self._limits[""].at_once or MOST_AT_ONCE

    def counted(self, devices: Sequence[str]) -> Counter[str]:
        """How many of the devices count for each limit."""
        return Counter(scope for name in devices for scope in self._scopes.get(name, ("",)))

    def fits(self, more: Counter[str], busy: Counter[str]) -> bool:
        """Whether devices may be worked with beside those that are at work; alone any may."""
        if not busy.total():
            return True
        return all(
            limit is None or busy[scope] + count <= limit
            for scope, count in more.items()
            if busy[scope]  # a step that is larger than a limit goes alone
            for limit in [self._limits[scope].at_once]
        )

    def delay(self, scopes: Counter[str], now: float) -> float:
        """Seconds until devices that count so may begin to be changed."""
        return max((self._next.get(scope, now) - now for scope in scopes), default=0.0)

    def begin(self, scopes: Counter[str], now: float) -> None:
        """Devices that count so begin to be changed."""
        for scope, count in scopes.items():
            rate = self._limits[scope].per_minute
            if rate is not None:
                self._next[scope] = max(self._next.get(scope, now), now) + 60 * count / rate

    def seconds(self, devices: Sequence[str], each: float, *, paced: bool = False) -> float:
        """How long devices take that take ``each`` seconds; ``paced``: that begin to be changed. From above."""
        counted = self.counted(devices)
        rounds = {
            scope: -(-count // limit) for scope, count in counted.items() if (limit := self._limits[scope].at_once)
        }
        # All limits together need no more rounds than the sum of what each kind of them needs by itself.
        most = sum(
            max((n for scope, n in rounds.items() if scope.partition(" ")[0] == kind), default=0)
            for kind in ("", "site", "platform")
        )
        begun = [60 * count / rate for scope, count in counted.items() if (rate := self._limits[scope].per_minute)]
        return each * most + (max(begun, default=0.0) if paced else 0.0)


_Waiting = tuple[tuple[str, ...], Counter[str]]
"""A step, and what its devices count for."""


class PacedRunner:
    """Runs a task on hosts with threads, step by step: hosts of one step begin at the same moment.

    ``paced``: rates hold, too. ``claim`` takes places for the sessions of a whole step, if there are so many, and a
    step of more than ``most_sessions`` begins in parts. Once ``leaving`` says so nothing waits for its turn any
    more.
    """

    def __init__(
        self,
        pace: Pace,
        steps: Sequence[Sequence[str]],
        *,
        paced: bool,
        leaving: Callable[[], bool],
        claim: Callable[[Sequence[str]], bool],
        most_sessions: int,
    ) -> None:
        self._pace = pace
        self._steps = steps
        self._paced = paced
        self._leaving = leaving
        self._claim = claim
        self._most_sessions = most_sessions

    def run(self, task: Task, hosts: list[Host]) -> AggregatedResult:
        """See Nornir's runners."""
        result = AggregatedResult(task.name)
        by_name = {host.name: host for host in hosts}
        waiting = [(step, self._pace.counted(step)) for step in self._of(by_name)]
        busy: Counter[str] = Counter()
        futures: dict[Future[MultiResult], Counter[str]] = {}
        widest = max((len(step) for step, _ in waiting), default=1)
        threads = min(len(hosts), self._most_sessions, max(self._pace.most, widest))
        with ThreadPoolExecutor(max(1, threads)) as pool:
            while waiting or futures:
                due, waiting, delay = self._due(waiting, busy)
                for name in due:
                    futures[pool.submit(task.copy().start, by_name[name])] = self._pace.counted([name])
                if not futures:
                    time.sleep(min(delay, _LOOK_SECONDS))
                    continue
                for future in wait(futures, min(delay, _LOOK_SECONDS), FIRST_COMPLETED).done:
                    busy -= futures.pop(future)
                    done = future.result()
                    result[done.host.name] = done
        return result

    def _of(self, hosts: Mapping[str, Host]) -> Iterator[tuple[str, ...]]:
        """The steps with those hosts that are to be run; a host in none is a step of its own."""
        stepped = {name for step in self._steps for name in step}
        for step in self._steps:
            names = tuple(name for name in step if name in hosts)
            for at in range(0, len(names), self._most_sessions):
                yield names[at : at + self._most_sessions]
        yield from ((name,) for name in hosts if name not in stepped)

    def _due(self, waiting: list[_Waiting], busy: Counter[str]) -> tuple[list[str], list[_Waiting], float]:
        """Devices that begin now, the steps that do not, and how long the next of these waits for its rate."""
        due: list[str] = []
        left: list[_Waiting] = []
        delays = [_LOOK_SECONDS]
        paced = self._paced and not self._leaving()
        for at, (step, scopes) in enumerate(waiting):
            if busy[""] >= self._pace.most:
                left += waiting[at:]
                break
            now = time.monotonic()
            delay = self._pace.delay(scopes, now) if paced else 0.0
            if delay > 0 or not self._pace.fits(scopes, busy):
                left.append((step, scopes))
                delays += [delay] if delay > 0 else []
                continue
            if not self._claim(step) and not self._leaving():
                left += waiting[at:]  # smaller ones behind it would take what it waits for
                break
            if self._paced:
                self._pace.begin(scopes, now)
            busy += scopes
            due += step
        return due, left, min(delays)
