"""A whole NetBox: devices, their interfaces, circuits and cables, by lists and never by one request a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from qosforge.deploy.secret_reader import SecretReader
from qosforge.discovery.model import End
from qosforge.errors import InputError, InputErrors
from qosforge.sources.model import SourceNetwork
from qosforge.sources.netbox.cables import read_links
from qosforge.sources.netbox.circuits import contracted_rates, termination_ids
from qosforge.sources.netbox.client import FilterRefused, NetBox, Record
from qosforge.sources.netbox.devices import NetBoxDevices, read_devices
from qosforge.sources.netbox.interfaces import read_interfaces
from qosforge.sources.netbox.options import NetBoxOptions
from qosforge.sources.plugins import SourceFile


class NetBoxPlugin:
    """Reads NetBox."""

    options = NetBoxOptions

    def location(self, options: Any) -> str:
        """Its address."""
        assert isinstance(options, NetBoxOptions)  # what `SourcePlugin` promises
        return options.url

    def read(self, options: Any, file: SourceFile) -> SourceNetwork:
        """The devices that the filter leaves, with the ports that have a rate and what their cables connect.

        Raises:
            InputError: the token is not where it is said to be kept, or NetBox does not know a value of the filter.
            SourceError: NetBox cannot be read.
        """
        assert isinstance(options, NetBoxOptions)  # what `SourcePlugin` promises
        assert options.token is not None  # what says no source is refused when the file is read
        token = SecretReader(file.environment).read(options.token, file.place("token")).strip()
        ca = None if options.ca is None else file.folder / options.ca.expanduser()
        if ca is not None and not ca.is_file():
            raise InputError(f"there is no file {ca}", file.place("ca"), "name the file of certificates")
        netbox = NetBox(options.url, token, ca)
        netbox.require_version()
        records = _filtered(netbox, options, file)
        try:
            return _network(netbox, read_devices(records, options.custom_fields.image), options)
        except (KeyError, TypeError, ValueError, AttributeError):  # an answer lacks what every NetBox has
            raise netbox.unexpected("devices and interfaces") from None


def _filtered(netbox: NetBox, options: NetBoxOptions, file: SourceFile) -> list[Record]:
    try:
        return netbox.records("dcim", "devices", options.filter.parameters())
    except FilterRefused as error:
        problems = [
            InputError(f"NetBox does not take this filter: {words}", file.place("filter", name), "correct it")
            for name, words in error.parameters.items()
        ]
        raise InputErrors(error.message, file.place("filter"), "", list(problems)) from None


def _network(netbox: NetBox, devices: NetBoxDevices, options: NetBoxOptions) -> SourceNetwork:
    records = list(netbox.records_of("dcim", "interfaces", "device_id", devices.names))
    contracted = contracted_rates(netbox, _cabled_to_circuits(records, devices.names))
    ports = read_interfaces(records, devices.names, contracted, options.custom_fields.encapsulation)
    links = read_links(ports.records, devices.names)
    described = tuple(
        replace(
            device,
            ports=tuple(ports.found[name].values()),
            unmanaged=frozenset(ports.unmanaged[name]),
        )
        for name, device in devices.found.items()
    )
    notes = (*devices.notes, *ports.notes, *links.notes)
    return SourceNetwork(described, tuple(links.found), notes)


def _cabled_to_circuits(records: list[Record], names: Mapping[int, str]) -> dict[End, int]:
    """The circuit terminations of interfaces that have one, by device and port."""
    found = {}
    for record in records:
        if numbers := termination_ids(record):
            found[names[int(record["device"]["id"])], str(record["name"])] = numbers[0]
    return found
