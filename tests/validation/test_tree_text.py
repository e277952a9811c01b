"""Trees as text."""

from __future__ import annotations

from qosforge.configtree import Grammar
from qosforge.configtree.tree_text import tree_text

INDENTED = "policy-map A\n class b\n  priority percent 10\n class c\ninterface X\n service-policy output A\n"
FLAT = "qos agent\ninterface Ethernet ALL\nqos if-assign port 1\nqos if-assign port 2\nexit\nqos apply\n"


def test_indented_text_comes_back() -> None:
    grammar = Grammar(rules=())
    assert tree_text(grammar.parse(f"!\n{INDENTED}end\n"), grammar) == INDENTED


def test_blocks_without_indentation_are_closed() -> None:
    grammar = Grammar(rules=(), flat_blocks=r"interface .+")
    text = tree_text(grammar.parse(FLAT), grammar)
    assert grammar.parse(text) == grammar.parse(FLAT)
    assert [line.strip() for line in text.splitlines()] == FLAT.splitlines()


def test_nothing_is_no_text() -> None:
    assert tree_text((), Grammar(rules=())) == ""
