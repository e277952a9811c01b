"""The whole loop on all nine devices, through the command line, looked at over SSH by another client."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE

from .campus import IMPOSSIBLE, POLICY, ROOT, Campus, edited, with_checks

Json = dict[str, Any]

HELD = {
    "r1": ("interface Serial0/0", " service-policy output QOSFORGE-OUT", "  priority percent 50"),
    "r2": ("interface Multilink2", " ppp multilink fragment delay 16", " ppp multilink interleave"),
    "r3": ("interface Serial0/1", " service-policy output QOSFORGE-OUT", "  bandwidth remaining percent 70"),
    "b256": ("interface Multilink1", " ip rtp header-compression iphc-format", "  set dscp af41"),
    "b56": ("interface Multilink1", " ppp multilink fragment-delay 16", " service-policy input QOSFORGE-IN"),
    "s2950": ("wrr-queue bandwidth 30 70 3 0", "wrr-queue cos-map 4 5", " mls qos trust dscp"),
    "s2970": ("mls qos", " priority-queue out", " srr-queue bandwidth share 1 30 70 3"),
    "ers5510": (
        "qos if-assign port 48 name qosforge-trunk",
        "queue-set 4 1p 5 queue 1",
        "qos action 50001 name voice-video",
    ),
    "e300": ("strict-priority unicast 4", " service-policy output QOSFORGE-OUT", " bandwidth-percentage 28"),
}
"""By device, lines that ``show running-config`` must print once the campus intent is kept."""


CONFERENCE = ("vigo1", "vigo2")
BRANCH = ("phone56", "vigo1")


@pytest.fixture(scope="module")
def kept(campus: Campus) -> Json:
    """The first run of the campus intent on devices as they were delivered: what the command itself printed."""
    ended = subprocess.run(
        [Path(sys.executable).with_name("qosforge"), "run", "policies/campus-collaboration.yaml", "--json"],
        cwd=ROOT,
        env=campus.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    document: Json = json.loads(ended.stdout)
    return document


@pytest.fixture(scope="module")
def holding(campus: Campus, kept: Json) -> dict[str, str]:
    """What the devices hold after the first run."""
    del kept
    return campus.all_running()


def outcomes(verdicts: list[Json]) -> dict[tuple[str, str, str], str]:
    return {(v["scenario"], v["traffic_class"], v["path"]): v["verdict"]["outcome"] for v in verdicts}


# -- the campus intent, kept ------------------------------------------------------------------------------
def test_every_class_is_broken_before_and_met_after(kept: Json) -> None:
    before, after = outcomes(kept["verdicts"]["before"]), outcomes(kept["verdicts"]["after"])
    assert (kept["status"], kept["before"], kept["after"], kept["errors"]) == ("kept", "broken", "met", [])
    assert len(before) == 11
    assert set(before.values()) == {"broken"}
    assert after == dict.fromkeys(before, "met")
    assert {scenario for scenario, _, _ in after} == {"layer-3", "branches", "layer-2"}


def test_every_box_was_given_lines_and_confirmed(campus: Campus, kept: Json) -> None:
    assert sorted(kept["devices"]) == sorted(campus.names)
    assert {name: entry["outcome"] for name, entry in kept["devices"].items()} == dict.fromkeys(
        kept["devices"], "confirmed"
    )
    counts = {name: len(entry["lines"]) for name, entry in kept["devices"].items()}
    assert counts.pop("s2950") == 16  # its hosts mark what they send: it has no policy
    assert all(count > 20 for count in counts.values())


@pytest.mark.parametrize("name", HELD)
def test_every_box_says_over_ssh_that_it_holds_the_configuration(
    campus: Campus, holding: Mapping[str, str], name: str
) -> None:
    del holding
    text = campus.ask(name, "show running-config")
    assert [line for line in HELD[name] if line not in text] == []


def test_the_policy_stands_on_the_serial_of_r1(campus: Campus, holding: Mapping[str, str]) -> None:
    del holding
    section = campus.ask("r1", "show running-config interface Serial0/0")
    assert " service-policy output QOSFORGE-OUT" in section
    assert "service-policy input" not in section


def test_the_5510_maps_the_mark_of_the_conference_to_cos_5(campus: Campus, holding: Mapping[str, str]) -> None:
    del holding
    rows = [line.split() for line in campus.ask("ers5510", "show qos egressmap").splitlines()]
    assert [row[1] for row in rows if row[:1] == ["34"]] == ["5"]


@pytest.mark.parametrize("name", HELD)
def test_every_box_has_saved_what_it_holds(campus: Campus, holding: Mapping[str, str], name: str) -> None:
    assert campus.startup(name) == holding[name]


def test_no_commit_confirm_timer_is_left_set(campus: Campus, holding: Mapping[str, str]) -> None:
    del holding
    assert campus.timers() == []


def test_what_the_change_did_is_told_pair_by_pair(kept: Json) -> None:
    bounds = [bound for change in kept["changes"] for bound in change["bounds"]]
    assert bounds
    assert {bound["change"] for bound in bounds} <= {"better", "not worse", "open"}
    assert any(bound["pairs"] >= 8 and bound["change"] == "better" for bound in bounds)
    assert kept["keep"] == "met"


def test_running_it_again_changes_nothing(campus: Campus, kept: Json, holding: Mapping[str, str]) -> None:
    again = campus.command("run", POLICY, "--json")
    assert again.code == 0, again.stderr
    document = json.loads(again.stdout)
    assert (document["status"], document["before"], document["after"]) == ("no_changes", "met", None)
    assert {name: entry["lines"] for name, entry in document["devices"].items()} == {
        name: [] for name in campus.names
    }
    assert {entry["outcome"] for entry in document["devices"].values()} == {"nothing to change"}
    assert campus.all_running() == holding
    assert outcomes(document["verdicts"]["before"]) == outcomes(kept["verdicts"]["after"])


# -- looking, without touching ----------------------------------------------------------------------------
def test_diff_is_empty_and_shows_what_somebody_took_away(campus: Campus, holding: Mapping[str, str]) -> None:
    same = campus.command("diff", POLICY, "--json")
    assert same.code == 0, same.stderr
    assert {entry["device"]: entry["delta"] for entry in json.loads(same.stdout)} == {
        name: [] for name in campus.names
    }
    assert campus.command("diff", POLICY, "-d", "r3").stdout.count("no changes: r3") == 1
    lines = ["interface Serial0/1", "no service-policy output QOSFORGE-OUT"]
    assert campus.type("r3", *lines) == []
    try:
        (entry,) = json.loads(campus.command("diff", POLICY, "--device", "r3", "--json").stdout)
    finally:
        campus.type("r3", lines[0], lines[1].removeprefix("no "))
    assert [line.strip() for line in entry["delta"]] == [lines[0], lines[1].removeprefix("no ")]
    assert lines[1] in [line.strip() for line in entry["inverse"]]
    assert campus.all_running() == holding


def test_measure_judges_what_the_boxes_do_now(campus: Campus, holding: Mapping[str, str], tmp_path: Path) -> None:
    short = with_checks(POLICY, tmp_path / "short.yaml", CONFERENCE, BRANCH)
    packets = tmp_path / "packets.csv"
    met = campus.command("measure", short, "--json", "--packets", str(packets))
    assert met.code == 0, met.stderr
    document = json.loads(met.stdout)
    assert document["outcome"] == "met"
    assert {flow["traffic_class"] for flow in document["measurement"]["scenarios"][0]["flows"]} == {
        "voice-video", "web-and-file", "default",
    }  # fmt: skip
    measured = document["measurement"]["scenarios"]
    kept = sum(len(flow["samples"]) for scenario in measured for flow in scenario["flows"])
    assert len(packets.read_text().splitlines()) == 1 + kept > 1
    impossible = campus.command("measure", with_checks(IMPOSSIBLE, tmp_path / "not.yaml", CONFERENCE))
    assert impossible.code == 1
    assert "broken" in impossible.stdout
    assert campus.all_running() == holding


def test_validate_reads_the_boxes_and_says_that_batfish_did_not_check(
    campus: Campus, holding: Mapping[str, str]
) -> None:
    live = campus.command("validate", POLICY, "--live", "--json")
    assert live.code == 0, live.stderr
    found = [(f["severity"], f["code"]) for f in json.loads(live.stdout)["findings"]]
    assert "error" not in {severity for severity, _ in found}
    assert ("info", "batfish-not-checked") in found
    required = campus.command("validate", POLICY, "--live", "--require-batfish", "--json")
    assert required.code == 1
    assert [
        f["severity"] for f in json.loads(required.stdout)["findings"] if f["code"] == "batfish-not-checked"
    ] == ["error"]
    assert campus.all_running() == holding


def test_a_run_that_needs_batfish_is_refused_without_it(campus: Campus, holding: Mapping[str, str]) -> None:
    refused = campus.command("run", POLICY, "--require-batfish", "--json")
    assert refused.code == 1
    document = json.loads(refused.stdout)
    assert (document["status"], document["devices"]) == ("rejected", {})
    assert campus.all_running() == holding


# -- what was done ----------------------------------------------------------------------------------------
def test_runs_lists_and_show_tells_every_stage(campus: Campus, kept: Json) -> None:
    listed = json.loads(campus.command("runs", "--json").stdout)
    mine = next(entry for entry in listed if entry["run"] == kept["run"])
    assert (mine["status"], mine["verdict"], mine["policy"]) == ("kept", "met", "campus-collaboration")
    assert kept["run"] in campus.command("runs").stdout
    shown = json.loads(campus.command("show", kept["run"][:13], "--json").stdout)
    assert shown["id"] == kept["run"]
    # An inconclusive look is followed by another.
    assert [stage["name"] for stage in shown["stages"] if "-look-" not in stage["name"]] == [
        "read", "compile", "validate", "prepare", "predict", "rollout", "measure-before", "push", "read-back",
        "counters", "measure-after", "compare", "keep",
    ]  # fmt: skip
    assert {stage["outcome"] for stage in shown["stages"]} == {"done"}
    assert all(stage["seconds"] > 0 for stage in shown["stages"])
    with campus.store() as store:
        (prepared,) = (stage for stage in store.stages(kept["run"]) if stage.name == "prepare")
    boxes = prepared.summary.devices
    assert boxes.keys() == set(campus.names)
    assert [name for name, box in boxes.items() if box.gaps != []] == []


def test_what_was_predicted_is_what_the_boxes_then_did(kept: Json) -> None:
    predicted, after = (
        {(v["scenario"], v["traffic_class"], v["path"]): v["verdict"] for v in kept["verdicts"][side]}
        for side in ("predicted", "after")
    )
    assert predicted.keys() == after.keys()
    decided = 0
    for key, verdict in predicted.items():
        assert (verdict["evidence"], after[key]["evidence"]) == ("predicted", "emulated")
        for before_push, after_push in zip(verdict["bounds"], after[key]["bounds"], strict=True):
            if "inconclusive" not in (before_push["outcome"], after_push["outcome"]):
                decided += 1
                assert before_push["outcome"] == after_push["outcome"], (key, before_push["label"])
    assert decided >= 20


def test_the_report_holds_configurations_diffs_findings_and_the_plots(campus: Campus, kept: Json) -> None:
    text = Path(kept["report"]).read_text()
    assert [name for name in campus.names if not re.search(rf">\s*{name}\b", text)] == []
    assert "ppp multilink fragment delay 16" in text  # a configuration
    assert "+ service-policy output QOSFORGE-OUT" in text  # a difference
    assert "@@" in text
    assert "priority-cap-not-enforced" in text  # a finding
    assert text.count("<svg") >= len(kept["verdicts"]["after"])  # a plot for every class and path judged
    assert "Asked: p95 at most 50 ms" in text  # with the objective in it


# -- the intent that no device can meet ----------------------------------------------------------------------
def test_what_cannot_be_met_is_rolled_back_to_what_was_kept(
    campus: Campus, holding: Mapping[str, str], tmp_path: Path
) -> None:
    changes = [("priority: {percent: 50}", "priority: {percent: 45}"), ("delay: 16 ms", "delay: 14 ms")]
    policy = edited(IMPOSSIBLE, tmp_path / "other.yaml", *changes)
    policy = with_checks(policy, tmp_path / "impossible.yaml", CONFERENCE)
    ended = campus.command("run", policy, "--json")
    assert ended.code == 1, ended.stderr
    document = json.loads(ended.stdout)
    assert (document["status"], document["after"], document["errors"]) == ("rolled_back", "broken", [])
    changed = [name for name, entry in document["devices"].items() if entry["lines"]]
    assert {"r1", "r2", "r3", "b256", "b56", "e300"} <= set(changed)
    assert {document["devices"][name]["outcome"] for name in changed} == {"undone"}
    assert campus.all_running() == holding
    assert {name: campus.startup(name) for name in campus.names} == holding
    assert campus.timers() == []
    page = tmp_path / "new" / "run.html"
    assert campus.command("show", document["run"], "--html", page).code == 0
    assert page.read_text() == Path(document["report"]).read_text()


@pytest.mark.needs("pdf")
def test_a_run_can_be_shown_on_paper(campus: Campus, kept: Json, tmp_path: Path) -> None:
    paper = tmp_path / "new" / "run.pdf"
    assert campus.command("show", kept["run"], "--pdf", paper).code == 0
    assert paper.read_bytes().startswith(b"%PDF-")


def test_what_cannot_be_met_changes_nothing_where_there_is_nothing_to_change(
    campus: Campus, holding: Mapping[str, str], tmp_path: Path
) -> None:
    policy = with_checks(IMPOSSIBLE, tmp_path / "impossible.yaml", CONFERENCE)
    ended = campus.command("run", policy, "--json")
    assert (ended.code, json.loads(ended.stdout)["status"]) == (1, "no_changes")
    assert campus.all_running() == holding


def test_what_cannot_be_met_leaves_delivered_boxes_byte_for_byte(
    campus: Campus, kept: Json, tmp_path: Path
) -> None:
    del kept
    policy = with_checks(IMPOSSIBLE, tmp_path / "impossible.yaml", CONFERENCE)
    campus.reset()
    before = campus.all_running()
    startups = {name: campus.startup(name) for name in campus.names}
    ended = campus.command("run", policy, "--json")
    assert ended.code == 1, ended.stderr
    document = json.loads(ended.stdout)
    assert (document["status"], document["after"], document["errors"]) == ("rolled_back", "broken", [])
    assert {entry["outcome"] for entry in document["devices"].values()} == {"undone"}
    assert campus.all_running() == before
    assert campus.timers() == []
    for name in campus.names:
        assert commands(campus.startup(name)) == commands(startups[name])


def commands(text: str) -> list[str]:
    """A configuration without comments; a device prints what it was delivered with in its own order of blanks."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("!")]


def test_push_changes_and_saves_without_measuring(campus: Campus, holding: Mapping[str, str]) -> None:
    campus.reset()
    pushed = campus.command("push", POLICY, "--json")
    assert pushed.code == 0, pushed.stderr
    document = json.loads(pushed.stdout)
    assert (document["status"], document["before"], document["after"]) == ("kept", None, None)
    assert "measure" not in pushed.stderr
    assert campus.all_running() == holding
    assert {name: campus.startup(name) for name in campus.names} == holding
