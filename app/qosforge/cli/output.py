"""What the command line prints: tables for people on standard output, progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qosforge.cli.tables import print_table
from qosforge.cli.terminal import err, hide_progress, out, print_prose, progress
from qosforge.cli.whole_files import try_whole, write_whole
from qosforge.errors import InputError, Place, QosforgeError
from qosforge.findings import Finding, Severity
from qosforge.reports.grouped_findings import group_findings
from qosforge.reports.row_table import RowTable, row_table
from qosforge.units import counted
from qosforge.visible import visible_json

if TYPE_CHECKING:
    from qosforge.reports.preview import WaveDocument

STYLE = {"met": "green", "broken": "red", "inconclusive": "yellow"}
SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "dim"}

EXPLAIN = Text("what a code means: qosforge --explain CODE", style="dim")

INDENT = 9
"""Columns that stand below a finding's severity."""

MOST_ROWS = 6
"""Rows of a finding for information that are printed."""

_MOST_NAMED = 12
"""Devices that are named where one problem is that of many."""


def print_done(what: str, subject: str, *, as_json: bool) -> None:
    """That something was done: a line of progress, or a document ``{what: subject}``."""
    if as_json:
        print_json({what: subject})
    else:
        progress(what, subject)


def print_configuration(text: str) -> None:
    """Configuration, whole: no line of it is cut or broken, so that it can be copied."""
    out.print(Text(text.rstrip("\n")), soft_wrap=True)


def print_json(document: Any) -> None:
    """One JSON document, for machines.

    Where standard output takes no UTF-8 every other character is JSON's own escape, so that it is read as it was.
    """
    hide_progress()
    escaped = (sys.stdout.encoding or "utf-8").lower().replace("_", "-") not in ("utf-8", "utf8")
    sys.stdout.write(visible_json(json.dumps(document, indent=2, ensure_ascii=escaped)) + "\n")
    sys.stdout.flush()  # who reads it need not wait for the end of the command


def findings_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings for machines: each with the same keys."""
    return [finding.document() for finding in findings]


def require_writable(path: Path) -> None:
    """Try whether a file that the user asked for can be written, before the work that fills it.

    Makes the folders above it; what the file holds stays.

    Raises:
        InputError: it cannot be written there.
    """
    with writing(path):
        try_whole(path)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that the user asked for, with the folders above it: see `write_whole`.

    Raises:
        InputError: it cannot be written there.
    """
    with writing(path):
        write_whole(path, content if isinstance(content, bytes) else content.encode())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report a failure to write or remove a file as an error in what the user asked for.

    Raises:
        InputError: it failed.
    """
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        in_the_way = next((one for one in path.parents if one.exists() and not one.is_dir()), path)
        message = f"cannot be written: {in_the_way} is a file"
        raise InputError(message, Place(file=str(path)), "name a folder") from None
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", Place(file=str(path)), "name a place that can be written"
        ) from None


def print_error(error: QosforgeError, *, as_json: bool = False) -> None:
    """Every problem of an error: where, what, how to correct it; as the one document too where JSON was asked for.

    The findings that it stands on come first, where it has some.
    """
    findings = tuple(getattr(error, "findings", ()))
    if as_json:
        found = {"findings": findings_json(findings)} if findings else {}
        print_json({"errors": [problem.document() for problem in error.problems()], **found})
    else:
        print_findings(findings)
    _print_alike([(problem.where, problem.message, problem.hint) for problem in error.problems()])


def print_problems(problems: Iterable[dict[str, str]]) -> None:
    """Problems that steps of a run returned as values."""
    _print_alike([(Place(device=one["device"] or None), one["message"], one["hint"]) for one in problems])


def _print_alike(problems: Iterable[tuple[Place, str, str]]) -> None:
    """Problems by place, message and hint; what is the same of several devices once, with their names."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for where, message, hint in problems:
        # A place that is more than a device's name is one of its own.
        of_device = where == Place(device=where.device)
        alike.setdefault(("" if of_device else str(where), message, hint), []).append(where.device or "")
    for (elsewhere, message, hint), devices in alike.items():
        names = [name for name in dict.fromkeys(devices) if name]
        more = len(names) - _MOST_NAMED
        named = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        line = Text("error: ", style="red")
        line.append(f"{elsewhere or named}: " if elsewhere or named else "", style="bold")
        line.append(message, style="default")
        print_prose(line, 7, console=err)
        if hint:
            print_prose(Text(f"       {hint}", style="dim"), 7, console=err)


