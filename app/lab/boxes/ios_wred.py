"""``random-detect`` in a policy class: thresholds, and which of them are defaults that do not print.

Default thresholds in packets: by precedence from a published ``show queueing random-detect``; by DSCP
unconfirmed.
"""

from __future__ import annotations

from app.lab.boxes import ios_refusals as refusals
from app.lab.boxes.ios_arguments import DSCP_BY_NUMBER
from app.lab.boxes.ios_rows import row
from app.lab.config import Section
from app.lab.grammar import Match, Refused, SyntaxRefused
from app.lab.shell import Row, Shell

LARGEST = 40
DENOMINATOR = 10
WEIGHT = 9
BY_PRECEDENCE = (20, 22, 24, 26, 28, 31, 33, 35)
_CLASS_SELECTORS = (20, 22, 24, 26, 28, 30, 32, 34)
_RANK = 20


def default_minimum(dscp: int) -> int:
    """The minimum threshold (packets) of a DSCP under ``dscp-based``."""
    drop = {2: 32, 4: 28, 6: 24}
    if dscp == 46:
        return 36
    if dscp % 8 == 0:
        return _CLASS_SELECTORS[dscp // 8]
    return drop.get(dscp % 8, 20) if 10 <= dscp <= 38 and dscp % 2 == 0 else 20


def rows() -> list[Row]:
    """Policy class mode."""
    return [
        row("random-detect", _plain, True),
        row("random-detect {dscp-based|prec-based}:how", _based, True),
        row("random-detect exponential-weighting-constant <1-16>:n", _weight,
            "random-detect exponential-weighting-constant [<1-16>]"),
        row("random-detect ecn", _ecn, True),
        row("random-detect precedence PREC:value <1-4096>:low <1-4096>:high [<1-65536>:mark]", _row,
            "random-detect precedence PREC:value [LINE]"),
        row("random-detect dscp DSCP:value <1-4096>:low <1-4096>:high [<1-65536>:mark]", _row,
            "random-detect dscp DSCP:value [LINE]"),
    ]  # fmt: skip


def lines(section: Section) -> list[Section]:
    """All random-detect lines of a class."""
    return section.starting("random-detect")


def _plain(shell: Shell, match: Match) -> None:
    if match.undone:
        for line in lines(shell.section):
            shell.section.remove(line.key)
    else:
        _base(shell, "random-detect")


def _based(shell: Shell, match: Match) -> None:
    if match.undone:
        for line in lines(shell.section):
            shell.section.remove(line.key)
    else:
        _base(shell, "random-detect dscp-based" if match["how"] == "dscp-based" else "random-detect")


def _base(shell: Shell, text: str) -> None:
    section = shell.section
    if "priority" in section:
        raise Refused(refusals.deconfigure("priority", "random-detect"))
    name = section.text.split()[1]
    if name != "class-default" and not {"bandwidth", "shape", "fair-queue"} & {line.key for line in section}:
        raise Refused(refusals.WRED_ALONE)
    other = "precedence" if text.endswith("dscp-based") else "dscp"
    if section.starting(f"random-detect {other} "):
        raise Refused(refusals.WRED_MIXED)
    shell.store(Section(text, key="random-detect", rank=_RANK))


def _require(section: Section) -> None:
    if "random-detect" not in section:
        raise Refused(refusals.WRED_OFF)


def _weight(shell: Shell, match: Match) -> None:
    key = "random-detect weight"
    if match.undone or match.number("n") == WEIGHT:
        shell.section.remove(key)
        return
    _require(shell.section)
    shell.store(Section(match.text, key=key, rank=_RANK + 1))


def _ecn(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove("random-detect ecn")
        return
    _require(shell.section)
    shell.store(Section("random-detect ecn", rank=_RANK + 1))


def _row(shell: Shell, match: Match) -> None:
    kind, value = match.words[1], match["value"]
    number = next((int(code) for code, name in DSCP_BY_NUMBER.items() if name == value), None)
    number = int(value) if number is None else number
    key = f"random-detect {kind} {value}"
    if match.undone:
        shell.section.remove(key)
        return
    _require(shell.section)
    based = "dscp" if shell.section.value("random-detect").endswith("dscp-based") else "precedence"
    if based != kind:
        raise Refused(refusals.WRED_MIXED)
    low, high, mark = match.number("low"), match.number("high"), match.number("mark", DENOMINATOR)
    if high < low:
        raise SyntaxRefused("invalid", match.line.index(f" {high}") + 1, match.line)
    default = default_minimum(number) if kind == "dscp" else BY_PRECEDENCE[number]
    if (low, high, mark) == (default, LARGEST, DENOMINATOR):
        shell.section.remove(key)
        return
    text = f"{key} {low} {high}" + (f" {mark}" if mark != DENOMINATOR else "")
    shell.store(Section(text, key=key, rank=_RANK + 2, order=(number,)))
