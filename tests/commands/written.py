"""Lines that a pattern describes, drawn at random."""

from __future__ import annotations

import re
from functools import cache

from hypothesis import strategies as st

from qosforge.commands.pattern import ArgumentType, Item, Pattern
from qosforge.dscp import dscp_name

_WORDS = st.from_regex(r"[A-Z][A-Z0-9-]{3,9}", fullmatch=True)
_SOME_WORDS = st.lists(_WORDS, min_size=1, max_size=3)
_BOOLEANS = st.booleans()
# What is drawn from a strategy made anew for each draw costs more to make and to check than to draw.
_integers = cache(st.integers)
_sampled_from = cache(st.sampled_from)


@st.composite
def lines(draw: st.DrawFn, pattern: Pattern) -> str:
    """A line of this form."""
    return " ".join(word for item in pattern.items for word in _written(draw, item))


def _written(draw: st.DrawFn, item: Item) -> list[str]:
    if item.optional and draw(_BOOLEANS):
        return []
    return [word for _ in range(draw(_integers(item.least, item.most))) for word in _once(draw, item)]


def _once(draw: st.DrawFn, item: Item) -> list[str]:
    if item.branches:
        branch = draw(_sampled_from(item.branches))
        return [word for inner in branch for word in _written(draw, inner)]
    if item.word:
        return [item.word]
    if item.bounds:
        return [str(draw(_integers(*item.bounds)))]
    assert item.argument is not None
    if item.argument.rest:
        return draw(_SOME_WORDS)
    return [draw(_values(item.argument))]


@cache
def _values(argument: ArgumentType) -> st.SearchStrategy[str]:
    parse = argument.parse

    def fits(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    if argument.regex != r"\S+":
        drawn = st.from_regex(re.compile(argument.regex, re.ASCII), fullmatch=True)
        return drawn.filter(lambda text: text.isprintable() and " " not in text and fits(text))
    return st.one_of(_WORDS, st.integers(0, 7).map(str), st.integers(0, 63).map(dscp_name)).filter(fits)
