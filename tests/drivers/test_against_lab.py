"""The drivers against the lab's boxes: written from the vendor sheets by others, so they judge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_candidate import LineRefusedError
from cli_candidate.configtext import commands_only
from napalm import get_network_driver
from napalm.base.exceptions import CommandErrorException, CommitConfirmException, ConnectionException

from qoslab import control
from qoslab.spec import BoxSpec, NetworkSpec
from tests.stopwatch import Stopwatch

Connect = Callable[..., Any]
MINUTE = 1.0  # how long a box's minute lasts here
MQC = """\
class-map match-all VOICE
 match ip dscp ef
policy-map WAN
 class VOICE
  priority percent 30
 class class-default
  fair-queue
interface Serial0/0
 service-policy output WAN
"""
MQC_INVERSE = """\
interface Serial0/0
 no service-policy output WAN
no policy-map WAN
no class-map match-all VOICE
"""


@dataclass(frozen=True)
class Case:
    """A change a box can hold, what it says, the way back, and a line that it refuses, with a word of that."""

    driver: str
    platform: str
    startup: str
    change: str
    inverse: str
    refused: str
    words: str
    image: str = ""
    notices: tuple[str, ...] = ()


CASES = {
    "r3": Case(
        driver="ios_legacy",
        platform="cisco_ios",
        image="12.2",
        startup="hostname R3\nip cef\ninterface Serial0/0\n ip address 192.0.2.1 255.255.255.252\nend\n",
        change=MQC,
        inverse=MQC_INVERSE,
        refused="policy-map OTHER\n class NOWHERE\n",
        words="NOWHERE",
    ),
    "s2950": Case(
        driver="ios_legacy",
        platform="catalyst_2950",
        startup="hostname S2950\ninterface FastEthernet0/1\n switchport mode access\nend\n",
        change=(
            "wrr-queue bandwidth 5 25 70 0\nwrr-queue cos-map 3 4\nwrr-queue cos-map 4 5 6 7\n"
            "interface FastEthernet0/1\n mls qos trust dscp\n"
        ),
        inverse="interface FastEthernet0/1\n no mls qos trust\nno wrr-queue cos-map\nno wrr-queue bandwidth\n",
        refused="mls qos map dscp-cos 35 to 5\n",
        words="Invalid input",
    ),
    "s2970": Case(
        driver="ios_legacy",
        platform="catalyst_2970",
        startup="hostname S2970\ninterface GigabitEthernet0/1\n switchport mode access\nend\n",
        change=(
            "mls qos\nmls qos map cos-dscp 0 8 16 24 32 34 48 56\n"
            "interface GigabitEthernet0/1\n srr-queue bandwidth share 10 10 60 20\n priority-queue out\n"
        ),
        inverse=(
            "interface GigabitEthernet0/1\n no priority-queue out\n no srr-queue bandwidth share\n"
            "no mls qos map cos-dscp\nno mls qos\n"
        ),
        refused="interface GigabitEthernet0/1\n srr-queue bandwidth share 10 10 60 900\n",
        words="Invalid input",
    ),
    "n5510": Case(
        driver="ers",
        platform="nortel_5510",
        startup='snmp-server name "n5510"\n',
        change=(
            "qos if-group name campus class trusted\nqos if-assign port 1-4 name campus\n"
            "qos egressmap name campus ds 34 1p 6 dp high-drop ds-new 34\n"
        ),
        inverse="default qos egressmap ds 34\nno qos if-assign port 1-4\nno qos if-group name campus\n",
        refused="qos queue-set-assignment queue-set 9 1p 5 queue 1\n",
        words="",
    ),
    "e300": Case(
        driver="force10",
        platform="force10_e300",
        startup="hostname e300\n!\ninterface GigabitEthernet 0/0\n no ip address\n no shutdown\n",
        change=(
            "class-map match-any VOICE\n match ip dscp 46\nqos-policy-input MARK\n set ip-dscp 46\n"
            "policy-map-input IN\n service-queue 5 class-map VOICE qos-policy MARK\n"
            "strict-priority unicast 5\ninterface GigabitEthernet 0/0\n service-policy input IN\n"
        ),
        inverse=(
            "interface GigabitEthernet 0/0\n no service-policy input IN\nno strict-priority unicast\n"
            "no policy-map-input IN\nno qos-policy-input MARK\nno class-map match-any VOICE\n"
        ),
        refused="interface GigabitEthernet 0/0\n service-policy input NOWHERE\n",
        words="NOWHERE",
        notices=(
            (
                "% Info: To set the specified DSCP value 46 (101-110 b) the QoS policy must be mapped to"
                " queue 5 (101 b)."
            ),
        ),
    ),
}
IOS = ["r3", "s2950", "s2970"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[control.Overlay]:
    folder = tmp_path_factory.mktemp("lab")
    boxes = []
    for name, case in CASES.items():
        startup: Path | None = None
        if case.startup:
            startup = folder / f"{name}.cfg"
            startup.write_text(case.startup)
        account = {"username": "operator", "password": "right", "secret": "more"}
        boxes.append(
            BoxSpec(name=name, platform=case.platform, image=case.image, startup_config=startup, **account)
        )
    state = folder / "state"
    yield control.start(NetworkSpec(network="drivers", boxes=boxes, clock_scale=60 / MINUTE), state)
    control.stop(state)


@pytest.fixture
def reach(lab: control.Overlay) -> Iterator[Connect]:
    """``reach(box)``: an open driver to a box of the lab, its host key checked."""
    with ExitStack() as stack:

        def open_box(name: str, password: str = "right") -> Any:
            arguments = {
                "port": lab.boxes[name].port,
                "secret": "more",
                "ssh_strict": True,
                "alt_host_keys": True,
                "alt_key_file": str(lab.known_hosts),
                "read_timeout_override": 8,
            }
            driver = get_network_driver(CASES[name].driver)
            box = driver("127.0.0.1", "operator", password, optional_args=arguments)
            stack.callback(box.close)
            box.open()
            return box

        yield open_box


@pytest.mark.parametrize("name", CASES)
def test_change_and_inverse(reach: Connect, name: str) -> None:
    """Forth, nothing left to do, a refusal in between, and back to the very same bytes."""
    case = CASES[name]
    box = reach(name)
    before = box.get_config()
    box.load_merge_candidate(config=case.change)
    shown = box.compare_config()
    assert shown
    assert all(line[0] in "+ " for line in shown.splitlines())
    box.commit_config()
    assert box.last_commit.warnings == ()
    assert [notice.text for notice in box.last_commit.notices] == list(case.notices)
    changed = box.get_config()
    assert changed["running"] != before["running"]
    assert changed["startup"] == before["startup"]
    box.load_merge_candidate(config=case.change)
    assert box.compare_config() == ""

    box.load_merge_candidate(config=f"! a comment\n{case.refused}")
    with pytest.raises(LineRefusedError) as caught:
        box.commit_config()
    total = len(case.refused.splitlines())
    assert (caught.value.progress.applied, caught.value.progress.total) == (total - 1, total)
    assert caught.value.progress.line_number == total + 1
    assert case.words in caught.value.answer

    inverse = case.inverse + ("no policy-map OTHER\n" if name == "r3" else "")
    box.load_merge_candidate(config=inverse)
    assert all(line[0] in "- " for line in box.compare_config().splitlines())
    box.commit_config()
    assert box.get_config()["running"] == before["running"]


@pytest.mark.parametrize("name", CASES)
def test_confirm_saves(reach: Connect, name: str) -> None:
    box = reach(name)
    box.confirm_commit()
    configs = box.get_config()
    if name != "n5510":
        # FTOS names its version in the running configuration only.
        assert commands_only(configs["startup"]) == commands_only(configs["running"])
    assert box.has_pending_commit() is False


@pytest.mark.parametrize("name", CASES)
def test_wrong_password(reach: Connect, name: str) -> None:
    with pytest.raises(ConnectionException):
        reach(name, password="wrong")


@pytest.mark.parametrize("name", CASES)
def test_facts(reach: Connect, name: str) -> None:
    facts = reach(name).get_facts()
    assert facts["vendor"] in {"Cisco", "Nortel", "Force10"}
    assert facts["model"]
    assert facts["os_version"]
    assert facts["uptime"] >= 0


@pytest.mark.parametrize("name", IOS)
def test_the_reload_brings_startup_back(reach: Connect, name: str) -> None:
    case = CASES[name]
    box = reach(name)
    box.confirm_commit()
    before = box.get_config()["running"]
    box.load_merge_candidate(config=case.change)
    box.commit_config(revert_in=90)
    assert box.has_pending_commit() is True
    assert box.get_config()["running"] != before
    deadline = time.monotonic() + 10 * MINUTE
    while box.is_alive()["is_alive"] and time.monotonic() < deadline:
        time.sleep(0.05)
    again = reach(name)
    assert again.get_config()["running"] == before
    assert again.has_pending_commit() is False


@pytest.mark.parametrize("name", IOS)
def test_a_confirmed_change_outlives_its_timer(reach: Connect, name: str) -> None:
    case = CASES[name]
    box = reach(name)
    box.confirm_commit()
    before = box.get_config()
    box.load_merge_candidate(config=case.change)
    box.commit_config(revert_in=120)
    box.confirm_commit()
    assert box.has_pending_commit() is False
    time.sleep(3 * MINUTE)
    assert box.is_alive()["is_alive"] is True
    configs = box.get_config()
    assert configs["running"] == configs["startup"] != before["running"]
    box.load_merge_candidate(config=case.inverse)
    box.commit_config()
    box.load_merge_candidate(config=case.change)
    with pytest.raises(CommitConfirmException, match="differ"):
        box.commit_config(revert_in=60)
    box.confirm_commit()
    assert box.get_config() == before


def test_the_inverse_under_a_running_timer(reach: Connect) -> None:
    box = reach("r3")
    box.confirm_commit()
    before = box.get_config()
    box.load_merge_candidate(config=MQC)
    box.commit_config(revert_in=600)
    with pytest.raises(CommandErrorException, match="inverse"):
        box.rollback()
    box.load_merge_candidate(config=MQC_INVERSE)
    box.commit_config()
    assert box.has_pending_commit() is True
    box.confirm_commit()
    assert box.get_config() == before
    assert box.has_pending_commit() is False


def test_the_recovery_session_sees_the_timer_of_the_dead_one(reach: Connect) -> None:
    box = reach("r3")
    box.confirm_commit()
    box.load_merge_candidate(config=MQC)
    box.commit_config(revert_in=600)
    box.device.remote_conn_pre.get_transport().close()  # as a killed process leaves it
    heir = reach("r3")
    assert heir.has_pending_commit() is True
    heir.load_merge_candidate(config=MQC_INVERSE)
    heir.commit_config()
    heir.confirm_commit()
    assert heir.has_pending_commit() is False


def test_sixty_commands_on_an_ers(reach: Connect) -> None:
    """Netmiko's own sending needs some nine seconds for any set of commands."""
    box = reach("n5510")
    box.load_merge_candidate(config="".join(f"qos egressmap ds {code} 1p 3 dp high-drop\n" for code in range(60)))
    watch = Stopwatch()
    box.commit_config()
    assert watch.seconds < 3
    box.load_merge_candidate(config="default qos egressmap\n")
    box.commit_config()
