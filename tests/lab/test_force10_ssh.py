"""The E300 over real SSH, with the clients that real boxes meet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from netmiko import ConnectHandler
from netmiko.base_connection import BaseConnection
from netmiko.exceptions import ConfigInvalidException, NetmikoAuthenticationException, ReadException

from qoslab import control
from qoslab.spec import BoxSpec, NetworkSpec

STARTUP = """\
hostname core
interface GigabitEthernet 0/0
 no shutdown
interface GigabitEthernet 0/1
 no shutdown
"""

LINES = [
    "class-map match-any VOICE",
    "match ip dscp 34",
    "qos-policy-output Q5",
    "bandwidth-percentage 50",
    "policy-map-input IN",
    "service-queue 5 class-map VOICE",
    "policy-map-output OUT",
    "service-queue 5 qos-policy Q5",
    "strict-priority unicast 5",
    "interface GigabitEthernet 0/0",
    "service-policy input IN",
    "interface GigabitEthernet 0/1",
    "service-policy output OUT",
]


class Lab:
    """One E300 in a lab of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "state"
        startup = folder / "core.cfg"
        startup.write_text(STARTUP)
        box = BoxSpec(
            name="core", platform="force10_e300", username="admin", password="pw-1", secret="pw-2",
            startup_config=startup,
        )  # fmt: skip
        self.spec = NetworkSpec(network="t", boxes=[box])
        self.start()

    def start(self) -> None:
        self.address = control.start(self.spec, self.folder).boxes["core"]

    def login(self, password: str = "pw-1") -> BaseConnection:
        return ConnectHandler(
            device_type="dell_force10", host=self.address.hostname, port=self.address.port, username="admin",
            password=password, secret="pw-2", ssh_strict=True, alt_host_keys=True,
            alt_key_file=str(self.folder / "known_hosts"),
        )  # fmt: skip


@pytest.fixture(scope="module")
def e300(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("force10"))
    yield made
    control.stop(made.folder)


@pytest.fixture
def box(e300: Lab) -> Iterator[BaseConnection]:
    control.plant(e300.folder, "core", "clear")
    connection = e300.login()
    connection.enable()
    yield connection
    connection.disconnect()


def test_a_wrong_password_is_refused(e300: Lab) -> None:
    with pytest.raises(NetmikoAuthenticationException):
        e300.login("nonsense")


def test_the_version_is_what_clients_recognise_the_platform_by(box: BaseConnection) -> None:
    assert "Real Time Operating System Software" in box.send_command("show version")


def test_login_enable_and_a_wrong_enable_password(e300: Lab) -> None:
    connection = e300.login()
    assert connection.find_prompt() == "core>"
    connection.write_channel("enable\n")
    connection.read_until_pattern("ssword: ")
    connection.write_channel("wrong\n")
    assert "% Error: Access denied." in connection.read_until_pattern("core[>#]")
    assert connection.find_prompt() == "core>"
    connection.enable()
    assert connection.find_prompt() == "core#"
    connection.disconnect()


def test_configure_read_back_count_and_save(e300: Lab, box: BaseConnection) -> None:
    answer = box.send_config_set(LINES, error_pattern=r"% ?(Error|Invalid)")
    assert "core(conf-if-gi-0/1)#" in answer
    assert "service-queue 5 class-map VOICE" in box.send_command("show running-config policy-map-input")
    packets = [{"count": 9, "bytes": 200, "dscp": 34}, {"count": 4, "bytes": 100}]
    voice, rest = control.offer(e300.folder, "core", "gi 0/0", "gi 0/1", packets)
    assert (voice["ingress_class"], voice["queue"], voice["egress_class"]) == ("VOICE", "5 strict", "Q5")
    assert rest["queue"] == "0"
    rows = [line.split() for line in box.send_command("show qos statistics gi 0/1").splitlines()]
    assert ["5", "9", "1800", "0", "0"] in rows
    assert ["0", "4", "400", "0", "0"] in rows
    assert box.send_command("show startup-config").strip() == STARTUP.strip()
    assert "bytes successfully copied" in box.save_config()
    saved = box.send_command("show startup-config").strip()
    assert "strict-priority unicast 5" in saved
    control.stop(e300.folder)
    port, key = e300.address.port, e300.address.host_key
    e300.start()
    assert (e300.address.port, e300.address.host_key) == (port, key)
    with e300.login() as again:
        again.enable()
        running = again.send_command("show running-config").strip().splitlines()
        assert "! Version 8.4.2.7" in running
        assert running[3:] == saved.splitlines()[1:]


def test_a_refused_line_stops_the_set(box: BaseConnection) -> None:
    with pytest.raises(ConfigInvalidException, match="service-queue 9"):
        box.send_config_set(
            ["policy-map-output BAD", "service-queue 9 qos-policy Q5", "no policy-map-output BAD"],
            error_pattern=r"% ?(Error|Invalid)",
        )
    box.send_config_set(["no policy-map-output BAD"])


def test_long_output_is_paged_until_told_not_to(box: BaseConnection) -> None:
    box.send_command("terminal length 10")
    box.write_channel("show running-config\n")
    page = box.read_until_pattern("--More--")
    assert page.count("\n") <= 11
    box.write_channel("q")
    assert box.find_prompt() == "core#"
    box.send_command("terminal length 0")
    assert box.send_command("show running-config").rstrip().endswith("end")
    box.send_command("terminal length 10")
    assert box.send_command("show running-config | no-more").rstrip().endswith("end")


def test_a_session_can_die_in_the_middle(e300: Lab, box: BaseConnection) -> None:
    control.plant(e300.folder, "core", "disconnect", mode="configuration", lines=1)
    with pytest.raises((ReadException, OSError)):
        box.send_config_set(["qos-policy-output HALF", "bandwidth-percentage 5"], read_timeout=1)
    running = control.request(e300.folder, {"op": "running", "box": "core"})["running"]
    assert "qos-policy-output HALF\n!" in str(running)
