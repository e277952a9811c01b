"""Check that the parts of a network fit together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from qosforge.errors import InputError
from qosforge.intent.applications import load_catalogue
from qosforge.intent.yaml_source import Path_, YamlDocument
from qosforge.inventory.models import Interface, Link, Network, Port, TrafficFlow, TrafficScenario
from qosforge.units import listed

_Interfaces = Mapping[str, Mapping[str, Interface]]
"""By device, by name."""
_TCP_HEADERS = 40
"""Bytes of a segment before its data (RFC 791, RFC 9293)."""


def inconsistencies(
    network: Network, links: YamlDocument, traffic: YamlDocument | None, changes: YamlDocument | None = None
) -> Iterator[InputError]:
    """Every problem between the parts of a network; the documents say where the parts stand."""
    devices = {device.name: {i.name: i for i in device.interfaces} for device in network.devices}
    yield from _ports(network, devices, links)
    for position, link in enumerate(network.links):
        yield from _ends(devices, link, links, position)
    if changes is not None:
        for position, name in enumerate(network.changes.batfish.except_):
            if name not in devices:
                place = changes.place(("batfish", "except", position))
                yield InputError(f"there is no device {name!r}", place, _nearest(name, list(devices)))
    names = [s.name for s in network.stations]
    yield from _twice(names, "station", links, "stations")
    if traffic is None:
        return
    yield from _twice([s.name for s in network.traffic], "scenario", traffic, "scenarios")
    for position, scenario in enumerate(network.traffic):
        yield from _scenario(scenario, names, traffic, ("scenarios", position))


def _ports(network: Network, devices: _Interfaces, document: YamlDocument) -> Iterator[InputError]:
    """Ports that do not exist, and ports with more than one line."""
    used: dict[Port, str] = {}
    ends: list[tuple[Path_, Port]] = []
    for position, link in enumerate(network.links):
        ends += [(("links", position, "a"), link.a), (("links", position, "b"), link.b)]
    ends += [(("stations", position, "attach"), s.attach) for position, s in enumerate(network.stations)]
    for path, port in ends:
        place = document.place(path)
        device, interface = port
        if device not in devices:
            yield InputError(f"there is no device {device!r}", place, _nearest(device, list(devices)))
        elif interface not in devices[device]:
            yield InputError(
                f"{device} has no interface {interface!r}", place, _nearest(interface, list(devices[device]))
            )
        elif port in used:
            yield InputError(f"{device} {interface} has a line already ({used[port]})", place, "a port takes one")
        else:
            used[port] = f"line {place.line}"


def _ends(devices: _Interfaces, link: Link, document: YamlDocument, position: int) -> Iterator[InputError]:
    """Ends that differ from their link: shares and delays would be computed for another line."""
    for key, (device, name) in (("a", link.a), ("b", link.b)):
        end = devices.get(device, {}).get(name)
        if end is None:
            continue
        for what, one, other in (
            ("rate", end.rate, link.rate),
            ("framing", end.encapsulation, link.framing),
            ("tagged", end.tagged, link.tagged),
        ):
            if one != other:
                message = f"the link's {what} is not that of {device} {name} ({other} and {one})"
                yield InputError(
                    message, document.place(("links", position, key)), "make hosts.yaml and links.yaml agree"
                )


def _scenario(
    scenario: TrafficScenario, stations: list[str], document: YamlDocument, path: Path_
) -> Iterator[InputError]:
    for index, pair in enumerate(scenario.between):
        for station in pair:
            if station not in stations:
                place = document.place((*path, "between", index))
                yield InputError(f"there is no station {station!r}", place, _nearest(station, stations))
    yield from _twice([f.name for f in scenario.flows], "flow", document, *path, "flows")
    for index, flow in enumerate(scenario.flows):
        yield from _flow(flow, stations, document, (*path, "flows", index))


def _flow(flow: TrafficFlow, stations: list[str], document: YamlDocument, path: Path_) -> Iterator[InputError]:
    for key, station in (("from", flow.from_), ("to", flow.to)):
        if station not in stations:
            place = document.place((*path, key))
            yield InputError(
                f"flow {flow.name}: there is no station {station!r}", place, _nearest(station, stations)
            )
    if flow.from_ == flow.to:
        yield InputError(
            f"flow {flow.name} goes from {flow.to!r} to itself", document.place(path), "name two stations"
        )
    catalogue = list(load_catalogue())
    if flow.application is not None and flow.application not in catalogue:
        place = document.place((*path, "application"))
        message = f"flow {flow.name}: unknown application {flow.application!r}"
        yield InputError(message, place, _nearest(flow.application, catalogue))
    source = flow.source
    place = document.place((*path, "source"))
    if source.kind == "tcp" and flow.protocol != "tcp":
        yield InputError(f"flow {flow.name}: a tcp source cannot be {flow.protocol}", place, "write protocol: tcp")
    if source.kind == "tcp" and source.ip_bytes <= _TCP_HEADERS:
        message = f"flow {flow.name}: segments of {source.ip_bytes} bytes have no data"
        yield InputError(message, place, f"give ip_bytes above {_TCP_HEADERS}, the headers of IP and TCP")
    needs = {
        "cbr": ("rate",),
        "poisson": ("rate",),
        "video": ("frames_per_second", "frame_bytes"),
        "tcp": (),
        "trace": ("file",),
    }
    for need in needs[source.kind]:
        if getattr(source, need) is None:
            yield InputError(f"flow {flow.name}: a {source.kind} source needs {need}", place, f"add {need}")
    if source.file is not None and not Path(source.file).is_file():
        message = f"flow {flow.name}: there is no file {source.file}"
        yield InputError(message, place, "name it as seen from the network's folder")


def _twice(names: list[str], what: str, document: YamlDocument, *path: str | int) -> Iterator[InputError]:
    met: set[str] = set()
    for position, name in enumerate(names):
        if name in met:
            place = document.place((*path, position, "name"))
            yield InputError(f"{what} {name!r} is given twice", place, "rename one")
        met.add(name)


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {listed(known)}"
