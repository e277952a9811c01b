"""``device check`` and ``network check`` on devices that are of no lab, each behind an SSH server of its own."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import open_backend
from qosforge.resources import root
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests import doors
from tests.api.conftest import People
from tests.doors import PASSWORD, SECRET, USERNAME, Doors

from .command import Command, Ended

DEVICES = {
    "r1": ("cisco_ios", "12.4", "ios", "Serial0/0"),
    "r3": ("cisco_ios", "12.2", "ios_legacy", "Serial0/1"),
    "s2950": ("catalyst_2950", "12.1EA-EI", "ios_legacy", "FastEthernet0/1"),
    "s2970": ("catalyst_2970", "12.2", "ios_legacy", "GigabitEthernet0/5"),
    "ers5510": ("nortel_5510", "5.1", "ers", '"1"'),
    "e300": ("force10_e300", "6.5", "force10", "GigabitEthernet 0/0"),
}
"""Platform, image, driver and a port of each."""
HOST = """\
{name}:
  hostname: 127.0.0.1
  port: {port}
  platform: {platform}
  data: {{role: access, image: '{image}', driver: {driver}, interfaces: {{{interface}: {{rate: 100 Mb/s}}}}}}
"""


@dataclass
class Site:
    """A run directory, an inventory and its devices."""

    folder: Path
    devices: Mapping[str, Doors]
    hosts: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    runs: int = 0

    @property
    def network(self) -> Path:
        return self.folder / "own"

    def command(self, *arguments: object) -> Ended:
        self.network.mkdir(exist_ok=True)
        (self.network / "hosts.yaml").write_text("".join(self.hosts.values()))
        (self.network / "groups.yaml").write_text("{}\n")
        (self.network / "defaults.yaml").write_text("{}\n")
        (self.network / "links.yaml").write_text("links: []\nstations: []\n")
        self.runs += 1
        printed = self.folder / "printed" / str(self.runs)
        return Command([str(one) for one in arguments], self.environment, printed).wait()

    def check(self, *arguments: object, code: int = 1) -> dict[str, dict[str, dict[str, str]]]:
        """What each device's checks came to, by device and subject."""
        ended = self.command("device", "check", *(arguments or ("--all",)), "--network", self.network, "--json")
        assert ended.code == code, ended.text
        for secret in (PASSWORD, SECRET):
            assert secret not in ended.text
        told: dict[str, Any] = json.loads(ended.stdout)
        return {
            one["device"]: {check["subject"]: check for check in one["checks"]} | {"all": one}
            for one in told["devices"]
        }


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """Devices by the names of the parameter, with what runs saved."""
    names: list[str] = getattr(request, "param", list(DEVICES))
    with ExitStack() as stack:
        made, known, hosts = {}, "", {}
        for name in names:
            platform, image, driver, interface = DEVICES[name]
            startup = (root() / "inventories" / "campus" / "startup" / f"{name}.cfg").read_text()
            made[name] = stack.enter_context(doors.device(tmp_path / name, platform, image, startup))
            made[name].box.save()
            port, public = made[name].ssh()
            known += f"[127.0.0.1]:{port} {public}\n"
            hosts[name] = HOST.format(
                name=name, port=port, platform=platform, image=image, driver=driver, interface=interface
            )
        (tmp_path / "known_hosts").write_text(known)
        environment = {
            "QOSFORGE_VAR_DIR": str(tmp_path / "var"),
            "QOSFORGE_KNOWN_HOSTS_FILE": str(tmp_path / "known_hosts"),
            "QOSFORGE_SSH_CONFIG_FILE": str(tmp_path / "ssh_config"),
            "QOSFORGE_CREDENTIALS_FILE": str(tmp_path / "credentials.yaml"),
            "QOSFORGE_USERNAME": USERNAME,
            "QOSFORGE_PASSWORD": PASSWORD,
            "QOSFORGE_SECRET": SECRET,
        }
        yield Site(tmp_path, made, hosts, environment)


