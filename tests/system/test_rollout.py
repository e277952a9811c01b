"""Rollouts on five emulated devices over SSH: waves, the canary, what fails, pauses, and the way back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from qosforge.emulation import start_lab
from qosforge.executor.service import Service, open_service
from qosforge.intent.loader import parse_intent
from qosforge.inventory.changes import ChangeRules
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import JournalAction, RunStatus
from qosforge.runs.workflow.steps import wait
from qosforge.settings import Settings
from qoslab import control
from tests.run_requests import request_run
from tests.runs.support import wait_for

from .command import Command, Ended
from .crowd import POLICY, write_inventory

NAMES = ("r1", "r2", "b256", "s2950", "e300")
SITES = {"r1": "vigo", "s2950": "vigo", "r2": "core", "b256": "branch", "e300": "oporto"}
LINKS = """\
links:
  - {a: [r2, Multilink1], b: [b256, Multilink1], rate: 256 kb/s, delay: 1 ms, framing: mlppp}
stations: []
"""
INTENT = POLICY.replace("[edge, access, core]", "[edge, middle, access, core]") + (
    "link_efficiency:\n"
    "  - {when: {rate_below: 768 kb/s}, header_compression: rtp, fragment: {blocking_delay: 16 ms}}\n"
)
WAVES = {"canary": {"role": "access"}, "waves": [{"site": "vigo"}, {"site": "core"}]}
"""s2950; r1; r2 and b256, which are the ends of one link; e300."""
READING = "^show running-config"


class Site:
    """The devices, a service over them, and what they hold as the lab itself says it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.var = folder / "var"
        self.inventory = folder / "inventories" / "five"
        write_inventory(self.inventory, NAMES)
        (self.inventory / "links.yaml").write_text(LINKS)
        yaml = YAML()
        hosts = yaml.load((self.inventory / "hosts.yaml").read_text())
        for name, site in SITES.items():
            hosts[name]["data"]["site"] = site
        with (self.inventory / "hosts.yaml").open("w") as file:
            yaml.dump(hosts, file)
        self.network = load_network(self.inventory)
        self.policy = folder / "policy.yaml"
        self.policy.write_text(INTENT)
        self.state = state_folder(self.var, "five")
        self.service: Service
        self._printed = count()

    @contextmanager
    def at_work(self) -> Iterator[Service]:
        """A service while the block lasts."""
        settings = Settings(var_dir=self.var, inventories_dir=self.inventory.parent)
        with open_service(settings, lambda *_: None) as self.service:
            yield self.service

    def reset(self) -> None:
        """Every device as it was delivered, without faults."""
        for name in NAMES:
            folder = self.state / name
            (folder / "startup-config").write_text((folder / "factory-config").read_text())
            control.plant(self.state, name, "clear")
            control.request(self.state, {"op": "reboot", "box": name})

    def running(self) -> dict[str, str]:
        return {n: str(control.request(self.state, {"op": "running", "box": n})["running"]) for n in NAMES}

    def startup(self) -> dict[str, str]:
        return {name: (self.state / name / "startup-config").read_text() for name in NAMES}

    def attached(self) -> dict[str, int]:
        """How often something was attached or detached, by device."""
        return {name: len(control.attachments(self.state, name)) for name in NAMES}

    def fail(self, name: str, kind: str = "refuse", **args: object) -> None:
        """Let a device fail as soon as a line of the policy reaches it."""
        args = args or {
            "mode": "configuration",
            "lines": 1,
            "times": 1,
            "text": "% Invalid input detected at '^' marker.\n",
        }
        control.plant(self.state, name, kind, **args)

    def place(self, rollout: Mapping[str, Any]) -> Run:
        rules = ChangeRules.model_validate({"rollout": rollout})
        network = self.network.model_copy(update={"changes": rules})
        order = request_run(network, parse_intent(INTENT, "policy.yaml"), measure=False)
        return self.service.run_requests.submit(*order, "ada")[0]

    def go(self, run: Run) -> Run:
        self.service.execute(run.id)
        return self.service.run_requests.run(run.id)

    @contextmanager
    def beside(self, run: Run) -> Iterator[None]:
        """Carry the run out beside the block, and to its end."""
        worker = threading.Thread(target=self.service.execute, args=(run.id,))
        worker.start()
        try:
            yield
        finally:
            worker.join(240)
            assert not worker.is_alive()

    def waits(self, run: Run, words: str) -> None:
        wait_for(
            lambda: words in self.service.run_requests.run(run.id).waits_for, f"a run that waits for {words}", 120
        )

    def journal(self, run: Run, *actions: JournalAction) -> list[str]:
        """The devices of which the journal says so, in its order."""
        entries = self.service.store.journal.entries(run.id)
        return [entry.device for entry in entries if entry.action in actions]

    def first_and_last(self, run: Run, action: JournalAction) -> dict[str, tuple[int, int]]:
        """By device the number of its first and last row with an action."""
        found: dict[str, tuple[int, int]] = {}
        for entry in self.service.store.journal.entries(run.id):
            if entry.action is action:
                found[entry.device] = (found.get(entry.device, (entry.seq, 0))[0], entry.seq)
        return found

    def command(self, *arguments: object) -> Command:
        """The command ``qosforge`` in a process of its own."""
        environment = {"QOSFORGE_VAR_DIR": str(self.var), "QOSFORGE_INVENTORIES_DIR": str(self.inventory.parent)}
        return Command([str(a) for a in arguments], environment, self.folder / "printed" / str(next(self._printed)))

    def ended(self, *arguments: object) -> Ended:
        return self.command(*arguments).wait(240)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("rollout"))
    start_lab(made.network, made.inventory, made.state)
    try:
        yield made
    finally:
        control.stop(made.state)


