"""The command that reads a network before there is any intent: audit."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from qosforge.audit import Audit, audit
from qosforge.audit.marks import MarkPath, change_text
from qosforge.audit.saved import audit_saved
from qosforge.audit.table import HEADINGS, joined_rows
from qosforge.cli.configuration_files import Platforms, other_texts, read_text, saved_configurations
from qosforge.cli.notes import notes_json, print_notes
from qosforge.cli.options import AsJson, NetworkFolder, Strict, network_folder
from qosforge.cli.output import findings_json, print_findings, print_json, print_problems
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out, progress
from qosforge.deploy.driver_and_platform import require_installed, require_platforms
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.read_devices import read_each
from qosforge.deploy.route import route_to
from qosforge.deploy.sessions import Sessions
from qosforge.discovery.names import inventory_name
from qosforge.dscp import dscp_label
from qosforge.errors import DeviceErrors, InputError, Place, QosforgeError
from qosforge.findings import has_errors
from qosforge.importing.running_configuration import stated_name
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import Configuration
from qosforge.settings import load_settings
from qosforge.units import counted

Files = Annotated[
    Path | None,
    typer.Option(
        "--files",
        help="Read DEVICE.cfg from this folder instead of the devices. Without --network the network is made from "
        "whatever configurations are in it.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="audit")(audit_)


def audit_(
    network: NetworkFolder = None,
    files: Files = None,
    platforms: Platforms = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Say what is configured, whether it is consistent, and where marks are lost. Devices are only read."""
    if network is None and files is not None:
        sys.exit(_audit_saved(files, platforms or (), strict=strict, as_json=as_json))
    if platforms:
        raise InputError(
            "is for configurations without an inventory",
            Place(path="--platform"),
            "with --network the platform stands in hosts.yaml",
        )
    folder = network_folder(network)
    net = load_network(folder)
    require = require_installed if files is None else require_platforms
    require(net, folder)
    errors: list[dict[str, Any]] = []
    if files is None:
        settings = load_settings()
        route = route_to(settings, net)
        with Fleet(net, route, Sessions(settings.device_limits, settings.device_sessions)) as fleet:
            progress("read", f"{counted(len(net.devices), 'device')}: {route.told}")
            read, unread = read_each(fleet)
        if unread and not read:
            raise DeviceErrors("no device can be read", errors=list(unread.values()))
        texts: Mapping[str, Configuration] = read
        errors = [problem.document() for error in unread.values() for problem in error.problems()]
        names: dict[str, str] = {}
    else:
        texts, names = _from_files(net, files)
    result = audit(net, texts, names, {error["device"] for error in errors})
    if as_json:
        print_json(_document(result) | {"errors": errors})
    else:
        _print(result)
    print_problems(errors)
    sys.exit(QosforgeError.exit_code if errors else int(has_errors(result.findings, strict=strict)))


def _audit_saved(folder: Path, platforms: Iterable[str], *, strict: bool, as_json: bool) -> int:
    """Audit saved configurations without an inventory; the exit code."""
    read, notes = saved_configurations([folder], platforms)
    audited = audit_saved(read, notes, folder.resolve().name)
    result, found = audited.result, audited.found
    if as_json:
        print_json(_document(result) | {"errors": [], "notes": notes_json(found.notes)})
    else:
        print_notes(audited.incomplete)
        _print(result)
        out.print(
            f"devices: {len(found.devices)}, links: {len(found.links)}, made from the files alone. "
            f"`qosforge network import {folder} --into FOLDER` keeps them, and says what was assumed",
            markup=False,
        )
    return int(has_errors(result.findings, strict=strict))


def _from_files(network: Network, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The configurations in a folder and their files, by device: DEVICE.cfg, else the file that names the device.

    Raises:
        InputError: the folder has none, or one of them is no text or too large.
    """
    texts, files = {}, {}
    for device in network.devices:
        path = folder / f"{device.name}.cfg"
        if path.is_file():
            texts[device.name], files[device.name] = read_text(path, device.name), str(path)
    lacking = {device.name for device in network.devices} - set(texts)
    for path, text in other_texts(folder) if lacking else ():
        name = inventory_name(stated_name(text) or path.stem)
        if name in lacking:
            texts[name], files[name] = text, str(path)
    if not texts:
        example = f"{network.devices[0].name}.cfg" if network.devices else "DEVICE.cfg"
        raise InputError(
            f"no configuration of a device of {network.name} is here",
            Place(file=str(folder)),
            f"name the files after the devices, like {example}, or leave --network out",
        )
    return texts, files


def _document(result: Audit) -> dict[str, Any]:
    return {
        "network": result.network.name,
        "devices": {
            name: plan.model_dump(mode="json", exclude_defaults=True) for name, plan in result.plans.items()
        },
        "marks": [
            {
                "from": way.source,
                "to": way.target,
                "dscp": way.dscp,
                "arrives": way.arrives,
                "lost_at": list(way.lost_at) if way.lost_at else None,
                "unread": list(way.unread),
            }
            for way in result.mark_paths
        ],
        "findings": findings_json(result.findings),
    }


def _print(result: Audit) -> None:
    table = Table(box=None, padding=(0, 1), title="Configured", title_justify="left", title_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    last = ""
    for device, *cells in joined_rows(result):
        table.add_row(device if device != last else "", *cells)
        last = device
    print_table(table)
    _print_ways(result.mark_paths)
    print_findings(result.findings)


def _print_ways(ways: tuple[MarkPath, ...]) -> None:
    """Per pair of stations: which marks arrive, and where the others are lost."""
    if not ways:
        return
    table = Table(box=None, padding=(0, 1), title="Marks on the way", title_justify="left", title_style="bold")
    for heading in ("path", "kept", "lost"):
        table.add_column(heading, overflow="fold")
    pairs: dict[tuple[str, str], list[MarkPath]] = {}
    for way in ways:
        pairs.setdefault((way.source, way.target), []).append(way)
    for (source, target), found in pairs.items():
        kept = ", ".join(dscp_label(way.dscp) for way in found if way.arrives == way.dscp)
        lost: dict[str, list[str]] = {}
        for way in found:
            if way.lost_at is not None:
                where = f"at {way.lost_at[0]} {way.lost_at[1]}"
                lost.setdefault(where, []).append(change_text(way))
        texts = [f"{', '.join(marks)} {where}" for where, marks in lost.items()]
        unread = found[0].unread
        arriving = f"not known: {', '.join(unread)} not read" if unread else kept
        table.add_row(f"{source} → {target}", arriving or "–", "; ".join(texts) or "–")
    out.print()
    print_table(table)
    out.print()