def test_devices_with_nothing_wrong_are_read_and_never_configured(site: Site) -> None:
    before = {name: (device.running(), device.startup()) for name, device in site.devices.items()}
    ended = site.command("network", "check", site.network)
    assert ended.code == 0, ended.text
    assert "6 devices: 6 with nothing wrong, 0 with problems" in ended.stdout
    assert "the devices themselves" in ended.stderr
    assert all(f"{name}: nothing wrong" in ended.stderr for name in site.devices)
    found = site.check(code=0)
    assert {name: (one["all"]["model"], one["all"]["image"]) for name, one in found.items()} == {
        "r1": ("2651XM", "12.4(25)"),
        "r3": ("2651XM", "12.2(15)T"),
        "s2950": ("WS-C2950T-24", "12.1(22)EA-EI"),
        "s2970": ("WS-C2970G-24T-E", "12.2(25)SEE1"),
        "ers5510": ("5510-48T", "5.1.0.014"),
        "e300": ("E300", "6.5"),
    }
    assert found["r3"]["enable"]["text"] == "level 15"
    told = {name: one["startup"]["state"] for name, one in found.items()}
    assert told.pop("ers5510") == "unknown"
    assert set(told.values()) == {"good"}
    for name, device in site.devices.items():
        assert (device.running(), device.startup()) == before[name]
        typed = [(mode, line) for mode, line in device.box.typed if line]
        assert {mode for mode, _ in typed} <= {"exec", "enable"}, name
        shown = ("show ", "terminal ", "dir", "enable", "exit", "logout")
        assert [line for _, line in typed if not line.startswith(shown)] == [], name


def test_each_thing_that_is_wrong_is_told_with_its_hint(site: Site) -> None:
    r1, r3, s2950, s2970 = (site.devices[name].box for name in ("r1", "r3", "s2950", "s2970"))
    site.hosts["r3"] = site.hosts["r3"].replace("'12.2'", "'12.4(20)T'")
    site.hosts["s2950"] = (
        site.hosts["s2950"].replace("catalyst_2950", "catalyst_2970").replace("12.1EA-EI", "12.1EA")
    )
    r1.configure(["no archive", "no file prompt quiet"])
    r1.save()
    r3.configure(["snmp-server community Xq7-for-us RO"])
    s2950.clock.ahead = -7200
    s2970.faults.plant("full_flash", {})
    found = site.check()
    expected: dict[tuple[str, str], tuple[str, str]] = {
        ("r1", "timer"): ("it has no archive", "configure 'archive' with a 'path'"),
        ("r3", "image"): ("says 12.4(20)T, it runs 12.2(15)T", "write image: '12.2(15)T' in hosts.yaml"),
        ("r3", "startup"): ("differ in 1 line", "save it on the device"),
        ("s2950", "platform"): ("it is a catalyst_2950 (WS-C2950T-24", "write platform catalyst_2950"),
        ("s2950", "clock"): (" behind ours", "NTP"),
        ("s2970", "flash"): ("0 bytes free", "delete files"),
    }
    wrong = {
        (name, subject): (check["text"], check["hint"])
        for name, one in found.items()
        for subject, check in one.items()
        if subject != "all" and check["state"] == "problem"
    }
    assert wrong.keys() == expected.keys()
    for place, (text, hint) in expected.items():
        assert text in wrong[place][0]
        assert hint in wrong[place][1]
    assert "file prompt quiet" in wrong["r1", "timer"][0]
    assert "Xq7-for-us" not in json.dumps(found)
    shown = site.command("device", "check", "r3", "--network", site.network)
    assert shown.code == 1
    assert "problem r3 image: the inventory says 12.4(20)T" in shown.stdout
    assert "write image: '12.2(15)T' in hosts.yaml" in shown.stdout
    assert "s2950" not in shown.stdout


@pytest.mark.parametrize("site", [["r1", "r3"]], indirect=True)
def test_a_timer_that_runs_is_told(site: Site) -> None:
    reload = site.devices["r3"].box.reload
    reload._timer, reload._due, reload._user = object(), 0.0, "ada"
    try:
        found = site.check()
    finally:
        reload._timer = None
    assert found["r3"]["timer"]["state"] == "problem"
    assert "a scheduled reload" in found["r3"]["timer"]["text"]
    assert found["r1"]["timer"]["state"] == "good"


def _low(site: Site) -> None:
    site.devices["r3"].box.configure([f"username {USERNAME} privilege 7 secret 5 $1$a"])


def _wrong_password(site: Site) -> None:
    site.environment["QOSFORGE_PASSWORD_R3"] = "not-it"
    site.environment["QOSFORGE_USERNAME_R3"] = USERNAME


def _wrong_secret(site: Site) -> None:
    site.environment |= {
        "QOSFORGE_USERNAME_R3": USERNAME,
        "QOSFORGE_PASSWORD_R3": PASSWORD,
        "QOSFORGE_SECRET_R3": "not-it",
    }


