"""Sizes of an intent: what is too long or comes to too much is an error at its line, and is not made first."""

from __future__ import annotations

import time
from collections.abc import Iterable
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.errors import InputError, QosforgeError
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.intent.match import MatchTerm, meet

pytestmark = pytest.mark.hostile

HEAD = "version: 1\nintent: sized\n"
TAIL = "apply: [{role: edge, interfaces: lan, direction: input}]\n"


def problems(text: str) -> list[QosforgeError]:
    with pytest.raises(InputError) as raised:
        parse_intent(text, "sized.yaml")
    return raised.value.problems()


def matched(match: str, more: str = "") -> LoadedIntent:
    return parse_intent(f"{HEAD}classes:\n  - name: a\n    match: {match}\n{more}{TAIL}", "sized.yaml")


NUMBERS = ("0x" + "f" * 5000, "9" * 5000, "0o" + "7" * 6000, "1" * 3000 + ".5", "1_" * 2000 + "1")


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: n[:4])
@pytest.mark.parametrize("style", ["{}", "&a {}"], ids=["plain", "anchored"])
def test_a_number_of_thousands_of_digits_is_told_at_its_line(number: str, style: str) -> None:
    written = style.format(number)
    for text, line in (
        (f"intent: sized\nversion: {written}\nclasses: [{{name: a}}]\n{TAIL}", 2),
        (f"{HEAD}classes:\n  - name: a\n    match: {{any: [{{dscp: {written}}}]}}\n{TAIL}", 5),
        (f"{HEAD}parameters: {{x: {written}}}\nclasses: [{{name: a}}]\n{TAIL}", 3),
    ):
        (problem,) = problems(text)
        assert (problem.where.file, problem.where.line) == ("sized.yaml", line)
        assert f"is a number of {len(number):,} characters" in problem.message
        assert "at most 100" in problem.hint
        assert len(str(problem)) < 300


def test_a_setting_of_thousands_of_digits_is_told_too() -> None:
    with pytest.raises(InputError, match="cannot be read as a value"):
        parse_intent(f"{HEAD}classes: [{{name: a}}]\n{TAIL}", "sized.yaml", ["x=0x" + "f" * 5000])


CLASSES = "classes: [{name: a, match: {any: [{dscp: ef}]}}]\n"
LISTS = {
    "apply": ("{role: edge, direction: input}, ", 600),
    "verify": ("{from: a, to: b, classes: [a]}, ", 700),
    "applications": ("{name: x, protocol: tcp, ports: 1}, ", 513),
    "link_efficiency": ("{when: {framing: ppp}}, ", 513),
}


@pytest.mark.parametrize("key", LISTS)
def test_a_list_that_is_too_long_is_told_with_its_length_and_its_bound(key: str) -> None:
    entry, count = LISTS[key]
    tail = "" if key == "apply" else TAIL
    told = next(p for p in problems(f"{HEAD}{CLASSES}{tail}{key}: [{entry * count}]\n") if "too many" in p.message)
    assert (told.where.line, told.where.path) == (5 if tail else 4, key)
    assert f"{count} entries" in told.message
    assert "at most 512" in told.hint


def test_classes_of_all_levels_are_counted_together() -> None:
    def classes(letter: str, count: int) -> str:
        return ", ".join(f"{{name: {letter}{n}, match: {{any: [{{dscp: ef}}]}}}}" for n in range(count))

    treatment = f"treatment: {{bandwidth: {{percent: 5}}, children: [{classes('c', 200)}]}}"
    tree = f"{{name: top, match: {{any: [{{dscp: ef}}]}}, {treatment}}}"
    told = problems(f"{HEAD}classes: [{classes('p', 100)}, {tree}]\n{TAIL}")
    assert any("the tree has 301 classes, at most 256" in p.message and p.where.line == 3 for p in told)


