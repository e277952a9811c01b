"""The command: it shows the difference, asks, and says by its exit code whether one is left."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qosforge.inventory.loader import load_network
from tests.sources.conftest import Networks
from tests.sources.netbox_server import TOKEN, NetBoxServer
from tests.sources.test_sync import interface, remove, texts
from tests.system.command import Command, Ended


def run(folder: Path, *words: str, **environment: str) -> Ended:
    printed = folder.parent / f"printed-{time.monotonic_ns()}"
    arguments = ["network", "sync", str(folder), *words]
    ended = Command(arguments, {"NETBOX_TOKEN": TOKEN, **environment}, printed).wait()
    assert "notInAnyOutput" not in ended.text
    assert "Traceback" not in ended.text
    return ended


def test_without_a_terminal_nothing_is_written_unasked(network: Networks, netbox: NetBoxServer) -> None:
    folder = network()
    ended = run(folder)
    assert ended.code == 1, ended.text
    assert "added device r1\n" in ended.stdout
    assert "17 added: 11 devices, 6 links" in ended.stdout
    assert "was left as it is" in ended.stdout
    assert [path.name for path in folder.iterdir()] == ["source.yaml"]
    ended = run(folder, "--yes")
    assert ended.code == 0, ended.text
    assert "was written" in ended.stdout
    assert len(load_network(folder).devices) == 11
    ended = run(folder)
    assert (ended.code, "no difference: 11 devices, 6 links" in ended.stdout) == (0, True)


def test_devices_that_went_stay_without_a_word_of_their_own(network: Networks, netbox: NetBoxServer) -> None:
    folder = network()
    assert run(folder, "--yes").code == 0
    remove(netbox, "leaf")
    interface(netbox, "r1", "FastEthernet0/0")["speed"] = 10_000
    interface(netbox, "s2950", "FastEthernet0/24")["speed"] = 10_000
    ended = run(folder, "--yes")
    assert ended.code == 1, ended.text
    assert "still there, though the source has not: leaf (--remove)" in ended.stdout
    network_ = load_network(folder)
    assert network_.device("leaf")
    assert network_.device("r1").interface("FastEthernet0/0").rate == 10_000_000
    ended = run(folder, "--yes", "--remove", "--json")
    assert ended.code == 0, ended.text
    told = json.loads(ended.stdout)
    assert [change["name"] for change in told["changes"] if change["kind"] == "gone"] == ["leaf"]
    assert (told["written"], told["left"]) == (True, [])
    assert "leaf" not in (folder / "hosts.yaml").read_text()


def test_json_is_one_document(network: Networks, netbox: NetBoxServer) -> None:
    folder = network()
    ended = run(folder, "--json")
    told = json.loads(ended.stdout)
    assert (ended.code, told["written"], told["devices"], told["links"]) == (1, False, 11, 6)
    assert {"kind", "what", "key", "name", "field", "known", "found"} == set(told["changes"][0])
    assert {"topic", "device", "line", "message", "hint"} == set(told["notes"][0])


def test_errors_are_told_and_nothing_is_written(network: Networks, netbox: NetBoxServer) -> None:
    folder = network()
    assert run(folder, "--yes", NETBOX_TOKEN=f"{TOKEN}x").code == 3
    (folder / "source.yaml").write_text("plugin: netbox\noptions: {urll: x}\n")
    ended = run(folder, "--yes")
    assert ended.code == 2
    assert "did you mean 'url'?" in ended.stderr
    assert [path.name for path in folder.iterdir()] == ["source.yaml"]
    ended = run(folder.parent / "nowhere")
    assert ended.code == 2
    assert "docs/inventory-sources.md" in ended.stderr


@pytest.mark.parametrize(("answers", "left"), [("n\n", True), ("y\ny\n", False), ("y\nn\n", None)])
def test_at_a_terminal_it_asks(network: Networks, netbox: NetBoxServer, answers: str, left: bool | None) -> None:
    folder = network()
    assert run(folder, "--yes").code == 0
    remove(netbox, "leaf")
    interface(netbox, "r1", "FastEthernet0/0")["speed"] = 10_000
    interface(netbox, "s2950", "FastEthernet0/24")["speed"] = 10_000
    before = texts(folder)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from qosforge.cli.entry import main; main()", "network", "sync", str(folder)],
        stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "NETBOX_TOKEN": TOKEN},
    )  # fmt: skip
    os.close(slave)
    said, waiting = "", answers.splitlines()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([master], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            said += os.read(master, 65536).decode()
        except OSError:
            break
        if waiting and said.rstrip().endswith("[y/N]:"):
            said += "\n"
            os.write(master, f"{waiting.pop(0)}\n".encode())
    code = process.wait(60)
    os.close(master)
    assert "Write these changes?" in said
    assert "notInAnyOutput" not in said
    if left is True:
        assert (code, texts(folder)) == (1, before)
    else:
        assert "Remove leaf, which the source does not have?" in said
        assert (code, "\nleaf:" in (folder / "hosts.yaml").read_text()) == (
            (1, True) if left is None else (0, False)
        )
        assert load_network(folder).device("r1").interface("FastEthernet0/0").rate == 10_000_000
