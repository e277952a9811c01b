"""Tables of what was measured or predicted: comparison, throughput expected and observed, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.table import Table
from rich.text import Text

from qosforge.cli.output import STYLE
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out, print_prose
from qosforge.deltaq.objective import Evidence, ObjectiveVerdict
from qosforge.reports.evidence import deciding, evidence_words, observed, sentences
from qosforge.reports.table import COLUMNS, comparison_table, format_bound
from qosforge.reports.trade_offs import SIDE_HEADINGS, accounts, by_evidence, side_texts, trade_off_text, trade_offs
from qosforge.reports.unjudged_trade_offs import UnjudgedTradeOff, trade_off_words
from qosforge.tester.measurement.document import Measurement, When
from qosforge.tester.measurement.judging import ClassVerdict


def print_comparison(before: Measurement | None, after: Measurement | None, *, first: str = "before") -> None:
    """Per scenario and class: before (under the name ``first``), after and the benefit.

    Packets that were measured are not pooled with those that were simulated.
    """
    for evidence, sides in by_evidence(before, after).items():
        _print_comparison(*sides, first, evidence)


def _print_comparison(
    before: Measurement | None, after: Measurement | None, first: str, evidence: Evidence | None
) -> None:
    groups = comparison_table(before, after, by_path=False)
    for scenario in dict.fromkeys((g.scenario, g.title) for g in groups):
        table = Table(
            title=_titled(scenario[1], evidence), title_justify="left", box=None, padding=(0, 1), title_style="bold"
        )
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
        print_table(table, names=2)
        out.print()


def print_accounts(before: Measurement | None, after: Measurement | None, *, first: str = "before") -> None:
    """Per scenario and class: throughput expected and observed on both sides, the delay bound, and trade-offs.

    What is before is called ``first``.
    """
    found, balances = accounts(before, after, by_path=False), trade_offs(before, after)
    for scenario, title, evidence in dict.fromkeys((a.scenario, a.title, a.evidence) for a in found):
        table = Table(
            title=f"Expected and observed: {_titled(title, evidence)}",
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
            if (account.scenario, account.evidence) != (scenario, evidence):
                continue
            sides = [(when, side) for when, side in ((first, account.before), ("after", account.after)) if side]
            for position, (when, side) in enumerate(sides):
                name, offered = ("", "") if position else (account.traffic_class or "–", account.offered_text)
                table.add_row(name, when, offered, *side_texts(side))
        print_table(table)
        for balance in balances:
            if (balance.scenario, balance.evidence) == (scenario, evidence):
                print_prose(Text(f"trade-offs, {trade_off_text(balance)}", style="dim"), hanging=2)
        out.print()


def print_unjudged(found: Iterable[UnjudgedTradeOff], side: When) -> None:
    """Which classes without an objective are worse off on the ``side`` that was judged last."""
    for one in found:
        print_prose(Text(trade_off_words(one, side), style=STYLE["inconclusive"]), hanging=2)


def _titled(title: str, evidence: Evidence | None) -> str:
    return f"{title}, {evidence}" if evidence else title


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
    title = f"Verdicts (evidence: {evidence_words(list(whole.values()))})"
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
    print_table(table, names=3)
    _print_evidence(whole.values())
    _print_missing(whole.values())


def _print_evidence(verdicts: Iterable[ClassVerdict]) -> None:
    """What the bound rests on that decides each verdict of the last side."""
    for where, told in sentences(verdicts):
        print_prose(Text(f"{where}: {told}"), hanging=2)


def _print_missing(verdicts: Iterable[ClassVerdict]) -> None:
    """For each verdict that stays open, how many more packets would close it."""
    for one in verdicts:
        if one.verdict.outcome == "inconclusive" and one.verdict.more_packets:
            where = " ".join(part for part in (one.scenario, one.traffic_class, one.path) if part)
            text = f"{where}: about {one.verdict.more_packets:,} more packets would decide"
            print_prose(Text(f"{text}; measure for longer (`seconds`)", style=STYLE["inconclusive"]), hanging=2)


def _deciding_beside(number: int, verdict: ObjectiveVerdict) -> int:
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
