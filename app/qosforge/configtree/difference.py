"""The difference of two configuration trees as people read it: lines that go, lines that come, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from qosforge.configtree.tables import without_freed
from qosforge.configtree.transition import ManagedLine, managed
from qosforge.configtree.tree import ConfigLine, Grammar, Tree

CONTEXT = 2
"""Lines shown around a change inside an object that it is in."""
MOST_IN_ORDER = 5_000
"""Lines of one object, between what both begin and end with, that are compared in their order; see
`qosforge.reports.line_difference`. Of more, those that go stand before those that come."""

_Pair = tuple[ManagedLine | None, ManagedLine | None]


def difference(current: Tree, target: Tree, grammar: Grammar) -> tuple[str, ...]:
    """Lines that begin with ``-`` (goes), ``+`` (comes) or a space (stays), then indented as devices print them.

    A setting that changes its value is its old line and, right below, its new one. Above a change stand the
    headings of the objects it is in, around it up to `CONTEXT` lines of the same object that stay. Lines under no
    rule are left out where they stay. Empty where nothing that a rule speaks of differs.
    """
    current = without_freed(current, target, grammar)
    return tuple(_compare(current, target, grammar, "", 0))


def headings_only(lines: Sequence[str]) -> tuple[str, ...]:
    """A difference without the lines that stay, but for headings of what changes."""
    following = (*lines[1:], "")
    return tuple(
        line
        for line, after in zip(lines, following, strict=False)
        if line[:1] != " " or _depth(line) < _depth(after)
    )


def _depth(line: str) -> int:
    return len(line) - 1 - len(line[1:].lstrip(" "))


def _compare(
    old: Tree, new: Tree, grammar: Grammar, context: str, depth: int, *, ordered: bool = False
) -> Iterator[str]:
    """The lines below one object; ``ordered`` where the device keeps all of them in their order."""
    before, after = managed(old, context, grammar), managed(new, context, grammar)
    names = list(before) if ordered else _aligned(before, after)
    pairs = [_shown(pair, grammar, depth) for pair in _paired(names, before, after)]
    around = CONTEXT if depth else 0
    changed = [number for number, (_, differs) in enumerate(pairs) if differs]
    near = {n for number in changed for n in range(number - around, number + around + 1)}
    for number, (lines, _) in enumerate(pairs):
        if number in near:
            yield from lines


def _aligned(before: dict[str, ManagedLine], after: dict[str, ManagedLine]) -> list[str]:
    """The names of ``before``; those in both that are no list stand as in ``after``, as their order counts not."""
    free = {name for name in before if name in after and not after[name].rule.listed}
    in_order = iter([name for name in after if name in free])
    return [next(in_order) if name in free else name for name in before]


def _paired(old: list[str], before: dict[str, ManagedLine], after: dict[str, ManagedLine]) -> Iterator[_Pair]:
    """What is one setting or object in both, in the order of both; without a partner where it goes or comes."""
    coming = list(after)
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, coming, strict=False)))
    yield from ((before[key], after[key]) for key in old[:head])
    old, coming = old[head:], coming[head:]
    if max(len(old), len(coming)) > MOST_IN_ORDER:
        yield from ((before[key], after.get(key)) for key in old)
        yield from ((None, after[key]) for key in coming if key not in before)
        return
    for _, first, last, from_, to in SequenceMatcher(None, old, coming, autojunk=False).get_opcodes():
        if old[first:last] == coming[from_:to]:
            yield from ((before[key], after[key]) for key in old[first:last])
        else:
            yield from ((before[key], None) for key in old[first:last])
            yield from ((None, after[key]) for key in coming[from_:to])


def _shown(pair: _Pair, grammar: Grammar, depth: int) -> tuple[list[str], bool]:
    """The lines of a pair, and whether anything in it changes."""
    old, new = pair
    if old is None or new is None:
        return _alone(old, new, grammar, depth)
    was, will = old.line, new.line
    below = list(_compare(was.children, will.children, grammar, new.rule.id, depth + 1, ordered=new.rule.ordered))
    if was.text == will.text:
        return [_line(" ", will, depth), *below], bool(below)
    return [_line("-", was, depth), _line("+", will, depth), *below], True


def _alone(
    old: ManagedLine | None, new: ManagedLine | None, grammar: Grammar, depth: int
) -> tuple[list[str], bool]:
    if new is not None:
        return list(_whole("+", new.line, depth)), True
    assert old is not None
    if not old.rule.standing:
        return list(_whole("-", old.line, depth)), True
    # Never taken back because a target does not name it: what stands below it may be.
    below = list(_compare(old.line.children, (), grammar, old.rule.id, depth + 1))
    return [_line(" ", old.line, depth), *below], bool(below)


def _whole(sign: str, line: ConfigLine, depth: int) -> Iterator[str]:
    yield _line(sign, line, depth)
    for child in line.children:
        yield from _whole(sign, child, depth + 1)


def _line(sign: str, line: ConfigLine, depth: int) -> str:
    return f"{sign}{' ' * depth}{line.text}"
