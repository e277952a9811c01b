"""`qosforge experiment`: what it prints, its document and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from qosforge.experiments import running
from qosforge.experiments.model import Experiment

from .conftest import Command

NAME = "cern-wrr-mixed"
ROW = {
    "scenario",
    "load",
    "subject",
    "offered_mbps",
    "throughput_mbps",
    "rate_layer",
    "delay_us",
    "delay_sd_us",
    "interarrival_sd_us",
    "loss_ratio",
    "packets",
    "fairness",
    "unused_mbps",
    "expected",
}


def test_the_list_names_experiments_with_their_claims(qosforge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = {"cern-strict-priority": 32, "cern-wrr": 21, NAME: 21, "cern-comparison": 139}
    monkeypatch.setattr("qosforge.cli.experiments.experiment_names", lambda: tuple(claims))
    listed = json.loads(qosforge("experiment", "list", "--json").stdout)
    assert {one["name"]: one["claims"] for one in listed} == claims
    assert {one["paper"]["year"] for one in listed} == {2004}
    table = qosforge("experiment", "list")
    assert table.code == 0
    assert [line.split()[:2] for line in table.stdout.splitlines()[1:] if line.startswith(" cern")] == [
        [name, str(count)] for name, count in claims.items()
    ]


def test_a_run_is_one_document(qosforge: Command, tmp_path: Path) -> None:
    plot = tmp_path / "new" / "mixed.svg"
    ended = qosforge("experiment", "run", NAME, "--json", "--seed", 2**64 - 1, "--plot", plot)
    assert ended.code == 0
    document = json.loads(ended.stdout)
    assert (document["experiment"], document["seed"]) == (NAME, 2**64 - 1)
    assert document["conditional_on_delivery"] is True
    assert document["delay_reference"]
    assert all(set(row) >= ROW for row in document["rows"])
    assert {row["subject"] for row in document["rows"]} >= {"ideal.q0", "quanta-wrr.all"}
    measured = next(row for row in document["rows"] if row["subject"] == "ideal.q0")
    assert set(measured["delay_us"]) == {"mean", "min", "max", "p50", "p95", "p99", "p999"}
    assert set(measured["unused_mbps"]) == {"framing", "idle"}
    assert len(document["comparisons"]) == 21
    assert all(
        {"id", "published", "obtained", "tolerance", "holds", "reason"} <= set(c) for c in document["comparisons"]
    )
    assert plot.read_text().startswith("<svg")


def test_a_claim_without_a_reason_ends_with_one(qosforge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = running.load_experiment(NAME)
    wrong = whole.claims[0].model_copy(update={"value": 0.9})
    unexplained = whole.model_copy(update={"claims": (wrong, *whole.claims[1:])})
    explained = unexplained.model_copy(update={"reasons": {wrong.id: "frames of other sizes"}})

    def run_as(experiment: Experiment) -> tuple[int, str]:
        monkeypatch.setattr("qosforge.cli.experiments.load_experiment", lambda name: experiment)
        ended = qosforge("experiment", "run", NAME)
        return ended.code, " ".join(ended.stdout.split())

    code, printed = run_as(unexplained)
    assert (code, "20 of 21 claims hold" in printed, "fails" in printed) == (1, True, True)
    code, printed = run_as(explained)
    assert (code, "explained" in printed, "fails" in printed) == (0, True, False)


def test_all_of_them_end_with_a_total(qosforge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qosforge.cli.experiments.experiment_names", lambda: (NAME, NAME))
    ended = qosforge("experiment", "run", "--all")
    assert ended.code == 0
    assert ended.stdout.splitlines() == [f"{NAME}  21 of 21 claims hold"] * 2 + ["all  42 of 42 claims hold"]


def test_all_goes_on_where_one_cannot_be_run(qosforge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["kernel-fifo", NAME, "kernel-red"]
    monkeypatch.setattr("qosforge.cli.experiments.experiment_names", lambda: tuple(names))
    part = SimpleNamespace(title="a kernel", missing=lambda: ["qemu-system-x86"])
    monkeypatch.setattr("qosforge.emulation.parts", lambda: {"virtual-time": part})
    ended = qosforge("experiment", "run", "--all")
    assert ended.code == 3
    assert ended.stdout.splitlines() == [f"{NAME}  21 of 21 claims hold", "all  21 of 21 claims hold"]
    told = " ".join(ended.stderr.split())
    assert "not run: kernel-fifo, kernel-red: a kernel lacks qemu-system-x86" in told
    assert told.count("apt-get install") == 1
    names.remove(NAME)
    ended = qosforge("experiment", "run", "--all", "--json")
    assert ended.code == 3
    documents = json.loads(ended.stdout)
    assert [one["experiment"] for one in documents] == names
    assert "qemu-system-x86" in documents[0]["not_run"]["hint"]
    ended = qosforge("experiment", "run", "kernel-fifo")
    assert (ended.code, ended.stdout) == (3, "")


WRONG: dict[str, tuple[list[object], str]] = {
    "nothing": (["run"], "no experiment is named"),
    "no such": (["run", "cern"], "there is no experiment 'cern'"),
    "a name and all": (["run", NAME, "--all"], "--all takes neither a name nor --plot"),
    "a plot of all": (["run", "--all", "--plot", "x.svg"], "--all takes neither a name nor --plot"),
    "a seed of 65 bits": (["run", NAME, "--seed", 2**64], "Invalid value for '--seed'"),
}


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        (NAME, ".", "cannot be written: Is a directory"),
        (NAME, "file/x.svg", "cannot be written"),
        (NAME, "x.png", "plots are SVG\n       name it x.svg"),
        ("infn-production", "x.svg", "infn-production has no plot"),
    ],
)
def test_a_plot_that_cannot_be_is_reported_before_anything_runs(
    qosforge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, name: str, place: str, message: str
) -> None:
    (tmp_path / "file").write_text("kept")
    monkeypatch.setattr(running.ExperimentSession, "outcome", lambda *_: pytest.fail("it ran"))
    ended = qosforge("experiment", "run", name, "--plot", tmp_path / place)
    assert ended.code == 2
    assert message in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_only_a_plot_loads_what_draws() -> None:
    code = "import sys, qosforge.cli.experiments; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_ends_with_two(qosforge: Command, case: str) -> None:
    arguments, message = WRONG[case]
    ended = qosforge("experiment", *arguments)
    assert ended.code == 2
    assert message in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