@pytest.fixture
def site(lab: Site) -> Iterator[Site]:
    lab.reset()
    with lab.at_work():
        yield lab
        assert lab.service.store.leases.active() == []
        assert lab.service.store.journal.open_touches() == []


def test_waves_follow_each_other_and_both_ends_of_a_link_change_in_one_step(site: Site) -> None:
    run = site.go(site.place(WAVES))
    assert (run.status, run.reason) == (RunStatus.KEPT, "")
    planned = next(s.summary for s in site.service.store.stages(run.id) if s.name == "rollout")
    assert [(wave.name, wave.steps) for wave in planned.waves] == [
        ("canary", [["s2950"]]),
        ("site vigo", [["r1"]]),
        ("site core", [["r2", "b256"]]),
        ("the rest", [["e300"]]),
    ]
    began = site.first_and_last(run, JournalAction.TOUCHING)
    read = site.first_and_last(run, JournalAction.READ_BACK)
    order = ["s2950", "r1", "r2", "e300"]
    assert all(read[first][1] < began[then][0] for first, then in pairwise(order))
    # One end has begun before the other has ended: neither waited for the other.
    touched = site.first_and_last(run, JournalAction.TOUCHED)
    assert began["b256"][0] < touched["r2"][0]
    assert began["r2"][0] < touched["b256"][0]
    assert "ip rtp header-compression" in site.running()["b256"]
    assert site.running()["r2"].count("ip rtp header-compression") >= 1
    stages = [s.name for s in site.service.store.stages(run.id)]
    assert stages.count("push") == 4
    assert stages.count("counters") == 2, "of the canary, and of all"

    before = site.attached()
    undoing = site.go(site.service.run_requests.roll_back(run.id, "ada"))
    assert undoing.status is RunStatus.KEPT
    back = site.first_and_last(undoing, JournalAction.TOUCHING)
    assert sorted(back, key=lambda name: back[name]) in (
        ["e300", "r2", "b256", "r1", "s2950"],
        ["e300", "b256", "r2", "r1", "s2950"],
    )
    assert all(site.attached()[name] > before[name] for name in ("r1", "r2", "b256"))


def test_a_canary_that_fails_is_the_only_device_that_was_touched(site: Site) -> None:
    before, startup, attached = site.running(), site.startup(), site.attached()
    site.fail("s2950")
    run = site.go(site.place({**WAVES, "failures": "50 %"}))
    assert (run.status, run.reason_device) == (RunStatus.ROLLED_BACK, "s2950")
    assert set(site.journal(run, JournalAction.TOUCHING)) == {"s2950"}
    assert site.running() == before
    assert site.startup() == startup
    assert {name: n for name, n in site.attached().items() if name != "s2950"} == {
        name: n for name, n in attached.items() if name != "s2950"
    }


