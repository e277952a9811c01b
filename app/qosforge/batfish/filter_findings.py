"""Entries of access lists that nothing reaches, and classes that match something else than they are meant to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from qosforge.batfish.answers import Answers, packet
from qosforge.batfish.class_filters import PREFIX, Asked, ComparedClass, ComparedPolicy
from qosforge.batfish.class_texts import AccessList, access_lists
from qosforge.batfish.snapshots import DeviceCopies, Snapshots
from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.note import note

_FILTER = re.compile(rf"~INSPECT_POLICY_MAP_ACL~{PREFIX}-(\w+)-(\d+)~")


def entry_findings(snapshots: Snapshots, answers: Answers) -> Iterator[Finding]:
    """Entries of lists that the change alters; lists that Batfish reads otherwise than the device are left out."""
    lists: dict[str, tuple[dict[str, AccessList], dict[str, AccessList]]] = {}
    for row in answers.of("entries"):
        for source in row["Sources"]:
            node, _, name = str(source).partition(": ")
            copies = snapshots.devices.get(node)
            if copies is None:
                continue
            if node not in lists:
                lists[node] = access_lists(copies.before), access_lists(copies.after)
            before, after = (side.get(name) for side in lists[node])
            if after is None or not after.exact or (before and before.entries == after.entries):
                continue
            entry = str(row["Unreachable_Line"])
            blocking = [str(line) for line in row["Blocking_Lines"]]
            opposed = bool(row["Different_Action"])
            twice = not opposed and _is_rendered(copies, after, [entry, *blocking])
            yield note(
                "batfish-entry-never-reached",
                _place_of_list(copies, name),
                variant="twice" if twice else DEFAULT,
                entry=entry,
                name=name,
                line=after.line_of(entry),
                reason=f"{blocking[0]!r} stands before it" if blocking else "it matches nothing",
                opposed=opposed,
                twice=twice,
            )


def _is_rendered(copies: DeviceCopies, held: AccessList, entries: list[str]) -> bool:
    """Whether entries of a list that all differ are rendered: the intent has them all."""
    lines = {copies.after.lines[held.line_of(entry) - 1].strip() for entry in entries}
    return len(lines) == len(entries) > 1 and lines <= copies.own


def _place_of_list(copies: DeviceCopies, name: str) -> Place:
    """The class whose list it is, where it is one of ours."""
    return copies.place_of(name.removeprefix("QOSFORGE-"))


def class_findings(snapshots: Snapshots, answers: Answers) -> Iterator[Finding]:
    """Classes that are wider or narrower than meant, each with a packet, and those that no packet reaches."""
    if "classes" not in answers.rows:
        return
    found: dict[tuple[str, str, int], str] = {}
    for row in answers.rows["classes"]:
        if name := _FILTER.fullmatch(str(row["Filter_Name"])):
            found.setdefault((row["Node"]["name"], name[1], int(name[2])), packet(row["Flow"]))
    by_name = {copies.name: copies for copies in snapshots.devices.values()}
    unread = unread_filters(answers)
    for policy in snapshots.classes.policies:
        if policy.node not in unread:
            yield from _policy_findings(policy, by_name[policy.device], found)


def unread_filters(answers: Answers) -> set[str]:
    """The files of classes that Batfish did not read whole."""
    return {node for row in answers.of("class-issues") for node in _files(row["Source_Lines"])}


def _files(value: object) -> Iterator[str]:
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, Mapping):
            yield str(part["filename"]).rpartition("/")[2].removesuffix(".cfg")


def _policy_findings(
    policy: ComparedPolicy, copies: DeviceCopies, found: Mapping[tuple[str, str, int], str]
) -> Iterator[Finding]:
    for number, each in enumerate(policy.classes, 1):
        place = copies.place_of(each.name)
        facts: dict[str, Any] = {"name": each.name, "line": each.line}
        if (wider := found.get((policy.node, "WIDER", number))) is not None:
            yield note("batfish-class-wider", place, packet=wider, **facts)
        if (narrower := found.get((policy.node, "NARROWER", number))) is not None:
            yield note("batfish-class-narrower", place, packet=narrower, **facts)
        if _never(each, found.get((policy.node, "REACHED", number))):
            yield note("batfish-class-never-reached", place, name=each.name, line=each.line, policy=policy.policy)


def _never(each: ComparedClass, witness: str | None) -> bool:
    reached: Asked = "REACHED"
    return reached in each.asked and witness is None
