"""Patterns of commands: what they read, and what is wrong with a line that they do not read."""

from __future__ import annotations

import re

import pytest

from qosforge.commands.pattern import Pattern

PRIORITY = "priority percent <1-100>:percent [<32-2000000>:burst]"
MATCH = "match [not]:negated ip dscp DSCP:dscp*8"
CLASS_MAP = "class-map [match-any|match-all]:mode WORD:name"
END = "end {any|host WORD:at|WORD:at WORD:mask}"


@pytest.mark.parametrize(
    ("pattern", "line", "values"),
    [
        (PRIORITY, "priority percent 50", {"percent": 50}),
        (
            PRIORITY,
            "priority percent 50 64",
            {"percent": 50, "burst": 64},
        ),
        ("priority percent <1-100>:percent", "priority percent 101", None),
        ("priority percent <1-100>:percent", "priority percent", None),
        ("priority percent <1-100>", "priority percent 0", None),
        (
            MATCH,
            "match not ip dscp ef af41 8",
            {"negated": "not", "dscp": (46, 34, 8)},
        ),
        ("match ip dscp DSCP:dscp*8", "match ip dscp no-such-name", None),
        ("match ip dscp DSCP:dscp*8", "match ip dscp 1 2 3 4 5 6 7 8 9", None),
        ("share <1-255>:weights*=4", "share 1 2 3 4", {"weights": (1, 2, 3, 4)}),
        ("share <1-255>:weights*=4", "share 1 2 3", None),
        ("bandwidth {<8-100>:kbps|percent <1-100>:percent}", "bandwidth percent 9", {"percent": 9}),
        ("bandwidth {<8-100>:kbps|percent <1-100>:percent}", "bandwidth 9", {"kbps": 9}),
        ("set precedence PRECEDENCE:precedence", "set precedence flash-override", {"precedence": 4}),
        (
            CLASS_MAP,
            "class-map match-all X",
            {"mode": "match-all", "name": "X"},
        ),
        (CLASS_MAP, "class-map X", {"name": "X"}),
        ("description REST:text", "description a b  c", {"text": "a b  c"}),
        (END, "end host 10.0.0.1", {"at": "10.0.0.1"}),
        (
            END,
            "end 10.0.0.0 0.0.0.255",
            {"at": "10.0.0.0", "mask": "0.0.0.255"},
        ),
    ],
)
def test_a_line_is_read_into_values_or_not_at_all(
    pattern: str, line: str, values: dict[str, object] | None
) -> None:
    assert Pattern(pattern).read(line) == values


@pytest.mark.parametrize("pattern", ["a {b", "a [b}", "a b]", "a <5-x>", "a {[b] c|d}", "[a] b", ""])
def test_a_malformed_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"pattern|branch"):
        Pattern(pattern).read("a b")


def test_its_expression_takes_lines_out_of_range_too_and_arguments_can_be_narrowed() -> None:
    expression = re.compile(Pattern("list WORD:name [<1-9>:number]").expression({"name": r"OURS\S*"}))
    assert expression.fullmatch("list OURS-1 77") is not None
    assert expression.fullmatch("list THEIRS 1") is None