def test_a_wave_that_fails_stops_the_rest_and_what_was_done_goes_back_newest_first(site: Site) -> None:
    before = site.running()
    site.fail("r2")
    run = site.go(site.place(WAVES))
    assert (run.status, run.reason_device) == (RunStatus.ROLLED_BACK, "r2")
    assert "e300" not in site.journal(run, JournalAction.TOUCHING)
    began = site.first_and_last(run, JournalAction.UNDOING)
    done = site.first_and_last(run, JournalAction.UNDONE)
    assert max(done["r2"][1], done["b256"][1]) < began["r1"][0]
    assert done["r1"][1] < began["s2950"][0]
    assert site.running() == before


def test_so_many_may_fail_and_are_left_out_with_what_cannot_change_without_them(site: Site) -> None:
    before = site.running()
    site.fail("r2")
    run = site.go(site.place({**WAVES, "failures": 2}))
    assert run.status is RunStatus.KEPT
    assert "left out: r2: " in run.reason
    assert "b256: changes with r2, which failed" in run.reason
    assert run.reason_hint == f"qosforge retry {run.id} changes just these"
    now = site.running()
    assert {name for name in NAMES if now[name] == before[name]} == {"r2", "b256"}
    assert site.service.run_requests.detail(run.id).reason == run.reason

    control.plant(site.state, "r2", "clear")
    again = site.go(site.service.run_requests.retry(run.id, "ada"))
    assert (again.id != run.id, again.status, again.reason) == (True, RunStatus.KEPT, "")
    assert set(site.journal(again, JournalAction.TOUCHING)) == {"r2", "b256"}


def test_one_end_of_a_link_is_left_out_where_the_other_cannot_be_read(site: Site) -> None:
    before = site.running()
    control.plant(site.state, "b256", "refuse_login")
    failed = site.go(site.place({"failures": 1}))
    assert (failed.status, failed.reason_device) == (RunStatus.FAILED, "r2")
    assert site.running() == before
    run = site.go(site.place({"failures": 2}))
    assert run.status is RunStatus.KEPT
    assert "r2: changes with b256, which cannot be read" in run.reason
    now = site.running()
    assert {name for name in NAMES if now[name] == before[name]} == {"r2", "b256"}


def test_a_device_that_is_as_wanted_costs_one_read(site: Site) -> None:
    assert site.go(site.place({})).status is RunStatus.KEPT
    for name in NAMES:
        control.plant(site.state, name, "slow", pattern=READING, seconds=0.0)
    assert site.go(site.place(WAVES)).status is RunStatus.NO_CHANGES
    assert {name: control.met(site.state, name).get("slow") for name in NAMES} == dict.fromkeys(NAMES, 1)


def test_a_run_is_cancelled_between_two_waves_and_all_of_it_goes_back(site: Site) -> None:
    before = site.running()
    run = site.place({**WAVES, "pause": 5})
    site.service.run_requests.pause(run.id, "grace")
    with pytest.raises(InvalidState, match="paused by grace already"):
        site.service.run_requests.pause(run.id, "ada")
    with site.beside(run):
        site.waits(run, "qosforge resume before wave 2: paused by grace")
        assert site.journal(run, JournalAction.READ_BACK) == ["s2950"]
        site.service.run_requests.cancel(run.id, "ada")
    ended = site.service.run_requests.run(run.id)
    assert (ended.status, ended.reason) == (RunStatus.CANCELLED, "cancelled by ada")
    assert set(site.journal(run, JournalAction.TOUCHING)) == {"s2950"}
    assert site.running() == before
    with pytest.raises(InvalidState, match="not paused"):
        site.service.run_requests.resume(run.id, "ada")


def test_a_rollout_that_is_paused_for_too_long_goes_back(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait, "TRY_SECONDS", 0.2)
    before = site.running()
    run = site.place({**WAVES, "pause": 0})
    site.service.run_requests.pause(run.id, "grace")
    ended = site.go(run)
    assert (ended.status, ended.reason) == (RunStatus.ROLLED_BACK, "paused by grace for longer than 0 min")
    assert site.running() == before


