"""``qosforge init``: a first network and a policy for it, by questions or by options."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from qosforge.cli.inventory import tell_namesake
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.terminal import hide_progress, out
from qosforge.deploy.first_network import FirstDevice, emulated_platforms, require_new, write_first_network
from qosforge.errors import InputError, Place, QosforgeError
from qosforge.platforms.base import installed, platform
from qosforge.units import parse_rate

POLICY = "policy.yaml"
"""The policy's file in the folder of the network."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="init")(init)


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The network's folder, which is made.")],
    devices: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            metavar="NAME=PLATFORM[,IMAGE]",
            help="A device, like r1=cisco_ios,12.4 (repeat); without any, you are asked.",
        ),
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--host", metavar="NAME=HOST", help="Where a device is; without it, it is emulated where that can be."
        ),
    ] = None,
    lan: Annotated[
        list[str] | None,
        typer.Option("--lan", metavar="NAME:PORT=RATE", help="A port towards users, like 'r1:Fa0/0=100 Mb/s'."),
    ] = None,
    uplink: Annotated[
        list[str] | None,
        typer.Option("--uplink", metavar="NAME:PORT=RATE", help="A port towards the rest of the network."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a first network and policy, by questions or by options. Nothing is contacted.

    Of two devices with an uplink each, the uplinks are the ends of one link. The network is read-only for devices
    that have a hostname, until its changes.yaml says otherwise.
    """
    require_new(folder)
    if devices:
        described = _described(devices, hosts or [], lan or [], uplink or [])
    elif hosts or lan or uplink:
        raise InputError("no device is named", Place(path="--device"), "name it: --device NAME=PLATFORM")
    elif sys.stdin.isatty():
        described = _asked()
    else:
        hint = "give --device, --lan and --uplink, or call it on a terminal, where it asks"
        raise InputError("no device is named", Place(path="--device"), hint)
    policy = write_first_network(folder, described, POLICY)
    tell_namesake(folder)
    if as_json:
        print_json({"network": str(folder), "policy": str(policy)})
        return
    count = f"{len(described)} device{'s' if len(described) > 1 else ''}"
    out.print(f"{folder} has {count}, and {policy} is a policy for it; next:")
    real = any(device.hostname for device in described)
    for command in ("lint POLICY", *(("device trust", "diff POLICY") if real else ("lab up", "run POLICY"))):
        out.print(f"  qosforge {command.replace('POLICY', str(policy))} --network {folder}")


def _described(devices: list[str], hosts: list[str], lan: list[str], uplink: list[str]) -> list[FirstDevice]:
    where = dict(_halves(one, "--host", "NAME=HOST") for one in hosts)
    ports = {option: _ports(given, option) for option, given in (("--lan", lan), ("--uplink", uplink))}
    found = []
    for one in devices:
        name, kind = _halves(one, "--device", "NAME=PLATFORM")
        platform_id, _, image = kind.partition(",")
        image = image.strip() or platform(platform_id.strip(), name).family.images[0]
        found.append(
            FirstDevice(
                name,
                platform_id.strip(),
                image,
                where.get(name),
                ports["--lan"].get(name, {}),
                ports["--uplink"].get(name, {}),
            )
        )
    known = {device.name for device in found}
    for option, names in (("--host", list(where)), *((option, list(of)) for option, of in ports.items())):
        for name in names:
            if name not in known:
                raise InputError(f"no device is called {name!r}", Place(path=option), "name it: --device")
    return found


def _ports(given: list[str], option: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for one in given:
        where, rate = _halves(one, option, "NAME:PORT=RATE")
        name, separator, port = (part.strip() for part in where.partition(":"))
        if not (name and separator and port):
            raise InputError(f"{one!r} names no port", Place(path=option), "write NAME:PORT=RATE")
        found.setdefault(name, {})[port] = rate
    return found


def _halves(one: str, option: str, form: str) -> tuple[str, str]:
    left, separator, right = (part.strip() for part in one.partition("="))
    if not (left and separator and right):
        raise InputError(f"{one!r} is not understood", Place(path=option), f"write {option} '{form}'")
    return left, right


def _asked() -> list[FirstDevice]:
    hide_progress()
    found: list[FirstDevice] = []
    known, emulated = ", ".join(sorted(installed())), emulated_platforms()
    while True:
        name = _ask("Name of a device" if not found else "Name of another device (empty: no more)", default="")
        if not name:
            if found:
                return found
            continue
        platform_id = _ask(f"Its platform ({known})", default=emulated[0], check=platform)
        family = platform(platform_id, name).family
        image = _ask("Its software", default=family.images[0])
        reach = "Name or address to reach it"
        host = _ask(f"{reach} (empty: it is emulated in the lab)" if platform_id in emulated else reach, default="")
        lan = _ask("A port towards users, such as Fa0/0", check=_port)
        lan_rate = _ask("Its rate", default="100 Mb/s", check=parse_rate)
        uplink = _ask("A port towards the rest of the network", check=_port)
        uplink_rate = _ask("Its rate", default="100 Mb/s" if family.switches else "2 Mb/s", check=parse_rate)
        found.append(FirstDevice(name, platform_id, image, host or None, {lan: lan_rate}, {uplink: uplink_rate}))


def _ask(question: str, default: str | None = None, check: Callable[[str], object] | None = None) -> str:
    """An answer that ``check`` raises no error about: what is wrong is told, and asked again."""
    while True:
        answer = str(typer.prompt(question, default=default, show_default=bool(default), err=True)).strip()
        try:
            if check is not None:
                check(answer)
        except (QosforgeError, ValueError) as error:
            typer.echo(f"  {error}", err=True)
        else:
            return answer


def _port(name: str) -> None:
    try:
        parse_rate(name)
    except ValueError:
        return
    raise InputError(f"{name!r} is a rate", hint="name the port first")
