"""Commands about the devices of a network: host keys that are trusted, and what is wrong with a device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated

import typer

from qosforge.cli.connection_options import JumpHosts, TransportName, common_reach, reach_entries
from qosforge.cli.device_checks import check_devices
from qosforge.cli.inventory import add, list_, remove, show
from qosforge.cli.options import AsJson, NetworkFolder, network_folder
from qosforge.cli.output import print_json, print_problems
from qosforge.cli.terminal import out, progress
from qosforge.deploy.host_keys import ShownKey, record_key, shown_key, trusted_files
from qosforge.deploy.route import InventoryRoute, LoginTarget, route_to
from qosforge.deploy.seed_sessions import target_of_address
from qosforge.errors import InputError, Place, QosforgeError
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.settings import Settings, load_settings
from qosforge.units import listed

app = typer.Typer(no_args_is_help=True)

Targets = Mapping[str, Callable[[], LoginTarget]]
"""How to find out where each is, by what it is called."""


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="device", help="The devices of a network, and how they are reached.")


for _name, _command in (("add", add), ("list", list_), ("show", show), ("remove", remove)):
    app.command(name=_name)(_command)


@app.callback()
def _group() -> None:
    """The devices of a network, and how they are reached."""


@app.command()
def trust(
    devices: Annotated[
        list[str] | None, typer.Argument(metavar="[DEVICE]...", help="Devices (default: all of the network).")
    ] = None,
    network: NetworkFolder = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option("--host", metavar="HOST", help="Instead: host or host:port of no inventory (repeat)."),
    ] = None,
    transport: TransportName = "ssh",
    jump: JumpHosts = None,
    fingerprint: Annotated[
        list[str] | None,
        typer.Option(metavar="SHA256:…", help="Record keys of this fingerprint without asking (may be repeated)."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Also where another key is known already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the host keys of devices and record those that you confirm. Nobody logs in."""
    settings = load_settings()
    if hosts:
        if devices or network:
            raise InputError("which ones?", Place(path="--host"), "name hosts, or devices of a network")
        targets = _of_hosts(settings, hosts, reach_entries(None, transport, jump))
    else:
        targets = _of_devices(settings, load_network(network_folder(network)), devices)
    files = trusted_files(settings)
    told: list[dict[str, str]] = []
    problems: list[QosforgeError] = []
    for name, target in targets.items():
        progress("look", f"{name}")
        try:
            shown = shown_key(name, target(), files)
            state = _decide(shown, fingerprint or [], replace=replace)
            if state in ("recorded", "replaced"):
                record_key(settings.known_hosts_file, shown)
        except QosforgeError as error:
            problems.append(error)
            continue
        told.append({"device": name, "host": shown.name, "fingerprint": shown.key.fingerprint, "state": state})
    if as_json:
        print_json({"devices": told, "errors": [problem.document() for problem in problems]})
    else:
        for one in told:
            out.print(f"{one['device']}  {one['host']}  {one['fingerprint']}  {one['state']}", markup=False)
        print_problems([problem.document() for problem in problems])
    if problems:
        sys.exit(3)
    sys.exit(1 if any(one["state"] in ("left", "another key is known") for one in told) else 0)


@app.command()
def check(
    devices: Annotated[
        list[str] | None, typer.Argument(metavar="[DEVICE]...", help="Devices of the network.")
    ] = None,
    network: NetworkFolder = None,
    every: Annotated[bool, typer.Option("--all", help="All devices of the network.")] = False,
    as_json: AsJson = False,
) -> None:
    """Prove that devices are reached, are what the inventory says, and can be changed. They are only read."""
    if bool(devices) == every:
        raise InputError("which devices?", Place(path="DEVICE"), "name them, or say --all")
    sys.exit(check_devices(network_folder(network), devices or (), as_json=as_json))


def _of_hosts(settings: Settings, hosts: list[str], words: dict[str, str]) -> Targets:
    route, common = InventoryRoute(settings), common_reach(words)
    return {host: partial(target_of_address, route, host, common, logs_in=False) for host in hosts}


def _of_devices(settings: Settings, network: Network, devices: list[str] | None) -> Targets:
    route = route_to(settings, network)
    if not any(device.reach.hostname for device in network.devices):
        raise InputError(f"no device of {network.name} has a hostname", hint="give each one in hosts.yaml")
    if route.lab is not None:
        raise InputError("a lab is up, whose host keys are known", hint="qosforge lab down, to reach the devices")
    known = [device.name for device in network.devices]
    unknown = [name for name in devices or () if name not in known]
    if unknown:
        raise InputError(f"{network.name} has no device {unknown[0]!r}", hint=f"it has {listed(known)}")
    return {name: partial(route.target, network.device(name)) for name in devices or known}


def _decide(shown: ShownKey, fingerprints: list[str], *, replace: bool) -> str:
    """What becomes of a key: none is trusted that nobody has confirmed."""
    if shown.known:
        return "known"
    if shown.other and not replace:
        return "another key is known"
    if shown.key.fingerprint in fingerprints:
        return "replaced" if shown.other else "recorded"
    if fingerprints or not sys.stdin.isatty():
        if not fingerprints:
            raise InputError(
                f"its host key {shown.key.fingerprint} is not known",
                Place(device=shown.device),
                f"compare it with the device's, then --fingerprint {shown.key.fingerprint}",
            )
        return "left"
    instead = " instead of the known one" if shown.other else ""
    question = f"{shown.device} ({shown.name}) shows {shown.key.fingerprint}: trust it{instead}?"
    return ("replaced" if shown.other else "recorded") if typer.confirm(question, err=True) else "left"