def test_alternatives_that_join_to_too_much_are_told_at_their_match() -> None:
    many = ", ".join(f"{{source: 10.{n // 250}.{n % 250}.0/24}}" for n in range(1000))
    told = problems(f"{HEAD}classes:\n  - name: a\n    match: {{any: [{many}], all: [{many}]}}\n{TAIL}")
    (joined,) = (p for p in told if "join" in p.message)
    assert joined.where.line == 5
    assert "501,500,000 values, at most 65,536" in joined.message
    assert "prefixes" in joined.hint


def test_any_and_all_are_joined_where_they_are_few() -> None:
    text = (
        "{any: [{protocol: tcp, source_port: [80, 100-200]}], all: [{protocol: tcp, source_port: [150-300, 80]}]}"
    )
    match = matched(text).intent.classes[0].match
    assert match is not None
    (term,) = match.alternatives()
    assert term.source_port == ((80, 80), (150, 200))


def test_long_lists_of_addresses_are_joined() -> None:
    hosts = ", ".join(f"10.{n}.0.1/32" for n in range(250))
    text = f"{{any: [{{source: 10.0.0.0/8}}], all: [{{source: [{hosts}]}}, {{source: [{hosts}]}}]}}"
    match = matched(text).intent.classes[0].match
    assert match is not None
    (term,) = match.alternatives()
    assert len(term.source) == 250


def test_two_lists_of_all_the_addresses_that_a_text_has_room_for_are_joined_in_no_time() -> None:
    nets = [f"10.{n // 256}.{n % 256}.0/24" for n in range(20_000)]
    one = MatchTerm.model_validate({"source": nets})
    begun = time.process_time()
    met = meet(one, one)
    assert met == one
    assert time.process_time() - begun < 5


PREFIXES = st.lists(
    st.tuples(st.integers(0, 31), st.integers(27, 32)).map(
        lambda p: f"10.0.0.{p[0] >> (32 - p[1]) << (32 - p[1])}/{p[1]}"
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(PREFIXES, PREFIXES)
def test_prefixes_in_both_are_the_addresses_in_both(one: list[str], other: list[str]) -> None:
    met = meet(MatchTerm.model_validate({"source": one}), MatchTerm.model_validate({"source": other}))
    assert addresses(() if met is None else met.source) == addresses(one) & addresses(other)


def addresses(prefixes: Iterable[str]) -> set[Any]:
    return {address for prefix in prefixes for address in ip_network(prefix)}


def test_of_many_problems_the_first_are_told() -> None:
    wrong = ", ".join(f"{{dscp: nonsense{n}}}" for n in range(1000))
    told = problems(f"{HEAD}classes: [{{name: a, match: {{any: [{wrong}]}}}}]\n{TAIL}")
    assert len(told) == 101
    assert "more than 100 problems" in told[-1].message


def unknown_names() -> dict[str, str]:
    applications = ", ".join(f"application-{n}" for n in range(15_000))
    judged = ", ".join(f"klass{n}" for n in range(60))
    verify = f"{{from: a, to: b, classes: [{judged}]}}, " * 400
    references = ", ".join(f"'${{x{n}}}'" for n in range(9_000))
    known = ", ".join(f"p{n}: 1" for n in range(9_000))
    match = f"{{any: [{{application: [{applications}]}}]}}"
    return {
        "applications": f"{HEAD}classes: [{{name: a, match: {match}}}]\n{TAIL}",
        "classes": f"{HEAD}{CLASSES}{TAIL}verify: [{verify}]\n",
        "parameters": f"{HEAD}parameters: {{{known}}}\ndescription: [{references}]\n{CLASSES}{TAIL}",
    }


@pytest.mark.parametrize("kind", ["applications", "classes", "parameters"])
def test_thousands_of_names_that_nobody_knows_are_told_in_no_time(kind: str) -> None:
    text = unknown_names()[kind]
    begun = time.process_time()
    told = problems(text)
    assert time.process_time() - begun < 5
    assert len(told) <= 101
    assert all(len(str(p)) < 3000 for p in told)
