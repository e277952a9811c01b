"""What the site's search has of a page: rows of tables, each by itself and whole.

The theme's index has the text of a heading in one piece, and an excerpt ends wherever a tag stands in that: so the
cells of a row are joined in one paragraph. In two pages one looks for what a row begins with, codes of findings,
words and keys of the language: each of their rows is an entry of its own, which leads to it.

The theme's index takes a code for one word, if its separator has no hyphen; but what is asked, the theme's library
(lunr) splits at hyphens before it looks, and then finds each page that has one of the words: not with the changes
of `theme_scripts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_CODES = "findings.md"
"""The page whose tables have a code in the first cell of each row."""

_LANGUAGE = "intent.md"
"""The page whose tables have a word or a key of the language there."""

_WORDS = "words"
"""The heading of that page below which words are explained."""

_OF_A_CODE = 0.3
"""Of a code: whole it is in few pages anyway, and one that only begins as asked is not before pages about that."""
_OF_A_WORD = 8.0
"""Of a word that is explained: before all pages that only have it."""
_OF_A_KEY = 1.0

_OF_FIGURES = ("coverage.md", "kernel.md")
"""Pages whose tables nobody searches: a class or a scheduler stands in hundreds of their rows."""
_MEASURED = re.compile(r"<!-- coverage:.*?<!-- end of coverage -->", re.DOTALL)
"""Figures of such a page that stand on another one."""

_MANY_CELLS = 4
"""A row of more is one of a matrix: what stands in its first cell is nothing that is looked up."""

_LONGEST_NAME = 40
"""Characters of a first cell that is a word or a key, and no sentence."""

_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_HEADS = re.compile(r"<thead>.*?</thead>", re.DOTALL)
_ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
_PART = re.compile(r'<h[2-6] id="([^"]+)">.*?(?=<h[2-6] id=|\Z)', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_LINK = re.compile(r"</?a\b[^>]*>")
_NO_NAME = re.compile(r"[^\w]+")


@dataclass(frozen=True)
class Row:
    """A row that is found by itself: where it stands in the page, its anchor, its first cell and the others."""

    start: int
    anchor: str
    title: str
    cells: tuple[str, ...]
    boost: float


def text(content: str, file: str) -> str:
    """The page as the search's index takes it: without figures, and without rows that are entries of their own."""
    if file in _OF_FIGURES:
        return _TABLE.sub("", content)
    starts = {row.start for row in _rows(content, file)}

    def joined(row: re.Match[str], before: int) -> str:
        if before + row.start() in starts:
            return ""
        return f"<p>{_joined(_CELL.findall(row[1]))}</p>"

    def parted(table: re.Match[str]) -> str:
        whole = _ROW.sub(lambda row: joined(row, table.start()), table[0])
        return _HEADS.sub("", whole)

    return _MEASURED.sub("", _TABLE.sub(parted, content))


def with_anchors(content: str, file: str) -> str:
    """The page as it is shown: each row that is an entry has an anchor."""
    for row in reversed(tuple(_rows(content, file))):
        place = content.index("<td", row.start) + len("<td")
        content = f'{content[:place]} id="{row.anchor}"{content[place:]}'
    return content


def entries(content: str, file: str, url: str) -> Iterator[dict[str, Any]]:
    """What the search's index has of the rows of the page at ``url``, whose ``content`` has no anchors yet."""
    for row in _rows(content, file):
        said = f"<p>{_joined(row.cells)}</p>"
        yield {"location": f"{url}#{row.anchor}", "title": row.title, "text": said, "boost": row.boost}


def _joined(cells: tuple[str, ...] | list[str]) -> str:
    """The cells of a row, with a sign between them, without links: an excerpt stands in one."""
    return " · ".join(_LINK.sub("", cell) for cell in cells if cell.strip())


def _rows(content: str, file: str) -> Iterator[Row]:
    """The rows that are entries, in the order of the page."""
    if file not in (_CODES, _LANGUAGE):
        return
    for part in _PART.finditer(content):
        for row in _ROW.finditer(part[0]):
            cells = tuple(_CELL.findall(row[1]))
            if not cells or len(cells) > _MANY_CELLS:
                continue
            title = _TAG.sub("", cells[0])
            if len(title) > _LONGEST_NAME:
                continue
            start = part.start() + row.start()
            if file == _CODES:
                yield Row(start, title, title, cells[1:], _OF_A_CODE)
            else:
                anchor = f"{part[1]}-{_NO_NAME.sub('-', title.lower()).strip('-')}"
                yield Row(start, anchor, title, cells[1:], _OF_A_WORD if part[1] == _WORDS else _OF_A_KEY)
