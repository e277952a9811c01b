"""Differences of texts: what they say leads from one to the other, at a cost that no text chooses."""

from __future__ import annotations

import random
import re
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.reports.line_difference import MOST_IN_ORDER, line_difference

LINES = st.lists(st.sampled_from(["!", "interface a", " mls qos", " shutdown", "policy-map x"]), max_size=40)


def patched(before: list[str], difference: str) -> list[str]:
    """``before`` with the changes of a difference in unified format, at the places that it names."""
    made: list[str] = []
    at = 0
    for line in difference.splitlines()[2:]:
        if heading := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line):
            first = int(heading[1]) - (heading[2] != "0")
            made += before[at:first]
            at = first
            continue
        if line[0] in " -":
            assert before[at] == line[1:]
            at += 1
        if line[0] in " +":
            made.append(line[1:])
    return made + before[at:]


@given(LINES, LINES)
def test_it_leads_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    difference = line_difference("\n".join(before), "\n".join(after))
    old, new = "\n".join(before).splitlines(), "\n".join(after).splitlines()
    assert (difference == "") == (old == new)
    assert patched(old, difference) == new


def test_two_lines_stand_around_a_change() -> None:
    before = [f"line {number}" for number in range(1, 21)]
    after = [*before[:9], "another", *before[10:]]
    assert line_difference("\n".join(before), "\n".join(after)).splitlines() == [
        "--- before",
        "+++ after",
        "@@ -8,5 +8,5 @@",
        " line 8",
        " line 9",
        "-line 10",
        "+another",
        " line 11",
        " line 12",
    ]


def test_of_a_larger_change_it_has_what_one_text_has_more_often() -> None:
    generator = random.Random(7)
    before = [f"x{generator.randrange(110)}" for _ in range(MOST_IN_ORDER + 1)]
    after = [f"x{generator.randrange(110)}" for _ in range(MOST_IN_ORDER + 1)]
    lines = line_difference("\n".join(before), "\n".join(after)).splitlines()
    assert lines[2] == "@@ 5,001 lines became 5,001: what one text has more often, in no order @@"
    removed = Counter(line[1:] for line in lines[3:] if line[0] == "-")
    added = Counter(line[1:] for line in lines[3:] if line[0] == "+")
    assert removed == Counter(before) - Counter(after)
    assert added == Counter(after) - Counter(before)


@pytest.mark.hostile
def test_what_it_costs_grows_with_the_texts_alone() -> None:
    def seconds(count: int) -> float:
        generator = random.Random(7)
        texts = ["\n".join(f"x{generator.randrange(110)}" for _ in range(count)) for _ in range(2)]
        began = time.process_time()
        line_difference(*texts)
        return time.process_time() - began

    assert seconds(400_000) < 8 * min(seconds(100_000) for _ in range(3)) + 0.1
