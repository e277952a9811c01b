"""Commands that show configuration."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from qosforge.cli import policies, previews
from qosforge.cli.output import print_findings
from qosforge.compiler.candidate import Candidate
from qosforge.configtree import Gap
from qosforge.deploy.not_saved import LiveState
from qosforge.findings import Finding, Severity
from qosforge.inventory.loader import load_network
from qosforge.preview import policy_check
from qosforge.resources import root
from tests.device_texts import said_by

from .conftest import Command

POLICY = root() / "policies" / "campus-collaboration.yaml"


def test_configuration_is_printed_whole_line_by_line(qosforge: Command) -> None:
    shown = qosforge("compile", POLICY, "--device", "ers5510").stdout
    golden = (root() / "tests" / "golden" / "campus-collaboration" / "ers5510.cfg").read_text()
    long = max(golden.splitlines(), key=len)
    assert long in shown.splitlines()


@pytest.mark.parametrize("as_json", [False, True])
def test_diff_shows_where_a_policy_is_missing_meanwhile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    campus = root() / "inventories" / "campus"
    held = {d.name: (campus / str(d.startup)).read_text(encoding="utf-8") for d in load_network(campus).devices}
    gap = Gap("interface Serial0/0", 1, 2)
    monkeypatch.setattr(previews, "_read_devices", lambda *_: LiveState(said_by(held)))
    monkeypatch.setattr(policy_check, "make_candidate", lambda d, *_: Candidate(d.name, ("one",), ("two",), (gap,)))

    with pytest.raises(SystemExit):
        policies.diff(POLICY, device=["r1"], as_json=as_json)

    said = capsys.readouterr().out
    if as_json:
        assert json.loads(said)[0]["gaps"] == [{"place": "interface Serial0/0", "first": 1, "lines": 2}]
    else:
        assert str(gap) in " ".join(said.split())


@pytest.mark.parametrize("device", ["r1", "s2950"])
def test_one_device_is_compiled_with_the_findings_that_concern_it(qosforge: Command, device: str) -> None:
    every = json.loads(qosforge("compile", POLICY, "--json").stdout)["findings"]

    document = json.loads(qosforge("compile", POLICY, "--device", device, "--json").stdout)

    assert document["findings"] == [f for f in every if f["device"] in {None, device}]
    assert len(document["findings"]) < len(every)
    assert [d["name"] for d in document["devices"]] == [device]


def test_what_a_finding_does_not_say_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Finding(code="x", severity=Severity.INFO, message="m", requested="a")
    print_findings([asked, asked.model_copy(update={"requested": None, "applied": "b", "message": "n"})])

    assert [line for line in capsys.readouterr().out.splitlines() if "(" in line] == [
        "info    x  m (requested a)",
        "info    x  n (applied b)",
    ]


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict",), 1)])
def test_reports_for_pipelines_are_written(
    qosforge: Command, tmp_path: Path, strict: tuple[str, ...], code: int
) -> None:
    files = {name: tmp_path / "out" / f"r.{name}" for name in ("sarif", "junit", "markdown")}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    ended = qosforge("validate", POLICY, *strict, *options)
    assert ended.code == code
    results = json.loads(files["sarif"].read_text())["runs"][0]["results"]
    places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results}
    assert places == {"policies/campus-collaboration.yaml"}
    failures = fromstring(files["junit"].read_text()).get("failures")
    assert (failures == "0") == (code == 0)
    assert "campus\\-collaboration" in files["markdown"].read_text().replace("-", "\\-")


def test_a_preview_for_a_comment_has_every_device(qosforge: Command, tmp_path: Path) -> None:
    assert qosforge("compile", POLICY, "--markdown", tmp_path / "p.md").code == 0
    shown = (tmp_path / "p.md").read_text()
    assert shown.count("<details>") == len(load_network(root() / "inventories" / "campus").devices) + 1
    assert "policy-map" in shown


def test_what_kept_a_policy_from_being_compiled_is_in_the_reports(qosforge: Command, tmp_path: Path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text("version: 1\nintent: x\nclasses: 3\n")
    sarif, junit = tmp_path / "r.sarif", tmp_path / "r.xml"
    ended = qosforge("lint", policy, "--sarif", sarif, "--junit", junit)
    assert ended.code == 2
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert {r["ruleId"] for r in results} == {"wrong-input"}
    assert 3 in {r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in results}
    assert fromstring(junit.read_text()).get("failures") == "1"


def test_a_report_that_cannot_be_written_is_reported_first(qosforge: Command, tmp_path: Path) -> None:
    ended = qosforge("lint", POLICY, "--sarif", tmp_path)
    assert (ended.code, ended.stdout) == (2, "")
    assert "cannot be written" in ended.stderr


ODD_MARK = """\
version: 1
intent: odd-mark
classes:
  - name: odd
    match: {any: [{dscp: 43}]}
    treatment: {priority: {percent: 10}}
apply:
  - {devices: [r1, s2950], direction: output}
"""
"""A 2950 knows thirteen DSCPs, and 43 is none of them."""


@pytest.mark.parametrize(
    ("command", "ending"), [(("compile",), "cfg"), (("openconfig", "export"), "json")], ids=lambda each: each[0]
)
def test_a_device_with_errors_has_no_file(
    qosforge: Command, tmp_path: Path, command: tuple[str, ...], ending: str
) -> None:
    policy, folder = tmp_path / "p.yaml", tmp_path / "out"
    policy.write_text(ODD_MARK)
    folder.mkdir()
    (folder / f"s2950.{ending}").write_text("of an earlier policy")

    ended = qosforge(*command, policy, "-d", "r1", "-d", "s2950", "--output", folder)

    assert ended.code == 1
    assert [path.name for path in folder.iterdir()] == [f"r1.{ending}"]
    assert f"s2950.{ending}: not complete" in " ".join(ended.stderr.split())
    assert any("s2950" in line and "not complete" in line for line in ended.stdout.splitlines())
    document = json.loads(qosforge(*command, policy, "-d", "r1", "-d", "s2950", "--json").stdout)
    assert {each["name"]: each["complete"] for each in document["devices"]} == {"r1": True, "s2950": False}


def test_an_incomplete_configuration_says_so_in_a_comment(qosforge: Command, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(ODD_MARK)
    qosforge("compile", tmp_path / "p.yaml", "-d", "r1", "-d", "s2950", "--markdown", tmp_path / "p.md")
    shown = {part.split(" ")[0]: part for part in (tmp_path / "p.md").read_text().split("<summary>")[1:]}
    assert "Not complete" in shown["s2950"]
    assert "Not complete" not in shown["r1"]


def test_no_file_is_written_where_warnings_stand_against_it(qosforge: Command, tmp_path: Path) -> None:
    assert qosforge("compile", POLICY, "-d", "s2950", "--strict", "--output", tmp_path / "out").code == 1
    assert not (tmp_path / "out").exists()


def test_the_name_of_a_shipped_policy_is_no_file(
    qosforge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = qosforge("lint", "rfc4594-4")
    assert ended.code == 2
    assert "qosforge policy show rfc4594-4 --yaml > rfc4594-4.yaml" in ended.stderr
