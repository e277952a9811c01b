"""Load a network: Nornir's SimpleInventory files plus ``links.yaml``, ``traffic.yaml`` and ``changes.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from nornir.core.inventory import Inventory
from nornir.plugins.inventory import SimpleInventory
from pydantic import BaseModel, ValidationError

from app.errors import InputError, InputErrors, Place
from app.intent.problems import as_problem
from app.intent.yaml_source import Document, Path_, read_document
from app.inventory.changes import ChangeRules
from app.inventory.consistency import inconsistencies
from app.inventory.models import Device, Interface, Link, Network, Role, Station, TrafficScenario
from app.inventory.nornir_files import misshapen
from app.inventory.reach import OWN, Reach, written_reach
from app.units import WRITTEN, shortened

Entry = TypeVar("Entry", bound=BaseModel)


def load_network(folder: Path) -> Network:
    """The network described in ``folder``.

    Raises:
        InputError: a file is missing or is not YAML.
        InputErrors: it describes no consistent network; carries every problem found.
    """
    if not (folder / "hosts.yaml").is_file():
        raise InputError("no such network", Place(file=str(folder)), "name a folder with a hosts.yaml")
    hosts = read_document(folder / "hosts.yaml")
    inventory = _simple_inventory(folder, hosts)
    links = read_document(folder / "links.yaml")
    traffic = _document(folder / "traffic.yaml")
    changes = _document(folder / "changes.yaml")
    problems = [*_unknown_keys(links, ("links", "stations")), *_unknown_keys(traffic, ("scenarios",))]
    network = Network(
        name=folder.resolve().name,
        devices=tuple(
            device for name, host in inventory.hosts.items() if (device := _device(name, host, hosts, problems))
        ),
        links=_entries(links, "links", Link, problems),
        stations=_entries(links, "stations", Station, problems),
        traffic=tuple(
            _with_files(scenario, folder)
            for scenario in (_entries(traffic, "scenarios", TrafficScenario, problems) if traffic else ())
        ),
        changes=(_validated(ChangeRules, changes.data, changes, (), problems) if changes else None)
        or ChangeRules(),
    )
    # Positions and names are those of the files only where every entry could be read.
    problems = problems or list(inconsistencies(network, links, traffic))
    if problems:
        raise InputErrors("not a consistent network", Place(file=str(folder)), "", problems)
    return network


def _document(path: Path) -> Document | None:
    """A file that a network may do without."""
    return read_document(path) if path.is_file() else None


def _simple_inventory(folder: Path, hosts: Document) -> Inventory:
    """Nornir's own reading of the folder.

    Raises:
        InputErrors: one of its files has not the shape that Nornir reads.
    """
    problems = list(misshapen(hosts, _document(folder / "groups.yaml"), _document(folder / "defaults.yaml")))
    if problems:
        raise InputErrors("not an inventory", Place(file=str(folder)), "", problems)
    return SimpleInventory(
        host_file=str(folder / "hosts.yaml"),
        group_file=str(folder / "groups.yaml"),
        defaults_file=str(folder / "defaults.yaml"),
    ).load()


def _unknown_keys(document: Document | None, known: tuple[str, ...]) -> Iterator[InputError]:
    if document is None or not isinstance(document.data, dict):
        return
    for key in document.data:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            mend = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
            yield InputError(f"unknown key {shortened(key)}", document.key_place((key,)), mend)


def _device(name: str, host: Any, document: Document, problems: list[InputError]) -> Device | None:
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
    role = device.role if device else Role.EDGE  # what is wrong with the device is told once, not at every port
    interfaces = []
    for key, body in bodies.items():
        whole = {"role": role, **(body if isinstance(body, dict) else {}), "name": str(key)}
        interfaces.append(_validated(Interface, whole, document, (*own, "interfaces", str(key)), problems))
    if device is None or len(problems) > before:
        return None
    return device.model_copy(update={"interfaces": tuple(i for i in interfaces if i is not None)})


def _misplaced(host: Any, document: Document, path: Path_, data: dict[str, Any]) -> Iterator[InputError]:
    """Keys under ``data`` that would count for nothing there, and a host without a platform."""
    if "name" in data:
        place = document.place((*path, "name"))
        yield InputError("'name' does not belong under data", place, "the device is named by its key: take it away")
    if "reach" in data:
        mend = "write hostname and port beside data; transport, credentials and jump under it"
        yield InputError("unknown key 'reach'", document.key_place((*path, "reach")), mend)
    if "platform" in data:
        place = document.place((*path, "platform"))
        mend = "write it beside data, or in the host's group"
        yield InputError("'platform' does not belong under data", place, mend)
    elif not host.platform:
        mend = "give it a platform, or a group of groups.yaml that has one"
        yield InputError(f"{host.name} has no platform", document.key_place((host.name,)), mend)


def _named_again(document: Document, path: Path_, bodies: dict[str, Any]) -> Iterator[InputError]:
    for key, body in bodies.items():
        if isinstance(body, dict) and "name" in body:
            place = document.key_place((*path, str(key), "name"))
            yield InputError("unknown key 'name'", place, "the interface is named by its key: take it away")


def _entries(document: Document, key: str, model: type[Entry], problems: list[InputError]) -> tuple[Entry, ...]:
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
