"""The cables of a lab's Linux routers: pairs of Ethernet ports, stations at their ends, and routes between them.

A cable with a rate goes through a host of its own, the line, whose ports send no faster and hold a short queue in
order of arrival: as a modem or a carrier's switch before a router does. A router is never next to who sends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, Self, TypeVar

from qoslab.spec import LinkSpec

LINE_PACKETS = 100
_FRAME_BYTES = 1514
LATE_SECONDS = 0.02
"""By how much a line catches up after a timer that was late. The timers of the router before it are as late, and
the line must not be the slower one for that."""
_PORT = "eth0"


class CabledHost(Protocol):
    """A host that cables are plugged into."""

    def start(self) -> None:
        """Make it, without cables."""

    def stop(self) -> None:
        """End it."""

    def run(self, *words: str, data: str = "") -> str:
        """Run a command inside; what it says."""

    def plug(self, port: str, far: Self, far_port: str) -> None:
        """Make a port here and one there, with a cable between them."""


AnyHost = TypeVar("AnyHost", bound=CabledHost)


class Cabling(Generic[AnyHost]):
    """All cables of the routers of a network. ``stations`` are hosts by their names; ``make`` makes a further host
    of a name: ``line``, or ``stations`` and a station's. ``late_seconds``: by how much timers may be late.
    """

    def __init__(
        self,
        links: Sequence[LinkSpec],
        routers: Mapping[str, AnyHost],
        make: Callable[[str], AnyHost],
        *,
        late_seconds: float = LATE_SECONDS,
    ) -> None:
        self._links = [link for link in links if any(end[0] in routers for end in (link.a, link.b) if end)]
        self._routers = routers
        self._addresses = {name: f"169.254.{1 + n // 250}.{1 + n % 250}" for n, name in enumerate(routers)}
        self._line = make("line")
        self._make = make
        self._late_seconds = late_seconds
        self.stations: dict[str, AnyHost] = {}
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
                router.run("ip", "route", "replace", f"{address}/32", "via", hop, "dev", port, "onlink")

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
            self._pair(self._routers[end[0]], end[1], self._line, far)
            self._line.run("ip", "link", "set", far, "master", bridge)
            burst = max(int(link.rate * self._late_seconds / 8), 2 * _FRAME_BYTES)
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
        station = self._make(f"stations/{link.station.name}")
        station.start()
        self.stations[link.station.name] = station
        self._pair(self._routers[router], port, station, _PORT)
        self._address(router, port)
        own, gateway = link.station.address, self._addresses[router]
        station.run("ip", "addr", "add", f"{own}/32", "dev", _PORT)
        station.run("ip", "route", "add", f"{gateway}/32", "dev", _PORT)
        station.run("ip", "route", "add", "default", "via", gateway, "dev", _PORT)
        self._routers[router].run("ip", "route", "replace", f"{own}/32", "dev", port)

    @staticmethod
    def _pair(near: AnyHost, near_port: str, far: AnyHost, far_port: str) -> None:
        near.plug(near_port, far, far_port)
        near.run("ip", "link", "set", near_port, "up")
        far.run("ip", "link", "set", far_port, "up")

    def _address(self, router: str, port: str) -> None:
        self._routers[router].run("ip", "addr", "add", f"{self._addresses[router]}/32", "dev", port)

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
