"""Filters that stand in a tree: what ``tc filter show`` prints of them, one line each.

A queue has filters that choose its classes, and classes of HTB and HFSC have such, too. All of them go with their
tree. But for that of our own ``drr`` they are somebody else's, and are kept as the program prints them: its JSON
has one name for all matches of ``u32``, and plain words of ``fw``, ``flow`` and ``route`` (tc/f_u32.c, tc/f_fw.c of
iproute2 6.1). Such a line tells what is there, and is none that can be entered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from napalm_linux_tc.turns import PREFERENCE, filter_words

FILTERS = "tc filter show dev {dev} parent {parent}"
"""What a router is asked of a queue, by its handle, or of a class."""
WITHOUT = frozenset(
    {
        *("pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop", "red", "gred", "tbf", "netem", "fq", "codel"),
        *("noqueue", "mq", "mqprio", "clsact", "ingress"),
    }
)
"""Kinds of queues that have no filters below them; `napalm_linux_tc.virtual_queues` reads those of ``clsact``."""
WITH = frozenset({"htb", "hfsc", "cbq", "atm"})
"""Kinds of queues whose classes have filters of their own (``tcf_block`` of each in net/sched)."""
LACKING = "that tc does not show"
"""What stands for a filter that the program ends at, and those behind it: ``fw`` without a handle is such a one."""
_ADDED = "tc filter add dev {dev} parent {parent} {words}"
_ASKED = re.compile(r"tc filter show dev (?P<dev>\S+) parent (?P<parent>\S+)")
_FILTER = re.compile(r"filter (?P<of>protocol \S+ pref \d+ \S+(?: chain \d+)?) ?(?P<what>.*)")
_OWN_TABLE = re.compile(r"fh [89a-f][0-9a-f]{2}: ht divisor 1")
"""A table of ``u32`` that the kernel makes with the first filter (gen_new_htid in net/sched/cls_u32.c)."""
_COUNTED = re.compile(r" \((?:rule hit \d+ )?success \d+\)")
_UNTOLD = re.compile(
    rf"protocol all pref {PREFERENCE} matchall(?: chain 0)? handle 0x1 "
    r"flowid (?P<tree>[0-9a-f]+:)(?P<minor>[0-9a-f]+)(?: not_in_hw)?"
)
_OURS = re.compile(r"tc filter add dev \S+ parent \S+ .* matchall classid \S+")


def asked_of(asked: str) -> tuple[str, str] | None:
    """The interface and the queue or class whose filters a command asks for; None of another command."""
    found = _ASKED.fullmatch(asked)
    return None if found is None else (found["dev"], found["parent"])


def shown_filters(dev: str, parent: str, shown: str) -> Iterator[str]:
    """A line for each filter of a queue or class, by what `FILTERS` says of it.

    That of our ``drr`` is the command that enters it.
    """
    entries = [(entry, _FILTER.fullmatch(entry)) for entry in _entries(shown)]
    told = {found["of"] for _, found in entries if found and found["what"]}
    for entry, found in entries:
        if found is None:
            yield _ADDED.format(dev=dev, parent=parent, words=entry.removeprefix("filter "))
        elif found["of"] not in told or (found["what"] and not _OWN_TABLE.fullmatch(found["what"])):
            words = _COUNTED.sub("", f"{found['of']} {found['what']}".strip())
            yield _ours(dev, parent, words) or _ADDED.format(dev=dev, parent=parent, words=words)


def _entries(shown: str) -> Iterator[str]:
    """What is printed of each filter, several lines of most kinds, as one."""
    held: list[str] = []
    for line in filter(str.strip, shown.split("\n")):
        if line.startswith("filter ") and held:
            yield " ".join(held)
            held = []
        held += line.split()
    if held:
        yield " ".join(held)


def _ours(dev: str, parent: str, words: str) -> str:
    found = _UNTOLD.fullmatch(words)
    if found is None or found["tree"] != parent:
        return ""
    return f"tc filter add dev {dev} {filter_words(found['tree'] + found['minor'])}"


def is_ours(line: str) -> bool:
    """Whether a line is the command of the filter of our ``drr``."""
    return _OURS.fullmatch(line) is not None


def of_others(line: str) -> str:
    """The interface of a filter of somebody else that stands in a tree; "" of any other line."""
    words = line.split(maxsplit=6)
    inside = words[:3] == ["tc", "filter", "add"] and words[5:6] == ["parent"]
    return words[4] if inside and not is_ours(line) else ""
