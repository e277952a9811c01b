"""Commands about policies as such: those that ship with qosforge or stand in a folder, what one says, a new one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from qosforge.cli.options import AsJson, Parameters
from qosforge.cli.output import print_configuration, print_done, print_error, print_json, write_file
from qosforge.cli.server import choose_within, remote
from qosforge.cli.stored_policies import fetch_policy, print_stored
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out, print_prose
from qosforge.dscp import dscp_label
from qosforge.errors import InputError, Place, QosforgeError
from qosforge.intent.base import is_name
from qosforge.intent.editing import Set, edited
from qosforge.intent.loader import LoadedIntent, load_intent
from qosforge.intent.models import TrafficClass
from qosforge.intent.policy_source import shipped_policies
from qosforge.policy_library.groups import STARTING_POINTS
from qosforge.resources import root

app = typer.Typer(no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="policy", help="Policies: those that ship with qosforge, and new ones.")


@app.callback()
def _group(context: typer.Context) -> None:
    """Policies: those that ship with qosforge, and new ones."""
    choose_within("policy", context.invoked_subcommand)


@app.command("list")
def list_(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Where they stand (default: those that ship).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List policies, with what each is for; with --server those of a service. No device is contacted."""
    if remote():
        if folder is not None:
            raise InputError("a service has no such folder", Place(path="FOLDER"), "leave it out, or --server")
        print_stored(as_json=as_json)
        return
    unread: list[QosforgeError] = []
    found = [_entry(path, unread) for path in _files(folder)]
    if as_json:
        print_json(found)
    else:
        table = Table("policy", "classes", "checks", "purpose", box=None, padding=(0, 1))
        for one in found:
            if one["error"] is None:
                table.add_row(one["policy"], str(one["classes"]), str(one["checks"]), one["purpose"])
            else:
                table.add_row(one["policy"], "–", "–", Text("cannot be read", style="red"))
        print_table(table)
    for error in unread:
        print_error(error)
    sys.exit(int(bool(unread)))


@app.command()
def show(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="A file, or the name of one that ships.")],
    parameters: Parameters = None,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Its text, as it stands.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a policy: its classes, where they apply, and what is judged; with --server one of a service."""
    if remote():
        loaded, text = fetch_policy(policy, parameters or ())
        where = policy
    else:
        path = _file(policy)
        loaded, text, where = load_intent(path, parameters or ()), path.read_text(encoding="utf-8"), str(path)
    if as_json:
        print_json(loaded.intent.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    elif as_yaml:
        print_configuration(text)
    else:
        _print(loaded, where)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the policy is called, and its file.")],
    start: Annotated[
        str, typer.Option("--from", metavar="POLICY", help="What it begins as: a file, or one that ships.")
    ] = STARTING_POINTS[0],
    into: Annotated[
        Path, typer.Option("--in", metavar="FOLDER", help="Where NAME.yaml is made (default: here).")
    ] = Path(),
    as_json: AsJson = False,
) -> None:
    """Make a policy from another one. Nothing is contacted."""
    _require_name(name)
    source, target = _file(start), into / f"{name}.yaml"
    if target.exists():
        raise InputError("there is something already", Place(file=str(target)), "choose another name")
    load_intent(source, ())
    text = edited(source.read_text(encoding="utf-8"), str(source), [Set(("intent",), name)])
    write_file(target, text)
    try:
        load_intent(target, ())
    except QosforgeError:  # it includes what stands beside it
        target.unlink()
        raise
    print_done("made", str(target), as_json=as_json)


def _require_name(name: str) -> None:
    """Make sure that a policy can be called so.

    Raises:
        InputError: it cannot; says what of the name is in the way.
    """
    if is_name(name):
        return
    place, hint = Place(path="NAME"), "begin with a letter; then letters, digits, '-' and '_'"
    if is_name(name.removesuffix(".yaml")):
        raise InputError(f"{name!r} ends with '.yaml'", place, f"leave that out: the file is {name} anyway")
    if name and not is_name(name[0]):
        raise InputError(f"{name!r} begins with {name[0]!r}", place, hint)
    wrong = next((character for character in name if not is_name(f"a{character}")), None)
    raise InputError("nothing is written here" if wrong is None else f"{name!r} has {wrong!r}", place, hint)


def _files(folder: Path | None) -> list[Path]:
    if folder is None:
        return [root() / "policies" / f"{name}.yaml" for name in shipped_policies()]
    found = sorted(folder.glob("*.yaml"))
    if not found:
        raise InputError("has no policy", Place(file=str(folder)), "name a folder with files that end in .yaml")
    return found


def _file(policy: str) -> Path:
    path = Path(policy)
    if path.suffix or path.exists():
        return path
    if policy not in shipped_policies():
        raise InputError(f"there is no policy {policy!r}", hint="qosforge policy list has those that ship")
    return root() / "policies" / f"{policy}.yaml"


def _entry(path: Path, unread: list[QosforgeError]) -> dict[str, Any]:
    """A policy in a list; one that cannot be read says why, and what is wrong with it is added to ``unread``."""
    told: dict[str, Any] = {"policy": path.stem, "file": str(path), "classes": None, "checks": None}
    try:
        intent = load_intent(path, ()).intent
    except QosforgeError as error:
        unread.append(error)
        return {**told, "purpose": "", "error": str(error.problems()[0])}
    counts = {"classes": len(intent.classes), "checks": len(intent.verify)}
    return {**told, **counts, "purpose": intent.description, "error": None}


def _print(loaded: LoadedIntent, where: str) -> None:
    intent = loaded.intent
    out.print(Text.assemble((intent.intent, "bold"), f"  {where}"))
    if intent.description:
        print_prose(Text(intent.description))
    table = Table(box=None, padding=(0, 1), title="Classes", title_justify="left", title_style="bold")
    for heading in ("class", "match", "mark", "treatment", "objective"):
        table.add_column(heading, overflow="fold")
    for class_, depth in _with_depth(intent.classes):
        body = class_.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        treatment = {key: value for key, value in body.get("treatment", {}).items() if key != "children"}
        cells = (body.get("match"), body.get("mark"), treatment, body.get("objective"))
        table.add_row("  " * depth + class_.name, *(words(cell) if cell else "–" for cell in cells))
    print_table(table)
    for title, entries in (("Applies to", intent.apply), ("Checks", intent.verify)):
        if entries:
            out.print(Text(title, style="bold"))
        for entry in entries:
            body = entry.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            print_prose(Text(f" {words(body)}"), hanging=3)


def _with_depth(classes: tuple[TrafficClass, ...], depth: int = 0) -> Iterator[tuple[TrafficClass, int]]:
    for class_ in classes:
        yield class_, depth
        yield from _with_depth(class_.treatment.children, depth + 1)


def words(value: Any, key: str = "") -> str:
    """A part of a policy in one line, by the words of its keys."""
    if isinstance(value, Mapping):
        said = ((name.replace("_", " "), words(below, name)) for name, below in value.items())
        return ", ".join(" ".join(filter(None, pair)) for pair in said)
    if isinstance(value, list):
        separator = "; " if any(isinstance(one, Mapping) for one in value) else " "
        return separator.join(words(one, key) for one in value)
    if isinstance(value, bool):
        return "" if value else "no"
    return dscp_label(value) if key == "dscp" and isinstance(value, int) else str(value)
