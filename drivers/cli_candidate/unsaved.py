"""Find unsaved lines: how the running configuration differs from startup, without what is volatile or cosmetic."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from cli_candidate.candidate import CommandLine, normalise, parse_lines
from cli_candidate.configtext import strip_volatile
from cli_candidate.dialect import Dialect

# IOS prints certificates whole in the running configuration and as a file in startup ("certificate self-signed 01
# nvram:IOS-Self-Sig#1.cer"): Cisco's sample configurations, and published comparisons of the two.
_CHAIN = re.compile(r"crypto (?:pki|ca) certificate chain\b")
_FILE = re.compile(r"(certificate .*?)(?: nvram:\S+)?$")

_List = tuple[tuple[str, ...], int, str]


def unsaved_lines(startup: str, running: str, dialect: Dialect) -> tuple[str, ...]:
    """Lines that would go (``-``) or come (``+``) if the device restarted now, with the lines they stand under.

    Each is ``sign context / … / command``. What a device prints of its own accord (``dialect.volatile``,
    ``dialect.cosmetic``), comments, and the order of lines are no difference; the order of the entries of a list
    (``dialect.ordered``) is one. Empty where there is no difference.
    """
    before, now = (_lines(text, dialect) for text in (startup, running))
    lists = _lists(before, dialect), _lists(now, dialect)
    gone, come = Counter(map(_with_context, before)), Counter(map(_with_context, now))
    lost, new = gone - come, come - gone
    found = [f"-{line}" for line in _in_order(before, lost)] + [f"+{line}" for line in _in_order(now, new)]
    for key in lists[0].keys() & lists[1].keys():
        entries = lists[0][key], lists[1][key]
        if entries[0] != entries[1] and Counter(entries[0]) == Counter(entries[1]):
            delta = difflib.unified_diff(*entries, lineterm="", n=0)
            found += [line for line in delta if not line.startswith(("---", "+++", "@@"))]
    return tuple(found)


def _lines(text: str, dialect: Dialect) -> list[CommandLine]:
    kept = []
    for line in parse_lines(strip_volatile(text, dialect.volatile), dialect.block_open):
        if line.context and _CHAIN.match(line.context[0]):
            if line.depth > 1 or line.text == "quit":
                continue
            named = _FILE.match(normalise(line.text))
            kept.append(CommandLine(line.number, named[1] if named else line.text, line.context))
        elif line.depth or not any(pattern.fullmatch(line.text) for pattern in dialect.cosmetic):
            kept.append(line)
    return kept


def _lists(lines: Iterable[CommandLine], dialect: Dialect) -> dict[_List, list[str]]:
    found: dict[_List, list[str]] = {}
    for line in lines:
        for number, pattern in enumerate(dialect.ordered):
            match = pattern.match(normalise(line.text))
            if match is not None:
                key = (line.path[:-1], number, "".join(match.groups()))
                found.setdefault(key, []).append(_with_context(line))
                break
    return found


def _with_context(line: CommandLine) -> str:
    return " / ".join((*line.context, normalise(line.text)))


def _in_order(lines: Sequence[CommandLine], wanted: Counter[str]) -> list[str]:
    left = Counter(wanted)
    found = []
    for line in map(_with_context, lines):
        if left[line] > 0:
            left[line] -= 1
            found.append(line)
    return found
