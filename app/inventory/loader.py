"""Load a network: Nornir's SimpleInventory files plus ``links.yaml`` and ``traffic.yaml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from nornir.core.inventory import Inventory
from nornir.plugins.inventory import SimpleInventory
from pydantic import BaseModel, ValidationError

from app.errors import InputError, InputErrors, Place
from app.intent.problems import as_problem
from app.intent.yaml_source import Document, Path_, read_document
from app.inventory.consistency import inconsistencies
from app.inventory.models import Device, Interface, Link, Network, Role, Station, TrafficScenario
from app.units import WRITTEN

Entry = TypeVar("Entry", bound=BaseModel)


def load_network(folder: Path) -> Network:
    """The network described in ``folder``.

    Raises:
        InputError: a file is missing or is not YAML.
        InputErrors: it describes no consistent network; carries every problem found.
    """
    if not (folder / "hosts.yaml").is_file():
        raise InputError("no such network", Place(file=str(folder)), "name a folder with a hosts.yaml")
    inventory = simple_inventory(folder)
    hosts = read_document(folder / "hosts.yaml")
    links = read_document(folder / "links.yaml")
    traffic_file = folder / "traffic.yaml"
    traffic = read_document(traffic_file) if traffic_file.is_file() else None
    problems: list[InputError] = []
    network = Network(
        name=folder.resolve().name,
        devices=tuple(
            device for name, host in inventory.hosts.items() if (device := _device(name, host, hosts, problems))
        ),
        links=_entries(links, "links", Link, problems),
        stations=_entries(links, "stations", Station, problems),
        traffic=_entries(traffic, "scenarios", TrafficScenario, problems) if traffic else (),
    )
    # Positions and names are those of the files only where every entry could be read.
    problems = problems or list(inconsistencies(network, links, traffic))
    if problems:
        raise InputErrors("not a consistent network", Place(file=str(folder)), "", problems)
    return network


def simple_inventory(folder: Path) -> Inventory:
    """Nornir's own reading of the folder.

    Raises:
        InputError: Nornir cannot read it.
    """
    for name in ("hosts.yaml", "groups.yaml", "defaults.yaml"):
        if (folder / name).is_file():
            document = read_document(folder / name)
            if not isinstance(document.data, dict):
                raise InputError("must be a mapping", document.place(()), "see inventories/campus")
    try:
        return SimpleInventory(
            host_file=str(folder / "hosts.yaml"),
            group_file=str(folder / "groups.yaml"),
            defaults_file=str(folder / "defaults.yaml"),
        ).load()
    except KeyError as error:
        place = Place(file=str(folder / "hosts.yaml"))
        raise InputError(f"Nornir cannot read it: nothing is called {error}", place, "see groups.yaml") from None
    except (TypeError, AttributeError, ValueError) as error:
        place = Place(file=str(folder))
        raise InputError(f"Nornir cannot read it: {error}", place, "see inventories/campus") from None


def _device(name: str, host: Any, document: Document, problems: list[InputError]) -> Device | None:
    data: dict[str, Any] = {}
    for group in reversed(list(host.groups)):
        data.update(group.data)
    data.update(host.data)
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
    own_data = {**data, "name": name, "platform": host.platform or "", "interfaces": []}
    device = _validated(Device, own_data, document, own, problems)
    role = device.role if device else Role.EDGE  # what is wrong with the device is told once, not at every port
    interfaces = []
    for key, body in bodies.items():
        whole = {"role": role, **(body if isinstance(body, dict) else {}), "name": str(key)}
        interfaces.append(_validated(Interface, whole, document, (*own, "interfaces", str(key)), problems))
    if device is None or len(problems) > before:
        return None
    return device.model_copy(update={"interfaces": tuple(i for i in interfaces if i is not None)})


def _entries(document: Document, key: str, model: type[Entry], problems: list[InputError]) -> tuple[Entry, ...]:
    data = document.data
    entries = data.get(key, []) if isinstance(data, dict) else None
    if not isinstance(entries, list):
        problems.append(InputError(f"{key} must be a list", document.place((key,)), "see inventories/campus"))
        return ()
    read = [_validated(model, entry, document, (key, i), problems) for i, entry in enumerate(entries)]
    return tuple(entry for entry in read if entry is not None)


def _validated(
    model: type[Entry], data: Any, document: Document, base: Path_, problems: list[InputError]
) -> Entry | None:
    try:
        return model.model_validate(data, context=WRITTEN)
    except ValidationError as error:
        known = base
        while known not in document.marks:
            known = known[:-1]
        problems.extend(as_problem(document, details, model, known) for details in error.errors())
        return None
