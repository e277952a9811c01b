"""What a compiled device rests on that no published source confirms: lines that it may not take, numbers assumed.

The doubts are data of the platform (`platforms.capability_data.Doubt`). Its command table reads the compiled
configuration, so that each doubt finds its lines by their ids and values; its numbers are found in the plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from qosforge.compiler.compile import CompiledDevice
from qosforge.errors import Place
from qosforge.findings import Finding, FindingRow
from qosforge.memoise import memoise_by_value
from qosforge.note import note
from qosforge.platforms.base import platform
from qosforge.platforms.capability_data import Doubt, DoubtfulLine

SHOWN = 3
"""Different numbers of one doubt that are listed."""


class _DoubtfulText(NamedTuple):
    """A line of a configuration, and how each doubt about it is confirmed."""

    text: str
    id: str
    confirm: tuple[str, ...]


class _Known(NamedTuple):
    """A doubt, with the value that is in doubt."""

    value: Any
    doubt: Doubt


def unconfirmed_findings(devices: Iterable[CompiledDevice]) -> tuple[Finding, ...]:
    """The findings of `find_unconfirmed` on compiled devices."""
    return tuple(finding for device in devices if (finding := find_unconfirmed(device)) is not None)


def find_unconfirmed(device: CompiledDevice) -> Finding | None:
    """What of a compiled device rests on doubts, in one finding; nothing where all of it is confirmed."""
    known = _doubts(device.request.platform)
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    lines = 0
    for block in device.blocks:
        for line in _doubtful_lines(device.request.platform, device.request.image, block.text):
            found.setdefault((line.id, line.confirm), []).append(line.text)
            lines += 1
    rows = [FindingRow(text=_with_others(texts), hint="; ".join(confirm)) for (_, confirm), texts in found.items()]
    numbers = [row for each in known for row in _number_rows(each, device.plan)]
    if not rows and not numbers:
        return None
    place = Place(device=device.name)
    if not rows:
        return _with_rows(note("numbers-unconfirmed", place), numbers)
    told = f"{lines} line{'' if lines == 1 else 's'}"
    return _with_rows(note("lines-unconfirmed", place, applied=told, accepted=False), [*rows, *numbers])


def as_pushed(findings: Iterable[Finding], *, accepted: bool) -> tuple[Finding, ...]:
    """Findings of `unconfirmed_findings` as a push has them: lines are errors unless somebody accepted them, or no
    device can be harmed, and then for information.
    """
    return tuple(_as_pushed(finding, accepted) for finding in findings)


def _as_pushed(finding: Finding, accepted: bool) -> Finding:
    if finding.code == "numbers-unconfirmed":
        return finding
    place, rows = Place(device=finding.device), finding.rows
    if accepted:
        return _with_rows(note("lines-unconfirmed", place, applied=finding.applied, accepted=True), rows)
    return _with_rows(note("lines-unconfirmed", place, applied=finding.applied, variant="refused"), rows)


def _with_rows(finding: Finding, rows: Iterable[FindingRow]) -> Finding:
    return finding.model_copy(update={"rows": tuple(rows)})


@cache
def _doubts(name: str) -> tuple[_Known, ...]:
    return tuple(_Known(value, doubt) for _, value, doubt in platform(name).capabilities.doubts())


@cache
def _about_lines(name: str, image: str) -> tuple[Doubt, ...]:
    """The doubts about lines on an image: those that a source attests it to have are none."""
    release = _release(image)
    doubts = (each.doubt for each in _doubts(name) if each.doubt.lines)
    return tuple(d for d in doubts if not d.attested or not release or release < _release(d.attested))


def _release(text: str) -> tuple[int, ...]:
    """The main numbers of a release: (12, 4) of ``12.4(15)T``."""
    return tuple(int(number) for number in re.findall(r"[0-9]+", text)[:2])


# Blocks are shared by devices, but for those of interfaces.
@memoise_by_value(4096)
def _doubtful_lines(name: str, image: str, text: str) -> tuple[_DoubtfulText, ...]:
    """The lines of a configuration object that rest on a doubt, as the platform's table reads them."""
    doubtful = _doubtful(name, image)
    found = []
    for entry in platform(name).commands.find_written(text, frozenset(doubtful)):
        confirm = [told for line, told in doubtful[entry.id] if line.concerns(entry.id, entry.values)]
        if confirm:
            found.append(_DoubtfulText(entry.line.text, entry.id, tuple(dict.fromkeys(confirm))))
    return tuple(found)


@cache
def _doubtful(name: str, image: str) -> Mapping[str, Sequence[tuple[DoubtfulLine, str]]]:
    """The lines that there are doubts about by their ids, each with how its doubt is confirmed."""
    found: dict[str, list[tuple[DoubtfulLine, str]]] = {}
    for doubt in _about_lines(name, image):
        for line in doubt.lines:
            found.setdefault(line.id, []).append((line, doubt.confirm))
    return found


def _with_others(texts: list[str]) -> str:
    """The first of some lines, and how many are like it."""
    others = len(texts) - 1
    return texts[0] if not others else f"{texts[0]} (and {others} like it)"


def _number_rows(known: _Known, plan: BaseModel) -> Iterator[FindingRow]:
    """The numbers of a plan that rest on a doubt: the figure itself where it is a single one, else all there."""
    single = None if known.doubt.derived or isinstance(known.value, dict) else known.value
    for field, what in known.doubt.fields.items():
        there = [value for value in _values(plan, field.split(".")) if single is None or value == single]
        if there:
            plain = [str(value) for value in dict.fromkeys(v for v in there if isinstance(v, int | str))]
            told = f"{what}: {', '.join(plain[:SHOWN])}" if plain else what
            yield FindingRow(text=told, hint=known.doubt.confirm)


def _values(part: Any, path: list[str]) -> Iterator[Any]:
    """What stands at a path of the plan; a tuple on the way stands for each of its parts."""
    if part is None:
        return
    if not path:
        yield part
    elif isinstance(part, tuple):
        for each in part:
            yield from _values(each, path)
    else:
        yield from _values(getattr(part, path[0]), path[1:])
