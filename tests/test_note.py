"""A finding keeps the facts of its texts, and is what its texts say."""

from __future__ import annotations

import json
from string import Formatter

import pytest

from qosforge.errors import Place
from qosforge.finding_codes import Wording, load_codes
from qosforge.findings import Finding
from qosforge.note import facts_agree, fill, note
from qosforge.reports.preview import FindingDocument, finding_documents

UNUSED = note("parameter-unused", Place(file="campus.yaml", line=4), name="voice")
LIMITED = note("match-too-large", count=12345, most=8192, largest="ports")


@pytest.mark.parametrize("finding", [UNUSED, LIMITED])
def test_facts_are_kept_when_it_is_stored(finding: Finding) -> None:
    stored = json.loads(json.dumps(finding.model_dump(mode="json")))
    read = Finding.model_validate(stored)
    assert (read.variant, read.facts) == (finding.variant, finding.facts)
    assert read.facts
    assert facts_agree(read)
    assert {name: type(fact) for name, fact in read.facts.items()} == {
        name: type(fact) for name, fact in finding.facts.items()
    }
    assert finding.document()["facts"] == finding.facts
    assert finding_documents([finding])[0].facts == finding.facts


def test_it_is_kept_that_the_policy_prefers_what_cannot_be_had() -> None:
    for preferred in (False, True):
        found = note("wred-unsupported", variant="tail-drop", preferred=preferred)
        read = Finding.model_validate_json(found.model_dump_json())
        assert bool(read.facts["preferred"]) is preferred
        assert facts_agree(read)


def test_what_was_stored_without_facts_is_read() -> None:
    fields = UNUSED.model_dump(mode="json", exclude={"variant", "facts"})
    old = Finding.model_validate(fields)
    assert (old.variant, old.facts) == ("default", {})
    assert old == UNUSED
    document = FindingDocument.model_validate(fields | {"class": None})
    assert (document.variant, document.facts) == ("default", {})
    required = FindingDocument.model_json_schema()["required"]
    assert "message" in required
    assert not {"variant", "facts"} & {*required}


def test_it_is_compared_by_its_texts_and_its_place() -> None:
    same = UNUSED.model_copy(update={"facts": {"name": "video"}, "variant": "other"})
    assert same == UNUSED
    assert list(dict.fromkeys([UNUSED, same])) == [UNUSED]
    assert len(set(finding_documents([UNUSED, same]))) == 1
    for other in ({"message": "another"}, {"line": 5}, {"hint": None}):
        assert UNUSED.model_copy(update=other) != UNUSED
    assert len({UNUSED, UNUSED.model_copy(update={"line": 5})}) == 2


def test_facts_of_texts_that_have_no_words_are_not_kept_twice() -> None:
    problem = note("wrong-input", variant="hinted", problem="classes[0]: extra", advice="take it away")
    assert (problem.message, problem.hint, problem.facts) == ("classes[0]: extra", "take it away", {})
    line = note("line-not-understood", variant="line-in-context", text="hold-queue 75 out", context="Serial0")
    assert line.facts == {"text": "hold-queue 75 out", "context": "Serial0"}, "the message has the word “in”"
    assert note("line-not-understood", variant="line", text="hold-queue 75 out").facts == {}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{count:,} of {name!r}", "12,345 of 'x'"),
        ("nothing", "nothing"),
        ("{other}", None),
        ("{name.upper}", None),
        ("{name:d}", None),
        ("{}", None),
        ("{name", None),
    ],
)
def test_a_template_takes_its_facts_or_is_none(template: str, filled: str | None) -> None:
    assert fill(template, {"count": 12345, "name": "x"}) == filled


def test_facts_that_are_not_those_of_the_texts_do_not_agree() -> None:
    assert facts_agree(UNUSED)
    for facts in ({"name": "video"}, {}, {"name": "voice", "password": "x"}):
        assert not facts_agree(UNUSED.model_copy(update={"facts": facts}))
    assert not facts_agree(UNUSED.model_copy(update={"variant": "gone"}))
    assert not facts_agree(UNUSED.model_copy(update={"code": "gone"}))


SEVERAL = ("vigo1", "vigo2")


def _numbers(wording: Wording) -> set[str]:
    """The facts that a message or hint takes as a number, by a format."""
    parts = (part for text in (wording.message, wording.hint or "") for part in Formatter().parse(text))
    return {name for _, name, how, _ in parts if name and how}


@pytest.mark.parametrize("facts", [SEVERAL, list(SEVERAL)], ids=["tuple", "list"])
def test_several_values_are_never_told_as_python_writes_them(facts: tuple[str, ...] | list[str]) -> None:
    told = []
    for code, entry in load_codes().codes.items():
        for variant, wording in entry.wordings.items():
            given = {name: 1 if name in _numbers(wording) else facts for name in wording.needs}
            found = note(code, variant=variant, **given)
            said = f"{found.message} {found.hint or ''}"
            assert "'vigo1', 'vigo2'" not in said, (code, variant, said)
            told.append("vigo1, vigo2" in said)
    assert sum(told) > len(told) / 2, "most messages take a fact"
