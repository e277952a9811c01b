"""NetBox's devices (``/api/dcim/devices/``) under the names that an inventory gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from qosforge.discovery.facts import Note, Topic
from qosforge.inventory.models import is_name
from qosforge.sources.model import SourceDevice
from qosforge.sources.netbox.client import Record
from qosforge.units import shortened


@dataclass
class NetBoxDevices:
    """The devices that can be described. ``names`` are by NetBox's ids: those of a virtual chassis share its
    master's.
    """

    found: dict[str, SourceDevice] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def read_devices(records: Iterable[Record], image_field: str | None) -> NetBoxDevices:
    """The devices of NetBox's answers; ``image_field`` is the custom field with their software's release."""
    devices = NetBoxDevices()
    members: list[tuple[Record, int]] = []
    for record in records:
        master = _master(record)
        if master is not None and master != record["id"]:
            members.append((record, master))
            continue
        name = record["name"]
        if not isinstance(name, str) or not is_name(name):
            what = "no name" if not name else f"the name {shortened(name)}"
            hint = "name it in NetBox with letters, digits, '.', '-' and '_', at most 63"
            devices.notes.append(_left_out(record, f"it has {what}, which an inventory cannot hold", hint))
        elif name in devices.found:
            hint = "give the devices names of their own in NetBox, or narrow the filter to one of them"
            message = f"another device is called {name}: this one (id {record['id']}) is left out"
            devices.notes.append(Note(Topic.SAME_NAME, name, str(record.get("display") or name), message, hint))
        else:
            devices.names[int(record["id"])] = name
            devices.found[name] = _device(record, name, image_field)
    for record, master in members:
        if master in devices.names:
            devices.names[int(record["id"])] = devices.names[master]
        else:
            hint = "let the filter include the master of its virtual chassis"
            devices.notes.append(_left_out(record, "the master of its virtual chassis is not read", hint))
    return devices


def _device(record: Record, name: str, image_field: str | None) -> SourceDevice:
    image = (record.get("custom_fields") or {}).get(image_field) if image_field else None
    address = record.get("primary_ip")
    return SourceDevice(
        name=name,
        platform=_slug(record["platform"]),
        # NetBox 3.6 renamed the field; up to 3.7 both are there.
        role=_slug(record["role"] if "role" in record else record["device_role"]),
        image=str(image) if image not in (None, "") else None,
        site=_slug(record["site"]),
        hostname=str(address["address"]).partition("/")[0] if address else None,
        tags=tag_slugs(record),
    )


def tag_slugs(record: Record) -> frozenset[str]:
    """The slugs of an object's tags."""
    return frozenset(str(tag["slug"]) for tag in record.get("tags") or ())


def _slug(value: Any) -> str | None:
    return str(value["slug"]) if value else None


def _master(record: Record) -> int | None:
    chassis = record.get("virtual_chassis")
    master = chassis.get("master") if chassis else None
    return int(master["id"]) if master else None


def _left_out(record: Record, message: str, hint: str) -> Note:
    where = str(record.get("display") or record["id"])
    return Note(Topic.LEFT_OUT, "", where, f"device {shortened(where)}: {message}", hint)
