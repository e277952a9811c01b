"""Previews and runs as Markdown for a comment on a pull or merge request (GitHub's and GitLab's dialect).

No text of people or devices can change how the rest looks: what stands in prose and tables is escaped,
configurations stand in fences longer than any they hold, and nothing mentions a user or refers to an issue. The
whole is bounded, because hosts refuse longer comments; what was left out is said.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from qosforge.configtree import headings_only
from qosforge.deltaq.objective import BoundVerdict
from qosforge.findings import Finding, Severity
from qosforge.reports.alike_devices import gather_devices
from qosforge.reports.checks import CheckReport, findings_by_device, gap_text
from qosforge.reports.delay_origin import DelayOrigin, not_recorded, run_origins
from qosforge.reports.evidence import interval, observed, sentences
from qosforge.reports.gathered_changes import difference_or_lines, gather_changes
from qosforge.reports.model import RunReport
from qosforge.reports.preview import DevicePreview, FidelityDocument
from qosforge.reports.proofs import proof_lines, proofs
from qosforge.reports.row_table import rows_in_words
from qosforge.reports.run_metadata import run_metadata
from qosforge.reports.table import format_bound
from qosforge.reports.unjudged_trade_offs import trade_off_words
from qosforge.reports.verdict_rows import verdict_rows
from qosforge.tester.measurement.document import When

LONGEST = 60_000
"""Characters of a whole comment; GitHub takes 65,536."""
ROWS = 100
"""Findings shown in full; of the rest the number is told."""
CELL = 600
"""Characters of one cell."""

_SIGNS = {Severity.ERROR: "❌ error", Severity.WARNING: "⚠️ warning", Severity.INFO: "ℹ️ info"}
_OUTCOMES = {"met": "✅ met", "broken": "❌ broken", "inconclusive": "❔ inconclusive"}
_PUNCTUATION = re.compile(r"([\\`*_\[\]|~>$:]|(?<=www)\.)")
"""What begins markup inside a line, and the colon and point that make a link of an address."""
_REFERENCE = re.compile(r"[@#!$%&~](?=\w)")
_ORDER = list(Severity)


def check_markdown(check: CheckReport, *, longest: int = LONGEST) -> str:
    """The check of an intent: what would change, findings, then each device with its whole configuration."""
    on = f" on {prose(check.network)}" if check.network else ""
    counts = _counts(check.findings)
    head = [f"## QoS preview: {prose(check.intent)}{on}", ""]
    head += [f"{counts}. Version `{check.version[:12]}`." if check.version.isalnum() else f"{counts}.", ""]
    read = [(device.name, device.candidate) for device in check.devices if device.candidate is not None]
    changes = [(name, difference_or_lines(found.difference, found.delta)) for name, found in read]
    head += [*_change_counts(changes)]
    told = [*_proof_lines(check.findings), *_finding_table(check.findings), *_fidelity_table(check.devices)]
    text = _join_bounded(head, _changes(changes), _room(longest, told), ("change", "changes"))
    by_device = findings_by_device(check.findings, (d.name for d in check.devices))
    devices = [_device(device, by_device[device.name]) for device in check.devices]
    return _join_bounded([text, *told], devices, longest)


def run_markdown(report: RunReport, page: str = "", *, longest: int = LONGEST) -> str:
    """A run: its result, what changes, the verdicts, and the devices with the lines entered into each.

    ``page`` is where a browser sees the run: approvers find their buttons there.
    """
    outcome = report.outcome_now()
    verdict = f", objective {_OUTCOMES[outcome]}" if outcome else ""
    head = [f"## QoS run: {prose(report.intent)} on {prose(report.network)}", ""]
    run = f"[{report.id}]({page})" if page else f"`{report.id}`"
    head += [f"**{prose(report.stands)}**{verdict}. {_counts(report.findings)}. Run {run}.", ""]
    if page and report.status == "needs_approval":
        head += [f"**[Look at it, then approve or reject it]({page})**", ""]
    changes = [
        (device.name, difference_or_lines(device.difference.splitlines(), device.candidate.splitlines()))
        for device in report.devices
        if device.candidate
    ]
    head += [*_change_counts(changes)]
    told = [*(f"- {name}: {prose(text)}" for name, text in run_metadata(report)), ""]
    told += [
        *_stage_lines(report),
        *_verdict_table(report),
        *_unjudged_lines(report),
        *_missing_origins(report),
        *_proof_lines(report.findings),
        *_finding_table(report.findings),
    ]
    sections = []
    for device in (device for alike in gather_devices(report.devices) for device in alike.devices):
        title = f"{device.name}: {device.outcome}"
        # Never what a device holds: lines around a change may be secrets, and a comment is read by many.
        parts = [("Lines to enter", "text", device.candidate), ("Rollback lines", "text", device.inverse)]
        sections.append(_details(title, [_fence(*part) for part in parts if part[2].strip()]))
    if evidence := _evidence(report):
        sections.insert(0, _details("What the verdicts rest on", [*evidence, ""]))
    sections += [_details(f"Where the delay arises: {one.heading}", _origin(one)) for one in _last_origins(report)]
    text = _join_bounded(head, _changes(changes), _room(longest, told), ("change", "changes"))
    return _join_bounded([text, *told], sections, longest, ("section", "sections"))


def prose(text: str, longest: int = CELL) -> str:
    """Text as itself: no markup, no mention of a user, no reference to an issue; one line."""
    line = _shorten(" ".join(text.split()), longest)
    # A comment of nothing keeps hosts from taking `@name` and `#1` for what they refer to.
    pieces, last = [], 0
    for match in _REFERENCE.finditer(line):
        pieces += [_escape(line[last : match.end()]), "<!-- -->"]
        last = match.end()
    return "".join([*pieces, _escape(line[last:])])


def _escape(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;").replace("\\>", "&gt;")


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _counts(findings: Iterable[Finding], *, only: bool = False) -> str:
    """How many of each severity; with ``only`` those that there are."""
    found = [finding.severity for finding in findings]
    words = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
    counts = [(found.count(severity), word) for severity, word in words]
    return ", ".join(f"{n or 'no'} {word}{'' if n == 1 else 's'}" for n, word in counts if n or not only)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}", *lines, ""] if lines else []


_Changes = Sequence[tuple[str, Sequence[str]]]


def _change_counts(changes: _Changes) -> list[str]:
    gathered = gather_changes(changes)
    if not gathered:
        return ["No device changes.", ""] if changes else []
    devices = sum(len(change.devices) for change in gathered)
    counted = f"{devices} device{'s change' if devices != 1 else ' changes'}"
    more, less = (sum(getattr(c, sign) * len(c.devices) for c in gathered) for sign in ("added", "removed"))
    return [f"{counted}: +{more} −{less} lines.", ""]


def _changes(changes: _Changes) -> list[str]:
    """What each device loses and gains; alike ones once. Never what stays: lines around a change may be secrets,
    and a comment is read by many.
    """
    return [
        _details(
            f"{', '.join(one.devices)}: {one.changed} line{'s change' if one.changed != 1 else ' changes'} "
            f"(+{one.added} −{one.removed})",
            [_block("diff", "\n".join(headings_only(one.lines)))],
        )
        for one in gather_changes(changes)
    ]


def _room(longest: int, told: Sequence[str]) -> int:
    """What changes may take of a comment: at least two thirds, and what the rest leaves."""
    return max(2 * longest // 3, longest - sum(len(line) + 1 for line in told) - 400)


def _proof_lines(findings: Sequence[Finding]) -> list[str]:
    """What was proven, what was refuted by which packet or line, and what was not proven."""
    lines = [f"- **{heading}**: {prose(said)}" for heading, said in proof_lines(proofs(findings))]
    more = [f"- … and {len(lines) - ROWS} more"] if len(lines) > ROWS else []
    return [*lines[:ROWS], *more, ""] if lines else []


def _finding_table(findings: Sequence[Finding]) -> list[str]:
    """Errors and warnings; notes are folded away."""
    ordered = sorted(findings, key=lambda f: _ORDER.index(f.severity))
    shown = [finding for finding in ordered[:ROWS] if finding.severity is not Severity.INFO]
    notes = [finding for finding in ordered[:ROWS] if finding.severity is Severity.INFO]
    lines = _rows(shown)
    if notes:
        lines += [_details(_counts(notes, only=True), ["\n".join(_rows(notes))])]
    more = len(ordered) - ROWS
    return [*lines, f"… and {more} more findings.", ""] if more > 0 else lines


def _rows(findings: Iterable[Finding]) -> list[str]:
    rows = []
    for finding in findings:
        sides = [f"{what} {t}" for what, t in (("requested", finding.requested), ("applied", finding.applied)) if t]
        said = f"{finding.message} ({', '.join(sides)})" if sides else finding.message
        about = rows_in_words(finding.rows)
        row = (finding.code, finding.where, f"{said}: {about}" if about else said, finding.hint or "")
        rows.append((_SIGNS[finding.severity], *map(prose, row)))
    return _table(("", "code", "where", "what", "hint"), rows)


def _fidelity_table(devices: Sequence[DevicePreview]) -> list[str]:
    """Classes that are not realised exactly."""
    rows = [
        (prose(device.name), prose(line.interface), prose(line.traffic_class), prose(line.fidelity), *_shares(line))
        for device in devices
        for line in device.fidelity
        if line.fidelity != "exact"
    ]
    lines = _table(("device", "interface", "class", "fidelity", "requested", "applied"), rows[:ROWS])
    exact = sum(line.fidelity == "exact" for device in devices for line in device.fidelity)
    if not exact and not rows:
        return []
    told = f"Fidelity: {exact} of {exact + len(rows)} treatments are exact"
    more = f"; {len(rows) - ROWS} more are not shown" if len(rows) > ROWS else ""
    return [f"{told}{more}.", "", *lines]


def _shares(line: FidelityDocument) -> tuple[str, str]:
    requested, applied = ("" if v is None else f"{v:.3g} %" for v in (line.requested_percent, line.applied_percent))
    return requested, applied


def _stage_lines(report: RunReport) -> list[str]:
    failed = [stage for stage in report.stages if stage.outcome == "failed" and stage.summary]
    return [*(f"- {prose(stage.name)}: {prose(stage.summary)}" for stage in failed), ""] if failed else []


def _verdict_table(report: RunReport) -> list[str]:
    judged = verdict_rows(report)
    sides: list[When] = ["before", "after"]
    if any("predicted" in row.sides for row in judged):
        sides.insert(1, "predicted")
    rows = []
    for row in judged:
        bound = row.bound
        name = (row.scenario, row.traffic_class, row.path or "", bound.label)
        seen = (_verdict_text(row.sides.get(side)) for side in sides)
        rows.append((*map(prose, name), f"≤ {format_bound(bound.requested, bound.kind)}", *seen, prose(row.change)))
    return _table(("scenario", "class", "path", "bound", "requested", *sides, "change"), rows)


def _unjudged_lines(report: RunReport) -> list[str]:
    """What the change costs classes without an objective."""
    found = report.unjudged_trade_offs
    return [*(f"- {prose(trade_off_words(one, report.judged_last))}." for one in found), ""] if found else []


def _evidence(report: RunReport) -> list[str]:
    """What the bound rests on that decides each verdict, of the side that was judged last: lines of a list."""
    last = report.verdicts_after or report.verdicts_predicted or report.verdicts_before
    return [f"- {prose(where)}: {prose(told, 2 * CELL)}" for where, told in sentences(last)]


def _missing_origins(report: RunReport) -> list[str]:
    sides = not_recorded((report.before, report.after))
    return [f"Where the delay arises was not recorded {' and '.join(sides)} the push.", ""] if sides else []


def _last_origins(report: RunReport) -> list[DelayOrigin]:
    """Where the delay arises, of each class and path as it was measured last."""
    return list({(one.scenario, one.traffic_class, one.path): one for one in run_origins(report)}.values())


def _origin(one: DelayOrigin) -> list[str]:
    headings = (
        "hop",
        "distance and devices (G), ms",
        "sending the bits (S), ms",
        "waiting (V), mean, ms",
        f"waiting (V), {one.quantile}, ms",
        "loss",
    )
    hops = _table(headings, ((prose(hop.place), *hop.cells) for hop in one.hops))
    checks = _table(
        ("whole path", "p50, ms", "p95, ms", "p99, ms", "loss"), ((c.name, *c.cells) for c in one.checks)
    )
    return [f"{prose(one.summary)}.\n", *hops, *checks, f"{prose(one.agreement)}\n", f"{prose(one.ends)}\n"]


def _verdict_text(side: BoundVerdict | None) -> str:
    if side is None:
        return "–"
    limits = interval(side)
    return f"{observed(side)} {f'({limits}) ' if limits else ''}{_OUTCOMES[side.outcome]}"


def _device(device: DevicePreview, findings: Sequence[Finding]) -> str:
    title = f"{device.name} ({device.platform})"
    if findings:
        title += f": {_counts(findings, only=True)}"
    parts = []
    if device.candidate is not None:
        change = device.candidate
        if change.delta:
            parts.append(_fence("Lines to enter", "text", "\n".join(change.delta)))
            parts += [f"⚠️ {prose(gap_text(gap))}\n" for gap in change.gaps]
            parts.append(_fence("Rollback lines", "text", "\n".join(change.inverse)))
        else:
            parts.append("The device holds it already: nothing would be entered.\n")
    if device.configuration:
        incomplete = "⚠️ Not complete, as findings stand against it: what could be made of the configuration"
        heading = "The whole configuration" if device.complete else incomplete
        parts.append(_fence(heading, "text", device.configuration))
    return _details(title, parts)


def _details(title: str, parts: Sequence[str]) -> str:
    # HTML up to the empty line: escaped as such; Markdown is not read there.
    line = html.escape(_shorten(" ".join(title.split()), CELL))
    shown = _REFERENCE.sub(lambda match: f"{match.group()}<!-- -->", line)
    body = "\n".join(parts) if parts else "Nothing to show.\n"
    return f"<details><summary>{shown}</summary>\n\n{body}\n</details>\n"


def _fence(title: str, language: str, text: str) -> str:
    return f"{title}:\n\n{_block(language, text)}"


def _block(language: str, text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def _join_bounded(
    head: Sequence[str], sections: Sequence[str], longest: int, named: tuple[str, str] = ("device", "devices")
) -> str:
    """Head and as many sections as there is room for, in their order; what has no room is counted as ``named``."""
    text = "\n".join(head)
    reserve = 200
    if len(text) > longest - reserve:
        kept = text[: longest - reserve].rpartition("\n")[0]
        return f"{kept}\n\n… the rest is too long for a comment.\n"
    left_out = 0
    for section in sections:
        if len(text) + len(section) + 1 <= longest - reserve:
            text += f"\n{section}"
        else:
            left_out += 1
    if left_out:
        counted = f"{left_out} {named[left_out != 1]}"
        text += f"\n… {counted} left out: this would be too long for a comment. The command line shows all.\n"
    return text.rstrip("\n") + "\n"
