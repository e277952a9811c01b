"""Boxes for the lab's tests: offline ones for meaning, a running lab for everything on the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from netmiko import ConnectHandler

from qoslab import control
from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.shell import Shell
from qoslab.spec import BoxSpec, NetworkSpec
from qoslab.storage import Storage

ROUTER = """\
hostname R1
ip cef
username admin privilege 15 secret 5 $1$abcd
archive
 path flash:cfg
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 ip address 10.0.1.1 255.255.255.252
 encapsulation ppp
 clock rate 2000000
router ospf 1
 network 10.0.0.0 0.255.255.255 area 0
ip scp server enable
banner motd ^C
Authorised use only
^C
line vty 0 4
 login local
end
"""
OLD_ROUTER = (
    ROUTER.replace("archive\n path flash:cfg\n", "").replace("R1", "R3").replace("ip scp server enable\n", "")
)
SWITCH = """\
hostname SW
interface FastEthernet0/1
 switchport mode access
interface FastEthernet0/2
 switchport mode trunk
interface GigabitEthernet0/1
 switchport mode access
interface GigabitEthernet0/2
 switchport mode trunk
"""
STARTUPS = {"12.4": ROUTER, "12.2": OLD_ROUTER, "2950": SWITCH, "2970": SWITCH}

BoxMaker = Callable[..., Box]


@pytest.fixture
def make(tmp_path: Path) -> BoxMaker:
    """``make("12.4")``: a booted box without a network; other startup text as the second argument."""

    def build(image: str, startup: str | None = None, **features: bool) -> Box:
        platform = f"catalyst_{image}" if image.startswith("29") else "cisco_ios"
        spec = BoxSpec(name="box", platform=platform, image=image, features=features, username="u", password="p")
        folder = tmp_path / f"box{len(list(tmp_path.iterdir()))}"
        box = make_box(spec, Storage(folder, STARTUPS[image] if startup is None else startup), Clock())
        box.boot()
        return box

    return build


def type_lines(box: Box, *lines: str) -> tuple[Shell, list[str]]:
    """Type lines in configuration mode; returns the login and every non-empty answer."""
    shell = box.new_shell("u")
    shell.feed("configure terminal")
    answers = [shell.feed(line).text for line in lines]
    return shell, [answer for answer in answers if answer]


def show(box: Box, command: str) -> str:
    """What an exec command prints."""
    return box.new_shell("u").feed(command).text


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The state directory of a running lab: r1 (12.4), r3 (12.2), s1 (2950), s2 (2970). A minute lasts 1.5 s."""
    folder = tmp_path_factory.mktemp("lab")
    boxes = []
    for name, image in (("r1", "12.4"), ("r3", "12.2"), ("s1", "2950"), ("s2", "2970")):
        startup = folder / f"{name}.cfg"
        startup.write_text(STARTUPS[image])
        platform = f"catalyst_{image}" if image.startswith("29") else "cisco_ios"
        boxes.append(
            BoxSpec(
                name=name,
                platform=platform,
                image=image,
                username="admin",
                password="lab-pass",
                secret="lab-secret",
                startup_config=startup,
            )
        )
    state = folder / "state"
    control.start(NetworkSpec(network="test", boxes=boxes, clock_scale=40), state)
    yield state
    control.stop(state)


def login(state: Path, box: str, **extra: object) -> ConnectHandler:
    """A Netmiko connection to a box, enabled."""
    address = control.overlay(state).boxes[box]
    arguments = {
        "device_type": "cisco_ios",
        "host": address.hostname,
        "port": address.port,
        "username": "admin",
        "password": "lab-pass",
        "secret": "lab-secret",
        **extra,
    }
    connection = ConnectHandler(**arguments)
    connection.enable()
    return connection


@pytest.fixture(autouse=True)
def _clear_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    """No fault outlives its test."""
    yield
    if "lab" in request.fixturenames:
        state = request.getfixturevalue("lab")
        for box in ("r1", "r3", "s1", "s2"):
            control.plant(state, box, "clear")
