"""Load a network: Nornir's SimpleInventory files plus ``links.yaml``, ``traffic.yaml``, ``changes.yaml``
and ``probes.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from nornir.core.inventory import Inventory
from pydantic import BaseModel, ValidationError

from qosforge.errors import InputError, InputErrors, Place
from qosforge.intent.problems import as_problem
from qosforge.intent.yaml_source import Bounds, Path_, YamlDocument, is_blank, read_document
from qosforge.inventory.changes import ChangeRules
from qosforge.inventory.consistency import inconsistencies
from qosforge.inventory.models import Device, DeviceRole, Interface, Link, Network, Station, TrafficScenario
from qosforge.inventory.nornir_files import misshapen
from qosforge.inventory.nornir_inventory import nornir_inventory
from qosforge.inventory.port_ranges import MOST_PORTS, overlaps, port_names
from qosforge.inventory.probes import Probes
from qosforge.inventory.reach import OWN, Reach, written_reach
from qosforge.units import WRITTEN, shortened

Entry = TypeVar("Entry", bound=BaseModel)

BOUNDS = Bounds(
    bytes=32_000_000,
    values=1_000_000,
    hint="describe ports that are alike as a range, such as GigabitEthernet1/0/[1-48], and in groups.yaml what "
    "devices have in common",
)
"""A file of an inventory: twice the values of 1,000 devices whose 48 ports are all described one by one."""
MOST_INTERFACES = 250_000
"""Interfaces of a network, with those that ranges stand for."""


def load_network(folder: Path) -> Network:
    """The network described in ``folder``.

    Raises:
        InputError: a file is missing or is not YAML.
        InputErrors: it describes no consistent network; carries every problem found.
    """
    if not (folder / "hosts.yaml").is_file():
        raise InputError("no such network", Place(file=str(folder)), "name a folder with a hosts.yaml")
    hosts = read_document(folder / "hosts.yaml", bounds=BOUNDS)
    inventory = _simple_inventory(folder, hosts)
    links = read_document(folder / "links.yaml", bounds=BOUNDS)
    traffic = _document(folder / "traffic.yaml")
    changes = _document(folder / "changes.yaml")
    probes = _document(folder / "probes.yaml")
    problems = [*_unknown_keys(links, ("links", "stations")), *_unknown_keys(traffic, ("scenarios",))]
    network = Network(
        name=folder.resolve().name,
        devices=tuple(_devices(inventory, hosts, problems)),
        links=_entries(links, "links", Link, problems),
        stations=_entries(links, "stations", Station, problems),
        traffic=tuple(
            _with_files(scenario, folder)
            for scenario in (_entries(traffic, "scenarios", TrafficScenario, problems) if traffic else ())
        ),
        changes=(_validated(ChangeRules, changes.data, changes, (), problems) if changes else None)
        or ChangeRules(),
        probes=(_validated(Probes, probes.data, probes, (), problems) if probes else None) or Probes(),
    )
    # Positions and names are those of the files only where every entry could be read.
    problems = problems or [*inconsistencies(network, links, traffic, changes), *_unknown_hosts(network, probes)]
    if problems:
        raise InputErrors("not a consistent network", Place(file=str(folder)), "", problems)
    return network


def _document(path: Path) -> YamlDocument | None:
    """A file that a network may do without, and that may say nothing."""
    if not path.is_file():
        return None
    try:
        document = read_document(path, bounds=BOUNDS)
    except (InputError, InputErrors):
        if is_blank(path.read_text(encoding="utf-8", errors="replace")):
            return None
        raise
    return document if document.data is not None else None


def _simple_inventory(folder: Path, hosts: YamlDocument) -> Inventory:
    """The folder as Nornir has it.

    Raises:
        InputErrors: one of its files has not the shape that Nornir reads.
    """
    groups, defaults = _document(folder / "groups.yaml"), _document(folder / "defaults.yaml")
    problems = list(misshapen(hosts, groups, defaults))
    if problems:
        raise InputErrors("not an inventory", Place(file=str(folder)), "", problems)
    return nornir_inventory(hosts.data, groups.data if groups else {}, defaults.data if defaults else {})


def _unknown_keys(document: YamlDocument | None, known: tuple[str, ...]) -> Iterator[InputError]:
    if document is None or not isinstance(document.data, dict):
        return
    for key in document.data:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
            yield InputError(f"unknown key {shortened(key)}", document.key_place((key,)), hint)


def _unknown_hosts(network: Network, document: YamlDocument | None) -> Iterator[InputError]:
    """Hosts of probes behind stations that the network does not have."""
    known = {station.name for station in network.stations}
    for number, host in enumerate(network.probes.hosts):
        if document is not None and host.station not in known:
            place = document.place(("hosts", number, "station"))
            yield InputError(f"there is no station {host.station}", place, "name one of links.yaml")


def _devices(inventory: Inventory, document: YamlDocument, problems: list[InputError]) -> Iterator[Device]:
    """The devices, as long as their interfaces are not too many.

    Raises:
        InputError: they are.
    """
    count = 0
    for name, host in inventory.hosts.items():
        device = _device(name, host, document, problems)
        if device is None:
            continue
        count += len(device.interfaces)
        if count > MOST_INTERFACES:
            raise InputError(
                f"the network has more than {MOST_INTERFACES:,} interfaces",
                document.key_place((name,)),
                "describe it as several networks, each in a folder of its own",
            )
        yield device


def _device(name: str, host: Any, document: YamlDocument, problems: list[InputError]) -> Device | None:
    data: dict[str, Any] = dict(host.extended_data())
    own: Path_ = (name, "data") if (name, "data") in document.marks else (name,)
    bodies = data.pop("interfaces", None) or {}
    if not isinstance(bodies, dict):
        problems.append(
            InputError(
                "interfaces must be a mapping of names",
                document.place((*own, "interfaces")),
                "see hosts.yaml of campus",
            )
        )
        return None
    before = len(problems)
    problems.extend(_misplaced(host, document, own, data))
    problems.extend(_named_again(document, (*own, "interfaces"), bodies))
    platform = host.platform or data.get("platform") or "none"  # what is wrong with it is told by now
    reach = _validated(Reach, written_reach(host, data), document, own, problems)
    own_data = {key: value for key, value in data.items() if key not in OWN}
    own_data |= {"name": name, "platform": platform, "interfaces": [], "reach": reach or Reach()}
    device = _validated(Device, own_data, document, own, problems)
    role = (
        device.role if device else DeviceRole.EDGE
    )  # what is wrong with the device is told once, not at every port
    interfaces = _interfaces(bodies, role, document, (*own, "interfaces"), problems)
    if device is None or len(problems) > before:
        return None
    return device.model_copy(update={"interfaces": interfaces})


def _interfaces(
    bodies: dict[str, Any], role: DeviceRole, document: YamlDocument, path: Path_, problems: list[InputError]
) -> tuple[Interface, ...]:
    """The interfaces of the device that ``path`` begins with; those of a range are checked once."""
    described: list[tuple[Interface, tuple[str, ...]]] = []
    for key, body in bodies.items():
        try:
            names = port_names(key)
        except ValueError as error:
            message, _, hint = str(error).rpartition(": ")
            problems.append(InputError(message, document.key_place((*path, key)), hint))
            continue
        # Where the longest name is one, all are: they differ in digits.
        whole = {"role": role, **(body if isinstance(body, dict) else {}), "name": max(names, key=len)}
        interface = _validated(Interface, whole, document, (*path, key), problems)
        if interface is not None:
            described.append((interface, names))
    count = sum(len(names) for _, names in described)
    if count > MOST_PORTS:
        message = f"{path[0]} has {count:,} interfaces, at most {MOST_PORTS:,} are described for a device"
        problems.append(InputError(message, document.place(path), "describe those that the device has"))
        return ()
    problems.extend(_described_twice(bodies, document, path))
    return tuple(
        interface if interface.name == name else interface.model_copy(update={"name": name})
        for interface, names in described
        for name in names
    )


def _described_twice(bodies: dict[str, Any], document: YamlDocument, path: Path_) -> Iterator[InputError]:
    for overlap in overlaps(bodies):
        count = len(overlap.ports)
        ports = (
            (f"{overlap.ports[0]} is" if count == 1 else f"{count:,} ports are")
            + " described twice"
            + (f" ({overlap.ports[0]} …)" if count > 1 else "")
        )
        line = document.key_place((*path, overlap.first)).line
        yield InputError(
            f"{path[0]}: {ports}, here and at line {line} ({overlap.first})",
            document.key_place((*path, overlap.second)),
            f"take {'it' if count == 1 else 'them'} out of one of both, as in [1-24,26-48]",
        )


def _misplaced(host: Any, document: YamlDocument, path: Path_, data: dict[str, Any]) -> Iterator[InputError]:
    """Keys under ``data`` that would count for nothing there, and a host without a platform."""
    if "name" in data:
        place = document.place((*path, "name"))
        yield InputError("'name' does not belong under data", place, "the device is named by its key: take it away")
    if "reach" in data:
        hint = "write hostname and port beside data; transport, credentials and jump under it"
        yield InputError("unknown key 'reach'", document.key_place((*path, "reach")), hint)
    if "platform" in data:
        place = document.place((*path, "platform"))
        hint = "write it beside data, or in the host's group"
        yield InputError("'platform' does not belong under data", place, hint)
    elif not host.platform:
        hint = "give it a platform, or a group of groups.yaml that has one"
        yield InputError(f"{host.name} has no platform", document.key_place((host.name,)), hint)


def _named_again(document: YamlDocument, path: Path_, bodies: dict[str, Any]) -> Iterator[InputError]:
    for key, body in bodies.items():
        if isinstance(body, dict) and "name" in body:
            place = document.key_place((*path, str(key), "name"))
            yield InputError("unknown key 'name'", place, "the interface is named by its key: take it away")


def _entries(document: YamlDocument, key: str, model: type[Entry], problems: list[InputError]) -> tuple[Entry, ...]:
    data = document.data
    entries = data.get(key, []) if isinstance(data, dict) else None
    if not isinstance(entries, list):
        problems.append(InputError(f"{key} must be a list", document.place((key,)), "see inventories/campus"))
        return ()
    read = [_validated(model, entry, document, (key, i), problems) for i, entry in enumerate(entries)]
    return tuple(entry for entry in read if entry is not None)


def _with_files(scenario: TrafficScenario, folder: Path) -> TrafficScenario:
    """The scenario with its recordings found from anywhere, not only from the network's folder."""
    flows = tuple(
        flow.model_copy(update={"source": flow.source.model_copy(update={"file": str(folder / flow.source.file)})})
        if flow.source.file is not None
        else flow
        for flow in scenario.flows
    )
    return scenario.model_copy(update={"flows": flows})


def _validated(
    model: type[Entry], data: Any, document: YamlDocument, base: Path_, problems: list[InputError]
) -> Entry | None:
    try:
        return model.model_validate(data, context=WRITTEN)
    except ValidationError as error:
        known = base
        while known not in document.marks:
            known = known[:-1]
        problems.extend(as_problem(document, details, model, known) for details in error.errors())
        return None
