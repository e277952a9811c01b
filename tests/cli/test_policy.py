"""`qosforge policy` and `qosforge application`: what there is to begin from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from qosforge.intent.applications import load_catalogue
from qosforge.intent.policy_source import shipped_policies
from qosforge.resources import root
from tests.client.support import Answer, Asked, document, scripted

from .conftest import Command


def test_the_policies_that_ship_are_listed_with_their_purpose(qosforge: Command) -> None:
    listed = json.loads(qosforge("policy", "list", "--json").stdout)
    assert [one["policy"] for one in listed] == list(shipped_policies())
    (campus,) = [one for one in listed if one["policy"] == "campus-collaboration"]
    assert (campus["classes"], campus["checks"]) == (3, 11)
    assert all(one["purpose"] for one in listed)
    assert campus["purpose"] in qosforge("policy", "list").stdout


def test_a_policy_that_cannot_be_read_says_why_in_the_list(qosforge: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("version: 1\nintent: broken\n")
    (one,) = json.loads(qosforge("policy", "list", tmp_path, "--json").stdout)
    assert "classes" in one["error"]
    (tmp_path / "good.yaml").write_text((root() / "policies" / "campus-collaboration.yaml").read_text())
    (tmp_path / "torn.yaml").write_text("intent: [\n")
    listed = qosforge("policy", "list", tmp_path)
    assert (listed.code, "None" in listed.stdout) == (1, False)
    assert any(line.split()[:3] == ["good", "3", "11"] for line in listed.stdout.splitlines())
    told = "".join(listed.stderr.split())
    assert f"{tmp_path}/torn.yaml:2:1:isnotYAML" in told
    assert f"{tmp_path}/broken.yaml:1:1:missingkey'classes'" in told
    assert qosforge("policy", "list", tmp_path, "--json").code == 1
    assert qosforge("policy", "list", tmp_path / "nowhere").code == 2


def test_a_policy_is_shown_by_its_classes(qosforge: Command) -> None:
    shown = qosforge("policy", "show", "campus-collaboration")
    assert shown.code == 0
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert any(
        line.startswith(
            "voice-video any application rtp-audio rtp-video; dscp ef af41 dscp af41, cos 5 priority percent"
        )
        for line in lines
    )
    assert "role edge middle, interfaces wan, direction output" in lines
    path = root() / "policies" / "campus-collaboration.yaml"
    assert qosforge("policy", "show", path, "--yaml").stdout.rstrip() == path.read_text().rstrip()
    assert json.loads(qosforge("policy", "show", path, "--json").stdout)["intent"] == "campus-collaboration"
    unknown = qosforge("policy", "show", "campus-colaboration")
    assert unknown.code == 2
    assert "qosforge policy list" in unknown.stderr


def test_classes_below_others_are_shown_too(qosforge: Command) -> None:
    names = [line.split()[:1] for line in qosforge("policy", "show", "torino-link-sharing").stdout.splitlines()]
    inner = json.loads(qosforge("policy", "show", "torino-link-sharing", "--json").stdout)
    below = [one["name"] for class_ in inner["classes"] for one in class_.get("treatment", {}).get("children", [])]
    assert below
    assert all([name] in names for name in below)


@pytest.mark.parametrize("start", ["rfc4594-4", "campus-collaboration"])
def test_a_new_policy_is_that_which_it_begins_as(qosforge: Command, tmp_path: Path, start: str) -> None:
    made = qosforge("policy", "new", "office", "--from", start, "--in", tmp_path, "--json")
    assert json.loads(made.stdout) == {"made": str(tmp_path / "office.yaml")}
    ours = json.loads(qosforge("policy", "show", tmp_path / "office.yaml", "--json").stdout)
    theirs = json.loads(qosforge("policy", "show", start, "--json").stdout)
    assert ours == theirs | {"intent": "office"}
    assert qosforge("policy", "new", "office", "--in", tmp_path).code == 2


def test_a_new_policy_is_not_parted_from_what_it_includes(qosforge: Command, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "classes.yaml").write_text("classes:\n  - {name: default, treatment: {}}\n")
    (tmp_path / "there" / "own.yaml").write_text(
        "version: 1\nintent: own\ninclude: [classes.yaml]\napply: [{interfaces: lan, direction: output}]\n"
    )
    refused = qosforge("policy", "new", "office", "--from", tmp_path / "there" / "own.yaml", "--in", tmp_path)
    assert refused.code == 2
    assert not (tmp_path / "office.yaml").exists()
    assert (
        qosforge("policy", "new", "b", "--from", tmp_path / "there/own.yaml", "--in", tmp_path / "there").code == 0
    )


def test_applications_are_listed(qosforge: Command) -> None:
    assert json.loads(qosforge("application", "list", "--json").stdout).keys() == load_catalogue().keys()
    told = qosforge("application", "list").stdout
    assert ["https", "tcp", "443", "exact"] in [line.split()[:4] for line in told.splitlines()]


STORED = {
    "name": "gold",
    "number": 3,
    "version": "ab" * 32,
    "author": "ann",
    "comment": "four classes",
    "source": None,
    "at": "2026-01-02T03:04:05+00:00",
    "network": "campus",
    "trusted_on": ["campus"],
    "shadows_shipped": False,
}


def _stored_policies(asked: Asked) -> Answer:
    text = (root() / "policies" / "campus-collaboration.yaml").read_text(encoding="utf-8")
    if asked.path.endswith("/policies"):
        return document({"policies": [STORED]})
    return document({"about": STORED, "text": text, "included": {}})


def test_policies_of_a_service_are_listed_and_shown(qosforge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_TOKEN", "qf_secret")
    with scripted(_stored_policies) as (url, asked):
        listed = qosforge("--server", url, "policy", "list")
        shown = qosforge("--server", url, "policy", "show", "gold@3")
        local = qosforge("--server", url, "policy", "new", "silver")
    assert listed.code == 0
    assert re.search(r"gold +3 +campus +ann +four classes", listed.stdout)
    assert shown.code == 0
    assert "gold@3" in shown.stdout
    assert "voice-video" in shown.stdout
    assert [one.path for one in asked] == ["/api/v1/policies", "/api/v1/policies/gold/versions/3"]
    assert (local.code, "policy new works on this machine only" in local.stderr) == (2, True)


def test_a_service_of_the_environment_is_not_asked_to_make_a_policy(
    qosforge: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("QOSFORGE_SERVER", "http://127.0.0.1:9")
    assert qosforge("policy", "new", "silver", "--in", tmp_path).code == 0
