"""Rows of command tables whose handlers only store what was typed, in canonical form."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from qoslab.config import Section
from qoslab.grammar import Command, Match
from qoslab.shell import Reply, Row, Run, Shell

_SPECIAL = frozenset("<[{|]}:*")


def row(pattern: str, run: Run, no: str | bool | None = None) -> Row:
    """A row with its own handler."""
    return Command(pattern, run, no)


def lead(pattern: str) -> str:
    """The literal words a pattern begins with."""
    words: list[str] = []
    for word in pattern.split():
        if word.isupper() or _SPECIAL & set(word):
            break
        words.append(word)
    return " ".join(words)


def setting(
    pattern: str,
    *,
    key: str = "",
    rank: int = 50,
    many: bool = False,
    on: bool = False,
    off: bool = False,
    defaults: Iterable[str] = (),
    form: Callable[[Match], str] | None = None,
) -> Row:
    """A line that is kept as typed.

    ``many``: every distinct line is kept (otherwise a new value replaces the old one under ``key``, which is
    the pattern's leading words). ``on``: the default is on, so ``no`` is what prints. ``off``: the ``no``
    form prints too though the default is off. ``defaults``: canonical lines that are not printed.
    """
    head = lead(pattern)
    unprinted = frozenset(defaults)

    def run(shell: Shell, match: Match) -> None:
        section = shell.section
        text = form(match) if form is not None and not match.undone else match.text
        name = text if many else key or head
        if match.undone:
            section.remove(name)
            if not match.defaulted and (on or off):
                shell.store(Section(f"no {head if not many else text}", key=name, rank=rank))
        elif text in unprinted or (on and text == head):
            section.remove(name)
        else:
            shell.store(Section(text, key=name, rank=rank))

    no: str | bool = True if many or head == pattern else f"{head} [LINE]"
    return Command(pattern, run, no)


def group(
    pattern: str,
    mode: str,
    *,
    rank: int = 50,
    key: Callable[[Match], str] | None = None,
) -> Row:
    """A line that opens a section and its mode; ``no`` removes the section."""

    def run(shell: Shell, match: Match) -> None:
        name = key(match) if key is not None else match.text
        if match.undone:
            shell.section.remove(name)
            return
        held = shell.section.get(name)
        if held is None or held.text != match.text:
            held = shell.store(Section(match.text, key=name, rank=rank, mode=mode))
        shell.enter(mode, held)

    return Command(pattern, run, True)


def leaving() -> list[Row]:
    """``exit``, ``end`` and ``do`` of every configuration mode."""

    def leave(shell: Shell, match: Match) -> None:
        del match
        shell.leave()
        if not shell.configuring:
            shell.box.configuration_ended(shell)

    def end(shell: Shell, match: Match) -> None:
        del match
        shell.end()

    def do(shell: Shell, match: Match) -> Reply:
        return shell.run_exec(match["command"])

    return [Command("exit", leave), Command("end", end), Command("do LINE:command", do)]
