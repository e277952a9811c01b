"""Real Linux routers and emulated devices of three vendors as one campus: each path by the evidence that it has."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from qosforge.resources import root
from tests.cli.conftest import Command, qosforge

__all__ = ["qosforge"]

pytestmark = [
    pytest.mark.namespaces,
    pytest.mark.needs("namespaces"),
    pytest.mark.needs("ssh-server"),
    pytest.mark.needs("probes"),
]

MIXED = Path(__file__).parent / "mixed"
FROM_THE_CAMPUS = ("r1", "r3", "e300", "ers5510")
REAL, EMULATED = "phone→exchange", "gateway→office"


@pytest.fixture
def network(tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(MIXED, tmp_path / "mixed"))
    for name in FROM_THE_CAMPUS:
        shutil.copy(root() / "inventories" / "campus" / "startup" / f"{name}.cfg", folder / "startup")
    return folder


def test_each_path_is_judged_by_its_evidence_and_the_weakest_counts(qosforge: Command, network: Path) -> None:
    assert qosforge("lab", "up", "-n", network).code == 0
    try:
        ended = qosforge("run", network / "voice.yaml", "-n", network, "--tester", "probes", "--json")
        assert ended.code == 0, ended.stdout
        run = json.loads(ended.stdout)
        assert (run["status"], run["after"]) == ("kept", "met"), ended.stdout
        # Beside a full machine losses come in a few long turns, which may show too little to be decided.
        assert run["before"] in {"broken", "inconclusive"}
        assert {device["outcome"] for device in run["devices"].values()} == {"confirmed"}
        for side in ("before", "after"):
            judged = {each["path"]: each["verdict"]["evidence"] for each in run["verdicts"][side]}
            assert judged == {REAL: "measured", EMULATED: "emulated"}
            assert run["evidence"][side] == "emulated"
        stages = {
            each["name"]: each for each in json.loads(qosforge("show", run["run"], "--json").stdout)["stages"]
        }
        # What comes from the campus is offered to its devices, up to the first real router.
        assert int(stages["counters"]["summary"].split()[0]) > 0, stages["counters"]
        words = " ".join(qosforge("show", run["run"]).stdout.split())
        assert f"emulated, the weakest of its paths: {REAL} measured; {EMULATED} emulated" in words
        report = Path(run["report"]).read_text(encoding="utf-8")
        assert f"<small>{REAL}, measured</small>" in report
        assert f"<small>{EMULATED}, emulated</small>" in report
    finally:
        qosforge("lab", "clean", "-n", network)
