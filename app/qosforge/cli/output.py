"""What the command line prints: tables for people on standard output, progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from qosforge.deltaq.objective import Verdict
from qosforge.errors import InputError, Place, QosforgeError
from qosforge.findings import Finding, Severity
from qosforge.reports.evidence import deciding, observed, sentences
from qosforge.reports.grouped_findings import group_findings
from qosforge.reports.row_table import RowTable, row_table
from qosforge.reports.table import COLUMNS, comparison_table, format_bound
from qosforge.reports.trade_offs import SIDE_HEADINGS, accounts, side_texts, trade_off_text, trade_offs
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import ClassVerdict
from qosforge.visible import visible, visible_json

if TYPE_CHECKING:
    from qosforge.reports.preview import WaveDocument

STYLE = {"met": "green", "broken": "red", "inconclusive": "yellow"}
SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "dim"}

EXPLAIN = Text("what a code means: qosforge --explain CODE", style="dim")

INDENT = 9
"""Columns that stand below a finding's severity."""

MOST_ROWS = 6
"""Rows of a finding for information that are printed."""

WIDTH = 124
"""Columns where the output is no terminal: the widest table fits."""


class _Terminal(Console):
    """A terminal that reads no text as markup or as control characters, wherever it comes from."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See `Console.render`: all that is printed comes through here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def _console(stderr: bool = False) -> Console:
    console = _Terminal(stderr=stderr)
    return console if console.is_terminal else _Terminal(stderr=stderr, width=WIDTH)


out = _console()
err = _console(stderr=True)


def progress(stage: str, text: str) -> None:
    """One line of progress."""
    err.print(Text.assemble((f"  {stage:<15} ", "cyan"), text))


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
    """One JSON document, for machines."""
    sys.stdout.write(visible_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n")


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
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        if new or path.is_file() or path.is_dir():  # a pipe would wait for its reader
            path.open("ab").close()
        if new:
            path.unlink()


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that the user asked for, with the folders above it.

    Raises:
        InputError: it cannot be written there.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report a failure to write or remove a file as an error in what the user asked for.

    Raises:
        InputError: it failed.
    """
    try:
        yield
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
    for problem in error.problems():
        where = str(problem.where)
        line = Text("error: ", style="red")
        line.append(f"{where}: " if where else "", style="bold")
        line.append(problem.message, style="default")
        err.print(line, soft_wrap=True)
        if problem.hint:
            err.print(Text(f"       {problem.hint}", style="dim"), soft_wrap=True)


def print_problems(problems: Iterable[dict[str, str]]) -> None:
    """Problems that steps of a run returned as values."""
    for problem in problems:
        line = Text("error: ", style="red")
        line.append(f"{problem['device']}: " if problem["device"] else "", style="bold")
        line.append(problem["message"], style="default")
        err.print(line, soft_wrap=True)
        if problem["hint"]:
            err.print(Text(f"       {problem['hint']}", style="dim"), soft_wrap=True)


def print_waves(waves: Sequence[WaveDocument]) -> None:
    """In which order devices would change, and after how many minutes they roll back what nobody confirmed."""
    table = Table(box=None, padding=(0, 1), title="Waves", title_justify="left", title_style="bold")
    for heading in ("wave", "chosen by", "revert timer", "devices"):
        table.add_column(heading)
    for number, wave in enumerate(waves, 1):
        devices = ", ".join(" + ".join(step) for step in wave.steps)
        table.add_row(str(number), wave.name, f"{wave.revert_minutes} min", devices)
    out.print(table)
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
        out.print(line, soft_wrap=True)
        if rows and not rows.in_line:
            _print_rows(rows, MOST_ROWS if finding.severity is Severity.INFO else len(rows.rows))
        if finding.hint and finding.severity is not Severity.INFO:
            out.print(Text(f"         {finding.hint}", style="dim"), soft_wrap=True)
    if groups:
        out.print(EXPLAIN)


