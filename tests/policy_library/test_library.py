"""Policies in versions: kept byte for byte, numbered once, compared by text and by meaning."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from qosforge.access.roles import NotAllowed, Principal, Role
from qosforge.artifacts.store import FileArtifacts
from qosforge.database.connections import Database
from qosforge.errors import InputError
from qosforge.intent.policy_source import PolicySource
from qosforge.policy_library.library import Policies, PolicyLibrary
from qosforge.policy_library.versions import PolicyUnknown
from tests.principals import somebody

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


def gold(tolerance: str = "5 %", own: str = OWN) -> PolicySource:
    return PolicySource(GOLD.format(tolerance=tolerance), "ci/gold.yaml", {"ci/classes/own.yaml": own})


@pytest.fixture
def library(tmp_path: Path) -> Iterator[PolicyLibrary]:
    database = Database(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    yield PolicyLibrary(database, FileArtifacts(tmp_path / "artifacts"))
    database.close()


@pytest.fixture
def policies(library: PolicyLibrary) -> Policies:
    """As an admin of every network sees them."""
    return library.seen_by(somebody("ana"))


def test_the_shipped_policies_are_there_as_version_0(policies: Policies) -> None:
    assert "rfc4594-12" in policies.names()
    shipped = policies.get("rfc4594-12")
    assert shipped.about.number == 0
    assert "classes/rfc4594-12.yaml" in " ".join(shipped.included)
    assert [v.number for v in policies.versions("rfc4594-12")] == [0]


def test_a_text_comes_back_byte_for_byte(policies: Policies) -> None:
    stored, new = policies.store("gold", gold(), "first", {"commit": "abc"}, network="*")
    assert (stored.number, new) == (1, True)
    back = policies.get("gold", 1)
    assert back.text == gold().text
    assert back.included == {"classes/own.yaml": OWN}
    assert (back.about.author, back.about.comment, back.about.source) == ("ana", "first", {"commit": "abc"})


def test_the_same_again_is_no_new_version(library: PolicyLibrary, policies: Policies) -> None:
    first, _ = policies.store("gold", gold(), network="*")
    ben = library.seen_by(somebody("ben"))
    again, new = ben.store("gold", gold())
    assert (again, new) == (first, False)
    other, new = ben.store("gold", gold("6 %"))
    assert (other.number, new) == (2, True)
    assert policies.get("gold").about == other
    back, new = ben.store("gold", gold())
    assert (back.number, back.version, new) == (3, first.version, True)


def test_a_version_over_a_shipped_policy_leaves_it_as_version_0(policies: Policies) -> None:
    text = policies.get("rfc4594-4").text + "# ours\n"
    policies.store("rfc4594-4", PolicySource(text), network="*", shadow_shipped=True)
    assert [v.number for v in policies.versions("rfc4594-4")] == [1, 0]
    assert policies.get("rfc4594-4", 0).text != text
    assert {v.name: v.number for v in policies.newest()}["rfc4594-4"] == 1


def test_versions_stored_at_once_get_numbers_of_their_own(policies: Policies) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: policies.store("gold", gold(f"{n} %"), network="*")[0].number, range(1, 17)))
    assert sorted(made) == list(range(1, 17))


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("silver", gold(), "not called 'silver'"),
        ("gold", PolicySource(gold().text), "there is no 'classes/own.yaml'"),
        (
            "gold",
            PolicySource(gold().text, included={"classes/own.yaml": OWN, "classes/b.yaml": OWN}),
            "nothing includes",
        ),
        ("gold", PolicySource(gold().text, "/etc/passwd"), "no name of a file"),
        (
            "gold",
            PolicySource(gold().text, "g.yaml", {"classes/own.yaml": OWN}, {"a": 1}),
            "no parameters beside it",
        ),
        ("gold", gold(own=OWN.replace("percent: 20", "percent: many")), "own.yaml:2"),
    ],
)
def test_what_cannot_be_stored_is_told(policies: Policies, name: str, written: PolicySource, said: str) -> None:
    with pytest.raises(InputError) as caught:
        policies.store(name, written, network="*")
    assert said in str(caught.value)
    with pytest.raises(PolicyUnknown):
        policies.get("gold")


@pytest.mark.parametrize(("name", "number"), [("none", "latest"), ("rfc4594-4", 1), ("../rfc4594-4", 0)])
def test_what_is_not_there_is_told(policies: Policies, name: str, number: int) -> None:
    with pytest.raises(PolicyUnknown) as caught:
        policies.get(name, number)
    assert repr(name) in str(caught.value)


def test_versions_differ_in_text_and_in_meaning(policies: Policies) -> None:
    policies.store("gold", gold(), network="*")
    policies.store("gold", gold("7 %", OWN.replace("20", "30")))
    found = policies.difference("gold", 1, "latest")
    assert "-tolerance: 5 %" in found.text
    assert "+tolerance: 7 %" in found.text
    assert {(c.path, c.after) for c in found.changes} >= {("classes.voice.treatment.priority.percent", 30)}


def test_another_way_to_write_the_same_is_no_change_of_meaning(policies: Policies) -> None:
    policies.store("gold", gold(), network="*")
    policies.store("gold", gold("5%"))
    found = policies.difference("gold", 1, 2)
    assert found.text
    assert found.changes == ()


def test_a_policy_belongs_to_its_network_from_the_first_version_on(library: PolicyLibrary) -> None:
    ann = library.seen_by(somebody("ann", Role.OPERATOR, "campus"))
    with pytest.raises(InputError, match="not said whose it is"):
        ann.store("gold", gold())
    assert ann.store("gold", gold(), network="campus")[0].network == "campus"
    assert ann.store("gold", gold("6 %"))[0].network == "campus"
    with pytest.raises(InputError, match="belongs to network campus"):
        library.seen_by(somebody("root")).store("gold", gold("7 %"), network="*")


@pytest.mark.parametrize(
    "caller", [somebody("ben", Role.OPERATOR, "lab"), somebody("vic", Role.VIEWER), somebody("ada", Role.APPROVER)]
)
def test_what_is_for_all_networks_is_written_by_admins_of_all(library: PolicyLibrary, caller: Principal) -> None:
    seen = library.seen_by(caller)
    with pytest.raises(NotAllowed, match="only an administrator of every network may do this"):
        seen.store("gold", gold(), network="*")
    library.seen_by(somebody("root")).store("gold", gold(), network="*")
    assert not seen.may_store("gold")
    with pytest.raises(NotAllowed):
        seen.store("gold", gold("6 %"))


def test_a_policy_is_seen_by_those_of_its_network_alone(library: PolicyLibrary) -> None:
    library.seen_by(somebody("ann", Role.OPERATOR, "campus")).store("gold", gold(), network="campus")
    vic = library.seen_by(somebody("vic", Role.VIEWER, "campus"))
    assert "gold" in vic.names()
    other = library.seen_by(somebody("ben", Role.OPERATOR, "lab"))
    assert "gold" not in other.names()
    assert "gold" not in {version.name for version in other.newest()}
    for ask in (other.get, other.versions, other.may_store, lambda name: other.difference(name, 1, 1)):
        with pytest.raises(PolicyUnknown):
            ask("gold")
    with pytest.raises(InputError, match="a network that you do not see"):
        other.store("gold", gold(), network="lab")


def test_a_shipped_policy_is_hidden_by_saying_so_and_for_all_alone(library: PolicyLibrary) -> None:
    ours = PolicySource(library.seen_by(somebody("root")).get("rfc4594-4").text + "# ours\n")
    ann = library.seen_by(somebody("ann", Role.OPERATOR, "campus"))
    with pytest.raises(InputError, match="ships with qosforge for all networks"):
        ann.store("rfc4594-4", ours, network="campus", shadow_shipped=True)
    root = library.seen_by(somebody("root"))
    with pytest.raises(InputError, match="would be hidden"):
        root.store("rfc4594-4", ours, network="*")
    assert root.store("rfc4594-4", ours, network="*", shadow_shipped=True)[0].shadows_shipped
    assert {version.name for version in ann.newest() if version.shadows_shipped} == {"rfc4594-4"}
    assert not ann.get("rfc4594-4", 0).about.shadows_shipped
    root.store("rfc4594-4", PolicySource(ours.text + "# more\n"))  # it is hidden already
