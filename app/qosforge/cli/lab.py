"""Commands about the lab: up, down, clean."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from qosforge.cli.options import AsJson, NetworkFolder, network_folder
from qosforge.cli.output import print_json
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out
from qosforge.emulation import start_lab, stop_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.settings import load_settings

app = typer.Typer(no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="lab", help="Emulated devices that speak real SSH on loopback.")


@app.command()
def up(
    network: NetworkFolder = None,
    clock_scale: Annotated[
        float, typer.Option(min=0.001, help="How much faster the devices' own timers run.")
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Start an emulated device for every device of a network; one that runs is left as it is."""
    folder = network_folder(network)
    net = load_network(folder)
    settings = load_settings()
    settings.make_var_dir()
    overlay = start_lab(net, folder, state_folder(settings.var_dir, net.name), clock_scale)
    addresses = {name: f"{box.hostname}:{box.port}" for name, box in overlay.boxes.items()}
    if as_json:
        print_json(addresses)
        return
    table = Table(box=None, padding=(0, 1))
    for heading in ("box", "platform", "image", "ssh"):
        table.add_column(heading)
    for device in net.devices:
        table.add_row(device.name, device.platform, device.image, addresses[device.name])
    print_table(table)


@app.command()
def down(network: NetworkFolder = None, as_json: AsJson = False) -> None:
    """Stop the lab; its devices keep what they saved."""
    stopped = _stop(network, clean=False)
    if as_json:
        print_json({"stopped": stopped})
    else:
        out.print("stopped" if stopped else "no lab is running")


@app.command()
def clean(network: NetworkFolder = None, as_json: AsJson = False) -> None:
    """Stop the lab and forget everything its devices kept."""
    _stop(network, clean=True)
    if as_json:
        print_json({"clean": True})
    else:
        out.print("clean")


def _stop(network: NetworkFolder, *, clean: bool) -> bool:
    name = load_network(network_folder(network)).name
    return stop_lab(state_folder(load_settings().var_dir, name), clean=clean)
