"""The command that makes a network's folder say what its source does."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from qosforge.cli.notes import notes_json, print_notes
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.terminal import out
from qosforge.discovery.difference import InventoryChange
from qosforge.sources.sync import SourceComparison, compare_with_source, without_removals, write_comparison
from qosforge.units import counted, listed


def sync(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The network's folder, which has a source.yaml.")
    ],
    yes: Annotated[
        bool, typer.Option("--yes", help="Write without asking; devices that are gone stay, unless --remove.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Also remove devices that the source has not.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare a network with the source of its inventory, such as NetBox, and write what differs.

    No device is contacted.

    Exits with 0 where the folder says what the source does, and with 1 where it does not.
    """
    comparison = compare_with_source(folder)
    if not as_json:
        _print(comparison)
    asks = sys.stdin.isatty() and not as_json and not yes
    left = comparison
    if comparison.changes and (yes or (asks and typer.confirm("Write these changes?", err=True))):
        left = _write(comparison, asks=asks, remove=remove)
    if as_json:
        print_json(_document(comparison, left))
    else:
        _print_end(comparison, left)
    sys.exit(1 if left.changes else 0)


def _write(comparison: SourceComparison, *, asks: bool, remove: bool) -> SourceComparison:
    """Write a comparison; what of it is left then."""
    gone = comparison.gone_devices
    question = f"Remove {listed(gone, 8)}, which the source does not have?"
    if not gone or remove or (asks and typer.confirm(question, err=True)):
        write_comparison(comparison)
        return _remaining(comparison, ())
    kept = without_removals(comparison)
    if kept.changes:
        write_comparison(kept)
    return _remaining(comparison, gone)


def _remaining(comparison: SourceComparison, gone: tuple[str, ...]) -> SourceComparison:
    changes = tuple(InventoryChange("gone", "device", (name,)) for name in gone)
    return SourceComparison(
        comparison.folder, comparison.known, comparison.target, changes, comparison.notes, comparison.shared
    )


def _document(comparison: SourceComparison, left: SourceComparison) -> dict[str, Any]:
    return {
        "folder": str(comparison.folder),
        "written": left.changes != comparison.changes,
        "devices": len(comparison.target.devices),
        "links": len(comparison.target.links),
        "changes": [{**asdict(change), "name": change.name} for change in comparison.changes],
        "left": [{**asdict(change), "name": change.name} for change in left.changes],
        "notes": notes_json(comparison.notes),
    }


def _print(comparison: SourceComparison) -> None:
    print_notes(comparison.notes)
    for change in comparison.changes:
        out.print(str(change), markup=False, soft_wrap=True)
    counts = Counter(change.kind for change in comparison.changes)
    told = ", ".join(f"{counts[kind]} {kind}" for kind in ("added", "changed", "gone") if counts[kind])
    network = comparison.target
    size = f"{counted(len(network.devices), 'device')}, {counted(len(network.links), 'link')}"
    out.print(f"{told or 'no difference'}: {size}")


def _print_end(comparison: SourceComparison, left: SourceComparison) -> None:
    folder = comparison.folder
    if left.changes != comparison.changes:
        out.print(f"{folder} was written", markup=False)
    if not left.changes:
        return
    if left.changes == comparison.changes:
        out.print(f"{folder} was left as it is; --yes writes without asking", markup=False)
    else:
        names = listed((change.name for change in left.changes), 8)
        out.print(f"still there, though the source has not: {names} (--remove)", markup=False)
