"""Sessions with the lab's devices over SSH, by the NAPALM drivers; each has a port of its own on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from napalm import get_network_driver

from qosforge.discovery.facts import Neighbour
from qosforge.discovery.names import label
from qosforge.errors import DeviceError
from qosforge.platforms.device_text import DeviceText
from qoslab import control
from tests.device_texts import said

DRIVERS = {"nortel_5510": "ers", "force10_e300": "force10"}


class LabSession:
    """Finds an announced neighbour by its name, else by the addresses of ``known``: address -> device of the lab.

    ``hidden`` devices cannot be reached.
    """

    def __init__(self, state: Path, known: Mapping[str, str] | None = None, hidden: frozenset[str] = frozenset()):
        self._state = state
        self._known = known or {}
        self._hidden = hidden
        boxes: Any = (control.status(state) or {})["boxes"]
        self._boxes = boxes
        self._named = {label(box["hostname"]): name for name, box in boxes.items()}
        self._login = json.loads((state / "credentials.json").read_text())
        self._open: dict[str, Any] = {}
        self._lock = threading.Lock()
        self.asked: list[tuple[str, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for driver in self._open.values():
            driver.close()

    def address(self, name: str) -> str:
        """Where a device of the lab listens."""
        return f"127.0.0.1:{self._boxes[name]['port']}"

    def locate(self, neighbour: Neighbour) -> str:
        addressed = (self._known.get(address) for address in neighbour.addresses)
        name = self._named.get(label(neighbour.name)) or next(filter(None, addressed), None)
        if name is None:
            raise DeviceError(f"nobody in the lab is {neighbour}")
        return self.address(name)

    def platform(self, address: str) -> str:
        return DRIVERS.get(self._box(address)["platform"], "ios_legacy")

    def run(self, address: str, command: str) -> DeviceText:
        self.asked.append((address, command))
        driver = self._open.get(address) or self._connect(address)
        answer: str = driver.cli([command])[command]
        return said(answer, address, "")

    def _box(self, address: str) -> Any:
        port = int(address.rpartition(":")[2])
        return next(box for box in self._boxes.values() if box["port"] == port)

    def _connect(self, address: str) -> Any:
        return self._connect_as(self.platform(address), address)

    def _connect_as(self, kind: str, address: str) -> Any:
        box = self._box(address)
        if label(box["hostname"]) in self._hidden:
            raise DeviceError("no route to host", hint="wait until it is back")
        driver = get_network_driver(kind)(
            "127.0.0.1",
            self._login["username"],
            self._login["password"],
            optional_args={
                "port": box["port"],
                "secret": self._login["secret"],
                "ssh_strict": True,
                "alt_host_keys": True,
                "alt_key_file": str(self._state / "known_hosts"),
            },
        )
        driver.open()
        with self._lock:
            self._open[address] = driver
        return driver
