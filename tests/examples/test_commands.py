"""Commands say the same, whether this machine or a served instance does them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command, qosforge  # noqa: F401  # a fixture

from .conftest import NETWORK, POLICY, Instance

WRONG = "version: 1\nintent: x\nclasses: 3\n"


@pytest.mark.parametrize(
    "case",
    [
        (("lint", POLICY), 0),
        (("lint", POLICY, "--strict", "--json"), 0),
        (("lint", POLICY, "--set", "p99=soon"), 2),
        (("lint", "{tmp}/wrong.yaml"), 2),
        (("compile", POLICY, "--device", "router3"), 0),
        (("compile", POLICY, "--json"), 0),
        (("compile", POLICY, "--device", "router9"), 2),
        (("validate", POLICY, "--live"), 0),
        (("validate", POLICY, "--require-batfish"), 1),
        (("diff", POLICY, "--device", "router1"), 0),
        (("measure", POLICY, "--seed", "3", "--json"), None),
    ],
)
def test_a_service_says_what_this_machine_says(
    instance: Instance,
    qosforge: Command,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    case: tuple[tuple[object, ...], int | None],
) -> None:
    arguments, code = case
    (tmp_path / "wrong.yaml").write_text(WRONG)
    folder = Path(instance.environment["QOSFORGE_INVENTORIES_DIR"]) / NETWORK
    words = [str(word).format(tmp=tmp_path) for word in arguments]
    monkeypatch.setenv("QOSFORGE_VAR_DIR", instance.environment["QOSFORGE_VAR_DIR"])
    monkeypatch.setenv("QOSFORGE_TOKEN", instance.tokens["operator"])

    here = qosforge(*words, "--network", folder)
    there = qosforge("--server", instance.url, *words, "--network", NETWORK)

    assert there.code == here.code
    assert code in (here.code, None)
    assert there.stdout == here.stdout
    errors = [[line for line in ended.stderr.splitlines() if line.startswith("error")] for ended in (here, there)]
    assert len(errors[0]) == len(errors[1])


def test_a_viewer_may_look_and_no_more(
    instance: Instance,
    qosforge: Command,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("QOSFORGE_SERVER", instance.url)
    monkeypatch.setenv("QOSFORGE_TOKEN", instance.tokens["operator"])
    asked = json.loads(qosforge("run", POLICY, "--network", NETWORK, "--json").stdout)

    monkeypatch.setenv("QOSFORGE_TOKEN", instance.tokens["viewer"])
    assert asked["id"] in [run["run"] for run in json.loads(qosforge("runs", "--json").stdout)]
    assert qosforge("show", asked["id"], "--html", tmp_path / "r.html").code == 0
    assert "<html" in (tmp_path / "r.html").read_text()
    for command in ("approve", "cancel"):
        refused = qosforge(command, asked["id"])
        assert refused.code == 3
        assert "role" in refused.stderr

    monkeypatch.setenv("QOSFORGE_TOKEN", "qf_wrong")
    assert qosforge("runs").code == 3

    monkeypatch.setenv("QOSFORGE_TOKEN", instance.tokens["operator"])
    assert qosforge("cancel", asked["id"]).code == 0
    waited = qosforge("wait", asked["id"], "--wait-seconds", "60", "--json")
    assert waited.code == 1
    assert json.loads(waited.stdout)["status"] == "cancelled"
