"""What devices are looked at for while packets are sent through them: a test stops before it does harm."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Outcome
from qosforge.errors import Place, TesterError
from qosforge.inventory.probes import AbortBounds
from qosforge.plan.model import Plan
from qosforge.tester.counters.comparison import read_counters
from qosforge.tester.counters.control_classes import control_counters
from qosforge.tester.counters.offered_load import CounterKey
from qosforge.tester.measurement_plan import MeasurementPlan

_HINT = "send less, or look what the device lacks; permission.abort of probes.yaml has the bounds"


@dataclass(frozen=True, slots=True)
class DeviceState:
    """Packets that a device's classes of network control lost so far, and how busy its processor is (%)."""

    drops: Mapping[CounterKey, int]
    cpu_percent: float | None


class OnDevices(Protocol):
    """How a task is done on devices."""

    def __call__(
        self, devices: Collection[str], task: Callable[[str, DeviceDriver], DeviceState], /
    ) -> Mapping[str, Outcome[DeviceState]]:
        """What it gave on each."""
        ...


@dataclass
class Watch:
    """Looks at devices again and again, and raises where one of them suffers.

    ``control`` are the counters of classes of network control by device, ``read`` how the state of devices is read.
    """

    bounds: AbortBounds
    control: Mapping[str, frozenset[CounterKey]]
    read: Callable[[Collection[str]], Mapping[str, Outcome[DeviceState]]]
    clock: Callable[[], float] = time.monotonic
    _begun: dict[str, DeviceState] = field(default_factory=dict)
    _looked: float = 0.0

    @classmethod
    def of(cls, plan: MeasurementPlan, held: Mapping[str, Plan], on_devices: OnDevices) -> Watch:
        """A watch of the devices on the ways of a plan's flows, by the permission of its network; ``held`` is what
        these hold.
        """
        control, bounds = control_counters(plan, held), plan.network.probes.permission.abort
        task = partial(_state, held, control, bounds.cpu_percent is not None)
        return cls(bounds, control, lambda names: on_devices(names, task))

    def begin(self, devices: Collection[str], unread: Collection[str] = ()) -> tuple[str, ...]:
        """Look at these devices for the first time; what is watched of them from now on, and what is not, in words.
        Of those on the ways that are ``unread`` nobody knows what they hold.

        Raises:
            TesterError: a device does not answer, or is as busy as it may be.
        """
        self._begun = dict(self._states(devices))
        busy = [name for name, state in self._begun.items() if state.cpu_percent is not None]
        counted = [name for name, state in self._begun.items() if state.drops]
        told = []
        if counted:
            lose = "loses" if len(counted) == 1 else "lose"
            most = self.bounds.control_packets
            told.append(f"stops where {', '.join(counted)} {lose} more than {most} packets of network control")
        if busy:
            share = f"{self.bounds.cpu_percent:g} %"
            told.append(f"stops where the processor of {', '.join(busy)} is busy for more than {share}")
        if blind := [name for name in devices if name not in counted]:
            told.append(f"not watched for network control, of which no class is counted: {', '.join(blind)}")
        if blind := [name for name in devices if name not in busy]:
            silent = "of which the driver tells nothing, or nothing that is understood"
            why = silent if self.bounds.cpu_percent is not None else "which permission.abort leaves alone"
            told.append(f"not watched for the processor, {why}: {', '.join(blind)}")
        if unread:
            why = "it was" if len(unread) == 1 else "they were"
            told.append(f"not watched, as {why} not read: {', '.join(sorted(unread))}")
        self._judge(self._begun, "the test does not begin")
        self._looked = self.clock()
        return tuple(told)

    def look(self, *, at_once: bool = False) -> None:
        """Look again, where it is time to or ``at_once``.

        Raises:
            TesterError: a device suffers, or does not answer any more.
        """
        watched = [name for name, state in self._begun.items() if state.drops or state.cpu_percent is not None]
        if watched and (at_once or self.clock() - self._looked >= self.bounds.look_seconds):
            self._judge(self._states(watched), "the test was stopped")
            self._looked = self.clock()

    def _states(self, devices: Collection[str]) -> Mapping[str, DeviceState]:
        found = {}
        for name, outcome in self.read(devices).items():
            if outcome.value is None:
                raise TesterError(
                    f"{name} does not answer while it is watched: {outcome.error}", Place(device=name), _HINT
                )
            found[name] = outcome.value
        return found

    def _judge(self, states: Mapping[str, DeviceState], then: str) -> None:
        for name, state in states.items():
            for key, drops in state.drops.items():
                lost = drops - self._begun[name].drops.get(key, 0)
                if lost > self.bounds.control_packets:
                    raise TesterError(
                        f"{then}: {name} lost {lost:,} packets of network control ({key})",
                        Place(device=name),
                        _HINT,
                    )
            if state.cpu_percent is None and self._begun[name].cpu_percent is not None:
                raise TesterError(
                    f"{then}: how busy the processor of {name} is cannot be understood any more",
                    Place(device=name),
                    _HINT,
                )
            most = self.bounds.cpu_percent
            if most is not None and state.cpu_percent is not None and state.cpu_percent > most:
                raise TesterError(
                    f"{then}: the processor of {name} is busy for {state.cpu_percent:g} %, above {most:g} %",
                    Place(device=name),
                    _HINT,
                )


def _state(
    held: Mapping[str, Plan],
    control: Mapping[str, frozenset[CounterKey]],
    asks_processor: bool,
    name: str,
    driver: DeviceDriver,
) -> DeviceState:
    wanted = control.get(name, frozenset())
    counts = read_counters(driver, held[name]) if wanted else ()
    keyed = {CounterKey(count.interface, count.direction, count.queue): count.drops for count in counts}
    drops = {key: drops for key, drops in keyed.items() if key in wanted and drops is not None}
    return DeviceState(drops, driver.cpu_percent() if asks_processor else None)
