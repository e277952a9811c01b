"""A lab whose devices hold one policy, and what they hold with another: running and startup, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import compile_intent
from qosforge.configtree import as_text
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qoslab import control

from .crowd import POLICY

BEFORE = ("voice=30", "web=60", "rest=40", "mark=af21")
AFTER = ("voice=35", "web=55", "rest=45", "mark=cs2")
"""Parameters of the policy that the devices hold, and of the one that is pushed: all devices have to change."""


def intent(parameters: tuple[str, ...]) -> LoadedIntent:
    """The policy with these parameters."""
    return parse_intent(POLICY, "policy.yaml", parameters)


@dataclass(frozen=True)
class Held:
    """What a device holds."""

    running: str
    startup: str


class TwoStates:
    """The devices of an inventory in their lab; `prepare` learns both states, when the lab runs."""

    def __init__(self, inventory: Path, var: Path) -> None:
        self.inventory = inventory
        self.var = var
        self.network = load_network(inventory)
        self.names = tuple(device.name for device in self.network.devices)
        self.state = state_folder(var, self.network.name)
        self.held: dict[str, dict[str, Held]] = {}
        """By device, what it holds ``before`` and ``after``."""

    def now(self, device: str) -> Held:
        """Both configurations of a device, from the lab itself."""
        running = str(control.request(self.state, {"op": "running", "box": device})["running"])
        return Held(running, (self.state / device / "startup-config").read_text())

    def reset(self) -> None:
        """Every device as before the push, without faults."""
        for device in self.names:
            control.plant(self.state, device, "clear")
            self._boot(device, self.held[device]["before"].startup)

    def prepare(self) -> None:
        """Let the devices hold one policy, saved, and learn what they hold with the other."""
        for name, parameters in (("before", BEFORE), ("after", AFTER)):
            texts = {device: self.now(device).running for device in self.names}
            for device in compile_intent(intent(parameters), self.network, texts).devices:
                delta = make_candidate(device, texts[device.name]).delta
                control.configure(self.state, device.name, as_text(delta).splitlines())
            for box in self.names:
                running = self.now(box).running
                self._boot(box, running)
                assert self.now(box).running == running, f"{box} boots into something else than it held"
                self.held.setdefault(box, {})[name] = Held(running, running)
        self.reset()

    def timers(self) -> list[str]:
        """Devices that would go back by themselves, from the lab itself."""
        status = control.status(self.state)
        assert status is not None
        devices: Mapping[str, Any] = status["boxes"]  # type: ignore[assignment]
        return [device for device in self.names if devices[device]["timer_runs"]]

    def _boot(self, device: str, startup: str) -> None:
        (self.state / device / "startup-config").write_text(startup)
        control.request(self.state, {"op": "reboot", "box": device})
