"""The single steps of a change, made in the text: each gives the text anew."""

from __future__ import annotations

from typing import Any

from app.intent.editing.changes import Move
from app.intent.editing.layout import Layout, flow, place_of_key
from app.intent.editing.meaning import Drop, NewEntry, NewKey, Put, Step
from app.intent.editing.nodes import Node
from app.intent.editing.scalars import scalar
from app.intent.editing.source import Entry, Source
from app.intent.yaml_source import Path_


def stepped(source: Source, step: Step) -> str:
    """The text after one step.

    Raises:
        NotEditable: it is written in a way that only a person can change.
        ValueError: a value that a policy cannot hold.
    """
    if isinstance(step, Put):
        return _put(source, step.path, step.value)
    if isinstance(step, Drop):
        return _drop(source, step.path)
    node = source.node(step.path)
    if isinstance(step, Move):
        return _moved(source, node, step)
    if isinstance(step, NewKey):
        at, path = place_of_key(step.path, source.keys(node), step.key), (*step.path, step.key)
    else:
        at, path = step.at, (*step.path, step.at)
    entries = source.entries(node)
    if node.flow:
        text = flow(step.value) if isinstance(step, NewEntry) else f"{scalar(step.key)}: {flow(step.value)}"
        return _inserted_in_braces(source, node, entries, at, text)
    layout = Layout.of(source.root)
    if isinstance(step, NewKey):
        text = layout.pair(step.key, step.value, path, node.column)
    else:
        neighbour = entries[max(at - 1, 0)].value
        braces = neighbour.flow if neighbour.kind == "mapping" else None
        text = f"- {layout.entry(step.value, path, node.column, braces)}"
    return _inserted(source, entries, at, text, node.column)


def _cut(text: str, start: int, end: int, put: str = "") -> str:
    return text[:start] + put + text[end:]


def _inserted_in_braces(source: Source, node: Node, entries: list[Entry], at: int, text: str) -> str:
    if not entries:
        inside = source.text[node.start + 1 : node.end - 1]
        return _cut(source.text, node.start + 1, node.end - 1 if not inside.strip() else node.start + 1, text)
    if at:
        return _cut(source.text, entries[at - 1].end, entries[at - 1].end, f", {text}")
    return _cut(source.text, entries[0].start, entries[0].start, f"{text}, ")


def _inserted(source: Source, entries: list[Entry], at: int, text: str, column: int) -> str:
    """A new entry on lines of its own, as far from its neighbour as that is from the one above."""
    model = entries[at - 1] if at > 1 else entries[1] if len(entries) > 1 else None
    gap = ""
    if model is not None:
        floor = source.body_end(entries[entries.index(model) - 1])
        head = source.head_start(model, floor)
        gap = source.text[source.gap_start(head, floor) : head]
    indent = " " * column
    if at:
        end = source.body_end(entries[at - 1])
        return _cut(source.text, end, end, f"\n{gap}{indent}{text}")
    first = entries[0]
    if not source.begins_its_line(first.start):
        return _cut(source.text, first.start, first.start, f"{text}\n{indent}")
    head = source.head_start(first, 0)
    return _cut(source.text, head, head, f"{indent}{text}\n{gap}")


def _put(source: Source, path: Path_, value: Any) -> str:
    old = source.node(path)
    if not path:
        raise source.refused("is the whole policy", old)
    parent = source.node(path[:-1])
    entry = source.entries(parent)[source.position(parent, path[-1])]
    simple = not isinstance(value, dict | list)
    quotes = old.style if isinstance(value, str) and old.style in ("'", '"') else ""
    text = scalar(value, parent.flow, quotes) if simple else flow(value)
    if old.flow and not old.entries and isinstance(value, dict if old.kind == "mapping" else list):
        inside = source.text[old.start + 1 : old.end - 1]
        if inside.strip():  # a remark, which stays
            return _inserted_in_braces(source, old, [], 0, text[1:-1])
    if parent.flow:
        return _put_inline(source, entry, text, parent)
    layout = Layout.of(source.root)
    spread = bool(old.entries) and not old.flow
    column = source.column(entry.start)
    if parent.kind == "sequence":
        braces = None if not old.entries else old.flow
        text = text if simple else layout.entry(value, path, column, braces)
        return _put_inline(source, entry, text, parent)
    inline = (
        simple or not value or (not spread and layout.stands_inline(value, path, entry.after + 1 - entry.start))
    )
    if inline:
        return _put_inline(source, entry, text, parent)
    at = layout.below(value, column)
    return _put_below(source, entry, f"\n{' ' * at}{layout.lines(value, path, at)}")


def _stands_below(source: Source, entry: Entry) -> bool:
    return entry.span is not None and entry.span[0] > source.line_end(entry.after)


