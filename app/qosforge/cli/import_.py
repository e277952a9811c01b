"""The command that reads configurations back into an intent: import."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from qosforge.cli.configuration_files import read_text
from qosforge.cli.options import AsJson, Strict
from qosforge.cli.output import findings_json, print_configuration, print_findings, print_json, write_file
from qosforge.cli.terminal import print_heading
from qosforge.errors import InputError, Place
from qosforge.findings import has_errors
from qosforge.importing import ImportResult, RunningConfiguration, import_configurations, read_configuration
from qosforge.intent.base import is_name

Files = Annotated[
    list[Path], typer.Argument(help="Running configurations, one file a device.", metavar="CONFIG...")
]
Platforms = Annotated[
    str | None, typer.Option("--platform", "-p", help="Their platform (default: told by their lines).")
]
Image = Annotated[str | None, typer.Option("--image", "-i", help="Their image, like 12.4(15)T.")]
Device = Annotated[
    list[str] | None,
    typer.Option("--device", "-d", help="A device's name (once for each file, in their order; default: its own)."),
]
IntentName = Annotated[str, typer.Option("--intent", help="The intent's name; of several, how they begin.")]
Folder = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write NAME.yaml and an inventory into a folder of their own.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="import")(import_)


def import_(
    files: Files,
    platform: Platforms = None,
    image: Image = None,
    device: Device = None,
    intent: IntentName = "imported",
    output: Folder = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Read configurations as an intent that compiles back to them. What it cannot say is told."""
    if not is_name(intent) or len(intent) > 36:
        raise InputError(f"{intent[:60]!r} is not a name of an intent", hint="give letters, digits, '-' and '_'")
    if device and len(device) != len(files):
        raise InputError(
            f"{len(device)} names for {len(files)} files", hint="give --device once for each file, or not at all"
        )
    names: list[str | None] = [*device] if device else [None] * len(files)
    read = [_configuration(file, platform, image, name) for file, name in zip(files, names, strict=True)]
    imported = import_configurations(read, intent)
    if output is not None and imported.intents:
        _write(imported, output)
    if as_json:
        print_json(
            {
                "intents": [{"name": i.name, "text": i.text} for i in imported.intents],
                "inventory": dict(imported.files),
                "findings": findings_json(imported.findings),
            }
        )
    else:
        for entry in imported.intents:
            print_heading(Text(f"{entry.name}.yaml", style="bold"))
            print_configuration(entry.text)
        if imported.intents:
            print_heading(Text("hosts.yaml", style="bold"))
            print_configuration(imported.files["hosts.yaml"])
        print_findings(imported.findings)
    sys.exit(int(has_errors(imported.findings, strict=strict)))


def _write(imported: ImportResult, folder: Path) -> None:
    """The intents and the inventory, all or none; what is in the way stays.

    Raises:
        InputError: a file of one of these names is there already, or cannot be written.
    """
    texts = {**imported.files, **{f"{entry.name}.yaml": entry.text for entry in imported.intents}}
    for name in texts:
        if (folder / name).exists():
            raise InputError("is there already", Place(file=str(folder / name)), "name another folder")
    written: list[Path] = []
    try:
        for name, text in texts.items():
            write_file(folder / name, text)
            written.append(folder / name)
    except InputError:
        for path in written:
            with suppress(OSError):  # what is in the way of the writing is what is told
                path.unlink()
        raise


def _configuration(file: Path, platform: str | None, image: str | None, device: str | None) -> RunningConfiguration:
    return read_configuration(read_text(file), str(file), platform_id=platform, image=image, device=device)