def print_waves(waves: Sequence[WaveDocument]) -> None:
    """In which order devices would change, and after how many minutes they roll back what nobody confirmed."""
    table = Table(box=None, padding=(0, 1), title="Waves", title_justify="left", title_style="bold")
    for heading in ("wave", "chosen by", "revert timer", "devices"):
        table.add_column(heading)
    for number, wave in enumerate(waves, 1):
        devices = ", ".join(" + ".join(step) for step in wave.steps)
        table.add_row(str(number), wave.name, f"{wave.revert_minutes} min", devices)
    print_table(table)
    out.print(Text("measuring makes the timer longer; where a device has none, a reload goes back", "dim"))


def print_findings(findings: Iterable[Finding], least: Severity = Severity.INFO) -> None:
    """Findings as a list, the grave ones first; what several devices have in common is said once."""
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    groups = group_findings(f for f in findings if order.index(f.severity) <= order.index(least))
    for group in groups:
        finding = group.finding
        line = Text(f"{finding.severity.value:<8}", style=SEVERITY[finding.severity])
        line.append(f"{finding.code}  ", style="bold")
        one_place = group.places if len(group.places) == 1 else ()
        where = ", ".join(filter(None, (*one_place, finding.where)))
        line.append(f"{where}: " if where else "")
        line.append(finding.message)
        if finding.requested or finding.applied:
            sides = (("requested", finding.requested), ("applied", finding.applied))
            line.append(f" ({', '.join(f'{what} {text}' for what, text in sides if text)})")
        rows = row_table(group.rows)
        line.append(f": {rows.in_line}" if rows and rows.in_line else "")
        line.append(f": {', '.join(group.places)}" if len(group.places) > 1 else "")
        print_prose(line, INDENT)
        if rows and not rows.in_line:
            _print_rows(rows, MOST_ROWS if finding.severity is Severity.INFO else len(rows.rows))
        if finding.hint and finding.severity is not Severity.INFO:
            print_prose(Text(f"{'':{INDENT}}{finding.hint}", style="dim"), INDENT)
    if groups:
        out.print(EXPLAIN)


def _print_rows(rows: RowTable, most: int) -> None:
    """The rows of a finding below it, at most so many."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in rows.headings:
        table.add_column(heading, overflow="fold")
    for row in rows.rows[:most]:
        table.add_row(*row)
    out.print(Padding(table, (0, 0, 0, INDENT), expand=False))
    if len(rows.rows) > most:
        out.print(Text(f"{'':{INDENT}}… and {len(rows.rows) - most} more: --json has all", style="dim"))


def print_finding_summary(findings: Iterable[Finding], run_id: str) -> None:
    """Warnings and errors, one line for each code with the devices it concerns; the rest as a count."""
    grave: dict[str, list[Finding]] = {}
    notes = 0
    for finding in findings:
        if finding.severity is Severity.INFO:
            notes += 1
        else:
            grave.setdefault(finding.code, []).append(finding)
    for code, entries in sorted(grave.items(), key=lambda item: (item[1][0].severity.value, item[0])):
        first = entries[0]
        devices = ", ".join(dict.fromkeys(f.device for f in entries if f.device))
        line = Text(f"{first.severity.value:<8}", style=SEVERITY[first.severity])
        line.append(f"{code}  ", style="bold")
        line.append(f"{devices}: " if devices else "")
        line.append(first.message)
        print_prose(line, hanging=8)
    if grave or notes:
        many = sum(map(len, grave.values()))
        kinds = f" of {counted(len(grave), 'kind')}" if len(grave) < many else ""
        total = f"{counted(many, 'finding')}{kinds} and {notes} for information"
        out.print(Text(f"{total}: qosforge show {run_id}", style="dim"))
    if grave:
        out.print(EXPLAIN)
