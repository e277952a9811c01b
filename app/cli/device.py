"""Commands about the devices of a network: whom to believe that it is one of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, NetworkFolder, network_folder
from app.cli.output import out, print_json, print_problems, progress
from app.deploy.host_keys import ShownKey, record_key, shown_key
from app.deploy.route import route_to
from app.errors import InputError, Place, QosforgeError
from app.inventory.loader import load_network
from app.settings import load_settings

app = typer.Typer(no_args_is_help=True)

_SYSTEM = Path("~/.ssh/known_hosts")


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="device", help="The devices of a network, and how they are reached.")


@app.callback()
def _group() -> None:
    """The devices of a network, and how they are reached."""


@app.command()
def trust(
    devices: Annotated[
        list[str] | None, typer.Argument(metavar="[DEVICE]...", help="Devices (default: all of the network).")
    ] = None,
    network: NetworkFolder = None,
    fingerprint: Annotated[
        list[str] | None,
        typer.Option(metavar="SHA256:…", help="Record keys of this fingerprint without asking (may be repeated)."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Also where another key is known already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the host keys of devices and record those that you confirm. Nobody logs in."""
    net, settings = load_network(network_folder(network)), load_settings()
    route = route_to(settings, net)
    if not any(device.reach.hostname for device in net.devices):
        raise InputError(f"no device of {net.name} has a hostname", mend="give each one in hosts.yaml")
    if route.lab is not None:
        raise InputError("a lab is up, whose host keys are known", mend="qosforge lab down, to reach the devices")
    names = devices or [device.name for device in net.devices]
    unknown = [name for name in names if name not in {device.name for device in net.devices}]
    if unknown:
        known = ", ".join(device.name for device in net.devices)
        raise InputError(f"{net.name} has no device {unknown[0]!r}", mend=f"it has {known}")
    files = (_SYSTEM.expanduser(), settings.known_hosts_file)
    told: list[dict[str, str]] = []
    problems: list[QosforgeError] = []
    for name in names:
        progress("look", f"{name}")
        try:
            shown = shown_key(name, route.target(net.device(name)), files)
            state = _decided(shown, fingerprint or [], replace=replace)
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


def _decided(shown: ShownKey, fingerprints: list[str], *, replace: bool) -> str:
    """What becomes of a key: nothing is believed that nobody has confirmed."""
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
    question = f"{shown.device} ({shown.name}) shows {shown.key.fingerprint}: believe it{instead}?"
    return ("replaced" if shown.other else "recorded") if typer.confirm(question, err=True) else "left"
