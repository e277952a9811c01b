"""The lab's process: boots the boxes, serves them, answers the control socket."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO

from ruamel.yaml import YAML

from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.errors import BoxError, LabError, StartError
from qoslab.packets import Packets
from qoslab.routers.cabling import Cabling
from qoslab.routers.host import Host
from qoslab.routers.router import PLATFORM, USER, Router
from qoslab.server import ADDRESS, BoxServer
from qoslab.spec import LinkSpec, NetworkSpec
from qoslab.storage import Storage
from qoslab.virtual_time.network import GuestNetwork, SshHost
from qoslab.wiring import plug

_LONGEST_REQUEST = 4 * 1024 * 1024


_OF_A_BOX = frozenset({"offer", "fault", "faults", "happen", "config", "running", "reboot", "attachments", "typed"})


def _among(boxes: Collection[str], links: Iterable[LinkSpec]) -> Iterator[LinkSpec]:
    """The cables of boxes, as these see them: a far end that is a router with a kernel of its own tells nothing."""
    for link in links:
        a, b = (end if end is not None and end[0] in boxes else None for end in (link.a, link.b))
        if near := a or b:
            yield link.model_copy(update={"a": near, "b": b if a else None})


class Lab:
    """Every box of one network, in one event loop."""

    def __init__(self, spec: NetworkSpec, state: Path) -> None:
        self._spec = spec
        self._state = state
        self._stop = asyncio.Event()
        self._clock = Clock(spec.clock_scale)
        self._lock: IO[str] | None = None
        self.boxes: dict[str, Box] = {}
        self.servers: dict[str, BoxServer] = {}
        self.routers: dict[str, Router | SshHost] = {}
        self._cabling: Cabling[Host] | None = None
        self._guest: GuestNetwork | None = None

    async def run(self) -> None:
        """Serve until stopped by a signal or a control request.

        Raises StartError when another lab holds the state directory or a box cannot listen.
        """
        self._state.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        try:
            await self._boot()
            control = await self._open_control()
            (self._state / "pid").write_text(f"{os.getpid()}\n")
            async with control:
                await self._stop.wait()
        finally:
            for name in ("control.sock", "pid"):
                (self._state / name).unlink(missing_ok=True)
            for server in self.servers.values():
                await server.stop()
            for box in self.boxes.values():
                box.power_off()
            for router in self.routers.values():
                if isinstance(router, Router):
                    await router.stop()
            if self._guest is not None:
                self._guest.stop()
            if self._cabling is not None:
                self._cabling.unplug()

    def _take_lock(self) -> None:
        self._lock = (self._state / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as held:
            raise StartError(f"{self._state}: a lab already runs here; stop it first") from held

    async def _boot(self) -> None:
        for spec in self._spec.boxes:
            if spec.platform == PLATFORM:
                if self._spec.virtual_time:
                    continue
                router = Router(spec, self._state / spec.name)
                router.start()
                self.routers[spec.name] = router
                continue
            startup = ""
            if spec.startup_config is not None:
                try:
                    startup = spec.startup_config.read_text()
                except (OSError, UnicodeDecodeError) as bad:
                    raise StartError(f"box {spec.name}: startup configuration: {bad}") from bad
            box = make_box(spec, Storage(self._state / spec.name, startup), self._clock)
            box.boot()
            server = BoxServer(box)
            try:
                await server.start()
            except OSError as bad:
                raise StartError(f"box {spec.name}: cannot listen on {ADDRESS}:{spec.port}: {bad}") from bad
            self.boxes[spec.name] = box
            self.servers[spec.name] = server
        plug(tuple(_among(self.boxes, self._spec.links)), self.boxes)
        await (self._start_guest() if self._spec.virtual_time else self._start_routers())
        self._write_overlay()

    async def _start_routers(self) -> None:
        routers = {name: router for name, router in self.routers.items() if isinstance(router, Router)}
        if not routers:
            return
        hosts = {name: router.host for name, router in routers.items()}
        self._cabling = Cabling(self._spec.links, hosts, lambda name: Host(Path(name).name, self._state / name))
        self._cabling.plug()
        for router in routers.values():
            router.enter_saved()
            await router.listen()

    async def _start_guest(self) -> None:
        boxes = [box for box in self._spec.boxes if box.platform == PLATFORM]
        if not boxes:
            raise StartError("no router of this network runs in virtual time: it has none of linux_tc")
        self._guest = GuestNetwork(boxes, self._spec.links, self._state)
        await self._guest.start()
        self.routers |= self._guest.routers

    def _write_overlay(self) -> None:
        servers: dict[str, BoxServer | Router | SshHost] = {**self.servers, **self.routers}
        boxes = {
            name: {"hostname": ADDRESS, "port": server.port, "host_key": server.public_key}
            for name, server in servers.items()
        }
        logins = {name: {"username": USER, "key": str(router.key)} for name, router in self.routers.items()}
        (self._state / "logins.json").write_text(json.dumps(logins))
        made = self._state / "overlay.yaml.new"
        with made.open("w") as stream:
            YAML(typ="safe", pure=True).dump({"boxes": boxes}, stream)
        made.replace(self._state / "overlay.yaml")
        shown = [*servers.values(), *(self._guest.stations.values() if self._guest else ())]
        hosts = [f"[{ADDRESS}]:{server.port} {server.public_key}\n" for server in shown]
        (self._state / "known_hosts").write_text("".join(hosts))

    # -- control socket ----------------------------------------------------------------------------------
    async def _open_control(self) -> asyncio.AbstractServer:
        path = self._state / "control.sock"
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        # A Unix socket's path must be short: bind by way of the directory's descriptor.
        folder = os.open(self._state, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return await asyncio.start_unix_server(
                self._serve, f"/proc/self/fd/{folder}/{path.name}", limit=_LONGEST_REQUEST
            )
        except OSError as bad:
            raise StartError(f"{path}: cannot open the control socket: {bad}") from bad
        finally:
            os.close(folder)
            os.umask(before)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := await reader.readline():
                writer.write(json.dumps(self._answer(line)).encode() + b"\n")
                await writer.drain()
                if self._stop.is_set():
                    break
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    def _answer(self, line: bytes) -> dict[str, object]:
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise BoxError("a request is one JSON object")
            return {"ok": True, **self._carry_out(request)}
        except (LabError, ValueError) as bad:
            return {"ok": False, "error": str(bad)}

    def _carry_out(self, request: Mapping[str, object]) -> dict[str, object]:
        operation = request.get("op")
        if operation == "status":
            return {
                "network": self._spec.network,
                "boxes": self._status(),
                "routers": self._routers_status(),
                "stations": self._stations(),
                "guest_stations": self._guest_stations(),
            }
        if operation == "stop":
            self._stop.set()
            return {}
        name = str(request.get("box", ""))
        box = self.boxes.get(name)
        if operation not in _OF_A_BOX:
            raise BoxError(f"unknown operation {operation!r}")
        if name in self.routers:
            raise BoxError(f"{name} is a router with a kernel of its own: it is asked by its commands alone")
        if box is None:
            raise BoxError(f"no box {name!r} in this lab")
        if operation == "fault":
            args = request.get("args", {})
            if not isinstance(args, dict):
                raise BoxError("fault: args must be an object")
            box.faults.plant(str(request.get("kind", "")), args)
            return {}
        if operation == "happen":
            return {"happened": box.happen(str(request.get("kind", "")), str(request.get("text", "")))}
        if operation == "faults":
            return {"met": dict(box.faults.met)}
        if operation == "typed":
            return {"history": list(box.typed)}
        if operation == "attachments":
            return {"history": [vars(change) for change in box.attached.history]}
        if operation == "config":
            lines = request.get("lines", [])
            if not isinstance(lines, list):
                raise BoxError("config: lines must be a list")
            return {"said": box.configure([str(line) for line in lines])}
        if operation == "running":
            return {"running": box.running_text()}
        if operation == "reboot":
            box.reboot()
            return {}
        return {"outcomes": self._offer(box, request)}

    @staticmethod
    def _offer(box: Box, request: Mapping[str, object]) -> list[dict[str, object]]:
        raw = request.get("packets", [])
        if not isinstance(raw, list) or not all(isinstance(one, dict) for one in raw):
            raise BoxError("offer: packets must be a list of objects")
        seconds = request.get("seconds", 0.0)
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds < 0:
            raise BoxError("offer: seconds must be a number, zero or more")
        packets = [Packets.read(one) for one in raw]
        outcomes = box.carry(str(request.get("in", "")), str(request.get("out", "")), packets, float(seconds))
        if all(outcome.count == 0 for outcome in outcomes) and len(outcomes) == len(packets):
            outcomes = [replace(outcome, group=at, count=packets[at].count) for at, outcome in enumerate(outcomes)]
        return [outcome.document() for outcome in outcomes]

    def _routers_status(self) -> dict[str, object]:
        return {
            name: {"platform": PLATFORM, "port": router.port, "process": self._process_of(router)}
            for name, router in self.routers.items()
        }

    def _process_of(self, router: Router | SshHost) -> int:
        if isinstance(router, Router):
            return router.host.pid
        assert self._guest is not None
        return self._guest.process

    def _stations(self) -> dict[str, int]:
        """A process in the network of each station."""
        return {name: host.pid for name, host in self._cabling.stations.items()} if self._cabling else {}

    def _guest_stations(self) -> dict[str, object]:
        """Where each station of the guest is reached, and the key that logs in."""
        stations = self._guest.stations if self._guest else {}
        return {name: {"port": one.port, "key": str(one.key)} for name, one in stations.items()}

    def _status(self) -> dict[str, object]:
        return {
            name: {
                "platform": box.spec.platform,
                "port": self.servers[name].port,
                "hostname": box.hostname,
                "sessions": box.session_count,
                "timer_runs": box.timer_runs,
                "boot_messages": box.boot_messages,
            }
            for name, box in self.boxes.items()
        }
