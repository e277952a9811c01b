"""The path of a packet through the network, device by device."""

from __future__ import annotations

from typing import NamedTuple

from qosforge.inventory.models import Framing, Link, Network, Port


class Hop(NamedTuple):
    """One device on a path: where packets come in, where they leave, and whether they come with a tag."""

    entry: Port
    exit: Port
    tagged: bool

    @property
    def device(self) -> str:
        """Name of the device."""
        return self.entry[0]


def hops(network: Network, source: str, target: str) -> tuple[Hop, ...]:
    """The devices between two stations.

    Raises:
        KeyError: a station is unknown.
        ValueError: there is no path.
    """
    entry, tagged = network.station(source).attach, False
    found = []
    for port in network.path(source, target):
        found.append(Hop(entry, port, tagged))
        if (end := network.neighbour(port)) is not None:
            tagged, entry = end[0].tagged, end[1]
    return tuple(found)


def links(network: Network, source: str, target: str) -> tuple[tuple[Link, Port], ...]:
    """Every link between two stations with the port that sends into it, their own attachments included.

    Raises:
        KeyError: a station is unknown.
        ValueError: there is no path.
    """
    here, there = network.station(source), network.station(target)
    first = Link(a=(source, ""), b=here.attach, rate=here.rate, framing=Framing.ETHERNET)
    last = Link(a=there.attach, b=(target, ""), rate=there.rate, framing=Framing.ETHERNET)
    *between, _ = network.path(source, target)
    middle = [(end[0], port) for port in between if (end := network.neighbour(port)) is not None]
    return ((first, first.a), *middle, (last, last.a))
