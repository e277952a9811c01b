"""The notation of command patterns, and what is derived from one: reading a line, phrases in full.

A pattern is a line of items separated by blanks::

    keyword            a literal word
    <1-100>            a whole number in a range (both ends included)
    WORD REST DSCP …   a typed argument (`ARGUMENTS`)
    [a b]  [a|b]       optional items, or one of several
    {a|b c|<1-9>}      exactly one of several sequences
    item:name          what the item matched has this name
    item*8  item*=4    the item one to eight times, or exactly four times: its value is a tuple
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from types import MappingProxyType

from qosforge.dscp import parse_dscp

Value = int | str | tuple[int | str, ...]
"""What a named item matched: a number, a word, or several of them for a repeated item."""
Node = dict[str, "Node"]
"""Words that may come next, each with what may follow it."""

ANY_WORD, ANY_REST, END, AGAIN = "*", "...", "", "again "
"""Keys of a `Node` that are no keyword: one word as it is, the rest of the line, the end of a command, and what may
be said again."""
PRECEDENCES = ("routine", "priority", "immediate", "flash", "flash-override", "critical", "internet", "network")
"""Names of the IP precedences 0 to 7 (RFC 791)."""


@dataclass(frozen=True)
class ArgumentType:
    """A typed argument: ``regex`` is its text, ``parse`` its value.

    ``parse`` raises `ValueError` for text that is no such argument. ``rest`` types take the rest of the line.
    """

    regex: str
    parse: Callable[[str], int | str]
    rest: bool = False


def parse_precedence(word: str) -> int:
    """An IP precedence by its number or its name.

    Raises:
        ValueError: it is neither.
    """
    if word in PRECEDENCES:
        return PRECEDENCES.index(word)
    if re.fullmatch(r"[0-7]", word):
        return int(word)
    raise ValueError(f"no IP precedence: {word}")


ARGUMENTS: Mapping[str, ArgumentType] = {
    "WORD": ArgumentType(r"\S+", str),
    "REST": ArgumentType(r"\S.*", str, rest=True),
    "DSCP": ArgumentType(r"\S+", parse_dscp),
    "PRECEDENCE": ArgumentType(r"\S+", parse_precedence),
}
"""The typed arguments that all platforms share; a table may bring others."""


@dataclass(frozen=True)
class Item:
    """One item: a keyword (``word``), a group of sequences (``branches``) or an argument.

    It stands ``least`` to ``most`` times, or not at all where it is ``optional``. ``bounds`` are those of a number.
    """

    word: str = ""
    argument: ArgumentType | None = None
    bounds: tuple[int, int] | None = None
    branches: tuple[tuple[Item, ...], ...] = ()
    optional: bool = False
    name: str = ""
    least: int = 1
    most: int = 1


_ATOM = re.compile(r"\s*(?P<lexeme><\d+-\d+>|[\[\]{}|]|\*=?\d+|:[a-z_][a-z0-9_]*|[^\s\[\]{}|:*<>]+)")


class _Parser:
    def __init__(self, text: str, arguments: Mapping[str, ArgumentType]) -> None:
        self._text = text = text.strip()
        self._arguments = arguments
        self._lexemes: list[str] = []
        at = 0
        while at < len(text):
            found = _ATOM.match(text, at)
            if found is None:
                raise ValueError(f"pattern {text!r}: cannot read at column {at}")
            self._lexemes.append(found["lexeme"])
            at = found.end()
        self._at = 0

    def pattern(self) -> tuple[Item, ...]:
        items = self._sequence()
        if not items or items[0].optional:
            raise ValueError(f"pattern {self._text!r} begins with an optional item")
        if self._at != len(self._lexemes):
            raise ValueError(f"pattern {self._text!r}: a bracket closes nothing")
        return items

    def _peek(self) -> str:
        return self._lexemes[self._at] if self._at < len(self._lexemes) else ""

    def _sequence(self) -> tuple[Item, ...]:
        items = []
        while (lexeme := self._peek()) and lexeme not in ("]", "}", "|"):
            items.append(self._item())
        return tuple(items)

    def _item(self) -> Item:
        lexeme = self._lexemes[self._at]
        self._at += 1
        values: dict[str, object] = {}
        if lexeme in ("[", "{"):
            branches = [self._sequence()]
            while self._peek() == "|":
                self._at += 1
                branches.append(self._sequence())
            if self._peek() != {"[": "]", "{": "}"}[lexeme]:
                raise ValueError(f"pattern {self._text!r}: a bracket is not closed")
            self._at += 1
            values = {"branches": tuple(branches), "optional": lexeme == "["}
        elif bounds := re.fullmatch(r"<(\d+)-(\d+)>", lexeme):
            low, high = int(bounds[1]), int(bounds[2])
            values = {"argument": _number(low, high), "bounds": (low, high)}
        elif lexeme in self._arguments:
            values = {"argument": self._arguments[lexeme]}
        else:
            values = {"word": lexeme}
        while (suffix := self._peek())[:1] in (":", "*") and len(suffix) > 1:
            self._at += 1
            if suffix[0] == ":":
                values["name"] = suffix[1:]
            else:
                exactly, times = suffix[1] == "=", int(suffix.lstrip("*="))
                values |= {"least": times if exactly else 1, "most": times}
        return Item(**values)  # type: ignore[arg-type]


def _number(low: int, high: int) -> ArgumentType:
    def parse(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise ValueError(f"{value} is not between {low} and {high}")
        return value

    return ArgumentType(r"[0-9]{1,13}", parse)


@dataclass(frozen=True)
class _Capture:
    """How a named group of the expression becomes a value."""

    name: str
    parse: Callable[[str], int | str]
    repeated: bool


class Pattern:
    """One pattern, ready to read lines; ``items`` are what it is made of.

    Raises:
        ValueError: the pattern is malformed.
    """

    def __init__(self, text: str, arguments: Mapping[str, ArgumentType] = ARGUMENTS) -> None:
        self.text = text
        self.items = _Parser(text, arguments).pattern()
        plain = takewhile(lambda item: item.word and not (item.name or item.most > 1), self.items)
        self._begins = " ".join(item.word for item in plain)

    @cached_property
    def _compiled(self) -> tuple[re.Pattern[str], Mapping[str, _Capture]]:
        captures: dict[str, _Capture] = {}
        return re.compile(_sequence_regex(self.items, captures)), captures

    def expression(self, only: Mapping[str, str]) -> str:
        """A regular expression for lines of this form, ranges aside; ``only`` narrows arguments by their names.

        A name that is used several times has underscores behind it from the second time on.
        """
        return _sequence_regex(self.items, {}, only).removeprefix(" ")

    def read(self, text: str) -> dict[str, Value] | None:
        """The values of a line by name; None where it is not of this form, or a number is out of its range."""
        match = self._match(text)
        try:
            return None if match is None else self._values(match)
        except ValueError:
            return None

    def wrong_value(self, text: str) -> str:
        """Why a line of this form is not taken: a value that its argument does not have. Empty for all others."""
        match = self._match(text)
        try:
            if match is not None:
                self._values(match)
        except ValueError as error:
            return str(error)
        return ""

    def _match(self, text: str) -> re.Match[str] | None:
        return self._compiled[0].fullmatch(" " + text) if text.startswith(self._begins) else None

    def _values(self, match: re.Match[str]) -> dict[str, Value]:
        captures = self._compiled[1]
        values: dict[str, Value] = {}
        for group, said in match.groupdict().items():
            if said is not None:
                capture = captures[group]
                if capture.repeated:
                    value: Value = tuple(capture.parse(word) for word in said.split())
                else:
                    value = capture.parse(said)
                if capture.name:
                    values[capture.name] = value
        return values

    @cached_property
    def first_words(self) -> frozenset[str]:
        """The words that lines of this form begin with; `ANY_WORD` where it is an argument."""
        return frozenset(_first(self.items))

    def add_to(self, node: Node) -> None:
        """Add the phrases of this pattern to those that may follow."""
        for end in _grow([node], self.items):
            end.setdefault(END, {})


_NAME = re.compile(r":[a-z_][a-z0-9_]*")


def shown(pattern: str) -> str:
    """A pattern as people read it: without the names of its values."""
    text = _NAME.sub("", " ".join(pattern.split()))
    return re.sub(r"\*(\d+)", r"×1-\1", text.replace("*=", "×"))


def _sequence_regex(
    items: tuple[Item, ...], captures: dict[str, _Capture], only: Mapping[str, str] = MappingProxyType({})
) -> str:
    return "".join(_item_regex(item, captures, only) for item in items)


def _item_regex(item: Item, captures: dict[str, _Capture], only: Mapping[str, str]) -> str:
    """The expression of one item with the blank before it."""
    # Numbers without a name are captured, too: their range is checked.
    named = bool(item.name or item.argument)
    group = ""
    if named:
        group = item.name or f"unnamed{len(captures)}"
        while group in captures:
            group += "_"
        parse = item.argument.parse if item.argument else str
        captures[group] = _Capture(item.name, parse, item.most > 1)
    if item.branches:
        branches = [_sequence_regex(branch, captures, only) for branch in item.branches]
        inner = " (?:" + "|".join(_without_blank(branch) for branch in branches) + ")"
    else:
        inner = " " + only.get(item.name, item.argument.regex if item.argument else re.escape(item.word))
    if item.most > 1:
        inner = rf"(?:{inner}){{{item.least},{item.most}}}"
        inner = f"(?P<{group}>{inner})" if named else inner
    elif named:
        inner = f" (?P<{group}>{inner[1:]})"
    return f"(?:{inner})?" if item.optional else inner


def _without_blank(branch: str) -> str:
    if not branch.startswith(" "):
        raise ValueError(f"a branch of a group begins with an optional item: {branch}")
    return branch[1:]


def _first(items: tuple[Item, ...]) -> Iterator[str]:
    first = items[0]
    if first.branches:
        for branch in first.branches:
            yield from _first(branch)
    else:
        yield first.word or ANY_WORD


def _grow(nodes: list[Node], items: tuple[Item, ...]) -> list[Node]:
    """Add phrases behind each of the nodes; where they end."""
    for item in items:
        held = list(nodes) if item.optional else []
        if item.branches and item.most > 1:
            # A tree of all orders of so many options would have no end: they lead back to one node.
            again: Node = {}
            for node in nodes:
                node[AGAIN] = again
            nodes = _step([again], item)
            for node in nodes:
                node[AGAIN] = again
            held.extend(nodes)
        else:
            for times in range(1, item.most + 1):
                nodes = _step(nodes, item)
                if times >= item.least:
                    held.extend(nodes)
        nodes = held
    return nodes


def _step(nodes: list[Node], item: Item) -> list[Node]:
    if item.branches:
        return [end for branch in item.branches for end in _grow(nodes, branch)]
    key = item.word or (ANY_REST if item.argument is not None and item.argument.rest else ANY_WORD)
    return [node.setdefault(key, {}) for node in nodes]
