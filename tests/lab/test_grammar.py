"""The command grammar: abbreviation, ranges, and the three ways a line fails."""

from __future__ import annotations

import pytest

from qoslab.grammar import Command, Grammar, SyntaxRefused, choice

GRAMMAR = Grammar(
    [
        Command("bandwidth {<1-2000000>|percent <1-100>}:value", "bandwidth", no="bandwidth [LINE]"),
        Command("class-map [match-all|match-any]:how WORD:name", "class-map", no=True),
        Command("match [not]:neg ip dscp CODE:v*3", "match"),
        Command("description LINE:text", "description"),
        Command("show running-config", "running"),
        Command("show reload", "reload"),
    ],
    {"CODE": choice(("ef", "af11", "af12"), {"46": "ef"}, high=63)},
)


@pytest.mark.parametrize(
    ("line", "command", "text", "args"),
    [
        ("band 100", "bandwidth", "bandwidth 100", {"value": ["100"]}),
        ("bandwidth per 0050", "bandwidth", "bandwidth percent 50", {"value": ["percent", "50"]}),
        ("CLASS-MAP X", "class-map", "class-map X", {"name": ["X"]}),
        ("class match-any X", "class-map", "class-map match-any X", {"how": ["match-any"], "name": ["X"]}),
        ("match ip dscp 46 7 AF11", "match", "match ip dscp ef 7 af11", {"v": ["ef", "7", "af11"]}),
        ("match not ip dscp ef", "match", "match not ip dscp ef", {"neg": ["not"], "v": ["ef"]}),
        ("desc a  b # c", "description", "description a  b # c", {"text": ["a  b # c"]}),
    ],
)
def test_recognises(line: str, command: str, text: str, args: dict[str, list[str]]) -> None:
    found, match = GRAMMAR.match(line)
    assert (found.run, match.text, match.args) == (command, text, args)


@pytest.mark.parametrize(
    ("line", "kind", "column"),
    [
        ("foo", "invalid", 0),
        ("bandwidth 0", "invalid", 10),
        ("bandwidth 2000001", "invalid", 10),
        ("bandwidth percent 101", "invalid", 18),
        ("show rux", "invalid", 7),
        ("  bandwidth x", "invalid", 12),
        ("match ip dscp ef ef ef ef", "invalid", 23),
        ("match ip dscp 64", "invalid", 14),
        ("match ip dscp af", "invalid", 14),
        ("bandwidth", "incomplete", 9),
        ("class-map", "incomplete", 9),
        ("show re extra", "invalid", 8),
        ("show r", "ambiguous", 5),
        ("no match ip dscp ef", "invalid", 3),
    ],
)
def test_refuses(line: str, kind: str, column: int) -> None:
    with pytest.raises(SyntaxRefused) as caught:
        GRAMMAR.match(line)
    assert (caught.value.kind, caught.value.column) == (kind, column)


def test_negation_and_default() -> None:
    assert GRAMMAR.match("no bandwidth 5")[1].negated
    assert not GRAMMAR.match("bandwidth 5")[1].negated
    assert GRAMMAR.match("default class-map X")[1].defaulted


@pytest.mark.parametrize("pattern", ["a {b", "a ]", "[a|b"])
def test_a_broken_pattern_is_a_mistake_of_the_table(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"bracket|pattern"):
        Grammar([Command(pattern, "x")], {})
