"""Limits on devices that are worked with at once and that begin in a minute, with a runner that does no I/O."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from nornir.core import Nornir
from nornir.core.configuration import Config
from nornir.core.inventory import Defaults, Groups, Host, Hosts, Inventory
from nornir.core.task import Result, Task

from qosforge.deploy.pace import Pace, PacedRunner
from qosforge.inventory.changes import ChangeRules
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.inventory.rollout import Rollout
from qosforge.resources import root
from tests.stopwatch import Stopwatch

CAMPUS = load_network(root() / "inventories" / "campus")


def limited(**limits: Any) -> Network:
    """Twelve devices: four at each of three sites, half of them routers."""
    template = CAMPUS.device("r1")
    devices = tuple(
        template.model_copy(
            update={
                "name": f"d{number}",
                "site": f"site{number % 3}",
                "platform": "cisco_ios" if number % 2 else "catalyst_2950",
            }
        )
        for number in range(12)
    )
    rules = ChangeRules(rollout=Rollout.model_validate({"limits": limits}))
    return CAMPUS.model_copy(update={"devices": devices, "links": (), "stations": (), "changes": rules})


class Watched:
    """Counts which devices are at work at the same time, and when each began."""

    def __init__(self, network: Network, lasts: float = 0.05) -> None:
        self.network = network
        self.lasts = lasts
        self.busy: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.began: dict[str, float] = {}
        self.together: list[frozenset[str]] = []
        self._lock = threading.Lock()

    @contextmanager
    def _at_work(self, name: str) -> Iterator[None]:
        device = self.network.device(name)
        words = ("network", device.site, device.platform, name)
        with self._lock:
            self.began[name] = time.monotonic()
            self.busy.update(words)
            self.most |= self.busy
        yield
        with self._lock:
            self.busy -= Counter(words)

    def run(self, *steps: Sequence[str], paced: bool = False) -> None:
        hosts = Hosts({device.name: Host(name=device.name) for device in self.network.devices})
        inventory = Inventory(hosts=hosts, groups=Groups(), defaults=Defaults())
        runner = PacedRunner(
            Pace(self.network), steps, paced=paced, leaving=lambda: False, claim=lambda _: True, most_sessions=99
        )

        def work(task: Task) -> Result:
            with self._at_work(task.host.name):
                time.sleep(self.lasts)
            return Result(host=task.host)

        done = Nornir(inventory=inventory, runner=runner, config=Config()).run(work)
        assert sorted(done) == sorted(hosts)


def test_every_limit_holds_at_once() -> None:
    seen = Watched(limited(network={"at_once": 5}, site={"at_once": 2}, platform={"cisco_ios": {"at_once": 3}}))
    seen.run()
    assert seen.most["network"] == 5
    assert max(seen.most[f"site{number}"] for number in range(3)) == 2
    assert seen.most["cisco_ios"] <= 3


def test_devices_of_one_step_begin_together_though_a_limit_is_lower() -> None:
    seen = Watched(limited(network={"at_once": 2}), lasts=0.3)
    seen.run(("d0", "d1", "d2"), ("d3", "d4"))
    assert max(seen.began[name] for name in ("d0", "d1", "d2")) - min(
        seen.began[name] for name in ("d0", "d1", "d2")
    ) < seen.lasts  # fmt: skip
    assert abs(seen.began["d3"] - seen.began["d4"]) < seen.lasts
    assert seen.most["network"] == 3


def test_a_rate_spreads_what_begins_to_be_changed_and_nothing_else() -> None:
    seen = Watched(limited(network={"per_minute": 600}), lasts=0.0)
    seen.run(paced=True)
    began = sorted(seen.began.values())
    assert began[-1] - began[0] >= 11 * 0.1 - 0.02
    seen = Watched(limited(network={"per_minute": 1}), lasts=0.0)
    watch = Stopwatch()
    seen.run()
    assert watch.seconds < 30


def test_once_devices_have_to_be_left_none_waits_for_its_turn() -> None:
    network = limited(network={"per_minute": 1})
    hosts = Hosts({device.name: Host(name=device.name) for device in network.devices})
    inventory = Inventory(hosts=hosts, groups=Groups(), defaults=Defaults())
    runner = PacedRunner(
        Pace(network), (), paced=True, leaving=lambda: True, claim=lambda _: True, most_sessions=99
    )
    done = Nornir(inventory=inventory, runner=runner, config=Config()).run(lambda task: Result(host=task.host))
    assert len(done) == 12


def test_how_long_devices_take_is_estimated_from_above() -> None:
    names = [f"d{number}" for number in range(12)]
    assert Pace(limited()).seconds(names, 60) == 60
    assert Pace(limited(network={"at_once": 5})).seconds(names, 60) == 180
    assert Pace(limited(site={"at_once": 1})).seconds(names, 60) == 60 * (1 + 4)
    assert Pace(limited(network={"per_minute": 6})).seconds(names, 60, paced=True) == 60 + 120
    assert Pace(limited(network={"per_minute": 6})).seconds(names, 60) == 60
    assert Pace(limited()).seconds([], 60) == 0
