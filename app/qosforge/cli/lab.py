"""Commands about the lab: up, status, down, clean."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from qosforge.cli.options import AsJson, NetworkFolder, network_folder
from qosforge.cli.output import print_json
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out
from qosforge.emulation import lab_devices, running_labs, start_lab, stop_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.inventory.overlay import read_overlay, state_folder
from qosforge.settings import load_settings
from qosforge.units import listed

app = typer.Typer(no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="lab", help="Emulated devices, and real Linux routers, that speak SSH on loopback.")


@app.command()
def up(
    network: NetworkFolder = None,
    clock_scale: Annotated[
        float, typer.Option(min=0.001, help="How much faster the devices' own timers run.")
    ] = 1.0,
    virtual_time: Annotated[
        bool, typer.Option("--virtual-time", help="Run Linux routers in a guest whose clock counts instructions.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start an emulated device or a Linux router for every device of a network; a lab that runs is left."""
    folder = network_folder(network)
    net = load_network(folder)
    settings = load_settings()
    settings.make_var_dir()
    overlay = start_lab(
        net, folder, state_folder(settings.var_dir, net.name), clock_scale, virtual_time=virtual_time
    )
    addresses = {name: f"{box.hostname}:{box.port}" for name, box in overlay.boxes.items()}
    if as_json:
        print_json(addresses)
        return
    _print(net, addresses)


@app.command()
def status(network: NetworkFolder = None, as_json: AsJson = False) -> None:
    """Say which devices of a network are emulated now, and where they are reached; exit code 1 where none is."""
    net = load_network(network_folder(network))
    var_dir = load_settings().var_dir
    state = state_folder(var_dir, net.name)
    up = lab_devices(state) or frozenset()
    overlay = read_overlay(state) if up else None
    reached = {name: f"{one.hostname}:{one.port}" for name, one in overlay.addresses.items()} if overlay else {}
    if as_json:
        print_json(
            {"network": net.name, "up": bool(up), "devices": {name: reached.get(name) for name in sorted(up)}}
        )
    elif up:
        _print(net, {name: where for name, where in reached.items() if name in up})
    else:
        out.print(_none_of(net.name, network), markup=False, soft_wrap=True)
        if others := running_labs(var_dir):
            told = f"there are labs of {listed(others)}: name the folder of such a network with --network"
            out.print(told, markup=False, soft_wrap=True)
    sys.exit(0 if up else 1)


@app.command()
def down(network: NetworkFolder = None, as_json: AsJson = False) -> None:
    """Stop the lab; its devices keep what they saved."""
    name = load_network(network_folder(network)).name
    stopped = stop_lab(state_folder(load_settings().var_dir, name))
    if as_json:
        print_json({"stopped": stopped})
    else:
        out.print("stopped" if stopped else _none_of(name, network), markup=False, soft_wrap=True)


@app.command()
def clean(network: NetworkFolder = None, as_json: AsJson = False) -> None:
    """Stop the lab and forget everything its devices kept."""
    name = load_network(network_folder(network)).name
    stop_lab(state_folder(load_settings().var_dir, name), clean=True)
    if as_json:
        print_json({"clean": True})
    else:
        out.print("clean")


def _none_of(name: str, given: Path | None) -> str:
    """That no lab of a network runs; and where none was ``given``, that it is the default one."""
    return f"no lab of {name}{', the default network,' if given is None else ''} is running"


def _print(network: Network, addresses: Mapping[str, str]) -> None:
    table = Table("device", "platform", "image", "ssh", box=None, padding=(0, 1))
    for device in network.devices:
        table.add_row(device.name, device.platform, device.image, addresses.get(device.name, "–"))
    print_table(table)
