"""Nornir's own inventory plug-ins as sources: whatever is installed under ``nornir.plugins.inventory``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nornir.core.exceptions import PluginNotRegistered
from nornir.core.inventory import Host
from nornir.core.plugins.inventory import InventoryPluginRegister
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from qosforge.deploy.secret_reader import SecretReader
from qosforge.deploy.secret_source import KEYS, SecretSource, Sourced
from qosforge.discovery.facts import Note, Topic
from qosforge.errors import InputError, SourceError
from qosforge.inventory.models import DeviceRole, Interface, is_name
from qosforge.inventory.port_ranges import port_names
from qosforge.sources.description import is_secret, secret_values
from qosforge.sources.model import SourceDevice, SourceNetwork, SourcePort
from qosforge.sources.plugins import SourceFile
from qosforge.units import WRITTEN, shortened

_SOURCED: TypeAdapter[SecretSource | None] = TypeAdapter(Sourced)


class DataFields(BaseModel):
    """Where a host's ``data`` has our words: keys with dots between them, such as ``custom_fields.release``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: str = "role"
    image: str = "image"
    site: str = "site"
    tags: str = "tags"
    interfaces: str = "interfaces"


class NornirOptions(BaseModel):
    """The ``inventory`` plug-in of Nornir's by its name, and its ``arguments``.

    An argument may be kept elsewhere: ``{env: NAME}`` or ``{file: PATH}``; a secret has to be. Paths of arguments
    named ``…_file`` count from the network's folder.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    inventory: str = Field(min_length=1)
    arguments: dict[str, Any] = {}
    data: DataFields = DataFields()


class NornirPlugin:
    """Reads an inventory by a plug-in of Nornir's."""

    options = NornirOptions

    def location(self, options: Any) -> str:
        """The name of Nornir's plug-in: what an argument means is its own affair."""
        assert isinstance(options, NornirOptions)  # what `SourcePlugin` promises
        return options.inventory

    def read(self, options: Any, file: SourceFile) -> SourceNetwork:
        """The hosts of the inventory.

        ``hostname``, ``port``, ``username`` and ``platform`` are taken as Nornir resolves them, role, image, site,
        tags and interfaces from the host's data. Passwords are not read. There are no links in it.

        Raises:
            InputError: Nornir has no such plug-in, or a secret is not where it is said to be kept.
            SourceError: the plug-in failed.
        """
        assert isinstance(options, NornirOptions)  # what `SourcePlugin` promises
        InventoryPluginRegister.auto_register()
        try:
            plugin = InventoryPluginRegister.get_plugin(options.inventory)
        except PluginNotRegistered:
            known = ", ".join(sorted(InventoryPluginRegister.available))
            message = f"Nornir has no inventory plug-in {shortened(options.inventory)}"
            raise InputError(message, file.place("inventory"), f"installed: {known}") from None
        arguments = {name: _argument(name, value, file) for name, value in options.arguments.items()}
        try:
            hosts = plugin(**arguments).load().hosts
        except Exception as error:  # noqa: BLE001  somebody else's code: whatever it raises is told, not shown as ours
            sourced = {str(arguments[name]) for name, value in options.arguments.items() if _is_sourced(value)}
            raise _failed(options.inventory, error, secret_values(arguments) | (sourced - {""}), file) from None
        notes: list[Note] = []
        devices = [_device(name, host, options.data, notes) for name, host in hosts.items() if _named(name, notes)]
        return SourceNetwork(tuple(devices), None, tuple(notes))


PLUGIN = NornirPlugin()


def _argument(name: str, value: Any, file: SourceFile) -> Any:
    place = file.place("arguments", name)
    if _is_sourced(value):
        try:
            source = _SOURCED.validate_python(value)
        except ValidationError:
            message = f"{name} has no source"
            raise InputError(message, place, "write {env: NAME}, {file: PATH} or another source") from None
        assert source is not None  # what says no source was refused
        return SecretReader(file.environment).read(source, place)
    if is_secret(name) and value is not None:
        message = f"{name} does not belong in this file"
        raise InputError(message, place, f"write {name}: {{env: NAME}}, or {{file: PATH}}")
    if name.endswith("_file") and isinstance(value, str):
        return str(file.folder / Path(value).expanduser())
    return value


def _is_sourced(value: Any) -> bool:
    """Whether an argument says where its value is kept."""
    return isinstance(value, dict) and bool(value.keys() & KEYS)


def _failed(name: str, error: Exception, secrets: frozenset[str], file: SourceFile) -> SourceError:
    told = f"{type(error).__name__}: {error}"
    for secret in secrets:
        told = told.replace(secret, "…")
    message = f"Nornir's {name} could not read its inventory: {told[:300]}"
    return SourceError(message, file.place("inventory"), "correct its arguments")


def _named(name: str, notes: list[Note]) -> bool:
    if not is_name(name):
        message = f"the host {shortened(name)} is left out: an inventory cannot hold its name"
        hint = "name it with letters, digits, '.', '-' and '_', at most 63"
        notes.append(Note(Topic.LEFT_OUT, "", shortened(name), message, hint))
    return is_name(name)


def _device(name: str, host: Host, fields: DataFields, notes: list[Note]) -> SourceDevice:
    data = host.extended_data()
    interfaces = _at(data, fields.interfaces)
    return SourceDevice(
        name=name,
        platform=host.platform,
        role=_word(_at(data, fields.role)),
        image=_word(_at(data, fields.image)),
        site=_word(_at(data, fields.site)),
        hostname=host.hostname,
        port=host.port,
        username=host.username,
        tags=frozenset(_words(_at(data, fields.tags))),
        groups=tuple(group.name for group in host.groups),
        ports=tuple(_ports(name, interfaces, notes)) if isinstance(interfaces, dict) else None,
    )


def _at(data: Any, path: str) -> Any:
    for key in path.split("."):
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _word(value: Any) -> str | None:
    """A word of the data; of an object as NetBox has them, its slug."""
    if isinstance(value, Mapping):
        value = value.get("slug") or value.get("value") or value.get("name")
    return str(value) if value not in (None, "") else None


def _words(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list | tuple | set | frozenset) else [value]:
        if (word := _word(one)) is not None:
            yield word


def _ports(device: str, interfaces: Mapping[Any, Any], notes: list[Note]) -> Iterator[SourcePort]:
    """Ports that are written as in ``hosts.yaml``, ranges included."""
    for key, body in interfaces.items():
        try:
            names = port_names(str(key))
            port = Interface.model_validate(
                {"role": DeviceRole.EDGE, **(body or {}), "name": max(names, key=len)}, context=WRITTEN
            )
        except (ValidationError, ValueError, TypeError) as error:
            told = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else str(error)
            message = f"the port {shortened(key)} is left out: {told}"
            notes.append(Note(Topic.LEFT_OUT, device, str(key), message, "write it as docs/devices.md says"))
            continue
        fields = {name: getattr(port, name) for name in port.model_fields_set - {"name", "tags", "role"}}
        for name in names:
            yield SourcePort(name, fields, port.tags)
