"""Insert and remove entries on lines of their own, with their comments and blank lines."""

from __future__ import annotations

from qosforge.intent.editing.nodes import YamlNode
from qosforge.intent.editing.source import SourceEntry, YamlText


def inserted(source: YamlText, node: YamlNode, at: int, text: str) -> str:
    """The text with a new entry before position ``at``, as far from the one above as that is from its own."""
    entries = source.entries(node)
    model = at - 1 if at > 1 else 1
    gap = ""
    if len(entries) > 1:
        floor = source.body_end(entries[model - 1])
        head = source.head_start(entries[model], floor)
        gap = source.text[source.gap_start(head, floor) : head]
    indent = " " * node.column
    if at:
        end = source.body_end(entries[at - 1])
        return source.cut(end, end, f"\n{gap}{indent}{text}")
    first = entries[0]
    if not source.begins_its_line(first.start):
        return source.cut(first.start, first.start, f"{text}\n{indent}")
    head = source.head_start(first, 0)
    return source.cut(head, head, f"{indent}{text}\n{gap}")


def dropped(source: YamlText, node: YamlNode, at: int) -> str:
    """The text without the entry at a position of a collection that has others."""
    entries = source.entries(node)
    entry, end = entries[at], source.body_end(entries[at])
    if not at:
        return _first_dropped(source, entry, end, heads_file=node is source.root)
    floor = source.body_end(entries[at - 1])
    head = source.head_start(entry, floor)
    line = source.line_start(entry.start)
    stays = head < line and _one_of_many(source, entry)
    start = line if stays else source.gap_start(head, floor)
    return source.cut(source.line_end(source.line_start(start - 1)), end)


def last_dropped(source: YamlText, node: YamlNode) -> tuple[int, int]:
    """What goes with the only entry of a collection that stands below its key, from the end of the line above."""
    (entry,) = source.entries(node)
    return source.line_end(source.line_start(source.head_start(entry, 0) - 1)), source.body_end(entry)


def spans(source: YamlText, node: YamlNode) -> list[tuple[int, int]]:
    """What moves with each entry of a list.

    Raises:
        NotEditable: the list begins on the line of something else.
    """
    found: list[tuple[int, int]] = []
    floor = 0
    for entry in source.entries(node):
        if not source.begins_its_line(entry.start):
            raise source.refused("begins on the line of something else", node)
        end = source.body_end(entry)
        found.append((source.head_start(entry, floor), end))
        floor = end
    return found


def _first_dropped(source: YamlText, entry: SourceEntry, end: int, heads_file: bool) -> str:
    text = source.text
    if not source.begins_its_line(entry.start):
        return source.cut(entry.start, len(text) - len(text[end:].lstrip()))
    start = source.line_start(entry.start)
    if not heads_file and not _one_of_many(source, entry):
        start = source.head_start(entry, 0)
    below = source.next_line(end)
    while below < len(text) and not text[below : source.line_end(below)].strip():
        below = source.next_line(below)
    return source.cut(start, below)


def _one_of_many(source: YamlText, entry: SourceEntry) -> bool:
    """Whether an entry has one line and the next one stands directly below: a comment above heads both."""
    end = source.body_end(entry)
    if end != source.line_end(entry.start):
        return False
    below = source.next_line(end)
    line = source.text[below : source.line_end(below)]
    column = source.column(entry.start)
    return line[:column].isspace() == bool(column) and line[column : column + 1] not in ("", " ", "#")
