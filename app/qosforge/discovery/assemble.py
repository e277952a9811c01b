"""Assemble one network from the facts of single devices: names, links with both ends, guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import networkx
from pydantic import ValidationError

from qosforge.discovery.crawler import Crawl, Visit
from qosforge.discovery.facts import DeviceFacts, Neighbour, Note, PortFacts, Topic
from qosforge.discovery.guesses import role_of, tag_of
from qosforge.discovery.model import Discovery, End, FoundDevice, FoundInterface, FoundLink, interface_of
from qosforge.discovery.names import inventory_name, label, port_named
from qosforge.inventory.models import DeviceRole

_DELAY = Note(
    Topic.ASSUMED,
    "",
    "links.yaml",
    "no neighbour tells how long a link is: all have a propagation delay of 0",
    "give long links their 'delay'",
)
_BY_HAND = "describe the link in links.yaml by hand"


def _unseen(device: FoundDevice, ends: Mapping[End, End]) -> Iterator[Note]:
    """Links that there may be, and that nobody announces."""
    if not device.facts.speaks:
        message = "it speaks no discovery protocol: links to it are not seen"
        hint = "describe its links in links.yaml by hand, or switch a protocol on where its image has one"
        yield Note(Topic.UNSEEN, device.name, device.facts.image, message, hint)
    for one in device.interfaces:
        if one.port.tagged and (device.name, one.port.name) not in ends:
            message = "its frames are tagged, and no neighbour is heard on it"
            hint = "describe the link in links.yaml by hand: the other end may speak another protocol, or none"
            yield Note(Topic.UNSEEN, device.name, one.port.name, message, hint)


@dataclass
class _Seen:
    """A link by its two ends, and who saw it."""

    ends: tuple[End, End]
    by: set[str] = field(default_factory=set)


def assemble(crawl: Crawl) -> Discovery:
    """The network of a crawl."""
    return _Assembly(crawl).discovery()


class _Assembly:
    def __init__(self, crawl: Crawl) -> None:
        self._notes = [*crawl.notes, *(note for visit in crawl.visits for note in visit.facts.notes)]
        self._visits = dict(zip(self._names(crawl.visits), crawl.visits, strict=True))
        self._ports = {name: tuple(self._usable(name, visit)) for name, visit in self._visits.items()}
        self._by_address = {address: name for name, visit in self._visits.items() for address in visit.addresses}

    def discovery(self) -> Discovery:
        links = tuple(self._links())
        ends = {end: other for link in links for end, other in ((link.a, link.b), (link.b, link.a))}
        devices = tuple(self._device(name, visit, ends) for name, visit in self._visits.items())
        for device in devices:
            self._notes += _unseen(device, ends)
        if links:
            self._notes.append(_DELAY)
        self._notes += self._loops(links)
        return Discovery(devices, links, tuple(self._notes))

    def _names(self, visits: tuple[Visit, ...]) -> Iterator[str]:
        """Names of the inventory: host names in lower case; a second device of one name gets a number."""
        used: set[str] = set()
        for visit in visits:
            plain = inventory_name(visit.facts.hostname)
            name, number = plain, 1
            while name in used:
                number += 1
                name = f"{plain}-{number}"
            if number > 1:
                message = f"another device is called {visit.facts.hostname}: this one is written as {name}"
                hint = "give the devices host names of their own"
                self._notes.append(Note(Topic.SAME_NAME, name, visit.addresses[0], message, hint))
            used.add(name)
            yield name

    def _facts(self, name: str) -> DeviceFacts:
        return self._visits[name].facts

    def _port(self, end: End) -> PortFacts | None:
        return next((port for port in self._ports[end[0]] if port.name == end[1]), None)

    def _usable(self, name: str, visit: Visit) -> Iterator[PortFacts]:
        """The ports that an inventory can hold."""
        for port in visit.facts.ports:
            try:
                interface_of(port, DeviceRole.EDGE, "")
            except ValidationError as error:
                message = f"an inventory does not take this port: {error.errors()[0]['msg']}"
                hint = "correct it on the device, or describe the port in hosts.yaml by hand"
                self._notes.append(Note(Topic.LEFT_OUT, name, port.name, message, hint))
            else:
                yield port

    # -- links -------------------------------------------------------------------------------------------

    def _links(self) -> Iterator[FoundLink]:
        seen = self._collect_links()
        crowded = [end for end in self._ends(seen) if [*self._ends(seen)].count(end) > 1]
        for end in dict.fromkeys(crowded):
            others = [one.ends[one.ends[0] == end] for one in seen if end in one.ends]
            told = ", ".join(" ".join(other) for other in others)
            message = (
                f"more than one neighbour on {end[1]} ({told}): a hub, or a switch that says nothing, lies between"
            )
            self._notes.append(Note(Topic.LEFT_OUT, end[0], end[1], message, _BY_HAND))
        for one in seen:
            if not set(one.ends) & set(crowded) and (link := self._link(one)) is not None:
                yield link

    @staticmethod
    def _ends(seen: list[_Seen]) -> Iterator[End]:
        return (end for one in seen for end in one.ends)

    def _collect_links(self) -> list[_Seen]:
        found: dict[frozenset[End], _Seen] = {}
        for name, visit in self._visits.items():
            for neighbour, address in visit.neighbours:
                far = self._by_address.get(address or "")
                if far is None:
                    continue
                self._aliases(name, neighbour, far)
                here, there = (name, neighbour.port), self._far_end(name, neighbour, far)
                if there is not None:
                    one = found.setdefault(frozenset((here, there)), _Seen((here, there)))
                    one.by.add(name)
        return list(found.values())

    def _aliases(self, name: str, neighbour: Neighbour, far: str) -> None:
        facts = self._facts(far)
        if neighbour.name and label(neighbour.name) not in {label(known) for known in facts.names}:
            message = f"{neighbour.name} calls itself {facts.hostname}: one device under two names"
            hint = "check that the address of the announcement is the device's own"
            self._notes.append(Note(Topic.TWO_NAMES, name, str(neighbour), message, hint))

    def _far_end(self, name: str, neighbour: Neighbour, far: str) -> End | None:
        port = port_named(neighbour.remote_port, [port.name for port in self._ports[far]])
        if port is None:
            message = f"{far} has no port {neighbour.remote_port!r} that is up"
            self._notes.append(Note(Topic.NOT_UNDERSTOOD, name, str(neighbour), message, _BY_HAND))
            return None
        return far, port

    def _link(self, sighting: _Seen) -> FoundLink | None:
        a, b = sighting.ends
        one, other = self._port(a), self._port(b)
        if one is None or other is None:
            missing = a if one is None else b
            message = f"{missing[1]} is not among the ports that could be read"
            self._notes.append(Note(Topic.LEFT_OUT, missing[0], missing[1], message, _BY_HAND))
            return None
        for what, left, right in (
            ("rate", one.rate, other.rate),
            ("framing", one.framing, other.framing),
            ("tagging", one.tagged, other.tagged),
        ):
            if left != right:
                message = (
                    f"the ends differ in their {what}: {' '.join(a)} has {left}, {' '.join(b)} {right}: left out"
                )
                hint = "make the devices agree, and discover again; or describe the link by hand"
                self._notes.append(Note(Topic.LEFT_OUT, a[0], f"{a[1]} – {' '.join(b)}", message, hint))
                return None
        if len(sighting.by) == 1:
            self._one_sided(sighting)
        return FoundLink(a, b, one.rate, one.framing, one.tagged, frozenset(sighting.by))

    def _one_sided(self, sighting: _Seen) -> None:
        (by,) = sighting.by
        here, there = sorted(sighting.ends, key=lambda end: end[0] != by)
        message = f"{' '.join(here)} hears {' '.join(there)}, which does not hear it"
        hint = f"check that {there[0]} speaks the protocol on {there[1]}, and that nothing lies between"
        self._notes.append(Note(Topic.ONE_SIDED, there[0], there[1], message, hint))

    @staticmethod
    def _loops(links: tuple[FoundLink, ...]) -> Iterator[Note]:
        graph = networkx.Graph([(link.a[0], link.b[0]) for link in links])
        for loop in sorted(sorted(found) for found in networkx.cycle_basis(graph) if len(found) > 1):
            message = f"{', '.join(loop)} form a loop"
            hint = (
                "nothing: paths are those of fewest hops; check that these are what routing or spanning tree takes"
            )
            yield Note(Topic.LOOP, loop[0], ", ".join(loop), message, hint)

    # -- devices -----------------------------------------------------------------------------------------

    def _device(self, name: str, visit: Visit, ends: dict[End, End]) -> FoundDevice:
        facts = visit.facts
        tags = {}
        for port in self._ports[name]:
            far = ends.get((name, port.name))
            tags[port.name] = tag_of(facts, port, self._facts(far[0]) if far else None)
        return FoundDevice(
            name,
            visit.addresses[0],
            facts,
            role_of(facts, tags),
            tuple(FoundInterface(port, tags[port.name]) for port in self._ports[name]),
        )
