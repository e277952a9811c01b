"""Classifying by access lists, against Aerleon generating the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.fleet import fleet, flow_classes
from benchmarks.timing import Ratio, best
from qosforge.compiler.compile import compile_devices
from qosforge.intent.models import MatchTerm
from qosforge.inventory.models import DeviceRole, Network
from qosforge.platforms.base import platform
from qosforge.platforms.mqc.access_lists import AccessLists

DEVICES = 100
REPEATS = 3

Generate = Callable[[Sequence[str]], dict[str, str]]
"""Texts with the access lists of all classes, for each of some devices."""


def measure() -> Iterator[Ratio | str]:
    """Time of Aerleon over ours for the same routers; ours makes plans, class-maps and marking policies too."""
    if find_spec("aerleon") is None:
        yield "Aerleon / ours, access lists: aerleon is not installed, run make bench"
        return
    generate = _aerleon()
    for title, shapes in (("that all differ", None), ("that differ in name", 1)):
        made = fleet(DEVICES * (shapes or 2), shapes=shapes, platforms=("cisco_ios",))
        network = made.model_copy(update={"devices": tuple(d for d in made.devices if d.role is DeviceRole.EDGE)})
        names = [device.name for device in network.devices]
        if {name: entries(text) for name, text in _ours(network).items()} != {
            name: entries(text) for name, text in generate(names).items()
        }:
            raise ValueError("the two do not make the same access lists")
        yield Ratio(
            f"Aerleon / compile, access lists of 12 classes on {len(names)} routers {title}",
            best(lambda names=names: generate(names), REPEATS),
            best(lambda network=network: _ours(network), REPEATS),
            at_least=10.0,
        )


def entries(text: str) -> list[str]:
    """What a text permits, however ports are called in it."""
    permitting = (line for line in text.splitlines() if line.startswith(" permit "))
    reading = platform("cisco_ios").commands.read("\n".join(("ip access-list extended ALL", *permitting)))
    read = AccessLists(reading).terms("ALL")
    if reading.unknown:
        raise ValueError(f"an entry is not understood: {reading.unknown[0].text}")
    return sorted(term.model_dump_json() for term in read)


def _ours(network: Network) -> dict[str, str]:
    return {device.name: device.text for device in compile_devices(flow_classes(), network)[0]}


def _aerleon() -> Generate:
    api, naming = import_module("aerleon.api"), import_module("aerleon.lib.naming")
    networks: dict[str, Any] = {}
    services: dict[str, Any] = {}
    filters = []
    for entry in flow_classes().intent.classes:
        terms = [
            _term(f"{entry.name}-{at}", term, networks, services)
            for at, term in enumerate(entry.match.alternatives() if entry.match else ())
        ]
        if terms:
            filters.append({"header": {"targets": {"cisco": f"{entry.name} extended"}}, "terms": terms})
    definitions = naming.Naming()
    definitions.ParseDefinitionsObject({"networks": networks, "services": services}, "")

    def generate(names: Sequence[str]) -> dict[str, str]:
        made = api.Generate([{"filename": name, "filters": filters} for name in names], definitions)
        return {name.removesuffix(".acl"): text for name, text in made.items()}

    return generate


def _term(name: str, term: MatchTerm, networks: dict[str, Any], services: dict[str, Any]) -> dict[str, Any]:
    """A term of Aerleon's, with what it refers to: protocols, destination prefixes and destination ports."""
    known = {6: "tcp", 17: "udp", 89: "ospf"}
    (protocol,) = (known[number] for number in term.protocol)
    networks[name] = {"values": [{"address": prefix} for prefix in term.destination]}
    made = {"name": name, "protocol": protocol, "destination-address": name, "action": "accept"}
    if term.destination_port:
        services[name] = [
            {"protocol": protocol, "port": f"{first}-{last}" if first != last else str(first)}
            for first, last in term.destination_port
        ]
        made["destination-port"] = name
    return made
