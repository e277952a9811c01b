"""The pattern notation of the command tables and its compilation into a small automaton.

A pattern is a line of items separated by blanks::

    keyword            a literal word, matched by any unique prefix, case ignored
    <1-100>            a whole number in a range (both ends included)
    WORD LINE IP ...   a typed argument, looked up in the grammar's argument types
    [a b]  [a|b]       optional item(s), or one of several
    {a|b c|<1-9>}      exactly one of several sequences
    item:name          what the item matched is captured under ``name``
    item*8             the item one to eight times
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_WORD = r"[^\s\[\]{}|:*<>]+"
_LEX = re.compile(rf"\s*(?P<tok><-?\d+-\d+>|[\[\]{{}}|]|\*\d+|:[a-z_][a-z0-9_]*|{_WORD})")


@dataclass(frozen=True)
class ArgumentType:
    """A typed argument.

    ``parse`` returns the canonical text, or None when the token does not fit. ``loose`` types (free
    words) lose against keywords; ``rest`` types swallow the rest of the line.
    """

    name: str
    parse: Callable[[str], str | None]
    loose: bool = False
    rest: bool = False


@dataclass(frozen=True)
class Edge:
    """One step of the automaton: a keyword (``word``) or an argument (``kind``)."""

    target: Node
    names: tuple[str, ...]
    word: str | None = None
    kind: ArgumentType | None = None


@dataclass(eq=False)
class Node:
    """A state; ``accepts`` holds what a line that ends here means."""

    edges: list[Edge] = field(default_factory=list)
    free: list[Node] = field(default_factory=list)
    accepts: object | None = None


def number(low: int, high: int) -> ArgumentType:
    """A whole number from low to high; canonical form has no leading zeros."""

    def parse(token: str) -> str | None:
        if not token.isascii() or not token.isdigit() or len(token) > 19:
            return None
        value = int(token)
        return str(value) if low <= value <= high else None

    return ArgumentType(f"<{low}-{high}>", parse)


class PatternCompiler:
    """Adds patterns to an automaton.

    Raises ValueError for a malformed pattern (a mistake in a command table, not user input).
    """

    def __init__(self, types: Mapping[str, ArgumentType]) -> None:
        self._types = types
        self._tokens: list[str] = []
        self._at = 0

    def add(self, start: Node, pattern: str) -> Node:
        """Append ``pattern`` to ``start`` and return the state reached at its end."""
        self._tokens = _lex(pattern)
        self._at = 0
        end = self._sequence(start, ())
        if self._at != len(self._tokens):
            raise ValueError(f"unbalanced bracket in pattern {pattern!r}")
        return end

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _sequence(self, start: Node, names: tuple[str, ...]) -> Node:
        here = start
        while (token := self._peek()) is not None and token not in {"]", "}", "|"}:
            here = self._item(here, names)
        return here

    def _item(self, start: Node, names: tuple[str, ...]) -> Node:
        begin = self._at
        # A first pass only finds where the item ends, so that its name and repetition are known.
        self._atom(Node(), ())
        after_atom = self._at
        times = 1
        while (token := self._peek()) is not None and token[0] in ":*" and len(token) > 1:
            if token[0] == ":":
                names = (*names, token[1:])
            else:
                times = int(token[1:])
            self._at += 1
        finish = self._at
        here = start
        exits: list[Node] = []
        for _ in range(times):
            self._at = begin
            here = self._atom(here, names)
            exits.append(here)
        if self._at != after_atom:
            raise ValueError("pattern item compiled unevenly")
        self._at = finish
        if times == 1:
            return here
        end = Node()
        for node in exits:
            node.free.append(end)
        return end

    def _atom(self, start: Node, names: tuple[str, ...]) -> Node:
        token = self._tokens[self._at]
        self._at += 1
        if token in {"[", "{"}:
            end = Node()
            while True:
                self._sequence(start, names).free.append(end)
                closing = self._peek()
                if closing is None:
                    raise ValueError("unclosed bracket in pattern")
                self._at += 1
                if closing != "|":
                    break
            if token == "[":
                start.free.append(end)
            return end
        target = Node()
        if token.startswith("<"):
            low, high = token[1:-1].rsplit("-", 1)
            start.edges.append(Edge(target, names, kind=number(int(low), int(high))))
        elif token in self._types:
            start.edges.append(Edge(target, names, kind=self._types[token]))
        else:
            start.edges.append(Edge(target, names, word=token))
        return target


def _lex(pattern: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    text = pattern.rstrip()
    while at < len(text):
        found = _LEX.match(text, at)
        if found is None:
            raise ValueError(f"pattern {pattern!r}: cannot read at column {at}")
        tokens.append(found["tok"])
        at = found.end()
    return tokens
