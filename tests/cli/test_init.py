"""`qosforge init`: what it writes compiles on every platform, and is carried out in a lab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from qosforge.inventory.loader import load_network

from .conftest import Command

PORTS = {
    "catalyst_2950": ("FastEthernet0/1", "GigabitEthernet0/1"),
    "catalyst_2970": ("GigabitEthernet0/1", "GigabitEthernet0/24"),
    "catalyst_9000": ("GigabitEthernet1/0/1", "TenGigabitEthernet1/1/1"),
    "cisco_ios": ("FastEthernet0/0", "Serial0/0"),
    "force10_e300": ("GigabitEthernet 0/0", "GigabitEthernet 0/1"),
    "nortel_5510": ("1", "48"),
}
ROUTERS = [
    *("--device", "r1=cisco_ios", "--device", "r2=cisco_ios,12.4"),
    *("--lan", "r1:FastEthernet0/0=100 Mb/s", "--lan", "r2:FastEthernet0/0=100 Mb/s"),
    *("--uplink", "r1:Serial0/0=2 Mb/s", "--uplink", "r2:Serial0/0=2 Mb/s"),
]


@pytest.mark.parametrize("platform", PORTS)
def test_what_it_writes_compiles_on_every_platform(qosforge: Command, tmp_path: Path, platform: str) -> None:
    folder, (lan, uplink) = tmp_path / "office", PORTS[platform]
    made = qosforge(
        *("init", folder, "--device", f"a={platform}", "--host", "a=192.0.2.9", "--json"),
        *("--lan", f"a:{lan}=100 Mb/s", "--uplink", f"a:{uplink}=100 Mb/s"),
    )
    assert made.code == 0, made.stderr
    policy = json.loads(made.stdout)["policy"]
    (device,) = load_network(folder).devices
    assert device.reach.hostname == "192.0.2.9"
    compiled = qosforge("compile", policy, "-n", folder, "--json")
    assert compiled.code == 0, compiled.stdout
    (entry,) = json.loads(compiled.stdout)["devices"]
    assert entry["complete"]
    assert {one["traffic_class"] for one in entry["fidelity"]} >= {"voice", "business", "default"}


def test_a_network_of_the_lab_goes_through_the_whole_loop(qosforge: Command, tmp_path: Path) -> None:
    folder = tmp_path / "office"
    assert qosforge("init", folder, *ROUTERS).code == 0
    alone = qosforge("lab", "status", "-n", folder)
    assert (alone.code, alone.stdout) == (1, "no lab of office is running\n")
    assert qosforge("lab", "up", "-n", folder).code == 0
    try:
        other = qosforge("lab", "status")
        assert (other.code, other.stdout.splitlines()) == (
            1,
            [
                "no lab of campus, the default network, is running",
                "there are labs of office: name the folder of such a network with --network",
            ],
        )
        status = qosforge("lab", "status", "-n", folder, "--json")
        assert status.code == 0
        assert json.loads(status.stdout)["devices"].keys() == {"r1", "r2"}
        ran = qosforge("run", folder / "policy.yaml", "-n", folder, "--json")
        document = json.loads(ran.stdout)
        assert (ran.code, document["status"], document["after"]) == (0, "kept", "met"), ran.stdout
    finally:
        qosforge("lab", "clean", "-n", folder)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "no device is named"),
        (("--lan", "r1:1=1 Mb/s"), "no device is named"),
        (("--device", "r1"), "is not understood"),
        (("--device", "r1=cisco"), "unknown platform 'cisco'"),
        (("--device", "r1=cisco_ios"), "not one uplink"),
        (("--device", "r1=cisco_ios", "--lan", "r2:1=1 Mb/s"), "no device is called 'r2'"),
        (("--device", "r1=cisco_ios", "--lan", "1=1 Mb/s"), "names no port"),
        (("--device", "s=nortel_5510", "--lan", "s:1=1 Mb/s", "--uplink", "s:2=1 Mb/s"), "not emulated"),
        (("--device", "r1=cisco_ios", "--lan", "r1:1=fast", "--uplink", "r1:2=1 Mb/s"), "fast"),
    ],
)
def test_what_is_described_wrong_is_told_and_nothing_is_written(
    qosforge: Command, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    ended = qosforge("init", tmp_path / "office", *words)
    assert ended.code == 2
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(qosforge: Command, tmp_path: Path) -> None:
    ended = qosforge("init", tmp_path, *ROUTERS)
    assert ended.code == 2
    assert "there is something already" in ended.stderr


def test_it_asks_on_a_terminal(qosforge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(
        ["r1", "cisco_ios", "12.4", "192.0.2.1", "FastEthernet0/0", "100 Mb/s", "Serial0/0", "2 Mb/s", ""]
    )
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: next(answers))
    ended = qosforge("init", tmp_path / "office")
    assert ended.code == 0, ended.stderr
    assert "qosforge device trust --network" in ended.stdout
    (device,) = load_network(tmp_path / "office").devices
    assert (device.name, device.image, device.reach.hostname) == ("r1", "12.4", "192.0.2.1")
    assert {port.name: set(port.tags) for port in device.interfaces} == {
        "FastEthernet0/0": {"lan"},
        "Serial0/0": {"uplink"},
    }


def test_a_wrong_answer_is_told_and_asked_again(
    qosforge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_ports = ["100 Mb/s", "FastEthernet0/0", "fast", "100 Mb/s", "Serial0/0", "2 Mb/s"]
    answers = iter(["r1", "junos", "cisco_ios", "12.4", "192.0.2.1", *of_ports, ""])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: next(answers))
    ended = qosforge("init", tmp_path / "office")
    assert ended.code == 0, ended.stderr
    wrong = [line.strip() for line in ended.stderr.splitlines()]
    assert "junos" in wrong[0]
    assert wrong[1].startswith("'100 Mb/s' is a rate")
    assert "'fast' is not a rate" in wrong[2]


def test_a_folder_that_exists_is_refused_before_anything_is_asked(
    qosforge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: pytest.fail("it asks"))
    ended = qosforge("init", tmp_path)
    assert ended.code == 2
    assert "there is something already" in ended.stderr


def test_to_leave_the_questions_is_an_interrupt(
    qosforge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(*_: object, **__: object) -> str:
        raise typer.Abort

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "prompt", leave)
    ended = qosforge("init", tmp_path / "office")
    assert ended.code == 130
    assert "interrupted" in ended.stderr
    assert "report it" not in ended.stderr
