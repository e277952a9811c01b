"""Includes, parameters and findings as the command line shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qosforge.findings import Finding

from .conftest import Command

LIBRARY = """\
parameters: {voice_percent: 50, spare: 1}
classes:
  - name: voice
    match: {any: [{application: [rtp-audio]}, {dscp: [ef]}]}
    mark: {dscp: ef, cos: 5}
    treatment: {priority: {percent: "${voice_percent}"}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 100}}
"""
SITE = """\
version: 1
intent: site
include: [classes.yaml]
apply:
  - {role: [edge, middle], interfaces: wan, direction: output}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An intent that takes its classes from a library beside it."""
    (tmp_path / "classes.yaml").write_text(LIBRARY, encoding="utf-8")
    path = tmp_path / "site.yaml"
    path.write_text(SITE, encoding="utf-8")
    return path


def test_a_parameter_set_on_the_command_line_reaches_the_device(qosforge: Command, site: Path) -> None:
    plain = qosforge("compile", site, "-d", "r1").stdout
    other = qosforge("compile", site, "-d", "r1", "--set", "voice_percent=40").stdout

    assert "priority percent 50" in plain
    assert "priority percent 40" in other
    versions = [
        json.loads(qosforge("compile", site, "--json", *more).stdout)["version"]
        for more in ([], ["--set", "voice_percent=40"])
    ]
    assert versions[0] != versions[1]


@pytest.mark.parametrize("command", ["lint", "compile", "validate", "diff"])
def test_wrong_parameters_are_reported_by_every_command(qosforge: Command, site: Path, command: str) -> None:
    told = qosforge(command, site, "--set", "voice_percent=many", "--set", "nobody=1", "--json")

    assert told.code == 2
    errors = json.loads(told.stdout)["errors"]
    assert [error["message"] for error in errors] == [
        "the intent has no parameter 'nobody'",
        "'many' is not a whole number",
    ]
    assert errors[1]["file"] == str(site.parent / "classes.yaml")
    assert (errors[1]["line"], errors[1]["column"]) == (6, 37)
    assert "${voice_percent} is 'many' from --set voice_percent" in errors[1]["hint"]


def test_findings_for_machines_have_all_keys(qosforge: Command, site: Path) -> None:
    findings = json.loads(qosforge("lint", site, "--json").stdout)["findings"]

    assert findings
    keys = {"class" if name == "traffic_class" else name for name in Finding.model_fields}
    assert {"code", "severity", "message", "file", "line", "class", "device", "interface", "direction"} <= keys
    assert {"requested", "applied", "hint"} <= keys
    assert all(finding.keys() == keys for finding in findings)


def test_the_way_to_an_explanation_is_reported_once(qosforge: Command, site: Path) -> None:
    shown = qosforge("lint", site).stdout

    assert shown.count("qosforge --explain CODE") == 1
    assert "--explain" not in qosforge("lint", site, "--json").stdout
