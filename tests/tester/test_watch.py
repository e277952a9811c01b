"""What stops packets that are sent: network control lost on a device, a busy processor, a device that is silent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from qosforge import errors
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Outcome
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import DeviceWords
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.otg.tester import OtgTester
from qosforge.tester.watch import DeviceState, Watch

from .otg.controller import controlling
from .otg.test_tester import probes
from .probes.two_sites import VOICE, intent, network

RUNNING = """\
class-map match-all routing
 match ip dscp cs6
policy-map out
 class routing
  bandwidth percent 10
 class class-default
  bandwidth percent 20
interface FastEthernet0/1
 service-policy output out
"""
"""Routing has a class of its own towards the line; towards the stations nothing has."""

SHOWN = """\
 FastEthernet0/1

  Service-policy output: out

    Class-map: routing (match-all)
      {packets} packets, 5000 bytes
      5 minute offered rate 0 bps, drop rate 0 bps
      Match: ip dscp cs6 (48)
      Queueing
        Output Queue: Conversation 265
        Bandwidth 10 (%)
        (pkts matched/bytes matched) 0/0
        (depth/total drops/no-buffer drops) 0/{drops}/0

    Class-map: class-default (match-any)
      500 packets, 5000 bytes
      5 minute offered rate 0 bps, drop rate 0 bps
      Match: any
      Queueing
        Output Queue: Conversation 266
        Bandwidth 20 (%)
        (pkts matched/bytes matched) 0/0
        (depth/total drops/no-buffer drops) 0/999/0
