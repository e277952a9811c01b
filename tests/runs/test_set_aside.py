"""Which finding is set aside: just one, of Batfish's, and never silently."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from qosforge.errors import Place
from qosforge.findings import Finding, FindingRow, Severity
from qosforge.note import note
from qosforge.runs.record.set_aside import RecordedSetAside, SetAside, set_aside


def reference(device: str, name: str) -> Finding:
    place = Place(device=device, line=7, file="p.yaml", traffic_class="web")
    return note("batfish-parse-warning", place, text=name, line=3, comment="unknown")


FOUND = (reference("r1", "web"), reference("r1", "voice"), reference("r2", "web"))


def aside(**fields: str) -> RecordedSetAside:
    return RecordedSetAside(**{"code": "batfish-parse-warning", "reason": "known", "by": "ann", **fields})


def test_the_one_that_is_meant_becomes_a_note_at_its_place() -> None:
    first = FOUND[0].model_copy(update={"rows": (FindingRow(text="a"),)})
    found = set_aside((first, *FOUND[1:]), aside(device="r1", text="'web'"))
    assert found[1:] == FOUND[1:]
    assert (found[0].code, found[0].severity) == ("set-aside", Severity.INFO)
    assert (found[0].device, found[0].line, found[0].traffic_class) == ("r1", 7, "web")
    assert found[0].rows == first.rows
    for words in ("by ann (known)", "batfish-parse-warning", first.message):
        assert words in found[0].message


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({"device": "r1"}, Severity.WARNING),
        ({"device": "r3"}, Severity.INFO),
        ({"device": ""}, Severity.INFO),
        ({"device": "r2", "text": "voice"}, Severity.INFO),
        ({"device": "r2", "code": "batfish-failed"}, Severity.INFO),
    ],
)
def test_none_or_several_are_told(fields: dict[str, str], severity: Severity) -> None:
    *rest, said = set_aside(FOUND, aside(**fields))
    assert tuple(rest) == FOUND
    assert (said.code, said.severity) == ("set-aside-unmatched", severity)


@pytest.mark.parametrize(
    "code", ["dangling-reference", "round-trip", "batfish", "batfish-", "batfish-X", "set-aside"]
)
def test_our_own_findings_cannot_be(code: str) -> None:
    with pytest.raises(ValidationError):
        SetAside(code=code, reason="known")


def test_without_a_reason_nothing_is() -> None:
    with pytest.raises(ValidationError):
        SetAside(code="batfish-failed", reason="")


def test_without_a_word_all_stays() -> None:
    assert set_aside(FOUND, None) == FOUND
