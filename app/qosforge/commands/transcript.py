"""Expand what people wrote or captured to what a device prints: prompts, abbreviations, indentation, wraps.

Text as a device prints it passes unchanged. Lines keep their numbers: what is no configuration becomes an empty
line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from qosforge.commands.pattern import AGAIN, ANY_REST, ANY_WORD, END, Node
from qosforge.configtree import ConfigLine, Tree
from qosforge.configtree.tree import LINES
from qosforge.memoise import memoise_by_value

_PROMPT = re.compile(r"(?P<host>\w[\w.-]{0,62})(?:\((?P<mode>conf(?:ig)?(?:-[\w/.-]+)?)\))?[#>] *(?P<command>.*)")
_EXEC = re.compile(
    r"(?:do|sh(?:ow?)?|copy|conf(?:igure)?|wr(?:ite)?|ping|en(?:able)?|dis(?:able)?|term(?:inal)?|debug|clear|dir|"
    r"more|test|reload)(?: .*)?"
)
_SHOWS_CONFIGURATION = re.compile(r"(?:do )?(?:sh\w*|more) (?:run|start|conf|system:run)\S*(?: .*)?")
_OFTEN_BELOW = re.compile(
    r"(?:no|ip|description|encapsulation|speed|duplex|switchport|shut(?:down)?|portmode|power|load-interval|mtu|"
    r"keepalive|clock|spanning-tree|cdp)(?: .+)?"
)
"""What stands at the margin after an open interface is most likely below it, where it is one of these."""
_NO_KEYWORDS = frozenset({ANY_WORD, ANY_REST, END, AGAIN})
_SHORTEST = 2
"""Fewest letters of an abbreviation; the devices take one where it is unique, which is not told apart from a name
but where a number follows, as it does that of an interface.
"""
_LONGEST = 1024
"""Characters of a line beyond which no device's input goes: what is longer was not broken by a screen."""


@dataclass(frozen=True, eq=False)
class CommandSyntax:
    """The commands of a platform in full, by mode (the empty one is the top), and how its screens print them.

    ``opens`` tells by the first word of a command in a mode which mode it opens, ``opened`` by the whole command
    where the first word leaves that open (an empty mode). ``families`` are the names of interfaces; ``spaced``
    where the number stands apart. ``nested`` where lines below a heading are indented.
    ``widths`` are screen widths at which the device breaks what it prints, ``broken`` how the lines begin that are
    joined again.
    """

    phrases: Mapping[str, Node] = field(default_factory=dict)
    opens: Mapping[tuple[str, str], str] = field(default_factory=dict)
    opened: Callable[[str, str], str] = lambda _mode, _command: ""
    families: tuple[str, ...] = ()
    spaced: bool = False
    nested: bool = True
    widths: frozenset[int] = frozenset()
    broken: str = ""

    @memoise_by_value(LINES)
    def spelt(self, mode: str, text: str) -> str | None:
        """A command of a mode with its words in full; none where it is no command known there."""
        words = text.split()
        negated = words[:1] == ["no"]
        full = _walk(self.phrases.get(mode, {}), words[negated:])
        if full is None:
            return None
        if full[:1] == ["interface"]:
            full = ["interface", *self._interface(full[1:])]
        return " ".join(["no"] * negated + full)

    def _interface(self, words: list[str]) -> list[str]:
        match = re.fullmatch(r"([A-Za-z][A-Za-z-]*) ?(\d\S*)(| .+)", " ".join(words))
        if match is None:
            return words
        found = _complete_word(match[1], self.families, shortest=1)
        if found is None:
            return words
        return [found + (" " if self.spaced else "") + match[2] + match[3]]

    def below(self, mode: str, command: str) -> str:
        """The mode that a command opens, else the mode of lines that nothing is known of."""
        return self.opens.get((mode, command.split(" ", 1)[0]), "?") or self.opened(mode, command) or "?"


def _walk(node: Node, words: list[str]) -> list[str] | None:
    """The words in full, along the first way on which all of them fit: keywords before arguments."""
    if not words:
        return [] if END in node or ANY_REST in node else None
    word, rest = words[0], words[1:]
    found = word if word in node else _complete_word(word, [key for key in node if key not in _NO_KEYWORDS])
    for key, full in ((found, found), (ANY_WORD, word)):
        if key in node and full is not None and (behind := _walk(node[key], rest)) is not None:
            return [full, *behind]
    if AGAIN in node and (said := _walk(node[AGAIN], words)) is not None:
        return said
    return words if ANY_REST in node else None


def _complete_word(word: str, known: tuple[str, ...] | list[str], shortest: int = _SHORTEST) -> str | None:
    """The one known word that a word abbreviates; ``class`` does not abbreviate ``class-map``."""
    if word in known:
        return word
    low = word.lower()
    found = [name for name in known if name.lower().startswith(low)]
    exact = [name for name in found if name.lower() == low]
    if exact:
        return exact[0]
    shorter = len(found) == 1 and len(word) >= shortest and found[0][len(word)] != "-"
    return found[0] if shorter else None


