"""The command table of a platform: each of its configuration lines once, and everything that follows from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, partial

from qosforge.commands.line import Line
from qosforge.commands.pattern import ANY_WORD, ARGUMENTS, ArgumentType, Node, Pattern, Value
from qosforge.commands.placed_line import PlacedLine
from qosforge.commands.reading import ReadConfiguration, ReadLine
from qosforge.commands.transcript import CommandSyntax, merge_objects, tidy
from qosforge.configtree import ConfigLine, Grammar, LineRule, Tree
from qosforge.configtree.tree import LINES
from qosforge.memoise import memoise_by_value


@dataclass(frozen=True)
class Form:
    """One form of a line: ``understood`` where plans have a place for it, ``negated`` behind ``no``."""

    line: Line
    pattern: Pattern
    understood: bool = True
    negated: bool = False

    @property
    def first_words(self) -> frozenset[str]:
        """The words that its lines begin with; `ANY_WORD` where it is an argument."""
        return frozenset({"no"}) if self.negated else self.pattern.first_words

    def read(self, text: str) -> dict[str, Value] | None:
        if not self.negated:
            return self.pattern.read(text)
        return self.pattern.read(text.removeprefix("no ")) if text.startswith("no ") else None


TEXTS = 64
"""Configurations whose lines are kept: each is looked at by several checks, and what a device runs each time."""
NOTHING, ELSEWHERE = "nothing", "elsewhere"
"""Modes of lines below one that has none below it, and below one of which the table knows nothing."""


class CommandTable:
    """The lines of a platform as data.

    ``shared`` are the modes in which lines of others stand beside those of QoS (`ELSEWHERE` among them), each with
    a regular expression for what looks like QoS there: such a line is kept as not understood where the table does
    not have it, while in all other modes every line is. ``arguments`` are typed arguments beside `ARGUMENTS`;
    ``predefined`` are the objects that devices have without a line: for each kind a pattern of their names.
    ``families``, ``spaced``, ``nested``, ``widths`` and ``broken`` are those of `CommandSyntax`; ``leave``,
    ``ignored`` and ``flat_blocks`` those of `Grammar`. ``prepare`` puts text into one form before it is parsed, and
    ``normalize`` the tree after.

    Raises:
        ValueError: a pattern is malformed.
    """

    def __init__(
        self,
        *lines: Line,
        shared: Mapping[str, str],
        arguments: Mapping[str, ArgumentType] | None = None,
        predefined: Mapping[str, str] | None = None,
        families: tuple[str, ...] = (),
        spaced: bool = False,
        nested: bool = True,
        widths: Iterable[int] = (),
        broken: str = "",
        leave: str = "",
        ignored: str = "end|exit",
        flat_blocks: str = "",
        prepare: Callable[[str], str] = str,
        normalize: Callable[[Tree], Tree] = tuple,
    ) -> None:
        self.lines = lines
        self._shared = {mode: re.compile(pattern) for mode, pattern in {ELSEWHERE: "(?!)", **shared}.items()}
        self._arguments = {**ARGUMENTS, **(arguments or {})}
        self.predefined = {kind: re.compile(names) for kind, names in (predefined or {}).items()}
        self.forms = tuple(form for line in lines for form in self._forms_of(line))
        self._prepare = prepare
        self._syntax = partial(
            CommandSyntax,
            families=families,
            spaced=spaced,
            nested=nested,
            widths=frozenset(widths),
            broken=broken,
        )
        self.grammar = _NormalizedGrammar(
            rules=tuple(self._rules()),
            leave=leave,
            ignored=ignored,
            flat_blocks=flat_blocks,
            normalize=lambda tree: tuple(self._level(normalize(tree), "")),
        )

    @cached_property
    def syntax(self) -> CommandSyntax:
        """The commands in full, for what people abbreviate."""
        return self._syntax(phrases=self._phrases(), opens=self._opened(), opened=self._mode_below)

    def _forms_of(self, line: Line) -> Iterator[Form]:
        if line.pattern:
            yield Form(line, Pattern(line.pattern, self._arguments))
        for text in line.also:
            yield Form(line, Pattern(text, self._arguments), understood=False)
        if line.no:
            yield Form(line, Pattern(line.no, self._arguments), negated=True)

    def _opened(self) -> dict[tuple[str, str], str]:
        """The mode that lines with a first word open; empty where that depends on the rest of them."""
        opened: dict[tuple[str, str], str] = {}
        for form in self.forms:
            for word in form.pattern.first_words if form.line.opens else ():
                known = opened.setdefault((form.line.mode, word), form.line.opens)
                opened[form.line.mode, word] = known if known == form.line.opens else ""
        return opened

    def _mode_below(self, mode: str, text: str) -> str:
        found = self.find(text, mode)
        return found[0].line.opens if found else ""

    def _phrases(self) -> dict[str, Node]:
        phrases: dict[str, Node] = {}
        for form in self.forms:
            if form.line.abbreviated:
                form.pattern.add_to(phrases.setdefault(form.line.mode, {}))
        return phrases

    def _rules(self) -> Iterator[LineRule]:
        for form in self.forms:
            line = form.line
            if line.change is None:
                continue
            values = {name: value for name, value in asdict(line.change).items() if name != "only"}
            expression = form.pattern.expression(line.change.only)
            words = form.first_words
            if form.negated:
                expression = f"no {expression}"
            first_words = frozenset() if ANY_WORD in words else words
            yield LineRule(line.opens or line.id, expression, context=line.mode, first_words=first_words, **values)

    @cached_property
    def _by_first_word(self) -> Mapping[tuple[str, str], tuple[Form, ...]]:
        found: dict[tuple[str, str], list[Form]] = {}
        # What one row understands is not taken away by another one's further forms.
        for form in sorted(self.forms, key=lambda form: not form.understood):
            for word in form.first_words:
                found.setdefault((form.line.mode, word), []).append(form)
        return {key: tuple(forms) for key, forms in found.items()}

    def tree(self, text: str) -> Tree:
        """The tree of a configuration that a device printed or a person wrote; objects opened twice are one."""
        return merge_objects(self._printed(text))

    @memoise_by_value(TEXTS)
    def _printed(self, text: str) -> Tree:
        return self.grammar.parse(tidy(self._prepare(text), self.syntax))

    @memoise_by_value(TEXTS)  # the same for devices alike, whatever else they run, and of what one runs each time
    def place(self, text: str, *, abbreviated: bool = True) -> tuple[PlacedLine, ...]:
        """Every line of a configuration where it stands, as often as it stands there.

        Where it may be ``abbreviated``, its commands are spelt out.
        """
        tree = self._printed(text) if abbreviated else self.grammar.parse(text)
        return tuple(self._placed(tree, "", None))

    def _placed(self, lines: Tree, mode: str, above: PlacedLine | None) -> Iterator[PlacedLine]:
        for line in lines:
            found = self.find(line.text, mode)
            form, values = found or (None, {})
            managed = (above is None or above.managed) and self._is_managed(line.text, mode)
            understood = form.understood if form is not None else not self._is_qos(line.text, mode)
            row, negated = (form.line, form.negated) if form else (None, False)
            placed = PlacedLine(line.text, line.number, mode, above, row, values, managed, understood, negated)
            opened = form.line.opens if form else ELSEWHERE if understood else NOTHING
            placed.below = tuple(self._placed(line.children, opened or NOTHING, placed))
            yield placed

    def wrong_value(self, text: str, mode: str) -> str:
        """Why a line that has a form of this mode otherwise is not taken: what its value is not. Else empty."""
        forms = (
            f for first in (text.split(" ", 1)[0], ANY_WORD) for f in self._by_first_word.get((mode, first), ())
        )
        return next(filter(None, (form.pattern.wrong_value(text) for form in forms if not form.negated)), "")

    def phrases(self, mode: str) -> Iterator[str]:
        """The forms of a mode that are understood, as patterns."""
        return (form.pattern.text.strip() for form in self._understood_in(mode))

    def first_words(self, mode: str) -> frozenset[str]:
        """The words that the forms of a mode begin with."""
        return frozenset().union(*(form.pattern.first_words for form in self._understood_in(mode))) - {ANY_WORD}

    def _understood_in(self, mode: str) -> Iterator[Form]:
        return (form for form in self.forms if form.line.mode == mode and form.understood and not form.negated)

    def read(self, text: str) -> ReadConfiguration:
        """What a configuration says, line by line.

        Every line is an entry, or kept as not understood with its context, or none of QoS.
        """
        tree = self.tree(text)
        # Of lines that the screen broke, none is as it was written.
        reading = ReadConfiguration(tree, () if self.syntax.widths else tuple(text.splitlines()))
        reading.entries = tuple(self._entries(tree, "", "", reading))
        return reading

    def _entries(self, lines: Tree, mode: str, context: str, reading: ReadConfiguration) -> Iterator[ReadLine]:
        for line in lines:
            found = self.find(line.text, mode)
            if found is not None and found[0].understood:
                form, values = found
                below = tuple(self._entries(line.children, form.line.opens or NOTHING, line.text, reading))
                yield ReadLine(form.line.id, values, line, below, form.negated)
                continue
            missed = found is not None or self._is_qos(line.text, mode)
            if missed:
                reading.miss(line, context)
            # What stands below a line that is none of ours may be QoS all the same, and all below one of QoS is.
            opened = found[0].line.opens if found else NOTHING if missed else ELSEWHERE
            tuple(self._entries(line.children, opened or NOTHING, line.text, reading))

    def find_written(self, text: str, ids: frozenset[str]) -> Iterator[ReadLine]:
        """The entries of these ids, without what is below them, of a text that a template wrote in full.

        A text none of whose lines begins as such lines do is not read.
        """
        words = self._words_of(ids)
        written = [line.split(None, 1)[0] for line in text.split("\n") if line.strip()]
        if ANY_WORD in words or not words.isdisjoint(written):
            yield from self._written(self.grammar.parse(text), "", ids)

    def _written(self, lines: Tree, mode: str, ids: frozenset[str]) -> Iterator[ReadLine]:
        for line in lines:
            found = self.find(line.text, mode)
            if found is not None and found[0].understood:
                form, values = found
                if form.line.id in ids:
                    yield ReadLine(form.line.id, values, line, negated=form.negated)
                if line.children:
                    yield from self._written(line.children, form.line.opens or NOTHING, ids)

    @memoise_by_value(TEXTS)
    def _words_of(self, ids: frozenset[str]) -> frozenset[str]:
        """The words that lines of these ids begin with."""
        words = (form.first_words for form in self.forms if form.understood and form.line.id in ids)
        return frozenset[str]().union(*words)

    def _level(self, lines: Tree, mode: str) -> Iterator[ConfigLine]:
        """The lines of a mode; what devices print further in than they take it stands beside the line before it."""
        for line in lines:
            if not line.children:
                yield line
                continue
            found = self.find(line.text, mode)
            opened = found[0].line.opens if found else ""
            if mode in self._shared and not opened:
                yield line
                continue
            below = self._level(line.children, opened) if opened else ()
            outside = line.children if not opened else ()
            inside = []
            for entry in below:
                if mode not in self._shared and not self.find(entry.text, opened) and self.find(entry.text, mode):
                    outside = (*outside, entry)
                else:
                    inside.append(entry)
            yield ConfigLine(line.text, tuple(inside), line.number)
            yield from self._level(outside, mode)

    @memoise_by_value(LINES)
    def find(self, text: str, mode: str) -> tuple[Form, Mapping[str, Value]] | None:
        """The first form of a line that a text has in a mode, with its values."""
        for first in (text.split(" ", 1)[0], ANY_WORD):
            for form in self._by_first_word.get((mode, first), ()):
                values = form.read(text)
                if values is not None:
                    return form, values
        return None

    @memoise_by_value(LINES)
    def _is_managed(self, text: str, mode: str) -> bool:
        """Whether a rule of changes speaks of a line."""
        return self.grammar.find(text, mode) is not None

    def _is_qos(self, text: str, mode: str) -> bool:
        """Whether a line that the table does not have is one of QoS in a mode."""
        shared = self._shared.get(mode)
        return shared is None or shared.fullmatch(text) is not None


@dataclass(frozen=True, eq=False)
class _NormalizedGrammar(Grammar):
    """A grammar whose trees are put into one form."""

    normalize: Callable[[Tree], Tree] = tuple

    @memoise_by_value(TEXTS)
    def parse(self, text: str) -> Tree:
        """See `qosforge.configtree.Grammar`."""
        return self.normalize(super().parse(text))
