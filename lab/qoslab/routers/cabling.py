"""The cables of a lab's Linux routers: pairs of Ethernet ports, stations at their ends, and routes between them.

A cable with a rate goes through a host of its own, the line, whose ports send no faster and hold a short queue in
order of arrival: as a modem or a carrier's switch before a router does. A router is never next to who sends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from qoslab.routers.host import Host, run
from qoslab.routers.router import Router
from qoslab.spec import LinkSpec

LINE_PACKETS = 100
_FRAME_BYTES = 1514
_BUCKET_SECONDS = 0.02
"""By how much a line catches up after a timer that was late. The timers of the router before it are as late, and
the line must not be the slower one for that."""
_PORT = "eth0"


class Cabling:
    """All cables of the routers of a network. ``stations`` are hosts by their names."""

    def __init__(self, links: Sequence[LinkSpec], routers: Mapping[str, Router], state: Path) -> None:
        self._links = [link for link in links if any(end[0] in routers for end in (link.a, link.b) if end)]
        self._routers = routers
        self._addresses = {name: f"169.254.{1 + n // 250}.{1 + n % 250}" for n, name in enumerate(routers)}
        self._line = Host("line", state / "line")
        self._state = state
        self.stations: dict[str, Host] = {}
        self._count = 0

    def plug(self) -> None:
        """Plug everything in. Raises StartError where a port cannot be made."""
        self._line.start()
        for link in self._links:
            if link.station is not None:
                self._attach_station(link)
            else:
                self._connect(link)
        for name, router in self._routers.items():
            for address, hop, port in self._routes(name):
                router.host.run("ip", "route", "replace", f"{address}/32", "via", hop, "dev", port, "onlink")

    def unplug(self) -> None:
        """End the line and the stations."""
        for host in (self._line, *self.stations.values()):
            host.stop()

    def _connect(self, link: LinkSpec) -> None:
        """Routers at the ends of a line; an end that is no router is a port that nobody looks at."""
        bridge = f"line{self._count}"
        self._count += 1
        self._line.run("ip", "link", "add", bridge, "type", "bridge")
        self._line.run("ip", "link", "set", bridge, "up")
        for side, end in zip("ab", (link.a, link.b), strict=True):
            if end is None or end[0] not in self._routers:
                continue
            far = f"{bridge}{side}"
            self._pair(self._routers[end[0]].host, end[1], self._line, far)
            self._line.run("ip", "link", "set", far, "master", bridge)
            burst = max(int(link.rate * _BUCKET_SECONDS / 8), 2 * _FRAME_BYTES)
            # Like a line: frames wait in order of arrival, and what does not fit is dropped.
            shaper = (
                "tbf",
                "rate",
                f"{link.rate}bit",
                "burst",
                f"{burst}b",
                "limit",
                f"{LINE_PACKETS * _FRAME_BYTES}b",
            )
            self._line.run("tc", "qdisc", "add", "dev", far, "root", *shaper)
            self._address(end[0], end[1])

    def _attach_station(self, link: LinkSpec) -> None:
        assert link.station is not None
        router, port = link.a
        station = Host(link.station.name, self._state / "stations" / link.station.name)
        station.start()
        self.stations[link.station.name] = station
        self._pair(self._routers[router].host, port, station, _PORT)
        self._address(router, port)
        own, gateway = link.station.address, self._addresses[router]
        station.run("ip", "addr", "add", f"{own}/32", "dev", _PORT)
        station.run("ip", "route", "add", f"{gateway}/32", "dev", _PORT)
        station.run("ip", "route", "add", "default", "via", gateway, "dev", _PORT)
        self._routers[router].host.run("ip", "route", "replace", f"{own}/32", "dev", port)

    def _pair(self, near: Host, near_port: str, far: Host, far_port: str) -> None:
        """A cable between two hosts; made from outside, where both have process numbers."""
        ends = [near_port, "netns", str(near.pid), "type", "veth", "peer", "name", far_port, "netns", str(far.pid)]
        run("ip", "link", "add", *ends)
        near.run("ip", "link", "set", near_port, "up")
        far.run("ip", "link", "set", far_port, "up")

    def _address(self, router: str, port: str) -> None:
        self._routers[router].host.run("ip", "addr", "add", f"{self._addresses[router]}/32", "dev", port)

    def _routes(self, start: str) -> Iterator[tuple[str, str, str]]:
        """For each station that is not at the router itself its address, the next hop and the port to it."""
        first: dict[str, tuple[str, str]] = {}
        waiting, seen = deque([start]), {start}
        while waiting:
            here = waiting.popleft()
            for port, there in self._neighbours(here):
                if there not in seen:
                    seen.add(there)
                    first[there] = first.get(here, (self._addresses[there], port))
                    waiting.append(there)
        for link in self._links:
            if link.station is not None and link.a[0] in first:
                yield (link.station.address, *first[link.a[0]])

    def _neighbours(self, router: str) -> Iterator[tuple[str, str]]:
        for link in self._links:
            if link.b is None:
                continue
            for near, far in ((link.a, link.b), (link.b, link.a)):
                if near[0] == router and far[0] in self._routers:
                    yield near[1], far[0]
