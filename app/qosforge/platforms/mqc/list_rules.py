"""Rules about the entries of access lists by which classes tell packets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qosforge.commands import PlacedLine
from qosforge.note import because
from qosforge.platforms.line_rules import ConfigurationLines, Fault, reversed_pair
from qosforge.platforms.mqc.lines import ACL_PREFIX

_NO_CONDITION = {"action", "number", "seq", "order", "standard"}
_RANGES = (("source_first", "source_last"), ("destination_first", "destination_last"))
_ANY = ("ip", "ipv6")


def access_lists(lines: ConfigurationLines) -> Iterator[Fault]:
    """Entries that leave a class without packets, and ranges that are none."""
    listed: dict[str, list[PlacedLine]] = {}
    for line in lines.everywhere:
        if line.id == "ace" and line.above is not None:
            listed.setdefault(line.above.name, []).append(line)
        elif line.id == "numbered-list":
            listed.setdefault(str(line.values["number"]), []).append(line)
    for match in lines.all("match-acl"):
        if match.name in listed and match.above is not None and not match.get("negated"):
            yield from _without_packets(match.above.name, match.name, listed[match.name])
    for entries in listed.values():
        for line in entries:
            for first, last in _RANGES:
                if first in line.values and last in line.values and line.values[first] > line.values[last]:
                    yield reversed_pair(line, line.values[first], line.values[last])


def _without_packets(class_: str, name: str, entries: Iterable[PlacedLine]) -> Iterator[Fault]:
    before: list[PlacedLine] = []
    told: set[int] = set()
    entries = tuple(line for line in entries if "remark" not in line.values)
    for position, line in enumerate(entries):
        if _denies(line):
            later = next((e for e in entries[position + 1 :] if not _denies(e) and _covers(line, e)), None)
            if later is None and name.startswith(ACL_PREFIX):  # ours permit what is the class's, and nothing else
                later = next((e for e in entries[position + 1 :] if not _denies(e)), line)
            if later is not None:
                yield Fault(line, because("class-denies-first", name=class_, later=later.text))
        else:
            wider = next((e for e in before if not _denies(e) and _covers(e, line)), None)
            if wider is not None and line.number not in told:
                told.add(line.number)
                yield Fault(line, because("class-denies-first", variant="shadowed", name=class_, later=wider.text))
        before.append(line)


def _denies(line: PlacedLine) -> bool:
    words = line.text.split()
    return "deny" in words[:3]


def _covers(wide: PlacedLine, narrow: PlacedLine) -> bool:
    """Whether an entry takes all packets of another one; where that cannot be told, it is said not to."""
    if "rest" in wide.values or "rest" in narrow.values:
        return False
    return _conditions(wide).items() <= _conditions(narrow).items()


def _conditions(line: PlacedLine) -> dict[str, object]:
    conditions = {name: value for name, value in line.values.items() if name not in _NO_CONDITION}
    if conditions.get("protocol") in _ANY:
        del conditions["protocol"]
    return conditions
