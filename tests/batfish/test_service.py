"""A Batfish that hangs, fails, is cut off or is something else: bounded, a finding, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from qosforge.batfish import networks, service
from qosforge.batfish.folder import BatfishFolder
from qosforge.batfish.http_exchange import API_KEY, Address, exchange
from qosforge.batfish.networks import clean_up, is_stale, new_name
from qosforge.batfish.process import NotAwaited
from qosforge.batfish.release import Match, match
from qosforge.batfish.service import BatfishService
from qosforge.findings import Severity

from .support import (
    Behaviour,
    askers,
    check,
    children_of,
    cut,
    drip,
    hang,
    midway,
    nonsense,
    peer,
    prepared,
    refuse,
)

SLACK = 4.0
"""Seconds that a loaded machine may take beside the bound: a process begins, and ends."""


FAILURES = {
    "hangs": (hang, "did not answer within"),
    "drips": (drip, "did not answer within"),
    "refuses": (refuse, "failed: it answered 500"),
    "is cut off": (cut, "failed: it broke its answer off"),
    "is another service": (nonsense, "failed: it answers, and is no Batfish"),
    "hangs midway": (midway(hang), "did not answer within"),
    "drips midway": (midway(drip), "did not answer within"),
    "refuses midway": (midway(refuse), "failed: "),
    "is cut off midway": (midway(cut), "failed: "),
    "turns into another service": (midway(nonsense), "failed: "),
}


@pytest.mark.parametrize("name", FAILURES)
def test_each_failure_ends_in_time_as_a_finding(name: str, tmp_path: Path) -> None:
    behaviour, reason = FAILURES[name]
    bound = 60.0 if reason.startswith("failed: ") else 3.0  # what fails does so by itself, the sooner the idler
    with peer(behaviour) as port:
        began = time.monotonic()
        (finding,) = check(port=port, require="midway" in name, seconds=bound, folder=tmp_path)
        took = time.monotonic() - began
    severity = Severity.ERROR if "midway" in name else Severity.WARNING
    assert (finding.code, finding.severity) == ("batfish-failed", severity)
    assert reason in finding.message
    assert "Traceback" not in finding.message
    assert took < bound + SLACK
    assert askers() == []
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [tmp_path / "installation"]


def test_a_service_that_hangs_from_the_beginning_is_known_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_FIRST_ANSWER_SECONDS", 1.0)
    with peer(hang) as port:
        began = time.monotonic()
        (finding,) = check(port=port, seconds=60)
    assert "did not answer within 1 s" in finding.message
    assert time.monotonic() - began < 1 + SLACK


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        ("2026.09.17.3748", "2026.09.17.3748", Match.SAME),
        ("2026.9.17.3748", "2026.09.17.3748", Match.SAME),
        ("0.36.0", "2026.09.17.3748", Match.SAME),
        ("0.37.0", "2026.09.17.3748", Match.OTHER),
        ("2026.07.20.3565", "2026.09.17.3748", Match.NEAR),
        ("2026.10.02.3760", "2026.09.17.3748", Match.NEAR),
        ("2019.01.01.1", "2026.09.17.3748", Match.OTHER),
        ("2026.13.01.1", "2026.09.17.3748", Match.OTHER),
        ("2026", "2026.09.17.3748", Match.OTHER),
        ("", "", Match.OTHER),
        ("latest", "2026.09.17.3748", Match.OTHER),
    ],
)
def test_releases_are_compared(theirs: str, ours: str, expected: Match) -> None:
    assert match(theirs, ours) is expected


def test_a_service_of_another_release_is_not_asked(tmp_path: Path) -> None:
    def old(connection: socket.socket, _request: bytes) -> None:
        body = b'{"Batfish": "2019.01.01.1"}'
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode() + body)

    with peer(old) as port:
        (finding,) = check(port=port, folder=tmp_path)
    assert finding.code == "batfish-failed"
    assert "is release 2019.01.01.1, and was not asked" in finding.message


def test_a_question_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    with peer(midway(hang)) as port:
        began = time.monotonic()
        with pytest.raises(NotAwaited):
            BatfishService(60, folder=tmp_path).check(
                prepared(), Address("127.0.0.1", port), unwanted=lambda: time.monotonic() > began + 0.5
            )
    assert time.monotonic() - began < 5 + SLACK
    assert askers() == []


def test_a_service_that_is_closed_ends_its_questions(tmp_path: Path) -> None:
    closing = BatfishService(60, folder=tmp_path)
    with peer(midway(hang)) as port:
        threading.Timer(0.5, closing.close).start()
        began = time.monotonic()
        with pytest.raises(NotAwaited):
            closing.check(prepared(), Address("127.0.0.1", port))
    assert time.monotonic() - began < 5 + SLACK


def test_who_waits_for_a_turn_waits_within_its_bound(tmp_path: Path) -> None:
    one = BatfishService(60, at_once=1, folder=tmp_path)
    with peer(midway(hang)) as port:
        address = Address("127.0.0.1", port)
        first = threading.Thread(target=one.check, args=(prepared(), address), kwargs={"within": 6}, daemon=True)
        first.start()
        time.sleep(0.5)
        began = time.monotonic()
        (finding,) = one.check(prepared(), address, within=1)
        assert "others asked it all the time" in finding.message
        assert time.monotonic() - began < 1 + SLACK
        (late,) = one.check(prepared(), address, within=0)
        assert "the time of the request was over" in late.message
        first.join(20)
        assert not first.is_alive()


def test_more_than_may_wait_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_WAITING_PER_QUESTION", 0)
    one = BatfishService(60, at_once=1)
    with peer(midway(hang)) as port:
        address = Address("127.0.0.1", port)
        first = threading.Thread(target=one.check, args=(prepared(), address), kwargs={"within": 4}, daemon=True)
        first.start()
        time.sleep(0.5)
        (finding,) = one.check(prepared(), address)
        assert "too many wait for it already" in finding.message
        first.join(20)


ASKS = """
import sys
from pathlib import Path
from qosforge.batfish import process
from qosforge.batfish.http_exchange import Address

