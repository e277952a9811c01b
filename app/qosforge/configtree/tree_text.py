"""Write a configuration tree as text that the same grammar parses back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qosforge.configtree.tree import Grammar, Tree, as_text


def tree_text(tree: Tree, grammar: Grammar) -> str:
    """The text of a tree: indented by depth, or closed by ``exit`` where the device's text has no indentation."""
    return as_text(list(_lines(tree, grammar, 0)))


def _lines(tree: Tree, grammar: Grammar, depth: int) -> Iterator[str]:
    for line in tree:
        yield " " * depth + line.text
        yield from _lines(line.children, grammar, depth + 1)
        if depth == 0 and grammar.flat_blocks and re.fullmatch(grammar.flat_blocks, line.text):
            yield "exit"
