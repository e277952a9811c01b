"""Commands about OpenConfig: export, import."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.syntax import Syntax
from rich.text import Text

from qosforge.cli.device_files import INCOMPLETE, write_device_files
from qosforge.cli.options import AsJson, NetworkFolder, Parameters, Policy, Strict, load
from qosforge.cli.output import findings_json, print_findings, print_json
from qosforge.cli.terminal import out, print_heading
from qosforge.compiler.compile import compile_intent
from qosforge.errors import InputError, Place
from qosforge.finding_rows import gather_findings
from qosforge.findings import complete_devices, has_errors
from qosforge.openconfig.read import PLATFORM, import_document
from qosforge.openconfig.write import export_plan

LARGEST = 16 * 2**20
"""Bytes of the largest document that is read."""

app = typer.Typer(no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="openconfig", help="Plans as openconfig-qos documents (RFC 7951), and back.")


@app.command()
def export(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    device: Annotated[
        list[str] | None, typer.Option("--device", "-d", help="Only this device (may be repeated).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write DEVICE.json for each into a folder.")
    ] = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Compile an intent into an OpenConfig document for every device. Nothing is contacted."""
    loaded, net = load(policy, network, parameters)
    known = [d.name for d in net.devices]
    for name in device or ():
        if name not in known:
            raise InputError(f"{net.name} has no device {name!r}", hint=f"one of {', '.join(known)}")
    compilation = compile_intent(loaded, net)
    chosen = [d for d in compilation.devices if d.name in (device or known)]
    exported = {d.name: export_plan(d.plan, d.request.applications) for d in chosen}
    found = (*compilation.general, *(f for d in chosen for f in (*d.findings, *exported[d.name].findings)))
    findings = gather_findings(found)
    complete = complete_devices(findings, exported, strict=strict)
    if output is not None:
        texts = {name: json.dumps(entry.document, indent=2) + "\n" for name, entry in exported.items()}
        write_device_files(output, "json", texts, complete)
    if as_json:
        devices = [
            {"name": name, "complete": name in complete, "document": entry.document}
            for name, entry in exported.items()
        ]
        print_json({"intent": loaded.intent.intent, "findings": findings_json(findings), "devices": devices})
    else:
        for name, entry in exported.items():
            incomplete = "" if name in complete else f" {INCOMPLETE}"
            print_heading(Text.assemble((name, "bold"), (incomplete, "red")))
            out.print(Syntax(json.dumps(entry.document, indent=2), "json", background_color="default"))
        print_findings(findings)
    sys.exit(int(has_errors(findings, strict=strict)))


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help="An openconfig-qos document: RFC 7951 JSON.", metavar="FILE")],
    device: Annotated[
        str | None, typer.Option("--device", "-d", help="Its device (default: the file's name).")
    ] = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Read an OpenConfig document as a plan, and tell what a plan has no place for. Nothing is contacted."""
    imported = import_document(_text(file), device=device or file.stem, platform=PLATFORM, file=str(file))
    plan = imported.plan.model_dump(mode="json", exclude_defaults=True)
    if as_json:
        print_json({"plan": plan, "findings": findings_json(imported.findings)})
    else:
        out.print(Syntax(json.dumps(plan, indent=2, ensure_ascii=False), "json", background_color="default"))
        print_findings(imported.findings)
    sys.exit(int(has_errors(imported.findings, strict=strict)))


def _text(file: Path) -> str:
    place = Place(file=str(file))
    try:
        if file.stat().st_size > LARGEST:
            raise InputError(f"is larger than {LARGEST // 2**20} MiB", place, "give the document of one device")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", place, "give an RFC 7951 document") from None
