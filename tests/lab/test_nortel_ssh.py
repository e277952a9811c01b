"""The 5510 over real SSH, with the client that real boxes meet (it is slow: few logins)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from netmiko import ConnectHandler
from netmiko.base_connection import BaseConnection
from netmiko.exceptions import NetmikoAuthenticationException, ReadException

from qoslab import control
from qoslab.spec import BoxSpec, NetworkSpec

STARTUP = """\
enable
configure terminal
no autosave enable
snmp-server name "access"
qos agent queue-set 4
"""

LONG = (
    "qos ip-element 1 name a-name-of-16-chr addr-type ipv4 src-ip 10.10.10.0/24 dst-ip 10.10.20.0/24 protocol 17"
    " dst-port-min 16384 dst-port-max 32767"
)
"""Longer than the widest terminal that clients ask for."""

LINES = [
    "qos if-group name edge class trusted",
    "qos if-assign port 1-4 name edge",
    LONG,
    "qos classifier 1 set-id 1 name c1 element-type ip element-id 1",
    "qos policy 1 if-group edge clfr-type classifier clfr-id 1 in-profile-action 3 precedence 10",
    "qos agent queue-set 8",
]


class Lab:
    """One 5510 in a lab of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "state"
        startup = folder / "access.cfg"
        startup.write_text(STARTUP)
        box = BoxSpec(
            name="sw", platform="nortel_5510", username="RW", password="pw-1", secret="pw-2",
            startup_config=startup,
        )  # fmt: skip
        self.address = control.start(NetworkSpec(network="t", boxes=[box]), self.folder).boxes["sw"]

    def login(self, password: str = "pw-1") -> BaseConnection:
        return ConnectHandler(
            device_type="extreme_ers", host=self.address.hostname, port=self.address.port, username="RW",
            password=password, secret="pw-2", ssh_strict=True, alt_host_keys=True,
            alt_key_file=str(self.folder / "known_hosts"),
        )  # fmt: skip

    def queues(self) -> tuple[object, object]:
        """Marks and queue of a packet of the policy's class."""
        packets = [{"count": 5, "bytes": 200, "src": "10.10.10.1", "dst": "10.10.20.1", "dst_port": 20000}]
        (outcome,) = control.offer(self.folder, "sw", "1", "48", packets)
        return outcome["dscp_out"], outcome["queue"]


@pytest.fixture(scope="module")
def ers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("nortel"))
    yield made
    control.stop(made.folder)


@pytest.fixture(scope="module")
def box(ers: Lab) -> Iterator[BaseConnection]:
    connection = ers.login()
    yield connection
    connection.disconnect()


def test_a_wrong_password_is_refused(ers: Lab) -> None:
    with pytest.raises(NetmikoAuthenticationException):
        ers.login("nonsense")


def test_login_passes_the_banner_and_enable_asks(box: BaseConnection) -> None:
    assert box.find_prompt() == "access>"
    box.enable()
    assert box.find_prompt() == "access#"


def test_configure_save_and_reset(ers: Lab, box: BaseConnection) -> None:
    box.enable()
    assert ers.queues() == (0, "4")
    answer = box.send_config_set([*LINES, "no qos ip-element 1"])
    assert answer.count("% Cannot modify settings") == 1
    assert "Element is referenced by a classifier" in answer
    assert ers.queues() == (10, "4")
    assert LINES[0] in box.send_command("show running-config")
    assert "QoS Queue Set (after reset): 8" in box.send_command("show qos agent")
    rows = [line.split() for line in box.send_command("show qos statistics 1").splitlines()]
    assert ["1", "5", "0"] in rows
    box.save_config()


def test_lines_wrap_until_the_terminal_is_wide(box: BaseConnection) -> None:
    box.enable()
    narrow = box.send_command("show running-config")
    assert LONG not in narrow
    assert max(len(line) for line in narrow.splitlines()) == 79
    box.send_command("terminal width 131")
    wide = box.send_command("show running-config").splitlines()
    assert LONG[:130] in wide
    assert LONG[130:] in [line.rstrip() for line in wide]
    assert "! *** QOS *** " in wide


def test_long_output_is_paged(box: BaseConnection) -> None:
    box.enable()
    box.send_command("terminal length 24")
    box.write_channel("show running-config\n")
    page = box.read_until_pattern(r"----More \(q=Quit, space/return=Continue\)----")
    assert page.count("\n") <= 25
    box.write_channel("q")
    box.read_until_pattern("access#")
    box.send_command("terminal length 0")


def test_the_stored_queue_set_is_in_force_after_a_reset(ers: Lab, box: BaseConnection) -> None:
    assert ers.queues() == (10, "4")
    box.enable()
    box.write_channel("boot\n")
    box.read_until_pattern(r"\(y/n\) \? ")
    box.write_channel("y\n")
    with pytest.raises((ReadException, OSError)):
        box.read_until_pattern("access[>#]", read_timeout=1)
    assert ers.queues() == (10, "6")
    with ers.login() as again:
        again.enable()
        assert "QoS Queue Set: 8 \n" in again.send_command("show qos agent")
        control.configure(ers.folder, "sw", ["qos queue-set-assignment queue-set 8 1p 2 queue 7"])
        assert ers.queues() == (10, "7")
