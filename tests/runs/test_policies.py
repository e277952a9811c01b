"""Policies in versions: kept byte for byte, numbered once, compared by text and by meaning."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.database.connections import Database
from app.errors import InputError
from app.intent.written import Written
from app.runs.artifacts import ArtifactStore
from app.runs.policies import Policies, PolicyUnknown

GOLD = """version: 1
intent: gold   # kept as it is
include: [classes/own.yaml]
apply: [{{interfaces: wan, direction: output}}]
tolerance: {tolerance}\r
"""
OWN = """classes:
  - {name: voice, match: {any: [{dscp: ef}]}, mark: {dscp: ef}, treatment: {priority: {percent: 20}}}
  - {name: default, treatment: {bandwidth: {remaining_percent: 100}}}
"""


def gold(tolerance: str = "5 %", own: str = OWN) -> Written:
    return Written(GOLD.format(tolerance=tolerance), "ci/gold.yaml", {"ci/classes/own.yaml": own})


@pytest.fixture
def policies(tmp_path: Path) -> Iterator[Policies]:
    database = Database(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    yield Policies(database, ArtifactStore(tmp_path / "artifacts"))
    database.close()


def test_the_shipped_policies_are_there_as_version_0(policies: Policies) -> None:
    assert "rfc4594-12" in policies.names()
    shipped = policies.get("rfc4594-12")
    assert shipped.about.number == 0
    assert "classes/rfc4594-12.yaml" in " ".join(shipped.included)
    assert [v.number for v in policies.versions("rfc4594-12")] == [0]


def test_a_text_comes_back_byte_for_byte(policies: Policies) -> None:
    stored, new = policies.store("gold", gold(), "ana", "first", {"commit": "abc"})
    assert (stored.number, new) == (1, True)
    back = policies.get("gold", 1)
    assert back.text == gold().text
    assert back.included == {"classes/own.yaml": OWN}
    assert (back.about.author, back.about.comment, back.about.source) == ("ana", "first", {"commit": "abc"})


def test_the_same_again_is_no_new_version(policies: Policies) -> None:
    first, _ = policies.store("gold", gold(), "ana")
    again, new = policies.store("gold", gold(), "ben")
    assert (again, new) == (first, False)
    other, new = policies.store("gold", gold("6 %"), "ben")
    assert (other.number, new) == (2, True)
    assert policies.get("gold").about == other
    back, new = policies.store("gold", gold(), "ben")
    assert (back.number, back.version, new) == (3, first.version, True)


def test_a_version_over_a_shipped_policy_leaves_it_as_version_0(policies: Policies) -> None:
    text = policies.get("rfc4594-4").text + "# ours\n"
    policies.store("rfc4594-4", Written(text), "ana")
    assert [v.number for v in policies.versions("rfc4594-4")] == [1, 0]
    assert policies.get("rfc4594-4", 0).text != text
    assert {v.name: v.number for v in policies.newest()}["rfc4594-4"] == 1


def test_versions_stored_at_once_get_numbers_of_their_own(policies: Policies) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: policies.store("gold", gold(f"{n} %"), "ana")[0].number, range(1, 17)))
    assert sorted(made) == list(range(1, 17))


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("silver", gold(), "not called 'silver'"),
        ("gold", Written(gold().text), "there is no 'classes/own.yaml'"),
        (
            "gold",
            Written(gold().text, included={"classes/own.yaml": OWN, "classes/b.yaml": OWN}),
            "nothing includes",
        ),
        ("gold", Written(gold().text, "/etc/passwd"), "no name of a file"),
        ("gold", Written(gold().text, "g.yaml", {"classes/own.yaml": OWN}, {"a": 1}), "no parameters beside it"),
        ("gold", gold(own=OWN.replace("percent: 20", "percent: many")), "own.yaml:2"),
    ],
)
def test_what_cannot_be_stored_is_told(policies: Policies, name: str, written: Written, said: str) -> None:
    with pytest.raises(InputError) as caught:
        policies.store(name, written, "ana")
    assert said in str(caught.value)
    with pytest.raises(PolicyUnknown):
        policies.get("gold")


@pytest.mark.parametrize(("name", "number"), [("none", "latest"), ("rfc4594-4", 1), ("../rfc4594-4", 0)])
def test_what_is_not_there_is_told(policies: Policies, name: str, number: int) -> None:
    with pytest.raises(PolicyUnknown) as caught:
        policies.get(name, number)
    assert repr(name) in str(caught.value)


def test_versions_differ_in_text_and_in_meaning(policies: Policies) -> None:
    policies.store("gold", gold(), "ana")
    policies.store("gold", gold("7 %", OWN.replace("20", "30")), "ana")
    found = policies.difference("gold", 1, "latest")
    assert "-tolerance: 5 %" in found.text
    assert "+tolerance: 7 %" in found.text
    assert {(c.path, c.after) for c in found.changes} >= {("classes.voice.treatment.priority.percent", 30)}


def test_another_way_to_write_the_same_is_no_change_of_meaning(policies: Policies) -> None:
    policies.store("gold", gold(), "ana")
    policies.store("gold", gold("5%"), "ana")
    found = policies.difference("gold", 1, 2)
    assert found.text
    assert found.changes == ()