def test_a_pause_that_no_timer_outlasts_is_refused_before_the_push_by_name(site: Site) -> None:
    before = site.running()
    run = site.place({**WAVES, "pause": 180})
    ended = site.service.execute(run.id).result
    assert ended.status == RunStatus.FAILED
    assert {error.device for error in ended.errors} == {"r1", "r2", "b256"}
    assert "configure terminal revert timer) holds a change for at most 120 min" in ended.reason
    assert site.journal(run, JournalAction.TOUCHING) == []
    assert site.running() == before


def test_the_time_of_a_devices_timer_is_the_one_that_was_shown(site: Site) -> None:
    run = site.place({**WAVES, "pause": 60})
    site.service.run_requests.pause(run.id, "grace")
    with site.beside(run):
        site.waits(run, "paused by grace")
        (planned,) = [s.summary for s in site.service.store.stages(run.id) if s.name == "rollout"]
        minutes = [wave.revert_seconds // 60 for wave in planned.waves]
        assert minutes[0] > 60
        assert f"go back by themselves after {minutes[0]} min unless confirmed" in planned.text
        (note,) = [
            entry.note
            for entry in site.service.store.journal.entries(run.id, "s2950")
            if entry.action is JournalAction.ARMED
        ]
        assert note == f"goes back by itself in {minutes[0] * 60} s"
        site.service.run_requests.cancel(run.id, "ada")


def test_a_paused_rollout_outlives_its_process_and_goes_on_where_it_was(lab: Site) -> None:
    lab.reset()
    (lab.inventory / "changes.yaml").write_text(
        "rollout: {canary: {role: access}, waves: [{site: vigo}], pause: 30}\nwindows: [{from: 00:00, to: 24:00}]\n"
    )
    try:
        before = lab.running()
        control.plant(lab.state, "s2950", "slow", seconds=0.2)
        first = lab.command("push", lab.policy, "--network", lab.inventory)
        first.wait_for(lambda: "  push " in first.printed().stderr, "the canary's push", 120)
        (run,) = json.loads(lab.ended("runs", "--limit", 1, "--json").stdout)
        paused = lab.ended("pause", run["run"])
        assert paused.code == 0, paused.text
        first.wait_for(lambda: "paused by" in lab.ended("show", run["run"]).stdout, "a run that waits", 120)
        first.kill()
        control.plant(lab.state, "s2950", "clear")
        now = lab.running()
        assert [name for name in NAMES if now[name] != before[name]] == ["s2950"]

        assert lab.ended("resume", run["run"]).code == 0
        recovered = lab.ended("recover")
        assert recovered.code == 0, recovered.text
        shown = json.loads(lab.ended("show", run["run"], "--json").stdout)
        assert shown["status"] == "kept"
        assert [wave["name"] for wave in shown["rollout"]] == ["canary", "site vigo", "the rest"]
        with lab.at_work():
            found = lab.service.run_requests.run(run["run"])
            assert found.attempt == 1
            assert lab.journal(found, JournalAction.TOUCHING).count("s2950") == 1
    finally:
        (lab.inventory / "changes.yaml").unlink()


def test_a_device_that_cannot_be_reached_is_left_out_listed_and_retried_by_itself(lab: Site) -> None:
    lab.reset()
    (lab.inventory / "changes.yaml").write_text("rollout: {failures: 20 %}\n")
    try:
        control.plant(lab.state, "e300", "refuse_login")
        pushed = lab.ended("push", lab.policy, "--network", lab.inventory)
        assert pushed.code == 3, pushed.text
        assert "e300: the device refuses the credentials" in pushed.text
        (run,) = json.loads(lab.ended("runs", "--limit", 1, "--json").stdout)
        assert run["status"] == "kept"
        assert f"qosforge retry {run['run']} changes just these" in pushed.text
        control.plant(lab.state, "e300", "clear")
        assert lab.ended("retry", run["run"]).code == 0
        assert lab.ended("recover").code == 0
        (again,) = json.loads(lab.ended("runs", "--limit", 1, "--json").stdout)
        assert again["run"] != run["run"]
        shown = json.loads(lab.ended("show", again["run"], "--json").stdout)
        assert (shown["status"], [each["name"] for each in shown["devices"]]) == ("kept", ["e300"])
    finally:
        (lab.inventory / "changes.yaml").unlink()