def _put_inline(source: Source, entry: Entry, text: str, parent: Node) -> str:
    if entry.span is None:
        colon = ":" if parent.kind == "mapping" and source.text[entry.after - 1] != ":" else ""
        return _cut(source.text, entry.after, entry.after, f"{colon} {text}")
    start, end = entry.span
    if parent.flow or not _stands_below(source, entry):
        block = not parent.flow and entry.value.kind != "scalar" and not entry.value.flow
        return _cut(source.text, start, source.body_end(entry) if block else end, text)
    return _cut(source.text, entry.after, source.body_end(entry), f" {text}{_remark(source, entry)}")


def _remark(source: Source, entry: Entry) -> str:
    """What stands behind a colon whose value stands below."""
    return source.text[entry.after : source.line_end(entry.after)].rstrip()


def _put_below(source: Source, entry: Entry, text: str) -> str:
    end = source.line_end(entry.end)
    if _stands_below(source, entry):
        return _cut(source.text, source.line_end(entry.after), source.body_end(entry), text)
    return _cut(_cut(source.text, end, end, text), entry.after, entry.end)


def _drop(source: Source, path: Path_) -> str:
    source.node(path)
    parent = source.node(path[:-1])
    entries = source.entries(parent)
    if len(entries) == 1:
        if not path[:-1]:
            raise source.refused("is all that the policy has", parent)
        return _emptied(source, parent, path[:-1])
    at = source.position(parent, path[-1])
    if parent.flow:
        return _dropped_in_braces(source, entries, at)
    entry, end = entries[at], source.body_end(entries[at])
    if not at:
        return _dropped_first(source, entry, end, at_top=len(path) == 1)
    floor = source.body_end(entries[at - 1])
    head = source.head_start(entry, floor)
    line = source.line_start(entry.start)
    start = line if head < line and _heads_more(source, entries, at) else source.gap_start(head, floor)
    if end == len(source.text):
        return _cut(source.text, _break_before(source, start), end)
    return _cut(source.text, start, source.next_line(end))


def _break_before(source: Source, start: int) -> int:
    """Before what ends the line above."""
    return start - 2 if source.text[start - 2 : start] == "\r\n" else start - 1


def _dropped_first(source: Source, entry: Entry, end: int, at_top: bool) -> str:
    text = source.text
    if not source.begins_its_line(entry.start):
        following = end + len(text[end:]) - len(text[end:].lstrip())
        return _cut(text, entry.start, following)
    line = source.line_start(entry.start)
    below = source.next_line(end)
    start = line
    if not at_top and not _one_of_many(source, entry, below):
        start = source.head_start(entry, 0)
    while below < len(text) and not text[below : source.line_end(below)].strip():
        below = source.next_line(below)
    return _cut(text, start, below)


def _heads_more(source: Source, entries: list[Entry], at: int) -> bool:
    """Whether the comment above an entry of one line heads the next entry too."""
    below = source.next_line(source.body_end(entries[at]))
    return at + 1 < len(entries) and _one_of_many(source, entries[at], below)


def _one_of_many(source: Source, entry: Entry, below: int) -> bool:
    """Whether an entry has one line, and the next one stands on the line ``below``."""
    if source.next_line(entry.start) != below:
        return False
    line = source.text[below : source.line_end(below)]
    inside = line[source.column(entry.start) :]
    return bool(inside) and not line[: source.column(entry.start)].strip() and inside[0] not in " #"


def _emptied(source: Source, node: Node, path: Path_) -> str:
    text = "{}" if node.kind == "mapping" else "[]"
    if node.flow:
        return _cut(source.text, node.start, node.end, text)
    parent = source.node(path[:-1])
    entry = source.entries(parent)[source.position(parent, path[-1])]
    return _put_inline(source, entry, text, parent)


def _dropped_in_braces(source: Source, entries: list[Entry], at: int) -> str:
    entry = entries[at]
    if at and "#" not in source.text[entries[at - 1].end : entry.start]:
        return _cut(source.text, entries[at - 1].end, entry.end)
    if not at and "\n" not in source.text[entry.end : entries[1].start]:
        return _cut(source.text, entry.start, entries[1].start)
    # Over several lines: what is said beside the neighbours stays.
    following = source.text[entry.end :].lstrip()
    comma = len(source.text) - len(following) + 1 if following.startswith(",") else entry.end
    return _cut(source.text, entry.start, comma)


def _moved(source: Source, node: Node, move: Move) -> str:
    entries = source.entries(node)
    if node.flow:
        spans = [(entry.start, entry.end) for entry in entries]
    else:
        if not all(source.begins_its_line(entry.start) for entry in entries):
            raise source.refused("begins on the line of something else", node)
        spans = []
        floor = 0
        for entry in entries:
            end = source.body_end(entry)
            spans.append((source.head_start(entry, floor), end))
            floor = end
    parts = [source.text[start:end] for start, end in spans]
    parts.insert(move.target, parts.pop(move.source))
    text = source.text
    for (start, end), part in reversed(list(zip(spans, parts, strict=True))):
        text = _cut(text, start, end, part)
    return text
