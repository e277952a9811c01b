"""The wire side: login, enable, paging, line editing, clients that vanish."""

from __future__ import annotations

import re
import time
from pathlib import Path

import paramiko
import pytest
from netmiko import NetmikoAuthenticationException

from qoslab import control

from .conftest import login


class Raw:
    """A bare interactive channel."""

    def __init__(self, state: Path, box: str) -> None:
        address = control.overlay(state).boxes[box]
        self.client = paramiko.SSHClient()
        self.client.load_host_keys(str(control.overlay(state).known_hosts))
        self.client.set_missing_host_key_policy(paramiko.RejectPolicy())
        self.client.connect(
            address.hostname, address.port, "admin", "lab-pass", look_for_keys=False, allow_agent=False, timeout=60
        )
        self.channel = self.client.invoke_shell(width=511, height=1000)
        self.channel.settimeout(10)

    def until(self, pattern: str) -> str:
        """Read until a regular expression matches the end of what came."""
        got = ""
        while not re.search(pattern + r"$", got):
            data = self.channel.recv(4096)
            assert data, f"closed after {got!r}"
            got += data.decode()
        return got

    def ask(self, keys: str, pattern: str) -> str:
        """Send keys and read until the pattern."""
        self.channel.sendall(keys.encode())
        return self.until(pattern)


def raw(state: Path, box: str) -> Raw:
    """An enabled raw channel."""
    made = Raw(state, box)
    made.until("R1>")
    made.ask("enable\r", "Password: ")
    made.ask("lab-secret\r", "R1#")
    return made


def test_login_checks_the_host_key_and_enable_takes_the_secret(lab: Path) -> None:
    made = Raw(lab, "r1")
    made.until("R1>")
    made.ask("enable\n", "Password: ")
    assert "lab" not in made.ask("wrong\n", "Password: ")
    made.ask("wrong\n", "Password: ")
    assert "% Bad secrets" in made.ask("wrong\n", "R1>")
    made.client.close()


def test_wrong_password(lab: Path) -> None:
    with pytest.raises(NetmikoAuthenticationException):
        login(lab, "r1", password="no")


def test_paging(lab: Path) -> None:
    made = raw(lab, "r1")
    page = made.ask("show running-config\n", " --More-- ")
    assert page.count("\r\n") == 24  # the echo and 23 lines
    more = made.ask("\r", " --More-- ")
    assert more.replace("\b", "").strip().count("\r\n") == 1
    assert made.ask("q", "R1#").endswith("R1#")
    made.ask("terminal length 0\n", "R1#")
    whole = made.ask("show running-config\n", "R1#")
    assert "--More--" not in whole
    assert whole.replace("\r\n", "\n").endswith("end\n\nR1#")
    made.client.close()


def test_line_editing_and_line_ends(lab: Path) -> None:
    made = raw(lab, "r1")
    assert "level is 15" in made.ask("show privixx\x7f\x7flege\r\n", "R1#")
    assert made.ask("\0\r", "R1#") == "\r\nR1#"
    assert made.ask("nonsense\x15\r", "R1#").endswith("\r\nR1#")
    made.ask("configure terminal\r", r"\(config\)#")
    assert "^Z" in made.ask("\x1a", "R1#")
    assert made.ask("exi", "exi") == "exi"
    made.client.close()


def test_a_client_that_vanishes_mid_line_harms_nobody(lab: Path) -> None:
    made = raw(lab, "r1")
    made.channel.sendall(b"configure ter")
    made.client.get_transport().sock.close()
    deadline = time.monotonic() + 60
    while control.request(lab, {"op": "status"})["boxes"]["r1"]["sessions"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert control.request(lab, {"op": "status"})["boxes"]["r1"]["sessions"] == 0
    with login(lab, "r1") as again:
        assert again.find_prompt() == "R1#"


def test_netmiko_configures_and_reads_back(lab: Path) -> None:
    with login(lab, "s2") as connection:
        out = connection.send_config_set(["interface gi0/1", "description port one", "mls qos cos 9"])
        assert "% Invalid input detected" in out
        assert " description port one" in connection.send_command("show running-config interface gi0/1")
        assert "Building configuration..." in connection.save_config()
        assert "description port one" in connection.send_command("show startup-config")
        connection.send_config_set(["interface gi0/1", "no description"])


def test_copy_running_to_startup_asks(lab: Path) -> None:
    with login(lab, "r3") as connection:
        asked = connection.send_command("copy running-config startup-config", expect_string=r"\?")
        assert "Destination filename [startup-config]?" in asked
        assert "[OK]" in connection.send_command("\n", expect_string="R3#")
