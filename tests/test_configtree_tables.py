"""Tables of lines: cleared by one line, or line by line in the reverse order of the rules."""

from __future__ import annotations

import pytest

from qosforge.configtree import Grammar, LineRule, difference, keep_lines, merge, transition, transitions

GRAMMAR = Grammar(
    rules=(
        LineRule("group", r"group (?P<name>\S+)", defines="group {name}"),
        LineRule("element", r"element (?P<id>\d+) .+", group="filters", negate="no element {id}"),
        LineRule(
            "policy",
            r"policy (?P<id>\d+) (?P<name>\S+)",
            group="filters",
            refers=("group {name}",),
            negate="no policy {id}",
        ),
        LineRule("row", r"map (?P<key>\d) \d", key="{key}", group="map", reset="default map"),
        LineRule("way", r"way (?P<side>\w+) \d", group="map", reset="no ways {side}"),
    )
)


def step(current: str, target: str) -> list[str]:
    return transition(GRAMMAR.parse(current), GRAMMAR.parse(target), GRAMMAR)


def test_a_table_without_a_reset_is_taken_back_line_by_line() -> None:
    before = "element 1 a\npolicy 1 g\ngroup g\n"
    after = "element 1 b\npolicy 1 g\ngroup g\n"
    assert step(before, after) == ["no policy 1", "no element 1", "element 1 b", "policy 1 g"]


def test_additions_leave_the_rest_alone() -> None:
    assert step("element 1 a\n", "element 1 a\nelement 2 b\n") == ["element 2 b"]
    assert step("map 1 1\n", "map 1 1\nmap 2 2\n") == ["map 2 2"]


def test_what_a_table_refers_to_is_made_before_and_goes_after() -> None:
    filled = "policy 1 g\nelement 1 a\ngroup g\n"
    assert step("", filled) == ["group g", "element 1 a", "policy 1 g"]
    assert step(filled, "") == ["no policy 1", "no element 1", "no group g"]


def test_a_table_with_a_reset() -> None:
    assert step("map 1 1\nmap 2 2\n", "map 2 3\n") == ["default map", "map 2 3"]
    assert step("map 1 1\n", "") == ["default map"]


def test_a_table_of_several_resets_is_cleared_by_each_once() -> None:
    held = "map 1 1\nway in 1\nway in 2\nway out 1\n"
    assert step(held, "map 2 3\n") == ["default map", "no ways in", "no ways out", "map 2 3"]
    assert step(held, "") == ["default map", "no ways in", "no ways out"]
    assert step("map 1 1\n", "way in 1\n") == ["default map", "way in 1"]


def test_merging_replaces_tables_as_a_whole() -> None:
    current = GRAMMAR.parse("element 1 a\nmap 1 1\nother\n")
    merged = merge(current, GRAMMAR.parse("policy 2 g\n"), GRAMMAR)
    assert [line.text for line in merged] == ["map 1 1", "other", "policy 2 g"]


KEPT = Grammar(
    rules=(
        LineRule("class", r"class (?P<id>\d+) .*", group="tree", reset="no tree", place="class {id}"),
        LineRule("note", r"note .*", group="tree"),
    )
)


@pytest.mark.parametrize(
    ("held", "wanted", "lines"),
    [
        ("class 1 a\nclass 2 odd\n", "class 1 a\nclass 3 a\n", ["class 3 a"]),
        ("class 1 a\nclass 2 odd\n", "class 1 a\nclass 2 odd\nclass 3 a\n", ["class 3 a"]),
        ("class 1 a\nclass 2 odd\n", "class 1 a\nclass 2 a\n", ["no tree", "class 1 a", "class 2 a"]),
        ("class 1 a\nclass 2 odd\n", "class 1 b\n", ["no tree", "class 1 b"]),
        ("class 1 a\nclass 2 odd\n", "class 1 b\nclass 2 odd\n", ["no tree", "class 1 b", "class 2 odd"]),
        ("class 1 a\nnote odd\n", "class 1 b\n", ["no tree", "class 1 b"]),
    ],
)
def test_kept_lines_of_a_table_go_with_it_where_it_is_cleared(held: str, wanted: str, lines: list[str]) -> None:
    """Where one stands in the place of a line that comes, the table is; else what comes is entered beside it."""
    current = KEPT.parse(held)
    current = keep_lines(current, {line.number: line.text for line in current if "odd" in line.text})
    target = merge(current, KEPT.parse(wanted), KEPT)
    delta, inverse = transitions(current, target, KEPT)
    assert delta == lines
    if "no tree" in delta:
        came_back = [line.text for line in current if not line.text.startswith("note")]
        assert inverse == ["no tree", *came_back]
        gone = {line.removeprefix("-") for line in difference(current, target, KEPT) if line.startswith("-")}
        assert gone == {line for line in came_back if line not in wanted.splitlines()}
