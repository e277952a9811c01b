"""The catalogue of codes: its messages can be told, the source reports every one, and the page is made of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from qosforge.errors import InputError, Place
from qosforge.finding_codes import SOURCE, USUAL, Wording, explain, load_codes, page, parse_codes
from qosforge.findings import DEFAULT, Severity
from qosforge.note import because, facts_agree, note
from qosforge.resources import read_text

ROOT = Path(__file__).resolve().parents[1]
CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
CODES = load_codes().codes
NOT_FACTS = {
    "requested",
    "applied",
    "variant",
    "device",
    "interface",
    "direction",
    "traffic_class",
    "class_request",
}
"""Keywords of a call that say where a finding is, or which message it has."""


@cache
def _nodes() -> tuple[tuple[Path, ast.Call | ast.Constant], ...]:
    """Calls and constants of the source, with their files: read when a test asks, and gone through once.

    Every process of a test run imports this module.
    """
    return tuple(
        (path.relative_to(ROOT), node)
        for path in sorted((ROOT / "app").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call | ast.Constant)
    )


def _texts(node: ast.expr) -> Iterator[str]:
    """Texts that an expression may come to: its own, or those of its branches."""
    if isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _calls() -> Iterator[tuple[str, ast.Call]]:
    """Calls that report a finding of a code written out, with where they are."""
    for path, node in _nodes():
        if isinstance(node, ast.Call) and node.args and any(map(CODE.fullmatch, _texts(node.args[0]))):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("note", "because"):
                yield f"{path}:{node.lineno}", node


def _told(code: str, call: ast.Call) -> list[list[Wording]]:
    """The messages that a call can choose, one of each group; a group is empty where there is no such message."""
    wordings = CODES[code].wordings if code in CODES else {}
    chosen = [keyword.value for keyword in call.keywords if keyword.arg == "variant"]
    named = [DEFAULT] if not chosen else list(_texts(chosen[0]))
    return [[wordings[name]] if name in wordings else [] for name in named] or [list(wordings.values())]


def test_calls_give_the_facts_of_a_message_of_the_catalogue() -> None:
    wrong = []
    for where, call in _calls():
        given = {keyword.arg for keyword in call.keywords if keyword.arg} - NOT_FACTS
        whole = all(keyword.arg for keyword in call.keywords) and getattr(call.func, "id", "") != "because"

        def fits(wording: Wording, given: set[str] = given, whole: bool = whole) -> bool:
            return given <= wording.facts and (not whole or wording.needs <= given)

        wrong += [
            f"{where}: {code} with {', '.join(sorted(given)) or 'no facts'}"
            for code in _texts(call.args[0])
            for group in _told(code, call)
            if not any(map(fits, group))
        ]

    assert not wrong, f"not as {SOURCE} has it: " + "; ".join(wrong)
    assert len(list(_calls())) > 100


def test_the_source_reports_every_code_and_every_variant() -> None:
    said = {node.value for _, node in _nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    every = {*CODES, *(variant for entry in CODES.values() for variant in entry.variants)} - {DEFAULT}

    assert not every - said, f"nothing reports these of {SOURCE}: {', '.join(sorted(every - said))}"


def test_findings_are_made_by_the_builder_alone() -> None:
    made = {
        str(path)
        for path, node in _nodes()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
    }

    assert made == {"app/qosforge/note.py"}


@pytest.mark.parametrize("code", CODES)
def test_messages_take_declared_facts_and_nothing_else(code: str) -> None:
    entry = CODES[code]
    needed = [wording.needs for wording in entry.wordings.values()]

    assert {*entry.facts, *entry.figures, *entry.conditions} == set().union(*needed)
    assert not {*entry.figures} & {*entry.facts}, "a figure is no text"
    assert not NOT_FACTS & {*entry.facts, *entry.conditions}, "such a keyword says something else"
    assert not entry.conditions & {*entry.facts}, "a condition is no text"


@pytest.mark.parametrize("code", CODES)
def test_every_message_can_be_told(code: str) -> None:
    entry = CODES[code]

    for variant, wording in entry.wordings.items():
        facts = dict.fromkeys(wording.needs, 1)
        off = note(code, variant=variant, **facts | dict.fromkeys(wording.severity.keys() - {USUAL}, False))
        assert off.severity == wording.severity[USUAL]
        assert off.severity in entry.severities
        assert "{" not in off.message
        for condition in wording.severity.keys() - {USUAL}:
            only = dict.fromkeys(wording.severity.keys() - {USUAL}, False) | {condition: True}
            assert note(code, variant=variant, **facts | only).severity == wording.severity[condition]


def test_to_prefer_is_advised_where_the_policy_does_not() -> None:
    preferable = [
        (code, variant, wording)
        for code, entry in CODES.items()
        for variant, wording in entry.wordings.items()
        if wording.prefer
    ]
    assert len(preferable) > 20
    for code, variant, wording in preferable:
        facts = dict.fromkeys(wording.needs, 1)
        told = {asked: note(code, variant=variant, **facts | {"preferred": asked}) for asked in (False, True)}
        hints = {asked: finding.hint or "" for asked, finding in told.items()}
        assert hints[False].endswith(", or say 'prefer: true'"), (code, variant)
        assert "prefer: true" not in hints[True], (code, variant)
        assert hints[True].startswith("the policy prefers it and does without it here; for no warning, "), code
        bare = hints[False].removesuffix(", or say 'prefer: true'")
        assert hints[True].endswith(bare), (code, variant)
        assert all(map(facts_agree, told.values())), (code, variant)
        swapped = told[True].model_copy(update={"facts": told[False].facts})
        assert not facts_agree(swapped), "the hint is that of a policy which prefers it"


def test_no_hint_of_the_catalogue_names_a_preference_of_its_own() -> None:
    """Such a hint would advise it also to a policy that says it already."""
    hints = {wording.hint for entry in CODES.values() for wording in entry.wordings.values()}
    assert not [hint for hint in hints if hint and "say 'prefer: true'" in hint]


def test_a_preference_that_changes_nothing_is_no_entry_of_the_catalogue() -> None:
    source = """
