"""Commands that show configuration."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest

from app.cli import policies
from app.cli.output import print_findings
from app.compiler.candidate import Candidate
from app.configtree import Gap
from app.findings import Finding, Severity
from app.inventory.loader import load_network
from app.reports import preview
from app.resources import root

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
    monkeypatch.setattr(policies, "Fleet", lambda *_: nullcontext())
    monkeypatch.setattr(policies, "read_running", lambda _: held)
    monkeypatch.setattr(preview, "make_candidate", lambda d, _: Candidate(d.name, ("one",), ("two",), (gap,)))

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
    asked = Finding(code="x", severity=Severity.INFO, message="m", asked="a")
    print_findings([asked, asked.model_copy(update={"asked": None, "will_be": "b"})])

    assert [line for line in capsys.readouterr().out.splitlines() if "m (" in line] == [
        "info    x  m (asked a)",
        "info    x  m (will be b)",
    ]
