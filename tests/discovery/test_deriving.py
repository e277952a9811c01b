"""Stations and traffic for a campus that has none, by the command line: the campus lab, with known traffic."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qoslab import control
from tests.discovery.conftest import CAMPUS
from tests.system.command import Command, Ended

Start = Callable[..., Command]
SECONDS = 10


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory, shipped: Network) -> Iterator[Path]:
    """A state directory with the running lab of the campus: its cables are those of the shipped inventory."""
    found = tmp_path_factory.mktemp("deriving")
    start_lab(shipped, CAMPUS, found / "lab" / "campus")
    yield found
    control.stop(found / "lab" / "campus")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The campus without stations and traffic."""
    folder = shutil.copytree(CAMPUS, tmp_path / "campus")
    (folder / "traffic.yaml").unlink()
    links = (folder / "links.yaml").read_text()
    (folder / "links.yaml").write_text(links.partition("stations:")[0] + "stations: []\n# the end\n")
    return folder


@pytest.fixture
def start(var: Path, tmp_path: Path) -> Start:
    def run(*words: object) -> Command:
        return Command(["network", *map(str, words)], {"QOSFORGE_VAR_DIR": str(var)}, tmp_path / str(words[0]))

    return run


def between_readings(command: Command, folder: Path, move: Callable[[], object]) -> Ended:
    """Let something happen after the first reading of the counters, and wait for the end."""
    printed = folder / "traffic" / "stderr"
    command.wait_for(lambda: "counters were read" in printed.read_text(), "the first reading")
    move()
    return command.wait()


def test_stations_of_access_ports_and_none_that_is_there_is_touched(
    start: Start, bare: Path, shipped: Network
) -> None:
    first = start("stations", bare).wait()
    assert first.code == 0, first.text
    network = load_network(bare)
    switches = {"s2950", "s2970", "ers5510", "e300"}
    want = {(one.attach, one.rate) for one in shipped.stations if one.attach[0] in switches}
    assert {(one.attach, one.rate) for one in network.stations} == want
    assert network.station("s2970-GigabitEthernet0-5").attach == ("s2970", "GigabitEthernet0/5")
    text = (bare / "links.yaml").read_text()
    assert "# VLAN 3" in text
    assert text.rstrip().endswith("# the end")

    again = start("stations", bare, "--json").wait()
    assert again.code == 0, again.text
    told = json.loads(again.stdout)
    assert (told["added"], told["changes"], told["written"]) == ([], [], False)
    assert (bare / "links.yaml").read_text() == text

    # One renamed by hand with another rate, one left out: both are told, and written only on demand.
    edited = text.replace("name: ers5510-1,", "name: desk,").replace("1 Gb/s}  # VLAN 4", "10 Mb/s}  # VLAN 4", 1)
    kept = "".join(line for line in edited.splitlines(keepends=True) if "s2950-FastEthernet0-1," not in line)
    (bare / "links.yaml").write_text(kept)
    shown = start("stations", bare, "--json").wait()
    told = json.loads(shown.stdout)
    assert [one["name"] for one in told["added"]] == ["s2950-FastEthernet0-1"]
    assert len(told["changes"]) == 1
    assert (bare / "links.yaml").read_text() == kept
    assert start("stations", bare, "--add").wait().code == 0
    assert load_network(bare).station("desk").attach == ("ers5510", "1")
    assert load_network(bare).station("s2950-FastEthernet0-1")


def test_traffic_is_what_the_counters_moved(start: Start, bare: Path, var: Path, tmp_path: Path) -> None:
    assert start("stations", bare).wait().code == 0
    state = var / "lab" / "campus"

    def move() -> None:
        for device, into, out, count, size in (
            ("s2970", "GigabitEthernet0/5", "GigabitEthernet0/6", 1000, 1018),
            ("s2970", "GigabitEthernet0/6", "GigabitEthernet0/5", 500, 218),
            ("e300", "GigabitEthernet 0/2", "GigabitEthernet 0/3", 2000, 518),
        ):
            control.offer(state, device, into, out, [{"count": count, "bytes": size}], seconds=1.0)

    (tmp_path / "traffic").mkdir(exist_ok=True)
    (tmp_path / "traffic" / "stderr").write_text("")
    command = start("traffic", bare, "--seconds", SECONDS, "--json")
    ended = between_readings(command, tmp_path, move)
    assert ended.code == 0, ended.text
    told = json.loads(ended.stdout)
    assert told["written"]
    (scenario,) = load_network(bare).traffic
    flows = {(flow.from_, flow.to): flow.source for flow in scenario.flows}
    there = flows["s2970-GigabitEthernet0-5", "s2970-GigabitEthernet0-6"]
    back = flows["s2970-GigabitEthernet0-6", "s2970-GigabitEthernet0-5"]
    other = flows["e300-GigabitEthernet-0-2", "e300-GigabitEthernet-0-3"]
    assert (there.ip_bytes, back.ip_bytes, other.ip_bytes) == (1000, 200, 500)
    # What was sent over the interval, which is a little longer than the wait.
    assert there.rate is not None
    assert back.rate is not None
    assert 0.5 * 8_000_000 / SECONDS < there.rate <= 8_000_000 / SECONDS
    assert abs(there.rate / back.rate - 10) < 0.01
    text = (bare / "traffic.yaml").read_text()
    for word in ("Measured", "Assumed", "chosen, not measured", "Not told", "ers5510-1"):
        assert word in text
    assert any("nortel_5510" in note["message"] for note in told["notes"])

    # Another time it is compared; what is there stays.
    (tmp_path / "traffic").mkdir(exist_ok=True)
    (tmp_path / "traffic" / "stderr").write_text("")
    command = start("traffic", bare, "--seconds", SECONDS)
    again = between_readings(command, tmp_path, move)
    assert again.code == 0, again.text
    assert "was left as it is" in again.stdout
    assert (bare / "traffic.yaml").read_text() == text


