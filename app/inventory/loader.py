"""Load a network: Nornir's SimpleInventory files plus ``links.yaml`` and ``traffic.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nornir.core.inventory import Inventory
from nornir.plugins.inventory import SimpleInventory
from pydantic import ValidationError

from app.errors import InputError, InputErrors, Place
from app.intent.yaml_source import Document, read_document
from app.inventory.models import Device, Link, Network, Station, TrafficScenario


def load_network(folder: Path) -> Network:
    """The network described in ``folder``.

    Raises:
        InputError, InputErrors: a file is missing, is not YAML or describes no consistent network.
    """
    if not (folder / "hosts.yaml").is_file():
        raise InputError("no such network", Place(file=str(folder)), "name a folder with a hosts.yaml")
    inventory = simple_inventory(folder)
    document = read_document(folder / "hosts.yaml")
    devices = tuple(_device(name, host, document) for name, host in inventory.hosts.items())
    links = read_document(folder / "links.yaml")
    traffic_file = folder / "traffic.yaml"
    traffic = read_document(traffic_file) if traffic_file.is_file() else None
    try:
        network = Network(
            name=folder.resolve().name,
            devices=devices,
            links=tuple(Link.model_validate(entry) for entry in _entries(links, "links")),
            stations=tuple(Station.model_validate(entry) for entry in _entries(links, "stations")),
            traffic=tuple(TrafficScenario.model_validate(e) for e in _entries(traffic, "scenarios"))
            if traffic
            else (),
        )
    except ValidationError as error:
        raise _inventory_errors(error, str(folder)) from None
    _check(network, links)
    return network


def simple_inventory(folder: Path) -> Inventory:
    """Nornir's own reading of the folder.

    Raises:
        InputError: Nornir cannot read it.
    """
    for name in ("hosts.yaml", "groups.yaml", "defaults.yaml"):
        if (folder / name).is_file():
            read_document(folder / name)
    try:
        return SimpleInventory(
            host_file=str(folder / "hosts.yaml"),
            group_file=str(folder / "groups.yaml"),
            defaults_file=str(folder / "defaults.yaml"),
        ).load()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"Nornir cannot read it: {error}", Place(file=str(folder))) from None


def _device(name: str, host: Any, document: Document) -> Device:
    data: dict[str, Any] = {}
    for group in reversed(list(host.groups)):
        data.update(group.data)
    data.update(host.data)
    place = document.place((name,))
    interfaces = data.pop("interfaces", {})
    if not isinstance(interfaces, dict):
        raise InputError("interfaces must be a mapping of names", place)
    role = data.get("role")
    try:
        return Device(
            name=name,
            platform=host.platform or "",
            interfaces=tuple({"role": role, **(body or {}), "name": key} for key, body in interfaces.items()),  # type: ignore[arg-type, misc]
            **data,
        )
    except ValidationError as error:
        raise _inventory_errors(error, place.file or "", place) from None


def _entries(document: Document, key: str) -> list[Any]:
    entries = document.data.get(key, []) if isinstance(document.data, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{key} must be a list", document.place(()))
    return entries


def _inventory_errors(error: ValidationError, file: str, place: Place | None = None) -> InputErrors:
    where = place or Place(file=file)
    problems = [
        InputError(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg'].removeprefix('Value error, ')}", where)
        for e in error.errors()
    ]
    return InputErrors("not a valid inventory", where, "", problems)


def _check(network: Network, document: Document) -> None:
    problems = []
    ports = {(d.name, i.name) for d in network.devices for i in d.interfaces}
    for key, entries in (
        ("links", [(link.a, link.b) for link in network.links]),
        ("stations", [(station.attach,) for station in network.stations]),
    ):
        for position, ends in enumerate(entries):
            for port in ends:
                if port not in ports:
                    place = document.place((key, position))
                    problems.append(InputError(f"{port[0]} has no interface {port[1]}", place, "see hosts.yaml"))
    stations = {s.name for s in network.stations}
    for scenario in network.traffic:
        for flow in scenario.flows:
            for end in (flow.from_, flow.to):
                if end not in stations:
                    problems.append(
                        InputError(
                            f"flow {flow.name}: no station {end}", Place(path=scenario.name), "see links.yaml"
                        )
                    )
    if problems:
        raise InputErrors("not a consistent network", Place(file=document.file), "", problems)
