"""Configuration text as a tree of lines, and the rules that say what a line means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from qosforge.memoise import memoise_by_value

LINES = 1 << 14
"""Lines whose meaning is kept: those of a device, which is read several times, and those that devices share."""


@dataclass(frozen=True)
class ConfigLine:
    """One line of a configuration with what stands below it.

    A line that is ``kept`` is somebody else's: no rule speaks of it, whatever its text.
    """

    text: str
    children: tuple[ConfigLine, ...] = ()
    number: int = field(default=0, compare=False)
    kept: bool = field(default=False, compare=False)


Tree = tuple[ConfigLine, ...]


@dataclass(frozen=True, kw_only=True)
class LineChange:
    """How a line is entered, replaced and taken back.

    Templates (``key``, ``defines``, ``refers``, ``negate``) are formatted with the pattern's named groups and
    ``line``; of groups that differ in underscores at their end alone, with the one that matched. ``owned`` objects
    are ours as a whole: what the target does not name below them goes. ``group`` lines make up one table that only
    ``reset`` clears as a whole, or the resets of its lines, each once; without any they are negated one by one, in
    the reverse order of the rules, before they are entered anew. That is in the order of the rules; those that are
    ``ordered`` keep their own. A table has one line of each ``place``: a kept one stands in the way of another.
    ``booked`` is an amount that the device sums over an object against a limit, ``unit`` what all amounts of an
    object must have in common.

    What is ``standing`` is never taken back because a target does not name it: an object of this kind keeps its
    heading, a setting its value. ``attaches`` names what of the object has a policy through the line (a direction),
    ``side`` the direction that a line without a policy is about.
    ``listed`` lines of one object are a list whose order counts. An owned object that a target names for
    ``partial`` lines alone is changed in these and not taken over. An object that ``matches`` tells packets by what
    stands in it. What ``gives_way_to`` a kind of line goes where a target names one of that kind beside it.
    What ``awaits`` something comes after all lines whose ``readies`` it is, and goes before these go.
    """

    key: str = "{line}"
    defines: str = ""
    refers: tuple[str, ...] = ()
    negate: str = "no {line}"
    negate_before_change: bool = False
    owned: bool = False
    ordered: bool = False
    implied: bool = False
    remove_first: bool = False
    standing: bool = False
    listed: bool = False
    partial: bool = False
    group: str = ""
    reset: str = ""
    place: str = ""
    booked: str = ""
    unit: str = ""
    attaches: str = ""
    side: str = ""
    matches: bool = False
    gives_way_to: str = ""
    readies: str = ""
    awaits: str = ""


@dataclass(frozen=True)
class LineRule(LineChange):
    """What a line means to the transition: lines of this ``pattern`` below one with the id ``context``.

    ``first_words`` are those that such lines begin with; none where that may be any word.
    """

    id: str
    pattern: str
    context: str = ""
    first_words: frozenset[str] = frozenset()

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Compiled pattern."""
        return re.compile(self.pattern)


@dataclass(frozen=True, eq=False)
class Grammar:
    """A platform's rules, in order of precedence, and how its text is laid out.

    ``leave`` is the line that leaves a sub-mode where the device needs one. ``block_ends`` are lines that close a
    block in a text without indentation.
    """

    rules: tuple[LineRule, ...]
    leave: str = ""
    comment: str = "!"
    ignored: str = r"end|exit"
    flat_blocks: str = ""

    @cached_property
    def _by_first_word(self) -> dict[tuple[str, str], list[LineRule]]:
        """The rules of a context for lines that begin with a word, in order of precedence; "" for all others."""
        words = {("", rule.context) for rule in self.rules}
        words |= {(word, rule.context) for rule in self.rules for word in rule.first_words}
        return {
            (word, context): [
                rule
                for rule in self.rules
                if rule.context == context and (not rule.first_words or word in rule.first_words)
            ]
            for word, context in words
        }

    def find_rule(self, line: ConfigLine, context: str) -> tuple[LineRule, Mapping[str, str]] | None:
        """As `find`, for a line of a tree; none for one that is kept, unless it gives way to others."""
        found = self.find(line.text, context)
        return None if line.kept and not (found and found[0].gives_way_to) else found

    @memoise_by_value(LINES)
    def find(self, text: str, context: str) -> tuple[LineRule, Mapping[str, str]] | None:
        """The first rule for a line in a context, with the values of its groups."""
        table, first = self._by_first_word, text.split(" ", 1)[0]
        for rule in table.get((first, context), table.get(("", context), ())):
            match = rule.regex.fullmatch(text)
            if match is not None:
                values = {"line": text}
                for name, said in match.groupdict().items():
                    values[name.rstrip("_")] = said or values.get(name.rstrip("_"), "")
                return rule, values
        return None

    def parse(self, text: str) -> Tree:
        """The tree of a configuration text; white space is folded, comments are left out."""
        root: list[_Building] = []
        stack: list[tuple[int, _Building]] = []
        open_block: _Building | None = None
        for number, raw in enumerate(text.splitlines(), start=1):
            line = " ".join(raw.split())
            if not line or line.startswith(self.comment):
                continue
            if self.flat_blocks and open_block is not None:
                if line == "exit":
                    open_block = None
                else:
                    open_block.children.append(_Building(line, number))
                continue
            if re.fullmatch(self.ignored, line):
                continue
            entry = _Building(line, number)
            indent = len(raw) - len(raw.lstrip())
            while stack and stack[-1][0] >= indent:
                stack.pop()
            (stack[-1][1].children if stack else root).append(entry)
            stack.append((indent, entry))
            if self.flat_blocks and re.fullmatch(self.flat_blocks, line):
                open_block = entry
        return tuple(entry.freeze() for entry in root)


@dataclass
class _Building:
    text: str
    number: int
    children: list[_Building] = field(default_factory=list)

    def freeze(self) -> ConfigLine:
        return ConfigLine(self.text, tuple(c.freeze() for c in self.children), self.number)


def unmanaged(tree: Iterable[ConfigLine], grammar: Grammar, context: str = "") -> tuple[ConfigLine, ...]:
    """What of a tree no rule speaks of, below the lines that hold it."""
    rest: list[ConfigLine] = []
    for line in tree:
        found = grammar.find_rule(line, context)
        if found is None:
            rest.append(ConfigLine(line.text, line.children))
        elif below := unmanaged(line.children, grammar, found[0].id):
            rest.append(ConfigLine(line.text, below))
    return tuple(rest)


def keep_lines(tree: Iterable[ConfigLine], texts: Mapping[int, str]) -> Tree:
    """The tree with the lines of these numbers and texts kept."""
    return tuple(
        ConfigLine(
            line.text,
            keep_lines(line.children, texts),
            line.number,
            kept=line.kept or texts.get(line.number) == line.text,
        )
        for line in tree
    )


def as_text(lines: Sequence[str]) -> str:
    """Lines as one text with a final newline; empty for no lines."""
    return "\n".join(lines) + "\n" if lines else ""
