"""What ``qosforge --explain CODE`` prints."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from qosforge.cli.output import SEVERITY, print_json
from qosforge.cli.terminal import out
from qosforge.finding_codes import explain


def print_explanation(code: str, *, as_json: bool) -> None:
    """What a code means, for people or as one document.

    Raises:
        InputError: no finding has this code.
    """
    entry = explain(code)
    if as_json:
        texts = entry.model_dump(include={"meaning", "why", "example"}) | {"hint": entry.whole_hint}
        print_json({"code": code, "severity": [severity.value for severity in entry.severities], **texts})
        return
    line = Text(code, style="bold")
    for severity in entry.severities:
        line.append(f"  {severity.value}", style=SEVERITY[severity])
    out.print(line)
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, text in (("meaning", entry.meaning), ("why", entry.why), ("hint", entry.whole_hint)):
        table.add_row(heading, Text(text))
    table.add_row("example", Text(entry.example))
    out.print(table)