def test_classes_of_a_policy_divide_what_came_in(start: Start, bare: Path, var: Path, tmp_path: Path) -> None:
    shutil.copy(CAMPUS / "links.yaml", bare / "links.yaml")
    state = var / "lab" / "campus"
    lines = [
        "class-map match-any CALLS", "match ip dscp ef", "exit",
        "policy-map LAN-IN", "class CALLS", "set ip dscp ef", "exit",
        "exit", "interface FastEthernet0/0", "service-policy input LAN-IN", "exit",
    ]  # fmt: skip
    control.request(state, {"op": "config", "box": "b256", "lines": lines})

    def move() -> None:
        calls, rest = {"count": 300, "bytes": 218, "dscp": 46}, {"count": 100, "bytes": 1018}
        control.offer(state, "b256", "FastEthernet0/0", "Multilink1", [calls, rest], seconds=10.0)
        back = {"count": 100, "bytes": 1018}
        control.offer(state, "s2970", "GigabitEthernet0/1", "GigabitEthernet0/5", [back], seconds=10.0)

    (tmp_path / "traffic").mkdir(exist_ok=True)
    (tmp_path / "traffic" / "stderr").write_text("")
    command = start("traffic", bare, "--seconds", SECONDS, "--json")
    ended = between_readings(command, tmp_path, move)
    assert ended.code == 0, ended.text
    flows = {flow["name"]: flow for flow in json.loads(ended.stdout)["scenario"]["flows"]}
    assert {(flow["from"], flow["to"]) for flow in flows.values()} == {("phone256", "vigo1")}
    assert (flows["m1-CALLS"]["dscp"], flows["m1-CALLS"]["source"]["ip_bytes"]) == (46, 200)
    assert flows["m1-class-default"]["source"]["ip_bytes"] == 1000


def test_counters_that_went_backwards_and_a_device_that_is_away_are_named(
    start: Start, bare: Path, var: Path, tmp_path: Path
) -> None:
    assert start("stations", bare).wait().code == 0
    state = var / "lab" / "campus"
    control.offer(state, "s2970", "GigabitEthernet0/5", "GigabitEthernet0/6", [{"count": 5, "bytes": 100}])
    (tmp_path / "traffic").mkdir(exist_ok=True)
    (tmp_path / "traffic" / "stderr").write_text("")
    command = start("traffic", bare, "--seconds", SECONDS)
    ended = between_readings(command, tmp_path, lambda: control.request(state, {"op": "reboot", "box": "s2970"}))
    assert ended.code == 3
    assert "s2970: its counters went backwards: s2970-GigabitEthernet0-5 is not measured" in ended.stderr
    assert not (bare / "traffic.yaml").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--seconds", 2), "2 seconds between two readings are too short"),
        (("--seconds", "nan"), "nan seconds between two readings are no time to wait"),
        (("--seconds", "inf"), "inf seconds between two readings are no time to wait"),
        (("--scenario", "a b"), "'a b' cannot be a scenario's name"),
        ((), "campus has 0 stations, and traffic goes between two"),
    ],
)
def test_wrong_words_are_named(start: Start, bare: Path, words: tuple[object, ...], told: str) -> None:
    ended = start("traffic", bare, *words).wait()
    assert ended.code == 2
    assert told in ended.stderr


def test_a_network_without_switches_has_no_access_port(start: Start, bare: Path, tmp_path: Path) -> None:
    alone = shutil.copytree(bare, tmp_path / "routers")
    hosts = (alone / "hosts.yaml").read_text()
    (alone / "hosts.yaml").write_text(hosts.partition("s2950:")[0])
    (alone / "links.yaml").write_text("links: []\nstations: []\n")
    ended = start("stations", alone).wait()
    assert ended.code == 2
    assert "no access port was found" in ended.stderr


def test_devices_that_are_away_are_named_and_nothing_is_written(start: Start, bare: Path, tmp_path: Path) -> None:
    elsewhere = shutil.copytree(bare, tmp_path / "nolab")
    before = (elsewhere / "links.yaml").read_text()
    ended = start("stations", elsewhere).wait()
    assert ended.code == 3
    assert "s2950: cannot be read" in ended.stdout
    assert "qosforge lab up" in ended.stdout
    assert (elsewhere / "links.yaml").read_text() == before
