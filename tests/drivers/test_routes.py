"""The ways to a device: real OpenSSH servers, old algorithms, telnet, a jump host; what is said of a shut one."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from cli_candidate.bounded_ios import BoundedIosDriver
from cli_candidate.guard import SessionGuard
from cli_candidate.host_key import read_host_key
from cli_candidate.route import SessionRoute, connect
from napalm import get_network_driver
from napalm.base.exceptions import ConnectAuthError, ConnectionException

from qosforge.deploy.failures import problem_of
from qosforge.platforms.device_text import DeviceWords
from tests import doors, sshd
from tests.doors import LEGACY, PASSWORD, SECRET, USERNAME, Doors
from tests.runs.support import wait_for

STARTUPS = {
    "ios_legacy": (
        "cisco_ios",
        "12.2",
        "hostname R1\ninterface Serial0/0\n ip address 192.0.2.1 255.255.255.252\n",
    ),
    "ers": ("nortel_5510", "", 'snmp-server name "n5510"\n'),
    "force10": ("force10_e300", "", "hostname e300\n"),
}
Open = Callable[..., Any]


@pytest.fixture
def router(tmp_path: Path) -> Iterator[Doors]:
    with doors.device(tmp_path / "box", *STARTUPS["ios_legacy"]) as made:
        yield made


@pytest.fixture
def reach() -> Iterator[Open]:
    """``reach(port, driver="ios_legacy", password=..., **optional_args)``: an open driver, closed with the test."""
    with ExitStack() as stack:

        def start(
            port: int, driver: str = "ios_legacy", username: str = USERNAME, password: str = PASSWORD, **more: Any
        ) -> Any:
            arguments = {"port": port, "secret": SECRET, "conn_timeout": 5, **more}
            kind = BoundedIosDriver if driver == "ios" else get_network_driver(driver)
            made = kind("127.0.0.1", username, password, optional_args=arguments)
            stack.callback(made.close)
            made.open()
            return made

        yield start


def strict(tmp_path: Path, *lines: str) -> dict[str, Any]:
    """Arguments of a driver that believes these host keys alone."""
    file = tmp_path / "known_hosts"
    file.write_text("".join(lines))
    return {"ssh_strict": True, "alt_host_keys": True, "alt_key_file": str(file)}


def changes(box: Any, doors: Doors) -> None:
    """It reads, takes a change, and gives it back."""
    before = box.get_config(retrieve="running")["running"]
    box.load_merge_candidate(config="interface Serial0/0\n description by the way\n")
    box.commit_config()
    assert "description by the way" in doors.running()
    box.load_merge_candidate(config="interface Serial0/0\n no description\n")
    box.commit_config()
    assert box.get_config(retrieve="running")["running"] == before


@pytest.mark.needs("ssh-server")
def test_a_key_opens_a_real_server(router: Doors, reach: Open, tmp_path: Path) -> None:
    key = tmp_path / "id"
    with sshd.server(tmp_path / "sshd", [sshd.new_key(key)], router.plain()) as real:
        arguments = {"use_keys": True, "key_file": str(key), **strict(tmp_path, real.known)}
        box = reach(real.port, username=sshd.user(), password="", **arguments)
        changes(box, router)
        box.close()
        assert "Accepted publickey" in real.log.read_text()


@pytest.mark.needs("ssh-server")
@pytest.mark.parametrize("transport", ["ssh", "ssh-legacy"])
def test_an_agent_opens_a_real_server(
    router: Doors, reach: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    key = tmp_path / "id"
    with (
        sshd.server(tmp_path / "sshd", [sshd.new_key(key)], router.plain()) as real,
        sshd.agent(tmp_path, key) as agent,
    ):
        key.unlink()
        monkeypatch.setenv("SSH_AUTH_SOCK", agent)
        known = strict(tmp_path, real.known)
        box = reach(real.port, username=sshd.user(), password="", allow_agent=True, transport=transport, **known)
        assert "hostname R1" in box.get_config(retrieve="running")["running"]


def test_an_agent_that_does_not_answer_is_told(
    router: Doors, reach: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "nobody"))
    port, public = router.ssh()
    known = strict(tmp_path, f"[127.0.0.1]:{port} {public}\n")
    with pytest.raises(ConnectionException, match="no SSH agent answers"):
        reach(port, password="", allow_agent=True, transport="ssh-legacy", **known)


@pytest.mark.needs("ssh-server")
@pytest.mark.parametrize("transport", ["ssh", "ssh-legacy"])
def test_keys_that_nobody_named_are_not_shown(
    router: Doors, reach: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    """A device is shown what its credentials name: neither what lies in ~/.ssh nor what an agent holds."""
    (tmp_path / ".ssh").mkdir(mode=0o700)
    lying = tmp_path / ".ssh" / "id_ed25519"
    held = tmp_path / "held"
    named = tmp_path / "named"
    sshd.new_key(named)
    with (
        sshd.server(tmp_path / "sshd", [sshd.new_key(lying), sshd.new_key(held)], router.plain()) as real,
        sshd.agent(tmp_path, held) as agent,
    ):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("SSH_AUTH_SOCK", agent)
        known = strict(tmp_path, real.known)
        for login in ({"password": "wrong"}, {"password": "", "use_keys": True, "key_file": str(named)}):
            with pytest.raises(ConnectAuthError):
                reach(real.port, username=sshd.user(), transport=transport, **login, **known)
        assert "Accepted" not in real.log.read_text()


@pytest.mark.needs("ssh-server")
def test_a_key_that_nobody_allowed_is_refused(router: Doors, reach: Open, tmp_path: Path) -> None:
    allowed, other = sshd.new_key(tmp_path / "allowed"), tmp_path / "other"
    sshd.new_key(other)
    with sshd.server(tmp_path / "sshd", [allowed], router.plain()) as real:
        arguments = {"use_keys": True, "key_file": str(other), **strict(tmp_path, real.known)}
        with pytest.raises(ConnectAuthError):
            reach(real.port, username=sshd.user(), password="", **arguments)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_changed_or_unknown_host_key_is_refused_before_the_password(
    router: Doors, reach: Open, tmp_path: Path, legacy: bool
) -> None:
    key = asyncssh.generate_private_key("ssh-rsa", key_size=2048) if legacy else None
    port, public = router.ssh(key, **(LEGACY if legacy else {}))
    route = {"transport": "ssh-legacy"} if legacy else {}
    others = asyncssh.generate_private_key("ssh-rsa" if legacy else "ssh-ed25519")
    other = " ".join(others.export_public_key().decode().split()[:2])
    for known in (f"[127.0.0.1]:{port} {other}\n", "", f"[127.0.0.1]:{port + 1} {public}\n"):
        with pytest.raises(ConnectionException) as refused:
            reach(port, **route, **strict(tmp_path, known))
        problem = problem_of(refused.value, DeviceWords("r1", "cisco_ios"))
        assert ("another host key" in problem.message) == (other in known)
        assert "qosforge device trust r1 --network FOLDER" in problem.hint
        assert ("--replace" in problem.hint) == (other in known)
    assert router.logins == []
    reach(port, **route, **strict(tmp_path, f"[127.0.0.1]:{port} {public}\n"))
    assert router.logins == [(USERNAME, PASSWORD)]


def test_the_key_of_a_device_with_old_algorithms_alone_is_shown(router: Doors) -> None:
    port, public = router.ssh(asyncssh.generate_private_key("ssh-rsa", key_size=2048), **LEGACY)
    assert read_host_key("127.0.0.1", port, SessionRoute("ssh-legacy"), 10).public == public
    with pytest.raises(OSError, match=r"."):
        read_host_key("127.0.0.1", port, SessionRoute("ssh"), 10)


def test_a_device_with_old_algorithms_alone_is_told_from_one_that_is_down(
    router: Doors, reach: Open, tmp_path: Path
) -> None:
    port, _ = router.ssh(asyncssh.generate_private_key("ssh-rsa", key_size=2048), **LEGACY)
    with pytest.raises(ConnectionException) as refused:
        reach(port, **strict(tmp_path, ""))
    assert "ssh-legacy" in problem_of(refused.value, DeviceWords("r1", "cisco_ios")).hint


@pytest.mark.parametrize("transport", ["ssh", "ssh-legacy"])
def test_a_broken_line_of_known_hosts_is_told(router: Doors, reach: Open, tmp_path: Path, transport: str) -> None:
    port, _public = router.ssh()
    known = strict(tmp_path, f"[127.0.0.1]:{port} ssh-ed25519 no-base64-at-all\n")
    with pytest.raises(Exception) as refused:  # noqa: PT011  (of whichever kind a library raises)
        reach(port, transport=transport, **known)
    problem = problem_of(refused.value, DeviceWords("r1", "cisco_ios"))
    assert "known_hosts is broken" in problem.message
    assert "no-base64-at-all" in problem.message
    assert "line" in problem.hint


@pytest.mark.parametrize("ssh_strict", [True, False])
def test_a_revoked_host_key_is_refused_also_where_unknown_ones_are_taken(
    router: Doors, reach: Open, tmp_path: Path, ssh_strict: bool
) -> None:
    port, public = router.ssh()
    line = f"[127.0.0.1]:{port} {public}\n"
    known = strict(tmp_path, line, f"@revoked {line}") | {"ssh_strict": ssh_strict}
    with pytest.raises(Exception) as refused:  # noqa: PT011  (of whichever kind a library raises)
        reach(port, **known)
    problem = problem_of(refused.value, DeviceWords("r1", "cisco_ios"))
    assert "marked as revoked" in problem.message


def test_a_password_is_given_where_it_is_asked_for_interactively(
    router: Doors, reach: Open, tmp_path: Path
) -> None:
    port, public = router.ssh(interactive=True)
    arguments = strict(tmp_path, f"[127.0.0.1]:{port} {public}\n")
    changes(reach(port, **arguments), router)
    with pytest.raises(ConnectAuthError):
        reach(port, password="wrong", **arguments)


@pytest.mark.parametrize("driver", STARTUPS)
def test_old_algorithms_are_spoken_where_they_are_asked_for_alone(reach: Open, tmp_path: Path, driver: str) -> None:
    with doors.device(tmp_path / "box", *STARTUPS[driver]) as made:
        port, public = made.ssh(asyncssh.generate_private_key("ssh-rsa", key_size=1024), **LEGACY)
        known = strict(tmp_path, f"[127.0.0.1]:{port} {public}\n")
        with pytest.raises(ConnectionException):
            reach(port, driver, **known)
        box = reach(port, driver, transport="ssh-legacy", **known)
        assert box.is_alive()["is_alive"]
        assert box.get_config(retrieve="running")["running"]
        box.close()
        with pytest.raises(ConnectAuthError):
            reach(port, driver, password="wrong", transport="ssh-legacy", **known)


def test_a_change_by_old_algorithms(router: Doors, reach: Open, tmp_path: Path) -> None:
    port, public = router.ssh(asyncssh.generate_private_key("ssh-rsa", key_size=1024), **LEGACY)
    known = strict(tmp_path, f"[127.0.0.1]:{port} {public}\n")
    changes(reach(port, transport="ssh-legacy", **known), router)


@pytest.mark.parametrize("driver", STARTUPS)
def test_telnet(reach: Open, tmp_path: Path, driver: str) -> None:
    with doors.device(tmp_path / "box", *STARTUPS[driver]) as made:
        box = reach(made.telnet(), driver, transport="telnet")
        assert box.is_alive()["is_alive"]
        assert box.get_config(retrieve="running")["running"]
        box.close()
        wait_for(lambda: made.box.session_count == 0, "the device to see the session's end")


def test_a_change_by_telnet(router: Doors, reach: Open) -> None:
    changes(reach(router.telnet(), transport="telnet"), router)


def test_a_wrong_password_by_telnet(router: Doors, reach: Open) -> None:
    with pytest.raises(ConnectAuthError):
        reach(router.telnet(), password="wrong", transport="telnet")


@pytest.mark.parametrize("transport", ["ssh", "ssh-legacy", "telnet"])
def test_napalms_own_ios_driver_changes_by_every_way(reach: Open, tmp_path: Path, transport: str) -> None:
    startup = "hostname R1\narchive\n path flash:cfg\ninterface Serial0/0\n ip address 192.0.2.1 255.255.255.252\n"
    with doors.device(tmp_path / "box", "cisco_ios", "12.4", startup) as made:
        arguments: dict[str, Any] = {"transport": transport, "inline_transfer": True}
        if transport == "telnet":
            port = made.telnet()
        else:
            legacy = transport == "ssh-legacy"
            key = asyncssh.generate_private_key("ssh-rsa", key_size=1024) if legacy else None
            port, public = made.ssh(key, **(LEGACY if legacy else {}))
            arguments |= strict(tmp_path, f"[127.0.0.1]:{port} {public}\n")
        box = reach(port, "ios", **arguments)
        assert box.is_alive()["is_alive"]
        box.load_merge_candidate(config="interface Serial0/0\n description by the way\n")
        box.commit_config()
        assert "description by the way" in made.running()
        box.close()


@pytest.mark.needs("ssh-server")
@pytest.mark.parametrize("transport", ["ssh", "ssh-legacy", "telnet"])
def test_a_jump_host_carries_every_transport(router: Doors, reach: Open, tmp_path: Path, transport: str) -> None:
    key = tmp_path / "id"
    with sshd.server(tmp_path / "jump", [sshd.new_key(key)], None, "AllowTcpForwarding yes") as jump:
        legacy = transport == "ssh-legacy"
        host_key = asyncssh.generate_private_key("ssh-rsa", key_size=2048) if legacy else None
        if transport == "telnet":
            port, known = router.telnet(), {}
        else:
            port, public = router.ssh(host_key, **(LEGACY if legacy else {}))
            known = strict(tmp_path, f"[127.0.0.1]:{port} {public}\n")
        route = through(tmp_path, jump, key, port)
        box = reach(port, transport=transport, jump=route, **known)
        changes(box, router)
        assert "Accepted publickey" in jump.log.read_text()
        box.close()
    assert not carriers(port)


@pytest.mark.needs("ssh-server")
def test_what_a_jump_host_says_is_told(router: Doors, reach: Open, tmp_path: Path) -> None:
    key, other = tmp_path / "id", tmp_path / "other"
    sshd.new_key(other)
    with sshd.server(tmp_path / "jump", [sshd.new_key(key)]) as jump:
        port, public = router.ssh()
        known = strict(tmp_path, f"[127.0.0.1]:{port} {public}\n")
        with pytest.raises(ConnectionException, match="Permission denied"):
            reach(port, jump=through(tmp_path, jump, other, port), **known)
        with pytest.raises(ConnectionException, match="Host key verification failed"):
            reach(port, jump=through(tmp_path, jump, key, port, known=""), **known)
    with pytest.raises(ConnectionException, match="Connection refused"):
        reach(port, jump=through(tmp_path, jump, key, port), **known)
    assert router.logins == []
    assert not carriers(port)


@pytest.mark.needs("ssh-server")
def test_many_log_in_to_a_jump_host_that_refuses_more_than_ten_at_once(tmp_path: Path) -> None:
    key = tmp_path / "id"
    with (
        sshd.server(tmp_path / "jump", [sshd.new_key(key)], None, "MaxStartups 10:100:10") as jump,
        socket.create_server(("127.0.0.1", 0), backlog=50) as device,
    ):
        route = through(tmp_path, jump, key, device.getsockname()[1])
        met = ExitStack()

        def greet() -> None:
            for _ in range(30):
                made, _address = device.accept()
                met.enter_context(made).sendall(b"greetings")

        def heard(_number: int) -> bytes:
            guard = SessionGuard()
            try:
                with guard.step("login"), connect(guard, route, "127.0.0.1", 22, None) as made:
                    return made.recv(100)
            finally:
                guard.close()

        device.settimeout(60)
        with met, ThreadPoolExecutor(31) as pool:
            greeting = pool.submit(greet)
            assert list(pool.map(heard, range(30))) == [b"greetings"] * 30
            greeting.result()
        assert "MaxStartups" not in jump.log.read_text()


def test_a_way_that_does_not_exist_is_named() -> None:
    with pytest.raises(ValueError, match="there are ssh, ssh-legacy, telnet"):
        get_network_driver("ios_legacy")("127.0.0.1", "a", "b", optional_args={"transport": "carrier-pigeon"})


def through(tmp_path: Path, jump: sshd.Server, key: Path, port: int, known: str | None = None) -> tuple[str, ...]:
    """The command that carries a connection through a jump host."""
    file = tmp_path / "known_jump"
    file.write_text(jump.known if known is None else known)
    return (
        *("ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"),
        *("-o", f"UserKnownHostsFile={file}", "-o", "IdentitiesOnly=yes", "-i", str(key), "-p", str(jump.port)),
        *("-W", f"127.0.0.1:{port}", f"{sshd.user()}@127.0.0.1"),
    )


def carriers(port: int) -> list[str]:
    """Processes of this machine that carry a connection to a port."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_text().split("\0")
            except OSError:
                continue
            if f"127.0.0.1:{port}" in words:
                found.append(entry.name)
    return found
