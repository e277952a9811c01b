"""Devices that misbehave, reached by telnet, through a jump host, and by old algorithms."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.route import InventoryRoute
from qosforge.deploy.sessions import Sessions
from qosforge.deploy.transaction import running
from qosforge.errors import DeviceError, LoginRefused
from qosforge.inventory.models import Device, DeviceRole, Network
from qosforge.inventory.reach import Reach
from qosforge.platforms.device_text import DeviceText
from qosforge.settings import DeviceLimits, Settings
from tests import sshd
from tests.counted import tried
from tests.drivers.hostile import HEALTHY, KINDS, WAYS, Devices, Way, cut_off, hang_up
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.hostile

SMALL = {"silence": 2.0, "seconds": 4.0, "bytes": 256 << 10}
LOGIN = {"silence": 5.0, "seconds": 6.0, "bytes": 256 << 10}
LIMITS = DeviceLimits.model_validate({"login": LOGIN, **dict.fromkeys(("read", "show", "batch", "save"), SMALL)})
SLACK = 6.0
"""Seconds beside the limits: logging in where the step comes later, logging out, and a machine that is busy."""
TRANSPORTS = (
    "ssh-legacy",
    "telnet",
    pytest.param("jump", marks=pytest.mark.needs("ssh-server")),
    pytest.param("telnet-jump", marks=pytest.mark.needs("ssh-server")),
)
CHOSEN = {
    "silent-after-the-password",
    "silent-login",
    "dripping-login",
    "endless-login",
    "silent-read",
    "dripping-read",
    "endless-read",
    "hangs-up",
}


async def _at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hang up before a word is said."""


HANGS_UP = (
    Way("hangs-up-at-login", "login", hang_up),
    Way("hangs-up-at-once", raw=_at_once),
    Way("cuts-off", "read", cut_off),
)
TRIED = (*(way for way in WAYS if way.name in CHOSEN), *HANGS_UP)
assert len(TRIED) == len(CHOSEN) + len(HANGS_UP)


def drivers_of(by: str) -> list[str]:
    """The drivers that come to a device so."""
    return [driver for driver, kind in KINDS.items() if kind.typed or by == "jump"]


@pytest.fixture(scope="module")
def bastion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """OpenSSH's configuration for a jump host that runs."""
    folder = tmp_path_factory.mktemp("bastion")
    with sshd.bastion(folder) as config:
        (folder / "config").write_text(config)
        yield folder / "config"


@pytest.fixture
def meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Callable[[Way, str], Fleet]]:
    """``meet(way, transport)``: a fleet of one such device by driver, and one that is healthy."""
    for name in ("USERNAME", "PASSWORD", "SECRET"):
        monkeypatch.setenv(f"QOSFORGE_{name}", "lab")
    opened: list[Fleet] = []
    with Devices() as devices:

        def start(way: Way, by: str) -> Fleet:
            config = request.getfixturevalue("bastion") if by.endswith("jump") else tmp_path / "no_config"
            settings = Settings(
                known_hosts_file=tmp_path / "known_hosts",
                ssh_config_file=config,
                credentials_file=tmp_path / "no_credentials",
            )
            telnet = by.startswith("telnet")
            boxes = {driver: (driver, devices.add(way, driver, telnet=telnet)) for driver in KINDS}
            boxes["healthy"] = ("ios_legacy", devices.add(HEALTHY, telnet=telnet))
            (tmp_path / "known_hosts").write_text(
                "".join(f"[127.0.0.1]:{port} {devices.host_key}\n" for _, port in boxes.values())
            )
            transport = "telnet" if telnet else "ssh" if by == "jump" else by
            made = [
                Device(
                    name=name,
                    platform=KINDS[driver].platform,
                    image=KINDS[driver].image,
                    role=DeviceRole.EDGE,
                    driver=driver,
                    interfaces=(),
                    reach=Reach(
                        hostname="127.0.0.1",
                        port=port,
                        transport=transport,
                        jump="bastion" if by.endswith("jump") else None,
                    ),
                )
                for name, (driver, port) in boxes.items()
            ]
            network = Network(name="hostile", devices=tuple(made), links=(), stations=())
            opened.append(Fleet(network, InventoryRoute(settings), Sessions(LIMITS)))
            return opened[-1]

        yield start
        for fleet in opened:
            fleet.close()


@pytest.mark.parametrize("by", TRANSPORTS)
@pytest.mark.parametrize("way", TRIED, ids=lambda way: way.name)
def test_each_ends_at_its_limit_by_every_transport_and_is_told_as_what_it_is(
    meet: Callable[[Way, str], Fleet], way: Way, by: str
) -> None:
    fleet = meet(way, by)
    watch = Stopwatch()
    took = {}

    def read(name: str, driver: DeviceDriver) -> DeviceText:
        text = running(driver)
        took[name] = watch.seconds
        return text

    outcomes = fleet.run(["healthy", *drivers_of(by)], read)
    took["all"] = watch.seconds
    assert outcomes["healthy"].error is None
    held = outcomes["healthy"].value
    assert held is not None
    assert "hostname Box" in held.shown()
    assert took["healthy"] < LOGIN["seconds"] + SLACK
    assert took["all"] < LOGIN["seconds"] + SLACK
    for driver in drivers_of(by):
        error = outcomes[driver].error
        assert isinstance(error, DeviceError), driver
        assert not isinstance(error, LoginRefused), "nobody refused it"
        told = error.message
        if way.raw is _at_once and not by.startswith("telnet"):
            assert told.startswith(("cannot be reached: ", "the connection broke: ")), told
        elif way.act is hang_up and way.step == "read" and not KINDS[driver].typed:
            assert told == "tc -d -j qdisc show: hostname Bo", "the command failed, and said this"
        elif way.act in (hang_up, cut_off) or way.raw is _at_once:
            assert told == "the device closed the session"
        else:
            assert any(words in told for words in ("no answer for", "not finished within", "received")), told
            step = "reading the configuration" if way.step == "read" else "logging in"
            assert told.startswith(step)
            assert "raise QOSFORGE_DEVICE_LIMITS__" in error.hint
        if by.startswith("telnet"):
            assert not re.search(r"\bssh\b", told + error.hint, re.IGNORECASE), "it was reached by telnet"
    watch = Stopwatch()
    fleet.close()
    assert watch.seconds < 5 * 3.0 + SLACK
    tried(f"exchanges with a hostile device by {by} (way and driver)", len(drivers_of(by)))


@pytest.mark.parametrize("by", ["telnet", "ssh-legacy"])
def test_a_linux_router_is_reached_by_ssh_alone(meet: Callable[[Way, str], Fleet], by: str) -> None:
    fleet = meet(HEALTHY, by)
    error = fleet.run(["linux_tc"], lambda _, driver: running(driver))["linux_tc"].error
    assert isinstance(error, DeviceError)
    assert error.message == f"cannot be reached: a Linux router is reached by ssh, and not by {by}"