process._ALARM_SECONDS = 1
question = '{"snapshots": {}, "computing": true}'
process.ask(Address("127.0.0.1", int(sys.argv[1])), "n", question, seconds=float(sys.argv[2]), folder=Path("/tmp"))
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_who_asks_does_not_outlive_who_waits_for_it(end: signal.Signals) -> None:
    """Killed in the midst of it; or it sleeps, so that its own clock has to end what it began."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seconds = 60 if end is signal.SIGKILL else 2
        port = silent.getsockname()[1]
        with subprocess.Popen([sys.executable, "-c", ASKS, str(port), str(seconds)]) as waits:
            try:
                deadline = time.monotonic() + 60
                while not children_of(waits.pid):
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
                (child,) = children_of(waits.pid)
                waits.send_signal(end)
                deadline = time.monotonic() + (2 if end is signal.SIGKILL else 6)
                while Path(f"/proc/{child}/cmdline").exists() and Path(f"/proc/{child}/cmdline").read_bytes():
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
            finally:
                waits.kill()


# -- networks ----------------------------------------------------------------------------------------------
def test_a_name_says_whose_it_is_and_when_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    name = new_name("0123abcd", 30)
    assert not is_stale(name, "0123abcd")
    now = time.time()
    monkeypatch.setattr(networks.time, "time", lambda: now + 30 + 601)
    assert is_stale(name, "0123abcd")
    assert not is_stale(name, "0123abce"), "that of another installation"
    monkeypatch.setattr(networks.time, "time", lambda: now + 30 + 24 * 3600 + 1)
    assert is_stale(name, "0123abce"), "an installation that is gone"
    assert not any(
        is_stale(other, "0123abcd") for other in ("campus", "qosforge-0123abcd", f"{name}/x", f" {name}")
    )


def test_headers_are_those_of_pybatfish() -> None:
    from pybatfish.client.consts import CoordConsts, CoordConstsV2  # noqa: PLC0415

    assert API_KEY == (CoordConstsV2.HTTP_HEADER_BATFISH_APIKEY, CoordConsts.DEFAULT_API_KEY)


@pytest.mark.parametrize("behaviour", [hang, drip, refuse, cut, nonsense])
def test_cleaning_up_never_fails_and_ends_in_time(behaviour: Behaviour) -> None:
    with peer(behaviour) as port:
        began = time.monotonic()
        clean_up(Address("127.0.0.1", port), "0123abcd", new_name("0123abcd", 1), 1.0)
        assert time.monotonic() - began < 1 + SLACK
    clean_up(Address("127.0.0.1", port), "0123abcd", new_name("0123abcd", 1), 1.0)  # gone


def test_an_answer_without_end_is_given_up() -> None:
    def pour(connection: socket.socket, _request: bytes) -> None:
        while True:
            connection.sendall(bytes(1 << 20))

    with peer(pour) as port, pytest.raises(OSError, match="too long"):
        exchange(Address("127.0.0.1", port), "GET", "/", 30)


# -- what is kept --------------------------------------------------------------------------------------------
def test_an_installation_keeps_its_name(tmp_path: Path) -> None:
    first = BatfishFolder(tmp_path / "batfish")
    assert BatfishFolder(tmp_path / "batfish").installation == first.installation
    assert BatfishFolder(None).installation != first.installation
    assert (tmp_path / "batfish").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = BatfishFolder(tmp_path / "file" / "batfish")
    folder.keep_answers("a", {})
    assert folder.kept_answers("a") is None
    with folder.workspace("name") as workspace:
        assert workspace.is_dir()
    assert not workspace.exists()


def test_answers_are_kept_as_far_as_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qosforge.batfish.folder.LONGEST_ANSWERS", 60)
    folder = BatfishFolder(tmp_path)
    for key in ("a", "b", "c"):
        folder.keep_answers(key, ["twenty bytes of it"])
        time.sleep(0.02)
        assert folder.kept_answers("a")
    folder.keep_answers("d", ["x" * 100])
    assert [key for key in "abcd" if folder.kept_answers(key)] == ["a", "c"]


def test_an_old_answer_and_a_broken_one_do_not_count(tmp_path: Path) -> None:
    folder = BatfishFolder(tmp_path)
    folder.keep_answers("a", {"b": 1})
    assert folder.kept_answers("a") == {"b": 1}
    file = tmp_path / "answers" / "a.json"
    os.utime(file, (time.time(), time.time() - 25 * 3600))
    assert folder.kept_answers("a") is None
    folder.keep_answers("a", {"b": 1})
    file.write_text("{")
    assert folder.kept_answers("a") is None


def test_what_killed_processes_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = BatfishFolder(tmp_path)
    with folder.workspace(new_name(folder.installation, -3600)) as left:
        (left / "file").write_text("")
        with folder.workspace(new_name(folder.installation, 10)):
            assert not left.exists()


def test_kept_answers_need_no_service(tmp_path: Path) -> None:
    """Answers by address and both snapshots: of a question that was answered, nothing more is asked."""
    asked = prepared()
    with peer(midway(hang)) as port:
        key = service._key(Address("127.0.0.1", port), json.dumps(asked.question, sort_keys=True))
        BatfishFolder(tmp_path).keep_answers(key, {"rows": {}, "failed": {}})
        found = check(port=port, folder=tmp_path, seconds=1)
        assert {f.code for f in found} == {"batfish-device-not-checked"}, "it names no device"
        assert [f.code for f in check(port=port, seconds=1)] == ["batfish-failed"], (
            "nothing is kept without a folder"
        )
        changed = replace(asked, snapshots=replace(asked.snapshots, devices={}))
        assert key != service._key(Address("127.0.0.1", port), json.dumps(changed.question, sort_keys=True))


@pytest.mark.parametrize(
    ("answers", "times"),
    [
        ({"rows": {}, "failed": {}}, 1),
        ({"rows": {}, "failed": {"routes": "java.lang.OutOfMemoryError"}}, 2),
        (["something else"], 2),
    ],
)
def test_what_failed_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: object, times: int
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(service, "_require_release", lambda *_: None)
    monkeypatch.setattr(service, "clean_up", lambda *_: None)
    monkeypatch.setattr(service.process, "ask", lambda _address, name, *_, **__: asked.append(name) or answers)
    for _ in range(2):
        check(port=1, folder=tmp_path, seconds=5)
    assert len(asked) == times


@pytest.mark.batfish
def test_live_service_is_left_as_it_was(live: Address, tmp_path: Path) -> None:
    folder = BatfishFolder(tmp_path)
    stale = new_name(folder.installation, -3600)
    others, abandoned = new_name("0" * 8, -3600), new_name("0" * 8, -25 * 3600)
    for name in (stale, others, abandoned):
        assert post(live, f"/v2/networks?name={name}") < 300
    try:
        first = check(host=live.host, port=live.port, folder=tmp_path)
        assert {f.code for f in first} == {"batfish-checked"}
        status, body = exchange(live, "GET", "/v2/networks", 10)
        names = {each["name"] for each in json.loads(body)}
        assert status == 200
        assert others in names, "that of another installation"
        assert abandoned not in names, "nobody else comes for it"
        assert not [name for name in names if folder.installation in name]
        began = time.monotonic()
        assert check(host=live.host, port=live.port, folder=tmp_path) == first
        assert time.monotonic() - began < 1, "an unchanged network costs one look"
    finally:
        exchange(live, "DELETE", f"/v2/networks/{others}", 10)
    assert askers() == []


def post(address: Address, path: str) -> int:
    """Status of the answer to a POST without a body."""
    return exchange(address, "POST", path, 10)[0]
