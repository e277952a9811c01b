"""A policy's text as a tree of entries, each with the lines that belong to it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qosforge.errors import Place
from qosforge.intent.editing.changes import NotEditable, refused
from qosforge.intent.editing.nodes import YamlNode, composed
from qosforge.intent.yaml_source import Path_, dotted

_COLON = re.compile(r"\s*:")
_ALIAS = re.compile(r"(?:\s|#[^\n]*|,)*(\*[^\s,\[\]{}]+)")
_COMMENT = re.compile(r"[ \t]*#[^\n]*")
_BLANK = re.compile(r"[ \t\r]*(?:\n|$)")


@dataclass(frozen=True)
class SourceEntry:
    """One entry of a collection.

    It begins at ``start`` with its key or dash (in brackets with its value); ``after`` is behind the colon or dash,
    ``span`` where its value stands (``None``: nothing stands there).
    """

    key: YamlNode | None
    value: YamlNode
    start: int
    after: int
    span: tuple[int, int] | None

    @property
    def end(self) -> int:
        """Behind the last character that belongs to the value."""
        return self.span[1] if self.span else self.after


class YamlText:
    """A text, its nodes, and which lines belong to what."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.root = composed(text)

    def node(self, path: Path_) -> YamlNode:
        """The node at a path that is there.

        Raises:
            NotEditable: it, or one on the way, stands in several places.
        """
        node = self.root
        for length, part in enumerate(path):
            self._alone(node, path[:length])
            node = node.entries[self.position(node, part)][1]
        self._alone(node, path)
        return node

    def entry(self, path: Path_) -> SourceEntry:
        """The entry whose value is at a path.

        Raises:
            NotEditable: as `node` and `entries`.
        """
        parent = self.node(path[:-1])
        return self.entries(parent)[self.position(parent, path[-1])]

    def cut(self, start: int, end: int, put: str = "") -> str:
        """The text with something else in the place of a part of it."""
        return self.text[:start] + put + self.text[end:]

    def position(self, node: YamlNode, part: str | int) -> int:
        """The position of an entry among those of its collection."""
        return part if isinstance(part, int) else self.keys(node).index(part)

    def keys(self, node: YamlNode) -> list[str]:
        """The keys of a mapping."""
        return [key.name for key, _ in node.entries if key is not None]

    def _alone(self, node: YamlNode, path: Path_) -> None:
        if node.shared:
            raise self.refused("stands in several places (an anchor with its aliases)", node, path)

    def refused(self, message: str, node: YamlNode, path: Path_ = ()) -> NotEditable:
        """A refusal at a node."""
        before = self.text[: node.start]
        line, column = before.count("\n") + 1, node.start - (before.rfind("\n") + 1) + 1
        return refused(message, Place(file=self.file, line=line, column=column, path=dotted(path) or None))

    def entries(self, node: YamlNode) -> list[SourceEntry]:
        """The entries of a collection.

        Raises:
            NotEditable: they are written in a way that only a person can change.
        """
        if node.kind == "mapping":
            return [self._pair(node, key, value) for key, value in node.entries if key is not None]
        if node.flow:
            return self._listed(node)
        dashes = [node.start, *self._further_dashes(node)]
        if len(dashes) != len(node.entries) or self.text[node.start] != "-":
            raise self.refused("is a list written in an unusual way", node)
        return [
            SourceEntry(None, value, dash, dash + 1, self._span(value, dash + 1))
            for dash, (_, value) in zip(dashes, node.entries, strict=True)
        ]

    def _further_dashes(self, node: YamlNode) -> list[int]:
        dash = re.compile(rf"^ {{{node.column}}}(?=-(?:\s|$))", re.MULTILINE)
        return [found.end() for found in dash.finditer(self.text, node.start + 1, node.end)]

    def _pair(self, node: YamlNode, key: YamlNode, value: YamlNode) -> SourceEntry:
        if key.shared or (not node.flow and key.column != node.column):
            raise self.refused("is a mapping written in an unusual way", node)
        colon = _COLON.match(self.text, key.end)
        if colon is None and not node.flow:
            raise self.refused("is a key without its colon", key)
        after = colon.end() if colon is not None else key.end
        return SourceEntry(key, value, key.start, after, self._span(value, after))

    def _listed(self, node: YamlNode) -> list[SourceEntry]:
        entries: list[SourceEntry] = []
        after = node.start + 1
        for _, value in node.entries:
            span = self._span(value, after)
            if span is None:
                raise self.refused("is a list written in an unusual way", node)
            entries.append(SourceEntry(None, value, span[0], span[0], span))
            after = span[1]
        return entries

    def _span(self, value: YamlNode, after: int) -> tuple[int, int] | None:
        alias = _ALIAS.match(self.text, after) if value.shared and value.start < after else None
        if alias is not None:
            return alias.span(1)
        if value.kind == "scalar" and not value.style and not self.text[value.start : value.end].strip():
            return None
        if value.flow or (value.kind == "scalar" and value.style not in ("|", ">")):
            return value.start, value.end
        return value.start, self._content_end(value)

    def _content_end(self, node: YamlNode) -> int:
        """The end of the last line of a value that stands on lines of its own, without what only follows it."""
        if node.kind == "scalar" and "+" in self.text[node.start : self.line_end(node.start)]:
            return node.end  # blank lines belong to it
        end = node.end
        while end > node.start:
            start = self.text.rfind("\n", 0, end - 1) + 1
            line = self.text[start:end]
            if _BLANK.fullmatch(line) or (node.kind != "scalar" and _COMMENT.fullmatch(line.rstrip("\r\n"))):
                end = start
                continue
            return start + len(line.rstrip("\r\n"))
        return node.end

    def line_start(self, index: int) -> int:
        """The first character of a line."""
        return self.text.rfind("\n", 0, index) + 1

    def line_end(self, index: int) -> int:
        """Behind the last character of a line, before what ends it."""
        end = self.text.find("\n", index)
        if end < 0:
            return len(self.text)
        return end - 1 if end > index and self.text[end - 1] == "\r" else end

    def next_line(self, index: int) -> int:
        """The first character of the line below."""
        end = self.text.find("\n", index)
        return len(self.text) if end < 0 else end + 1

    def begins_its_line(self, index: int) -> bool:
        """Whether only spaces stand before it."""
        return not self.text[self.line_start(index) : index].strip(" ")

    def column(self, index: int) -> int:
        """Characters before it on its line."""
        return index - self.line_start(index)

    def body_end(self, entry: SourceEntry) -> int:
        """The end of the last line of an entry: its value's, or that of comments below that stand deeper."""
        end = self.line_end(entry.end)
        at = self.next_line(end)
        while at < len(self.text):
            if _BLANK.match(self.text, at) is None:
                comment = _COMMENT.match(self.text, at)
                depth = len(comment[0]) - len(comment[0].lstrip()) if comment else 0
                if comment is None or depth <= self.column(entry.start):
                    break
                end = self.line_end(at)
            at = self.next_line(at)
        return end

    def head_start(self, entry: SourceEntry, floor: int) -> int:
        """The first character of the line where an entry begins, with the comment lines directly above it.

        ``floor`` is behind what stands before the entry.
        """
        start = self.line_start(entry.start)
        while start > floor:
            above = self.line_start(start - 1)
            if above < floor or _COMMENT.fullmatch(self.text[above : self.line_end(above)]) is None:
                break
            start = above
        return start

    def gap_start(self, start: int, floor: int) -> int:
        """The first character of the blank lines directly above a line."""
        while start > floor:
            above = self.line_start(start - 1)
            if above < floor or _BLANK.fullmatch(self.text[above:start]) is None:
                break
            start = above
        return start