text: a
sections:
  - title: b
    codes:
      c: {severity: error, message: d, meaning: e, why: f, hint: g, example: h, prefer: true}
"""
    with pytest.raises(ValueError, match="would change nothing"):
        _ = parse_codes(source).codes["c"].wordings


@pytest.mark.parametrize("code", CODES)
def test_an_example_is_one_of_the_messages(code: str) -> None:
    entry = CODES[code]
    patterns = [_pattern(wording.message) for wording in entry.wordings.values()]

    assert any(re.search(pattern, entry.example) for pattern in patterns), patterns


def _pattern(message: str) -> str:
    """What a message looks like: anything stands for a fact."""
    return ".+".join(re.escape(part) for part in re.split(r"\{[^{}]+\}", message))


def test_a_finding_has_its_place_and_its_facts() -> None:
    place = Place(device="s2950", direction="output", traffic_class="web", line=9)

    found = note("share-out-of-tolerance", place, requested="35 %", applied="48 %")

    assert (found.device, found.direction, found.traffic_class, found.line) == ("s2950", "output", "web", 9)
    assert found.message == "the device's weights miss the share of the link rate"
    assert found.hint == explain("share-out-of-tolerance").hint
    assert (found.requested, found.applied) == ("35 %", "48 %")


def test_a_reason_is_a_finding_that_learns_its_place() -> None:
    reason = because("police-unsupported", variant="exceed-dscp", dscp=11)

    found = reason.note(Place(device="s2950"), preferred=True)

    assert found.severity is Severity.WARNING
    assert (found.device, found.message) == ("s2950", "the device does not know DSCP 11")


def test_a_hint_that_says_nothing_is_none() -> None:
    assert explain("share-approximate").hint == "nothing"
    assert note("share-approximate").hint is None


def test_a_variant_has_no_hint_that_nobody_sees() -> None:
    hints = {(code, name): v.hint or "" for code, entry in CODES.items() for name, v in entry.variants.items()}

    assert [where for where, hint in hints.items() if hint.startswith("nothing") and hint != "nothing"] == []


def test_wrong_facts_are_refused() -> None:
    with pytest.raises(TypeError, match="lacks name"):
        note("interface-missing")
    with pytest.raises(TypeError, match="does not know part"):
        note("interface-missing", name="a", part=2)
    with pytest.raises(LookupError):
        note("interface-mixing", name="a")
    with pytest.raises(LookupError):
        note("interface-missing", variant="near", name="a")


def test_no_key_of_the_catalogue_stands_twice() -> None:
    assert YAML(typ="safe", pure=True).load(read_text(SOURCE))["sections"]


def test_a_code_stands_in_one_section() -> None:
    assert len(CODES) == sum(len(section.codes) for section in load_codes().sections)


@pytest.mark.parametrize("code", CODES)
def test_an_entry_says_more_than_its_table_row(code: str) -> None:
    entry = explain(code)

    assert CODE.fullmatch(code)
    assert entry.why.endswith(".")
    assert entry.why != entry.meaning
    assert "|" not in entry.meaning + entry.hint, "a table cell ends there"


def test_an_unknown_code_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        explain("mark-losst")

    assert "'mark-losst'" in caught.value.message
    assert caught.value.hint == "did you mean 'mark-lost'?"


def test_the_page_is_current() -> None:
    published = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")

    assert published == page(), "python -m qosforge.finding_codes > docs/findings.md"
    assert all(f"| `{code}` |" in published for code in CODES)
    assert Severity.ERROR in explain("round-trip").severities
