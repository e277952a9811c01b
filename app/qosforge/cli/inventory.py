"""Commands that write and read the inventory itself: no device is contacted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.table import Table

from qosforge.cli.options import AsJson, NetworkFolder, network_folder
from qosforge.cli.output import print_done, print_json
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out, progress
from qosforge.deploy.new_device import NewDevice
from qosforge.deploy.route import Route, route_to
from qosforge.errors import InputError, Place
from qosforge.inventory.catalogue import device_of, has_namesake
from qosforge.inventory.editing import add_device, add_network, remove_device
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Device, Network
from qosforge.inventory.overlay import read_overlay
from qosforge.settings import load_settings
from qosforge.units import format_rate

Written = Annotated[Path, typer.Option("--network", "-n", help="The inventory's folder, which is written.")]
Name = Annotated[str, typer.Argument(metavar="DEVICE", help="The device's name in the inventory.")]


def add_network_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the network is called.")],
    parent: Annotated[
        Path | None,
        typer.Option(
            "--in", metavar="FOLDER", help="Where its folder is made (default: QOSFORGE_INVENTORIES_DIR)."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the inventory of a network without devices. It is read-only until its changes.yaml says otherwise."""
    folder = (parent or load_settings().inventories_dir) / name
    if Path(name).name != name:
        raise InputError(f"{name!r} is no name", Place(path="NAME"), "name the folder above it with --in")
    add_network(folder)
    tell_namesake(folder)
    print_done("added", str(folder), as_json=as_json)


def tell_namesake(folder: Path) -> None:
    """Say that a network that was just made has the name of another one of this installation, if it has."""
    if has_namesake(load_settings().inventories_dir, folder):
        name = folder.resolve().name
        progress("note", f"another network of this installation is called {name} too, and records go by that name:")
        progress("", "give this folder another name before you run anything on it")


def add(
    name: Name,
    hostname: Annotated[str, typer.Option(help="Where it is: a name, an address, a host of ~/.ssh/config.")],
    platform_: Annotated[str, typer.Option("--platform", help="Its platform, like cisco_ios.")],
    image: Annotated[str, typer.Option(help="Its software, like '12.4(15)T'.")],
    network: Written,
    role: Annotated[
        str | None, typer.Option(help="edge, middle, access or core (default: the platform's).")
    ] = None,
    driver: Annotated[str | None, typer.Option(help="NAPALM driver (default: the platform's).")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="TCP port.")] = None,
    username: Annotated[str | None, typer.Option(help="User name, if not that of the credentials.")] = None,
    credentials: Annotated[str | None, typer.Option(metavar="NAME", help="Credentials by their name.")] = None,
    transport: Annotated[str | None, typer.Option(help="ssh, ssh-legacy or telnet.")] = None,
    jump: Annotated[str | None, typer.Option(metavar="HOST", help="Jump hosts, with commas between them.")] = None,
    interfaces: Annotated[
        list[str] | None,
        typer.Option("--interface", metavar="NAME=RATE", help="An interface, like 'Serial0/0=2 Mb/s' (repeat)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a device to hosts.yaml; the rest of the file stays as it is. Nothing is contacted."""
    try:
        device = NewDevice.model_validate(
            {
                "hostname": hostname, "platform": platform_, "image": image, "role": role, "driver": driver,
                "port": port, "username": username, "credentials": credentials, "transport": transport,
                "jump": jump, "interfaces": _interfaces(interfaces or []),
            }
        )  # fmt: skip
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = Place(path=f"--{problem['loc'][0]}")
        raise InputError(f"{problem['msg']}: {problem['input']!r}", place, "see docs/devices.md") from None
    add_device(network, name, device.entry(name))
    print_done("added", name, as_json=as_json)


def remove(name: Name, network: Written, as_json: AsJson = False) -> None:
    """Take a device out of hosts.yaml; links that end at it have to go before. Nothing is contacted."""
    remove_device(network, name)
    print_done("removed", name, as_json=as_json)


def list_(network: NetworkFolder = None, as_json: AsJson = False) -> None:
    """List the devices of a network as its inventory has them."""
    net = load_network(network_folder(network))
    route = route_to(load_settings(), net)
    told = [_document(device, route, net) for device in net.devices]
    if as_json:
        print_json({"network": net.name, "route": route.told, "devices": told})
        return
    table = Table(box=None, padding=(0, 1))
    for heading in ("device", "platform", "image", "role", "driver", "where", "transport", "interfaces"):
        table.add_column(heading, overflow="fold")
    for one in told:
        keys = ("device", "platform", "image", "role", "driver", "where", "transport")
        table.add_row(*(str(one[key] or "–") for key in keys), str(len(one["interfaces"])))
    print_table(table)


def show(name: Name, network: NetworkFolder = None, as_json: AsJson = False) -> None:
    """Show a device: how it is reached, and its interfaces. No secret is read."""
    net = load_network(network_folder(network))
    route = route_to(load_settings(), net)
    told = {**_document(device_of(net, name), route, net), "route": route.told}
    if as_json:
        print_json(told)
        return
    for key, value in told.items():
        if key != "interfaces" and value not in (None, []):
            out.print(f"{key:<12} {', '.join(value) if isinstance(value, list) else value}")
    for interface in told["interfaces"]:
        tags = f"  {', '.join(interface['tags'])}" if interface["tags"] else ""
        out.print(f"{'interface':<12} {interface['name']}  {interface['rate']}  {interface['role']}{tags}")


def _document(device: Device, route: Route, network: Network) -> dict[str, Any]:
    """What the inventory says of a device, and where it is reached now; ``credentials`` is their name."""
    reach = device.reach
    in_lab = route.lab is not None
    return {
        "device": device.name,
        "platform": device.platform,
        "image": device.image,
        "role": device.role.value,
        "driver": device.driver,
        "features": sorted(device.features),
        "where": _in_lab(route, device.name) if in_lab else _where(reach.hostname, reach.port),
        "transport": None if in_lab else reach.transport,
        "jump": None if in_lab else reach.jump,
        "username": None if in_lab else reach.username,
        "credentials": "the lab's" if in_lab else reach.credentials,
        "read_only": network.changes.read_only(emulated=in_lab),
        "interfaces": [
            {
                "name": interface.name,
                "rate": format_rate(interface.rate),
                "role": interface.role.value,
                "tags": sorted(interface.tags),
            }
            for interface in device.interfaces
        ],
    }


def _in_lab(route: Route, name: str) -> str | None:
    overlay = read_overlay(route.lab) if route.lab is not None else None
    address = overlay.addresses.get(name) if overlay is not None else None
    return _where(address.hostname, address.port) if address is not None else None


def _where(hostname: str | None, port: int | None) -> str | None:
    return hostname if hostname is None or port is None else f"{hostname}:{port}"


def _interfaces(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        name, separator, rate = (part.strip() for part in one.partition("="))
        if not (name and separator and rate) or name in found:
            problem = "is given twice" if name in found else "says no rate"
            raise InputError(f"{one!r} {problem}", Place(path="--interface"), "write --interface 'NAME=2 Mb/s'")
        found[name] = rate
    return found
