"""Compute what a merge would change, as text."""

from __future__ import annotations

from collections.abc import Iterable

from cli_candidate.candidate import CommandLine, normalise

_Path = tuple[str, ...]


def merge_diff(
    candidate: Iterable[CommandLine], running: Iterable[CommandLine], absent_is_off: tuple[str, ...] = ()
) -> str:
    """The candidate's commands that ``running`` does not hold already, in the order they are sent.

    ``+`` marks a command that adds, ``-`` one that takes away (``no ...``, ``default ...``, shown as
    sent), a blank the context lines around them. A ``no`` counts as done only when the device prints
    that very ``no``, or when its subject starts with one of ``absent_is_off`` and is not there:
    other subjects may be on by default without being printed. The candidate is followed command by
    command, so that a detach followed by an attach of the same policy shows both. Empty when nothing
    would change.
    """
    held = {line.path for line in running}
    shown: list[str] = []
    open_context: _Path = ()
    for line in candidate:
        sign = _effect(line, held, absent_is_off)
        if sign is None:
            continue
        path = line.path
        for depth, header in enumerate(line.context):
            if open_context[: depth + 1] != path[: depth + 1]:
                shown.append(f" {' ' * depth}{header}")
                open_context = path[: depth + 1]
        shown.append(f"{sign}{' ' * line.depth}{normalise(line.text)}")
        open_context = path
    return "\n".join(shown)


def _effect(line: CommandLine, held: set[_Path], absent_is_off: tuple[str, ...]) -> str | None:
    """``+`` or ``-`` when the command changes something (``held`` is brought up to date), else None."""
    path = line.path
    verb, _, subject = path[-1].partition(" ")
    if verb not in {"no", "default"} or not subject:
        if path in held:
            return None
        held.discard((*path[:-1], f"no {path[-1]}"))
        held.add(path)
        return "+"
    undone = _undone_by(subject, path[:-1], held)
    if not undone:
        if path in held or subject.startswith(absent_is_off):
            return None
        held.add(path)
        return "-"
    size = line.depth + 1
    held.difference_update({other for other in held if other[:size] in undone})
    return "-"


def _undone_by(subject: str, context: _Path, held: set[_Path]) -> set[_Path]:
    """The commands that ``no SUBJECT`` takes away: the very one, else those it abbreviates."""
    exact = (*context, subject)
    if exact in held:
        return {exact}
    depth = len(context)
    words = subject.split()
    return {
        path
        for path in held
        if len(path) == depth + 1 and path[:depth] == context and _abbreviates(words, path[-1].split())
    }


def _abbreviates(words: list[str], full: list[str]) -> bool:
    """Whether ``words`` are ``full`` with words left out, e.g. ``class-map X`` of ``class-map match-all X``."""
    if words[0] != full[0]:
        return False
    rest = iter(full)
    return all(word in rest for word in words)
