"""What devices would lose and gain, printed as differences are read everywhere: ``-`` goes, ``+`` comes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from qosforge.cli.output import print_configuration
from qosforge.cli.terminal import out, print_heading, print_prose
from qosforge.configtree import as_text
from qosforge.reports.checks import gap_text
from qosforge.reports.gathered_changes import GatheredChange, difference_or_lines, gather_changes
from qosforge.reports.preview import CandidateDocument

_STYLE = {"-": "red", "+": "green"}


def print_differences(candidates: Sequence[CandidateDocument], *, lines: bool) -> None:
    """Each difference once, with its devices; with ``lines`` also what is entered, and what rolls it back."""
    by_device = {candidate.device: candidate for candidate in candidates}
    changes = [(one.device, difference_or_lines(one.difference, one.delta)) for one in candidates if one.delta]
    for change in gather_changes(changes):
        out.print()
        print_heading(_heading(change))
        for line in change.lines:
            out.print(Text(line, style=_STYLE.get(line[:1], "")), soft_wrap=True)
        for device in change.devices:
            for gap in by_device[device].gaps:
                told = gap_text(gap)
                print_prose(Text(told if len(change.devices) == 1 else f"{device}: {told}", style="yellow"), 2)
        if lines:
            _print_lines([by_device[device] for device in change.devices])
    _print_summary(candidates)


def _heading(change: GatheredChange) -> Text:
    return Text.assemble(
        (", ".join(change.devices), "bold"), "  ", (f"+{change.added}", "green"), " ", (f"−{change.removed}", "red")
    )


def _print_lines(candidates: Sequence[CandidateDocument]) -> None:
    """Devices of one difference may be entered different lines: each way once."""
    ways: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for one in candidates:
        ways.setdefault((one.delta, one.inverse), []).append(one.device)
    for (delta, inverse), devices in ways.items():
        of = "" if len(ways) == 1 else f" on {', '.join(devices)}"
        out.print(Text(f"entered{of}", style="dim"))
        print_configuration(as_text(delta))
        out.print(Text(f"rolled back{of} by", style="dim"))
        print_configuration(as_text(inverse))


def _print_summary(candidates: Sequence[CandidateDocument]) -> None:
    same = [one.device for one in candidates if not one.delta]
    count = len(candidates) - len(same)
    out.print()
    if same:
        print_prose(Text(f"no changes: {', '.join(same)}"), 2)
    if count:
        out.print(f"{count} of {len(candidates)} devices would change")
