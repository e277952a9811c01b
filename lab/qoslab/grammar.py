"""A table-driven command grammar: abbreviations, typed arguments, and the three ways a line can fail."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypeVar, cast

from qoslab.patterns import ArgumentType, Edge, Node, PatternCompiler

Handler = TypeVar("Handler")


class Refused(Exception):
    """The box refuses a line for a reason of meaning; ``text`` is what it prints."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class SyntaxRefused(Exception):
    """A line the grammar does not know. ``column`` counts from 0 in the typed line."""

    def __init__(self, kind: str, column: int, line: str) -> None:
        super().__init__(f"{kind} at {column}: {line}")
        self.kind = kind  # "invalid", "incomplete" or "ambiguous"
        self.column = column
        self.line = line


@dataclass
class Match:
    """A recognised line: canonical words, captured arguments, and whether it takes something back.

    ``negated`` lines began with ``no``, ``defaulted`` ones with ``default``.
    """

    words: list[str]
    args: dict[str, list[str]]
    negated: bool = False
    defaulted: bool = False
    line: str = ""

    @property
    def text(self) -> str:
        """The canonical line (without a leading ``no``)."""
        return " ".join(self.words)

    @property
    def undone(self) -> bool:
        """True for a line with ``no`` or ``default`` in front."""
        return self.negated or self.defaulted

    def __getitem__(self, name: str) -> str:
        return " ".join(self.args[name])

    def __contains__(self, name: str) -> bool:
        return name in self.args

    def get(self, name: str, default: str = "") -> str:
        """The captured text, or ``default`` when the optional part was not given."""
        return " ".join(self.args[name]) if name in self.args else default

    def values(self, name: str) -> list[str]:
        """The captured tokens one by one (for repeated items)."""
        return list(self.args.get(name, []))

    def number(self, name: str, default: int = 0) -> int:
        """The captured text as a whole number."""
        return int(self[name]) if name in self.args else default


@dataclass(frozen=True)
class Command(Generic[Handler]):
    """One row of a command table.

    ``no`` is the pattern of the negated form without the word ``no`` (True: the same pattern; None: the
    command cannot be negated). The handler learns it from ``Match.negated``.
    """

    pattern: str
    run: Handler
    no: str | bool | None = None


@dataclass
class _State:
    words: list[str] = field(default_factory=list)
    args: dict[str, list[str]] = field(default_factory=dict)


def _word(token: str) -> str | None:
    return token


def _address(token: str) -> str | None:
    try:
        return str(ipaddress.IPv4Address(token))
    except ValueError:
        return None


_MAC = re.compile(r"[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}", re.IGNORECASE)


def _mac(token: str) -> str | None:
    return token.lower() if _MAC.fullmatch(token) else None


BASE_TYPES: dict[str, ArgumentType] = {
    "WORD": ArgumentType("WORD", _word, loose=True),
    "LINE": ArgumentType("LINE", _word, loose=True, rest=True),
    "IP": ArgumentType("IP", _address),
    "MAC": ArgumentType("MAC", _mac),
}


def choice(names: Sequence[str], values: Mapping[str, str] | None = None, high: int = -1) -> ArgumentType:
    """An argument that is one of ``names`` (unique prefixes allowed) or, if ``high`` >= 0, 0..high.

    ``values`` maps numbers (as text) to the name that is canonical for them.
    """
    table = values or {}

    def parse(token: str) -> str | None:
        low = token.lower()
        if low in names:
            return low
        if low.isascii() and low.isdigit() and len(low) <= 9 and int(low) <= high:
            return table.get(str(int(low)), str(int(low)))
        hits = [name for name in names if name.startswith(low)]
        return hits[0] if len(hits) == 1 and not low.isdigit() else None

    return ArgumentType("|".join(names), parse)


class Grammar(Generic[Handler]):
    """All commands of one mode as one automaton."""

    def __init__(self, commands: Iterable[Command[Handler]], types: Mapping[str, ArgumentType]) -> None:
        self._commands = tuple(commands)
        forms = tuple((command.pattern, command.no) for command in self._commands)
        self._start = _automaton(forms, frozenset({**BASE_TYPES, **types}.items()))

    def match(self, line: str) -> tuple[Command[Handler], Match]:
        """Recognise a line. Raises SyntaxRefused when it is invalid, incomplete or ambiguous."""
        states: dict[Node, _State] = {}
        _close(self._start, _State(), states)
        for found in re.finditer(r"\S+", line):
            states, swallowed = self._step(states, line, found.group(), found.start())
            if swallowed:
                break
        for node, state in states.items():
            if node.accepts is not None:
                position, sign = cast(tuple[int, str], node.accepts)
                words = state.words[1:] if sign else state.words
                return self._commands[position], Match(words, state.args, sign == "no", sign == "default", line)
        raise SyntaxRefused("incomplete", len(line), line)

    @staticmethod
    def _step(states: dict[Node, _State], line: str, token: str, column: int) -> tuple[dict[Node, _State], bool]:
        ranked: dict[int, list[tuple[Edge, str, _State]]] = {0: [], 1: [], 2: [], 3: []}
        low = token.lower()
        for node, state in states.items():
            for edge in node.edges:
                if edge.word is not None:
                    word = edge.word.lower()
                    if word == low:
                        ranked[0].append((edge, edge.word, state))
                    elif word.startswith(low):
                        ranked[1].append((edge, edge.word, state))
                elif edge.kind is not None:
                    text = line[column:].rstrip() if edge.kind.rest else token
                    value = edge.kind.parse(text)
                    if value is not None:
                        rank = 3 if edge.kind.rest else 2 if edge.kind.loose else 0
                        ranked[rank].append((edge, value, state))
        chosen = next((hits for hits in ranked.values() if hits), None)
        if chosen is None:
            words = (edge.word.lower() for node in states for edge in node.edges if edge.word is not None)
            nearest = max((_common(word, low) for word in words), default=0)
            raise SyntaxRefused("invalid", column + nearest, line)
        if len({edge.word for edge, _, _ in chosen if edge.word is not None}) > 1 and chosen is ranked[1]:
            raise SyntaxRefused("ambiguous", column, line)
        after: dict[Node, _State] = {}
        for edge, value, state in chosen:
            args = {name: list(values) for name, values in state.args.items()}
            for name in edge.names:
                args.setdefault(name, []).append(value)
            _close(edge.target, _State([*state.words, value], args), after)
        return after, chosen is ranked[3]


# Devices of one platform and image have the same commands: the tables of several dozen such images are kept.
@lru_cache(maxsize=1024)
def _automaton(
    forms: tuple[tuple[str, str | bool | None], ...], types: frozenset[tuple[str, ArgumentType]]
) -> Node:
    """The start of a table's automaton; it accepts a command by its position and the word before it."""
    compiler = PatternCompiler(dict(types))
    start, negative, default = Node(), Node(), Node()
    for position, (pattern, no) in enumerate(forms):
        compiler.add(start, pattern).accepts = (position, "")
        if no is not None and no is not False:
            negated = pattern if no is True else no
            compiler.add(negative, negated).accepts = (position, "no")
            compiler.add(default, negated).accepts = (position, "default")
    if negative.edges or negative.free:
        start.edges.append(Edge(negative, (), word="no"))
        start.edges.append(Edge(default, (), word="default"))
    return start


def _close(node: Node, state: _State, into: dict[Node, _State]) -> None:
    if node in into:
        return
    into[node] = state
    for free in node.free:
        _close(free, state, into)


def _common(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
