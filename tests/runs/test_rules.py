"""Rules that came after a run was created hold it too, and nothing lets it off those it began under."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qosforge.inventory.changes import Approval, ChangeRules, Window
from qosforge.resources import root
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.settings import Settings


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Folder of the one network of an installation."""
    return shutil.copytree(root() / "inventories" / "infn-fnal", tmp_path / "inventories" / "infn-fnal")


def rules(network: Path, *, four_eyes: bool = False) -> NetworkRules:
    return NetworkRules(
        Settings(var_dir=network.parent.parent / "var", inventories_dir=network.parent, four_eyes=four_eyes)
    )


def test_what_is_declared_later_holds_beside_what_was_then(network: Path) -> None:
    asked = ChangeRules(windows=(Window(from_="22:00", to="04:00"),))
    now = rules(network)
    assert now.effective("infn-fnal", "none", asked).changes == (asked, ChangeRules())
    (network / "changes.yaml").write_text("freezes: [{from: 2026-12-18, to: 2027-01-07, reason: year end}]\n")
    held = now.effective("infn-fnal", "none", asked)
    assert held.changes[0] == asked
    assert held.changes[1].closed_by(datetime(2026, 12, 20, tzinfo=UTC)) == "a change freeze (year end)"


@pytest.mark.parametrize(
    ("asked", "present", "setting", "holds"),
    [
        ("none", "approval: any", False, "any"),
        ("any", "approval: none", False, "any"),
        ("any", "approval: four_eyes", False, "four_eyes"),
        ("four_eyes", "approval: none", False, "four_eyes"),
        ("none", "zone: UTC", True, "four_eyes"),
        ("none", "approval: none", True, "none"),
    ],
)
def test_the_stricter_approval_holds(
    network: Path, asked: Approval, present: str, setting: bool, holds: Approval
) -> None:
    (network / "changes.yaml").write_text(present)
    assert rules(network, four_eyes=setting).effective("infn-fnal", asked, ChangeRules()).approval == holds


def test_rules_that_cannot_be_read_are_told(network: Path) -> None:
    (network / "changes.yaml").write_text("freezes: next week\n")
    held = rules(network).effective("infn-fnal", "none", ChangeRules())
    assert "the rules of infn-fnal cannot be read now" in held.unreadable
    assert "changes.yaml" in held.unreadable


def test_a_folder_that_cannot_be_read_is_not_taken_for_none(network: Path) -> None:
    loop = network.parent / "loop"
    loop.symlink_to(loop)
    held = rules(loop / network.name).effective("infn-fnal", "none", ChangeRules())
    assert "the folder of the networks cannot be read" in held.unreadable


def test_a_network_of_elsewhere_has_the_rules_it_came_with(network: Path) -> None:
    asked = ChangeRules(approval="any")
    assert rules(network).effective("campus", "any", asked).changes == (asked,)
    gone = rules(network / "no" / "folder").effective("infn-fnal", "any", asked)
    assert (gone.changes, gone.unreadable) == ((asked,), "")


def test_rules_say_in_which_file_they_stand_now(network: Path) -> None:
    """A folder elsewhere may have the name of a network of the installation, and other rules."""
    now = rules(network)
    assert now.effective("infn-fnal", "none", ChangeRules()).file == "inventories/infn-fnal/changes.yaml"
    assert now.effective("elsewhere", "none", ChangeRules()).file == ""
