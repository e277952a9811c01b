"""NetBox's interfaces (``/api/dcim/interfaces/``) as ports of the devices that are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from qosforge.discovery.facts import Note, Topic
from qosforge.discovery.model import End
from qosforge.inventory.models import Framing, PortName
from qosforge.sources.model import SourcePort
from qosforge.sources.netbox.client import Record
from qosforge.sources.netbox.devices import tag_slugs
from qosforge.sources.netbox.rates import UNMANAGED, is_serial, type_rate
from qosforge.units import format_rate, listed, shortened

_KILO = 1000
"""NetBox gives speeds in kbit/s."""
_PORT_NAME: TypeAdapter[str] = TypeAdapter(PortName)


@dataclass
class NetBoxPorts:
    """Ports by device and name; ``records`` are NetBox's own of the ports that are read, ``unmanaged`` the names of
    those that it has and that are not.
    """

    found: dict[str, dict[str, SourcePort]]
    unmanaged: dict[str, set[str]]
    records: dict[End, Record] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def read_interfaces(
    records: Iterable[Record], names: Mapping[int, str], contracted: Mapping[End, int], framing_field: str | None
) -> NetBoxPorts:
    """The ports of devices whose names are given by NetBox's ids; ``contracted`` are rates that circuits carry."""
    ports = NetBoxPorts({name: {} for name in names.values()}, {name: set() for name in names.values()})
    without_rate: dict[str, list[str]] = {}
    for record in records:
        device, name = names[int(record["device"]["id"])], str(record["name"])
        if not record["enabled"]:
            continue
        kind = str(record["type"]["value"])
        if kind in UNMANAGED or record.get("mgmt_only"):
            ports.unmanaged[device].add(name)
            continue
        rate = int(record["speed"]) * _KILO if record.get("speed") else type_rate(kind)
        if rate is None:
            ports.unmanaged[device].add(name)
            without_rate.setdefault(device, []).append(f"{name} ({kind})")
        elif (problem := _unusable(name, ports.found[device])) is not None:
            ports.notes.append(Note(Topic.LEFT_OUT, device, name, *problem))
        else:
            carried = contracted.get((device, name))
            if carried is not None and carried > rate:
                ports.notes.append(_above_the_line(device, name, carried, rate))
                carried = None
            fields = dict(_fields(record, rate, carried))
            fields |= _framing(record, device, framing_field, ports.notes)
            ports.found[device][name] = SourcePort(name, fields, tag_slugs(record), is_serial(kind))
            ports.records[device, name] = record
    for device, which in without_rate.items():
        message = f"NetBox tells no rate of {listed(which, 8)}: neither their types nor a speed"
        hint = "give the interfaces a speed in NetBox, or describe them in hosts.yaml by hand"
        ports.notes.append(Note(Topic.LEFT_OUT, device, "interfaces", message, hint))
    return ports


def _above_the_line(device: str, name: str, carried: int, rate: int) -> Note:
    carries = f"the circuit of {name} carries {format_rate(carried)}, its line {format_rate(rate)}"
    hint = "correct the circuit's rates or the interface's speed in NetBox"
    return Note(Topic.LEFT_OUT, device, name, f"{carries}: no contract is taken", hint)


def _unusable(name: str, known: Mapping[str, Any]) -> tuple[str, str] | None:
    """Why an inventory cannot hold a port of this name, and what to do about it."""
    if name in known:
        message = f"another interface of the device, or of its virtual chassis, is called {shortened(name)}"
        return message, "give the interfaces the names that the device prints"
    try:
        _PORT_NAME.validate_python(name)
    except ValidationError:
        return f"{shortened(name)} is not the name of a port", "name it in NetBox as the device prints it"
    return None


def _fields(record: Record, rate: int, contracted: int | None) -> Iterator[tuple[str, Any]]:
    yield "rate", rate
    if contracted is not None:
        yield "contracted", contracted
    lag = record.get("lag")
    yield "lag", str(lag["name"]) if lag else None
    mode = record.get("mode")
    if mode:
        # 'access' alone sends its frames untagged; others are 'tagged', 'tagged-all' and 'q-in-q'.
        yield "tagged", mode["value"] != "access"
        if vlans := _vlans(record, str(mode["value"])):
            yield "vlans", vlans


def _vlans(record: Record, mode: str) -> tuple[int, ...]:
    untagged = record.get("untagged_vlan")
    tagged = record.get("tagged_vlans") or () if mode == "tagged" else ()
    return tuple(sorted({int(vlan["vid"]) for vlan in (*([untagged] if untagged else []), *tagged)}))


def _framing(record: Record, device: str, field_name: str | None, notes: list[Note]) -> dict[str, Framing]:
    value = (record.get("custom_fields") or {}).get(field_name) if field_name else None
    if isinstance(value, dict):
        value = value.get("value")
    if value in (None, ""):
        return {}
    try:
        return {"encapsulation": Framing(str(value).lower())}
    except ValueError:
        known = ", ".join(one.value for one in Framing)
        message = f"{field_name} of {record['name']} says {shortened(value)}, which is no framing"
        notes.append(Note(Topic.NOT_UNDERSTOOD, device, str(record["name"]), message, f"write one of {known}"))
        return {}
