"""Multilink PPP with fragmentation and interleaving, spelled and printed as the train does."""

from __future__ import annotations

from qoslab.boxes.ios.rows import row, setting
from qoslab.boxes.ios.train import LEVELS, MULTILINK_GROUP, Train
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Shell

_DELAY = "ppp multilink fragment delay"
_SIZE = "ppp multilink fragment size"
_DISABLE = "ppp multilink fragment disable"
_GROUP = "ppp multilink group"
_INTERLEAVE = "ppp multilink interleave"
_FRAGMENT_RANK = 67
_OVERRULED = (
    "Warning: 'ppp multilink fragment disable' or 'ppp multilink fragment maximum' will be ignored,"
    " since multilink interleaving or fragment delay has been configured and have higher precedence."
)


def interface_rows(train: Train) -> list[Row]:
    """Interface mode: delays in ms (and 1/1000 ms where the train has it), sizes in bytes."""
    rows = [
        setting("ppp multilink", rank=66),
        setting(_INTERLEAVE, rank=68),
        setting("ppp multilink multiclass", rank=68),
    ]
    if not train.since(MULTILINK_GROUP):
        return [
            *rows,
            setting("ppp multilink fragment-delay <1-1000>", rank=_FRAGMENT_RANK),
            setting("ppp multilink fragmentation", rank=_FRAGMENT_RANK, on=True),
            setting("multilink-group <1-2147483647>", rank=69),
        ]
    delay = "<0-1000>:ms [<1-999>:us]" if train.since(LEVELS) else "<1-1000>:ms"
    return [
        *rows,
        row(f"{_DELAY} {delay}", _fragment_delay, f"{_DELAY} [LINE]"),
        row("ppp multilink fragment-delay <1-1000>:ms", _fragment_delay, "ppp multilink fragment-delay [LINE]"),
        setting(f"{_SIZE} <42-65535>", rank=_FRAGMENT_RANK),
        row(_DISABLE, _fragment_disable, True),
        row("ppp multilink fragmentation", _fragmentation, True),
        row(f"{_GROUP} <1-2147483647>:n", _group, f"{_GROUP} [<1-2147483647>]"),
        row("multilink-group <1-2147483647>:n", _group, "multilink-group [<1-2147483647>]"),
    ]


def _fragment_delay(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(_DELAY)
        return
    text = f"{_DELAY} {match['ms']}" + (f" {match['us']}" if "us" in match else "")
    shell.store(Section(text, key=_DELAY, rank=_FRAGMENT_RANK))


def _fragment_disable(shell: Shell, match: Match) -> str | None:
    if match.undone:
        shell.section.remove(_DISABLE)
        return None
    shell.store(Section(_DISABLE, rank=_FRAGMENT_RANK))
    overruled = _INTERLEAVE in shell.section or _DELAY in shell.section
    return _OVERRULED if overruled and not shell.loading else None


def _fragmentation(shell: Shell, match: Match) -> str | None:
    """The spelling of older trains: ``no ppp multilink fragmentation`` is ``fragment disable`` here."""
    return _fragment_disable(shell, Match(match.words, match.args, negated=not match.negated))


def _group(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(_GROUP)
        return
    shell.store(Section(f"{_GROUP} {match['n']}", key=_GROUP, rank=69))
