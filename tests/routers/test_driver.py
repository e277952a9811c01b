"""The driver of Linux routers over real OpenSSH: what it enters, shows, takes back and keeps."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_candidate.errors import CommitPendingError, LineRefusedError, SessionStoppedError
from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    ConnectAuthError,
    MergeConfigException,
)
from napalm_linux_tc import LinuxTcDriver, undo
from napalm_linux_tc.schedulers import SCHEDULERS

from qosforge import errors
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Outcome
from qosforge.inventory.models import Network
from qosforge.inventory.probes import AbortBounds, ProbePermission, Probes
from qosforge.platforms.device_text import DeviceWords
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.watch import Watch
from qoslab import control
from qoslab.control import Overlay
from tests.compiler.goldens import GOLDEN
from tests.patience import PATIENCE

from .conftest import network

pytestmark = [pytest.mark.namespaces, pytest.mark.needs("namespaces"), pytest.mark.needs("ssh-server")]

WANTED = "".join(
    line + "\n"
    for line in (GOLDEN / "rfc4594-4-basic" / "linux-6-1.cfg").read_text(encoding="utf-8").splitlines()
    if line != "!"
)
OTHER = (
    "tc qdisc del dev wan0 root\n"
    "tc qdisc replace dev wan0 root handle 1: htb default 0x10 r2q 10\n"
    "tc class add dev wan0 parent 1: classid 1:1 htb rate 5mbit ceil 5mbit burst 1600b cburst 1600b\n"
)


@contextmanager
def session(lab: Overlay, state: Path, key: Path | None = None) -> Iterator[LinuxTcDriver]:
    box = lab.boxes["r1"]
    login = json.loads((state / "logins.json").read_text(encoding="utf-8"))["r1"]
    arguments = {
        "port": box.port,
        "use_keys": True,
        "key_file": str(key or login["key"]),
        "alt_host_keys": True,
        "alt_key_file": str(lab.known_hosts),
        "ssh_strict": True,
    }
    driver = LinuxTcDriver(box.hostname, login["username"], "", optional_args=arguments)
    driver.open()
    try:
        yield driver
    finally:
        driver.close()


@contextmanager
def every_processor_busy() -> Iterator[None]:
    """The routers of the lab have the processors of this machine."""
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            stack.callback(stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"])).kill)
        yield


def commit(driver: LinuxTcDriver, lines: str, revert_in: int | None = None) -> None:
    driver.load_merge_candidate(config=lines)
    driver.commit_config(revert_in=revert_in)


def running(driver: LinuxTcDriver) -> list[str]:
    return driver.get_config(retrieve="running")["running"].splitlines()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_change_is_shown_line_by_line_and_kept_over_a_restart(lab: Overlay, state: Path, tmp_path: Path) -> None:
    with session(lab, state) as driver:
        before = running(driver)
        assert before[-2:] == ["ip link set dev lan0 up", "ip link set dev wan0 up"]
        assert set(before[:-2]) <= {f"modprobe sch_{name}" for name in SCHEDULERS}
        commit(driver, WANTED, revert_in=600)
        assert sorted(running(driver)) == sorted([*before, *WANTED.splitlines()])
        pending = driver.get_pending_commit()
        assert pending is not None
        assert (pending.own, pending.timer) == (True, 600)
        with pytest.raises(CommitPendingError):
            commit(driver, OTHER)
        driver.confirm_commit()
        assert driver.get_pending_commit() is None
        kept = running(driver)
        facts = driver.get_facts()
        assert (facts["vendor"], facts["interface_list"]) == ("Linux", ["lan0", "wan0"])
    control.stop(state)
    again = control.start(network(tmp_path / "startup.cfg"), state)
    with session(again, state) as driver:
        assert running(driver) == kept


def test_nobody_confirms_and_the_router_goes_back_by_itself(lab: Overlay, state: Path) -> None:
    with session(lab, state) as driver:
        commit(driver, WANTED)
        before = running(driver)
        commit(driver, OTHER, revert_in=5)
    with session(lab, state) as driver:
        until(lambda: driver.get_pending_commit() is None and running(driver) == before)


def test_lines_that_come_after_the_router_went_back_are_not_entered(
    lab: Overlay, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(lab, state) as driver:
        commit(driver, WANTED)
        before = running(driver)
        entering = undo.entering

        def late(command: str) -> str:
            until(lambda: driver.get_pending_commit() is None and running(driver) == before)
            return entering(command)

        monkeypatch.setattr(undo, "entering", late)
        with pytest.raises(CommitConfirmException, match="the timer was over before all lines were entered"):
            commit(driver, OTHER, revert_in=1)
        assert running(driver) == before
        assert driver.get_pending_commit() is None


def test_the_router_goes_back_though_lines_are_still_being_entered(
    lab: Overlay, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(lab, state) as driver, session(lab, state) as other:
        commit(driver, WANTED)
        before = running(driver)
        entering = undo.entering
        monkeypatch.setattr(undo, "entering", lambda command: entering(f"sleep 5; {command}"))
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(commit, driver, OTHER, 1)
            until(lambda: other.get_pending_commit() is not None)
            slow.result()
        until(lambda: other.get_pending_commit() is None and running(other) == before)


def test_a_change_that_waits_is_rolled_back(lab: Overlay, state: Path) -> None:
    with session(lab, state) as driver:
        before = running(driver)
        commit(driver, WANTED, revert_in=600)
        driver.rollback()
        assert running(driver) == before
        assert driver.get_pending_commit() is None
        with pytest.raises(CommandErrorException, match="nothing was rolled back"):
            driver.rollback()


def test_a_line_that_is_refused_is_named_and_rules_are_taken_whole_or_not_at_all(lab: Overlay, state: Path) -> None:
    with session(lab, state) as driver:
        before = running(driver)
        with pytest.raises(LineRefusedError) as refused:
            commit(driver, 'nft add table inet qosforge\nnft add rule inet qosforge nowhere counter comment "1"\n')
        assert refused.value.progress.line_number == 2
        assert running(driver) == before
        with pytest.raises(LineRefusedError) as refused:
            commit(driver, f"{OTHER.splitlines()[1]}\ntc class add dev wan0 parent 7: classid 7:1 htb rate 1mbit\n")
        assert (refused.value.progress.line_number, refused.value.progress.applied) == (2, 1)
        with pytest.raises(MergeConfigException, match="line 1: 'reboot'"):
            driver.load_merge_candidate(config="reboot\n")


def test_another_key_is_not_let_in(lab: Overlay, state: Path) -> None:
    with pytest.raises(ConnectAuthError), session(lab, state, key=state / "r2" / "login_key"):
        pass


def test_a_note_of_a_commit_that_is_not_understood_is_named(lab: Overlay, state: Path) -> None:
    with session(lab, state) as driver:
        driver.cli(["mkdir -p /run/qosforge; echo half a line > /run/qosforge/pending"])
        with pytest.raises(CommandErrorException, match="/run/qosforge/pending is not understood"):
            driver.has_pending_commit()


def test_a_busy_router_stops_what_is_sent_through_it(lab: Overlay, state: Path) -> None:
    permission = ProbePermission(abort=AbortBounds(cpu_percent=60, look_seconds=1))
    without_flows = MeasurementPlan(
        Network(name="two", devices=(), links=(), stations=(), probes=Probes(permission=permission)), ()
    )
    with session(lab, state) as driver:
        device = DeviceDriver(driver, DeviceWords("r1", "linux_tc"))

        def on_devices(names: Collection[str], task: Callable[[str, DeviceDriver], Any]) -> dict[str, Outcome[Any]]:
            return {name: Outcome(name, task(name, device)) for name in names}

        watch = Watch.of(without_flows, {}, on_devices)
        with every_processor_busy(), pytest.raises(errors.TesterError, match="the processor of r1 is busy for"):
            watch.begin(["r1"])


def test_a_session_that_is_stopped_says_why_whatever_it_waits_for(lab: Overlay, state: Path) -> None:
    with session(lab, state) as driver, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(driver.cli, ["sleep 60"])
        until(lambda: driver.guard.in_step)
        driver.guard.stop("the run was cancelled")
        with pytest.raises(SessionStoppedError, match="the run was cancelled"):
            waiting.result(30)