"""


@dataclass
class Router:
    """A router as its NAPALM driver shows it."""

    drops: int = 7
    cpu: float | None = 20.0
    silent: bool = False
    unclear: bool = False
    asked: int = 0

    def cli(self, commands: list[str]) -> dict[str, str]:
        self.asked += 1
        if self.silent:
            raise OSError("no route to host")
        return dict.fromkeys(commands, SHOWN.format(packets=500, drops=self.drops))

    def get_environment(self) -> dict[str, Any]:
        if self.unclear:  # as NAPALM's driver for IOS where an image words its memory otherwise
            raise UnboundLocalError("cannot access local variable 'proc_total_mem'")
        if self.cpu is None:
            raise NotImplementedError
        return {"cpu": {0: {"%usage": 3.0}, 1: {"%usage": self.cpu}}}


@dataclass
class Bench:
    """A watch of one router, and the time that goes by."""

    router: Router
    plan: MeasurementPlan
    running: str = RUNNING
    now: float = 0.0
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        driver = DeviceDriver(self.router, DeviceWords("r", "cisco_ios"))

        def on_devices(
            names: Collection[str], task: Callable[[str, DeviceDriver], DeviceState]
        ) -> Mapping[str, Outcome[DeviceState]]:
            found = {}
            for name in names:
                try:
                    found[name] = Outcome(name, task(name, driver))
                except errors.QosforgeError as error:
                    found[name] = Outcome(name, error=error)
            return found

        held = {"r": platform("cisco_ios", "r").parse(self.running, "r", "12.4")}
        self.watch = replace(Watch.of(self.plan, held, on_devices), clock=lambda: self.now)

    def later(self, seconds: float) -> None:
        self.now += seconds
        self.watch.look()


@pytest.fixture
def plan(tmp_path: Path) -> MeasurementPlan:
    abort = {"allowed": True, "abort": {"control_packets": 2, "cpu_percent": 70, "look_seconds": 4}}
    return MeasurementPlan.of(intent(tmp_path).intent, network(tmp_path, [VOICE], {"permission": abort}))


def test_what_is_watched_is_told_before_by_its_bounds(plan: MeasurementPlan) -> None:
    assert Bench(Router(), plan).watch.begin(["r"]) == (
        "stops where r loses more than 2 packets of network control",
        "stops where the processor of r is busy for more than 70 %",
    )
    without = Bench(Router(cpu=None), plan, "interface FastEthernet0/1\n service-policy output out\n")
    assert without.watch.begin(["r"]) == (
        "not watched for network control, of which no class is counted: r",
        "not watched for the processor, of which the driver tells nothing, or nothing that is understood: r",
    )


def test_devices_that_were_not_read_are_told_and_not_asked(plan: MeasurementPlan) -> None:
    bench = Bench(Router(), plan)
    assert bench.watch.begin([], ["r2", "r"]) == ("not watched, as they were not read: r, r2",)
    bench.later(50)
    assert bench.router.asked == 0


def test_packets_of_network_control_that_are_lost_meanwhile_stop_it(plan: MeasurementPlan) -> None:
    bench = Bench(Router(), plan)
    bench.watch.begin(["r"])
    bench.router.drops += 2  # the default class lost many more, and what was lost before counts for nothing
    bench.later(5)
    bench.router.drops += 1
    bench.later(1)  # not looked at again yet
    with pytest.raises(
        errors.TesterError, match=r"stopped: r lost 3 packets of network control \(.*class routing\)"
    ):
        bench.later(4)


def test_a_busy_processor_stops_it_also_before_it_begins(plan: MeasurementPlan) -> None:
    bench = Bench(Router(), plan)
    bench.watch.begin(["r"])
    bench.router.cpu = 71.5
    with pytest.raises(errors.TesterError, match=r"stopped: the processor of r is busy for 71.5 %, above 70 %"):
        bench.later(5)
    with pytest.raises(errors.TesterError, match=r"the test does not begin: the processor of r"):
        Bench(Router(cpu=99), plan).watch.begin(["r"])


def test_a_processor_that_the_driver_cannot_read_is_not_watched_and_forbids_nothing(plan: MeasurementPlan) -> None:
    bench = Bench(Router(unclear=True), plan)
    told = bench.watch.begin(["r"])
    assert told[-1] == (
        "not watched for the processor, of which the driver tells nothing, or nothing that is understood: r"
    )
    bench.later(5)
    bench.router.unclear = False
    bench.later(5)
    watched = Bench(Router(), plan)
    watched.watch.begin(["r"])
    watched.router.unclear = True
    with pytest.raises(errors.TesterError, match="how busy the processor of r is cannot be understood any more"):
        watched.later(5)


def test_processors_are_left_alone_where_nobody_wants_them_watched(tmp_path: Path) -> None:
    permission = {"allowed": True, "abort": {"cpu_percent": None}}
    alone = MeasurementPlan.of(intent(tmp_path).intent, network(tmp_path, [VOICE], {"permission": permission}))
    bench = Bench(Router(cpu=100), alone)
    assert bench.watch.begin(["r"])[-1] == "not watched for the processor, which permission.abort leaves alone: r"
    bench.later(5)


def test_a_device_that_answers_no_more_stops_it(plan: MeasurementPlan) -> None:
    bench = Bench(Router(), plan)
    bench.watch.begin(["r"])
    bench.router.silent = True
    with pytest.raises(errors.TesterError, match="r does not answer while it is watched"):
        bench.later(5)


def test_where_nothing_can_be_watched_nobody_is_asked_again(plan: MeasurementPlan) -> None:
    bench = Bench(Router(cpu=None), plan, "hostname r\n")
    bench.watch.begin(["r"])
    bench.later(50)
    assert bench.router.asked == 0


def test_a_traffic_generator_stops_sending(tmp_path: Path) -> None:
    def suffers() -> None:
        raise errors.TesterError("the test was stopped")

    with controlling(10e6) as controller:
        net = network(tmp_path, [VOICE], probes(controller.url), line="10 Mb/s")
        watched = replace(MeasurementPlan.of(intent(tmp_path, 20).intent, net), meanwhile=suffers)
        with pytest.raises(errors.TesterError, match="the test was stopped"):
            OtgTester(look_seconds=0.01).measure(watched, "before")
        assert controller.states == ["protocol start", "traffic start", "traffic stop"]