def _print_rows(rows: RowTable, most: int) -> None:
    """The rows of a finding below it, at most so many."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in rows.headings:
        table.add_column(heading, overflow="fold")
    for row in rows.rows[:most]:
        table.add_row(*row)
    out.print(Padding(table, (0, 0, 0, INDENT)))
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
        out.print(line, no_wrap=True, overflow="ellipsis")
    if grave or notes:
        total = f"{sum(map(len, grave.values()))} findings and {notes} for information"
        out.print(Text(f"{total}: qosforge show {run_id}", style="dim"))
    if grave:
        out.print(EXPLAIN)


def print_comparison(before: Measurement | None, after: Measurement | None, *, first: str = "before") -> None:
    """Per scenario and class: before (under the name ``first``), after and the benefit."""
    groups = comparison_table(before, after, by_path=False)
    for scenario in dict.fromkeys((g.scenario, g.title) for g in groups):
        table = Table(title=scenario[1], title_justify="left", box=None, padding=(0, 1), title_style="bold")
        for heading in ("class", "traffic", ""):
            table.add_column(heading, no_wrap=True)
        for column in COLUMNS:
            heading = f"{column.short} {column.unit}".strip()
            table.add_column(heading, justify="right", no_wrap=True)
        for group in groups:
            if group.scenario != scenario[0]:
                continue
            for position, line in enumerate(group.lines):
                label = (group.traffic_class or "–", group.kind)
                name = label if position == 0 else ("", "")
                table.add_row(*name, first if line.what == "before" else line.what, *line.texts())
        out.print(table)
        out.print()


def print_accounts(before: Measurement | None, after: Measurement | None, *, first: str = "before") -> None:
    """Per scenario and class: throughput expected and observed on both sides, the delay bound, and trade-offs.

    What is before is called ``first``.
    """
    found, balances = accounts(before, after, by_path=False), trade_offs(before, after)
    for scenario, title in dict.fromkeys((a.scenario, a.title) for a in found):
        table = Table(
            title=f"Expected and observed: {title}",
            title_justify="left",
            box=None,
            padding=(0, 1),
            title_style="bold",
        )
        for name in ("class", ""):
            table.add_column(name, no_wrap=True)
        for name in ("offered kb/s", *SIDE_HEADINGS):
            table.add_column(name, justify="right", no_wrap=True)
        for account in found:
            if account.scenario != scenario:
                continue
            sides = [(when, side) for when, side in ((first, account.before), ("after", account.after)) if side]
            for position, (when, side) in enumerate(sides):
                name, offered = ("", "") if position else (account.traffic_class or "–", account.offered_text)
                table.add_row(name, when, offered, *side_texts(side))
        out.print(table)
        for balance in balances:
            if balance.scenario == scenario:
                out.print(Text(f"trade-offs, {trade_off_text(balance)}", style="dim"), soft_wrap=True)
        out.print()


def print_verdicts_of(verdicts: Iterable[ClassVerdict], when: str) -> None:
    """Per judged class and path: the bounds and the verdict on what the devices do ``when``."""
    print_verdicts({when: verdicts}, every_bound=True)


def print_verdicts(verdicts: Mapping[str, Iterable[ClassVerdict]], *, every_bound: bool) -> None:
    """Per judged class and path: the bounds (or those that made the verdicts), and the verdict at every time."""
    by_side = [{(v.scenario, v.traffic_class, v.path): v for v in side} for side in verdicts.values()]
    # Who is judged more than once is told as judged last.
    whole = {key: verdict for side in by_side for key, verdict in side.items()}
    if not whole:
        return
    evidence = ", ".join(dict.fromkeys(one.verdict.evidence for one in whole.values()))
    title = f"Verdicts (evidence: {evidence})"
    table = Table(box=None, padding=(0, 1), title=title, title_justify="left", title_style="bold")
    for heading in (
        "scenario",
        "class",
        "path",
        "bound",
        "requested",
        *(cell for when in verdicts for cell in (when, "")),
    ):
        # A narrow terminal breaks these over lines, and cuts no verdict.
        table.add_column(heading, no_wrap=heading not in ("path", "bound"), overflow="fold")
    for key, known in whole.items():
        sides = [side.get(key) for side in by_side]
        first = 0 if every_bound else deciding(known.verdict)
        told = [first if every_bound or side is None else _deciding_beside(first, side.verdict) for side in sides]
        rows = range(len(known.verdict.bounds)) if every_bound else dict.fromkeys((first, *told))
        for number in rows:
            bound = known.verdict.bounds[number]
            name = (known.scenario, known.traffic_class, known.path or "") if number == first else ("", "", "")
            shown = (_side(side, number, with_outcome=at == number) for side, at in zip(sides, told, strict=True))
            cells = [cell for side in shown for cell in side]
            table.add_row(*name, bound.label, format_bound(bound.requested, bound.kind), *cells)
    out.print(table)
    _print_evidence(whole.values())
    _print_missing(whole.values())


def _print_evidence(verdicts: Iterable[ClassVerdict]) -> None:
    """What the bound rests on that decides each verdict of the last side."""
    for where, told in sentences(verdicts):
        out.print(Text(f"{where}: {told}"), soft_wrap=True)


def _print_missing(verdicts: Iterable[ClassVerdict]) -> None:
    """For each verdict that stays open, how many more packets would close it."""
    for one in verdicts:
        if one.verdict.outcome == "inconclusive" and one.verdict.more_packets:
            where = " ".join(part for part in (one.scenario, one.traffic_class, one.path) if part)
            text = f"{where}: about {one.verdict.more_packets:,} more packets would decide"
            out.print(Text(f"{text}; measure for longer (`seconds`)", style=STYLE["inconclusive"]), soft_wrap=True)


def _deciding_beside(number: int, verdict: Verdict) -> int:
    """The bound beside which an outcome is told: the one that all sides are told by, unless another one made it."""
    return number if verdict.bounds[number].outcome == verdict.outcome else deciding(verdict)


def _side(verdict: ClassVerdict | None, number: int, *, with_outcome: bool) -> tuple[Text, Text]:
    if verdict is None:
        return Text("–" if with_outcome else ""), Text("")
    bound = verdict.verdict.bounds[number]
    outcome = _outcome(verdict.verdict.outcome) if with_outcome else Text("")
    return Text(observed(bound), style=STYLE[bound.outcome]), outcome


def _outcome(outcome: str) -> Text:
    return Text(outcome, style=f"bold {STYLE[outcome]}")