def _nobody_there(site: Site) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lines = site.hosts["r3"].splitlines(keepends=True)
    site.hosts["r3"] = "".join(f"  port: {port}\n" if line.startswith("  port:") else line for line in lines)
    known = site.folder / "known_hosts"
    key = " ".join(known.read_text().split()[1:3])
    known.write_text(f"{known.read_text()}[127.0.0.1]:{port} {key}\n")


def _other_host_key(site: Site) -> None:
    known = site.folder / "known_hosts"
    first, second = known.read_text().splitlines()
    known.write_text(f"{first}\n{second.split()[0]} {' '.join(first.split()[1:])}\n")


@pytest.mark.parametrize("site", [["r1", "r3"]], indirect=True)
@pytest.mark.parametrize(
    ("wrong", "subject", "text", "code"),
    [
        (_low, "enable", "privilege level 7", 1),
        (_wrong_password, "login", "refuses the credentials", 3),
        (_wrong_secret, "enable", "refuses the enable secret", 3),
        (_nobody_there, "reach", "cannot be reached", 3),
        (_other_host_key, "reach", "another host key", 3),
    ],
)
def test_who_is_not_let_in_is_told_and_the_others_are_looked_at(
    site: Site, wrong: Callable[[Site], None], subject: str, text: str, code: int
) -> None:
    wrong(site)
    found = site.check(code=code)
    assert found["r3"][subject]["state"] == "problem", found["r3"]
    assert text in found["r3"][subject]["text"]
    assert found["r3"][subject]["hint"]
    order = ["reach", "login", "enable", "platform", "image", "timer", "flash", "clock", "startup"]
    at = order.index(subject)
    assert {found["r3"][name]["state"] for name in order[:at]} <= {"good"}
    assert {found["r3"][name]["state"] for name in order[at + 1 :]} == {"skipped"}
    assert [found["r1"][name]["state"] for name in order] == ["good"] * len(order)


@pytest.mark.parametrize("site", [["r1", "r3"]], indirect=True)
def test_napalms_own_driver_tells_a_refused_secret_too(site: Site) -> None:
    site.environment |= {
        "QOSFORGE_USERNAME_R1": USERNAME,
        "QOSFORGE_PASSWORD_R1": PASSWORD,
        "QOSFORGE_SECRET_R1": "not-it",
    }
    found = site.check(code=3)
    assert found["r1"]["enable"]["text"] == "the device refuses the enable secret"


@pytest.mark.parametrize("site", [["r3"]], indirect=True)
def test_wrong_usage_names_what_is_there(site: Site) -> None:
    for arguments in ((), ("r3", "--all")):
        ended = site.command("device", "check", *arguments, "--network", site.network)
        assert (ended.code, "name them, or say --all" in ended.stderr) == (2, True)
    ended = site.command("device", "check", "r9", "--network", site.network)
    assert (ended.code, "own has r3" in ended.stderr) == (2, True)
    ended = site.command("network", "check", site.folder / "nowhere")
    assert (ended.code, "no such network" in ended.stderr) == (2, True)


@pytest.mark.parametrize("site", [["r1", "r3"]], indirect=True)
def test_rest_tells_the_same(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.devices["r3"].box.configure(["hostname Elsewhere"])
    told = site.check()
    for name, value in {**site.environment, "QOSFORGE_INVENTORIES_DIR": str(site.folder)}.items():
        monkeypatch.setenv(name, value)
    settings = Settings(compute_processes=1)
    with open_backend(settings) as backend, TestClient(create_site(backend)) as client:
        token = People(backend).headers("rest", Role.VIEWER)
        found = client.get("/api/v1/networks/own/check", headers=token)
        assert found.status_code == 200, found.text
        devices = {one["device"]: one for one in found.json()["devices"]}
        assert list(devices) == ["r1", "r3"]
        both = (devices["r3"]["checks"], told["r3"]["all"]["checks"])
        states = [{check["subject"]: check["state"] for check in checks} for checks in both]
        assert states[0] == states[1]
        assert devices["r3"]["unsaved"] == ["-hostname R3", "+hostname Elsewhere"]
        one = client.get("/api/v1/networks/own/devices/r1/check", headers=token).json()
        assert {check["state"] for check in one["checks"]} == {"good"}
        assert client.get("/api/v1/networks/own/devices/r9/check", headers=token).status_code == 404
        assert client.get("/api/v1/networks/own/check").status_code == 401
