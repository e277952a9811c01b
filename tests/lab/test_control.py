"""Starting and stopping: speed, errors with names, network files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from qoslab import control
from qoslab.errors import ChannelError, SpecError, StartError
from qoslab.spec import BoxSpec, NetworkSpec, load

from .conftest import ROUTER

_TWIN = "{name: a, platform: p, username: u, password: p}"


def _spec(tmp_path: Path, count: int, **changes: object) -> NetworkSpec:
    startup = tmp_path / "r.cfg"
    startup.write_text(ROUTER)
    base: dict[str, object] = {"platform": "cisco_ios", "image": "12.4", "username": "u", "password": "p"}
    boxes = [BoxSpec(name=f"r{n}", startup_config=startup, **{**base, **changes}) for n in range(count)]
    return NetworkSpec(network="n", boxes=boxes)


def test_nine_boxes_start_privately(tmp_path: Path) -> None:
    state = tmp_path / ("a-rather-long-directory-name-" * 4) / "state"
    overlay = control.start(_spec(tmp_path, 9), state)
    try:
        assert len({box.port for box in overlay.boxes.values()}) == 9
        assert {box.hostname for box in overlay.boxes.values()} == {"127.0.0.1"}
        assert control.start(_spec(tmp_path, 9), state) == overlay  # already up
        assert stat.S_IMODE((state / "control.sock").stat().st_mode) == 0o600
        assert stat.S_IMODE((state / "r0" / "host_key").stat().st_mode) == 0o600
        assert len(overlay.known_hosts.read_text().splitlines()) == 9
        assert control.request(state, {"op": "stop"})["ok"]
    finally:
        control.clean(state)
    assert control.stop(state) is False


def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="no platform 'toaster'"):
        control.start(_spec(tmp_path, 1, platform="toaster"), tmp_path / "a")
    spec = _spec(tmp_path, 1)
    (tmp_path / "r.cfg").unlink()
    with pytest.raises(StartError, match="box r0: startup configuration"):
        control.start(spec, tmp_path / "b")
    with pytest.raises(ChannelError, match="no lab"):
        control.request(tmp_path / "a", {"op": "status"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("network: x\nboxes: [{name: a}]\n", "platform"),
        ("network: x\nboxes: []\ncolour: red\n", "colour"),
        ("a: [", "parsing a flow node"),
        ("network: x\nboxes: [{name: 'a\\nb', platform: p, username: u, password: p}]\n", "name"),
        (f"network: x\nboxes: [{_TWIN}, {_TWIN}]\n", "two boxes"),
    ],
)  # fmt: skip
def test_bad_network_files(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(text)
    with pytest.raises(SpecError, match=words):
        load(path)


def test_relative_startup_paths_are_taken_from_the_files_folder(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(
        "network: x\nboxes: [{name: a, platform: p, username: u, password: p, startup_config: a.cfg}]\n"
    )
    assert load(path).boxes[0].startup_config == tmp_path / "a.cfg"
