"""Insert and remove entries inside braces and brackets."""

from __future__ import annotations

from qosforge.intent.editing.nodes import YamlNode
from qosforge.intent.editing.source import YamlText


def inserted(source: YamlText, node: YamlNode, at: int, text: str) -> str:
    """The text with a new entry before position ``at`` of a collection."""
    entries = source.entries(node)
    if not entries:
        inside = source.text[node.start + 1 : node.end - 1]
        return source.cut(node.start + 1, node.start + 1 if inside.strip() else node.end - 1, text)
    if at:
        return source.cut(entries[at - 1].end, entries[at - 1].end, f", {text}")
    return source.cut(entries[0].start, entries[0].start, f"{text}, ")


def dropped(source: YamlText, node: YamlNode, at: int) -> str:
    """The text without the entry at a position of a collection that has others."""
    entries = source.entries(node)
    entry = entries[at]
    if at and "#" not in source.text[entries[at - 1].end : entry.start]:
        return source.cut(entries[at - 1].end, entry.end)
    if not at and "\n" not in source.text[entry.end : entries[1].start]:
        return source.cut(entry.start, entries[1].start)
    # Over several lines: what is said beside the neighbours stays.
    following = source.text[entry.end :].lstrip()
    comma = len(source.text) - len(following) + 1 if following.startswith(",") else entry.end
    return source.cut(entry.start, comma)