def tidy(text: str, dialect: CommandSyntax) -> str:
    """The text as the device would print it, line for line."""
    lines = text.splitlines()
    if dialect.widths:
        lines = _unwrap(lines, dialect)
    return "\n".join(_tidy_lines(lines, dialect)) + "\n"


@dataclass(frozen=True)
class _Open:
    """A line that stands open: its indentation in the text and below the others, and the mode below it."""

    column: int
    depth: int
    mode: str


def _tidy_lines(lines: list[str], dialect: CommandSyntax) -> Iterator[str]:
    stack: list[_Open] = []
    flat = False  # whether the open headings may have lines below them that are not indented
    skipping = False  # whether what follows is what a command printed
    for raw in lines:
        line = raw.strip()
        column = len(raw) - len(raw.lstrip())
        depth: int | None = None
        prompt = _PROMPT.fullmatch(line) if not line.startswith("!") else None
        if prompt is not None:
            command, mode = prompt["command"].strip(), prompt["mode"]
            requested = _EXEC.fullmatch(command) is not None
            if mode is not None or requested or not command:
                skipping = requested and _SHOWS_CONFIGURATION.fullmatch(command) is None
                if requested or mode is None:
                    yield ""
                    continue
                depth, line = _entered(stack, mode, command, dialect)
                column, flat = depth, False
        elif skipping:
            yield ""
            continue
        if not line or line.startswith("!"):
            stack, flat = ([], False) if column == 0 and line else (stack, flat)
            yield line
            continue
        if dialect.nested and line == "exit" and column == 0 and prompt is None:
            _leave(stack)
            yield line
            continue
        if depth is None and column == 0 and stack and (flat or dialect.spelt("", line) is None):
            # A line at the margin of a text that is laid out is below one only where it is a command there.
            depth, line = _below_flat(stack, line, dialect) or (None, line)
            often = flat and stack[0].mode != "?" and _OFTEN_BELOW.fullmatch(line) is not None
            if depth is None and often and dialect.spelt("", line) is None:
                depth = stack[0].depth + 1
        if depth is None:
            while stack and stack[-1].column >= column:
                stack.pop()
            depth = stack[-1].depth + 1 if stack and column else column
        while stack and stack[-1].depth >= depth:
            stack.pop()
        mode_here = stack[-1].mode if stack else ""
        line = dialect.spelt(mode_here, line) or line
        stack.append(_Open(column, depth, dialect.below(mode_here, line)))
        # An indented line shows that the text is laid out: what stands at the margin then is at the top.
        flat = dialect.nested and prompt is None and (column == 0 or flat) and not raw.startswith((" ", "\t"))
        yield " " * depth + line if dialect.nested else line


def _entered(stack: list[_Open], mode: str, command: str, dialect: CommandSyntax) -> tuple[int, str]:
    """How deep a command at a prompt stands: a mode takes the commands of those around it, too, and the prompts of
    some do not tell how deep they are."""
    depth = _depth(mode)
    there = [entry for entry in stack if entry.depth < depth]
    if there and dialect.spelt(there[-1].mode, command) is None:
        further = _below_flat(stack, command, dialect)
        if further is not None:
            return further
        if dialect.spelt("", command) is not None:
            return 0, command
    return depth, command


def _leave(stack: list[_Open]) -> None:
    """Close the innermost heading whose mode is known, at its ``exit``."""
    while stack and stack.pop().mode == "?":
        pass


def _below_flat(stack: list[_Open], line: str, dialect: CommandSyntax) -> tuple[int, str] | None:
    """Where a line at the margin belongs below the open headings, if it is a command of their modes."""
    for entry in reversed(stack):
        full = dialect.spelt(entry.mode, line)
        if full is not None:
            return entry.depth + 1, full
    return None


def _depth(mode: str) -> int:
    """How deep the lines entered at a prompt stand: ``config-pmap-c`` is below a class of a policy."""
    if "-" not in mode:
        return 0
    return 2 if mode.endswith("-c") else 1


def _unwrap(lines: list[str], dialect: CommandSyntax) -> list[str]:
    """Lines that the screen broke, joined again; each broken piece leaves an empty line."""
    result: list[str] = []
    head, last = -1, 0
    for line in lines:
        first = line.split(" ", 1)[0]
        goes_on = (
            head >= 0
            and last in dialect.widths
            and result[head].startswith(dialect.broken)
            and len(result[head]) < _LONGEST
            and line.strip() != ""
            and not line.startswith("!")
            and first not in (result[head].split(" ", 1)[0], "no", "default", "interface", "router", "exit")
        )
        last = len(line)
        if goes_on:
            result[head] += line
            result.append("")
        else:
            head = len(result)
            result.append(line)
    return result


def merge_objects(tree: Tree) -> Tree:
    """The tree with what stands below the same heading in several places below the first of them."""
    opened: dict[str, list[ConfigLine]] = {}
    heads: list[ConfigLine] = []
    for line in tree:
        # Lines without anything below them may be said twice for a reason: only objects are joined.
        if line.children and line.text in opened:
            opened[line.text].extend(line.children)
            continue
        if line.children:
            opened[line.text] = list(line.children)
        heads.append(line)
    return tuple(
        ConfigLine(line.text, merge_objects(tuple(opened[line.text])), line.number) if line.children else line
        for line in heads
    )
