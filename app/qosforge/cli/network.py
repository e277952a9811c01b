"""Commands about whole networks: what their devices tell of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from qosforge.cli.configuration_files import Platforms, saved_configurations
from qosforge.cli.connection_options import CredentialsName, JumpHosts, TransportName, common_reach, reach_entries
from qosforge.cli.derive import stations, traffic
from qosforge.cli.device_checks import check_devices
from qosforge.cli.inventory import add_network_, tell_namesake
from qosforge.cli.notes import notes_json, print_notes
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.sync import sync
from qosforge.cli.terminal import out, progress
from qosforge.deploy.route import InventoryRoute
from qosforge.deploy.seed_sessions import SeedSessions
from qosforge.deploy.sessions import Sessions
from qosforge.discovery.assemble import assemble
from qosforge.discovery.crawler import CrawlProgress, crawl
from qosforge.discovery.folder import add, compare, write_new
from qosforge.discovery.model import Discovery
from qosforge.discovery.saved import discover_saved
from qosforge.errors import InputError, Place
from qosforge.settings import load_settings
from qosforge.units import counted

app = typer.Typer(no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="network", help="Whole networks, and what their devices tell of them.")


app.command(name="add")(add_network_)
app.command()(sync)
app.command()(stations)
app.command()(traffic)


@app.callback()
def _group() -> None:
    """Whole networks, and what their devices tell of them."""


@app.command()
def discover(
    hosts: Annotated[list[str], typer.Argument(metavar="HOST...", help="Where to begin: host or host:port.")],
    at_most: Annotated[int, typer.Option(min=1, max=10_000, help="Open sessions to no more addresses.")],
    into: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The inventory: a new folder, or one to compare with.")
    ],
    write: Annotated[
        bool, typer.Option("--add", help="Give a folder that is there the devices, ports and links it lacks.")
    ] = False,
    credentials: CredentialsName = None,
    transport: TransportName = "ssh",
    jump: JumpHosts = None,
    places: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=HOST", help="Where a neighbour is reached (may be repeated)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read devices, what they announce, and so on, into an inventory. Nothing is changed on them."""
    settings = load_settings()
    words = reach_entries(credentials, transport, jump)
    common = common_reach(words)
    route, known = InventoryRoute(settings), into.exists()
    with SeedSessions(route, common, _places(places or []), Sessions(settings.device_limits)) as sessions:
        found = assemble(crawl(sessions, hosts, at_most, _tell))
    if not as_json:
        print_notes(found.notes)  # before the folder, which is not written where all that was found is notes
    if not known:
        write_new(into, found, words)
        tell_namesake(into)
        changes = []
    else:
        changes = [str(change) for change in (add if write else compare)(into, found)]
    if as_json:
        print_json(_document(found, changes, into, written=write or not known))
    else:
        _print(found, changes, into, known=known, written=write)
    sys.exit(3 if not found.devices else 0)


@app.command("import")
def import_(
    saved: Annotated[
        list[Path],
        typer.Argument(metavar="CONFIG...", help="Saved configurations, one file a device, or folders of them."),
    ],
    into: Annotated[Path, typer.Option(metavar="FOLDER", help="The inventory: a new folder.")],
    platforms: Platforms = None,
    as_json: AsJson = False,
) -> None:
    """Make an inventory of saved configurations. Nothing is contacted."""
    found = discover_saved(*saved_configurations(saved, platforms or ()))
    if not as_json:
        print_notes(found.notes)
    write_new(into, found)
    tell_namesake(into)
    if as_json:
        print_json(_document(found, [], into, written=True))
        return
    _print(found, [], into, known=False, written=True)
    where = " ".join(map(str, saved))
    out.print(f"next: qosforge audit --network {into} --files {where}", markup=False)


@app.command()
def check(
    network: Annotated[Path, typer.Argument(metavar="NETWORK", help="The inventory's folder.")],
    as_json: AsJson = False,
) -> None:
    """Prove that all devices are reached, are what the inventory says, and can be changed. They are only read."""
    sys.exit(check_devices(network, (), as_json=as_json))


def _places(given: list[str]) -> dict[str, str]:
    places = {}
    for one in given:
        name, separator, host = one.partition("=")
        if not (name and separator and host):
            raise InputError(f"{one!r} says not where anything is", Place(path="--at"), "write --at NAME=HOST")
        places[name] = host
    return places


def _tell(done: CrawlProgress) -> None:
    progress("discover", f"{done.address}: {done.outcome} ({done.read} read, {done.waiting} to go)")


def _document(found: Discovery, changes: list[str], folder: Path, *, written: bool) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "written": written,
        "devices": [
            {"name": device.name, "address": device.address, "platform": device.facts.platform}
            for device in found.devices
        ],
        "links": [{"a": list(link.a), "b": list(link.b)} for link in found.links],
        "changes": changes,
        "notes": notes_json(found.notes),
    }


def _print(found: Discovery, changes: list[str], folder: Path, *, known: bool, written: bool) -> None:
    for change in changes:
        out.print(change, markup=False)
    out.print(f"{counted(len(found.devices), 'device')}, {counted(len(found.links), 'link')}", markup=False)
    if not known:
        out.print(f"{folder} is new: read it, and give it what nobody announces", markup=False)
    elif written:
        out.print(f"{folder} has what was added; the rest is yours to correct", markup=False)
    else:
        out.print(f"{folder} was left as it is", markup=False)
