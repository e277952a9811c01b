"""Starting, stopping and talking to a lab from another process. Synchronous, no asyncio."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

from qoslab.attachments import AttachmentChange
from qoslab.errors import ChannelError, StartError
from qoslab.spec import NetworkSpec
from qoslab.virtual_time.network import START_SECONDS

_POLL_SECONDS = 0.02
_START_SECONDS = 20.0
_BOX_SECONDS = 0.5
"""How long a lab may take to start, and for each box: many times what it takes on an idle core."""


@dataclass(frozen=True)
class BoxAddress:
    """Where a box listens and the key it must show (``ssh-ed25519 AAAA...``)."""

    hostname: str
    port: int
    host_key: str


@dataclass(frozen=True)
class Overlay:
    """What an inventory needs to reach the lab's boxes."""

    boxes: dict[str, BoxAddress]
    known_hosts: Path


def start(spec: NetworkSpec, state: Path, *, timeout: float | None = None) -> Overlay:
    """Start a lab of its own process and wait until every box listens. A running one is left as it is.

    Raises StartError, with the end of the lab's log, when it does not come up within ``timeout`` seconds
    (by default a bound that grows with the number of devices).
    """
    if timeout is None:
        timeout = _START_SECONDS + _BOX_SECONDS * len(spec.boxes) + (START_SECONDS if spec.virtual_time else 0.0)
    state.mkdir(parents=True, exist_ok=True)
    if running_pid(state) is not None:
        return overlay(state)
    network = state / "network.json"
    network.write_text(spec.model_dump_json(indent=1))
    network.chmod(0o600)
    log = state / "lab.log"
    with log.open("ab") as stream:
        at = stream.tell()
        process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-m", "qoslab", "--network-file", str(network), "--state-dir", str(state)],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            cwd=Path(__file__).resolve().parents[1],  # from where `qoslab` can be imported, installed or not
        )
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if running_pid(state) == process.pid:
            process.returncode = 0  # it lives on by itself: not ours to wait for
            return overlay(state)
        if process.poll() is not None:
            break
        time.sleep(_POLL_SECONDS)
    if process.poll() is None:
        process.kill()
        process.wait()
    with log.open("rb") as stream:
        stream.seek(at)
        tail = stream.read().decode(errors="replace").strip()[-2000:]
    raise StartError(f"the lab did not start: {tail or 'it said nothing'} (log: {log})")


def stop(state: Path, *, timeout: float = 10.0) -> bool:
    """Stop the lab; False when none runs. Raises ChannelError when it will not die."""
    pid = running_pid(state)
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if not _alive(pid):
            return True
        time.sleep(_POLL_SECONDS)
    raise ChannelError(f"the lab (process {pid}) did not stop within {timeout:g} s")


def clean(state: Path) -> None:
    """Stop the lab and forget everything its boxes kept."""
    stop(state)
    shutil.rmtree(state, ignore_errors=True)


def status(state: Path) -> dict[str, object] | None:
    """What the lab says about itself; None when none runs."""
    return None if running_pid(state) is None else request(state, {"op": "status"})


def overlay(state: Path) -> Overlay:
    """Read the overlay a lab wrote. Raises ChannelError when there is none."""
    path = state / "overlay.yaml"
    try:
        raw = YAML(typ="safe", pure=True).load(path.read_text())
    except OSError as bad:
        raise ChannelError(f"no lab has started here: {bad}") from bad
    boxes = {name: BoxAddress(**address) for name, address in (raw.get("boxes") or {}).items()}
    return Overlay(boxes, state / "known_hosts")


def request(state: Path, document: Mapping[str, object], *, timeout: float = 30.0) -> dict[str, object]:
    """Send one control request and return the answer. Raises ChannelError with the lab's words."""
    path = state / "control.sock"
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(timeout)
        try:
            _connect(channel, path)
            channel.sendall(json.dumps(document).encode() + b"\n")
            with channel.makefile("rb") as stream:
                line = stream.readline()
        except OSError as bad:
            raise ChannelError(f"{path}: no lab answers: {bad}") from bad
    if not line:
        raise ChannelError(f"{path}: the lab closed the connection")
    answer: dict[str, object] = json.loads(line)
    if answer.get("ok") is not True:
        raise ChannelError(str(answer.get("error", "the lab refused")))
    return answer


def offer(
    state: Path, box: str, into: str, out: str, packets: Sequence[Mapping[str, object]], *, seconds: float = 0.0
) -> list[dict[str, object]]:
    """Offer traffic to a box; one outcome per group of packets. ``seconds`` is how long it took to arrive."""
    answer = request(
        state,
        {"op": "offer", "box": box, "in": into, "out": out, "packets": list(packets), "seconds": seconds},
    )
    outcomes = answer["outcomes"]
    assert isinstance(outcomes, list)
    return outcomes


def plant(state: Path, box: str, kind: str, **args: object) -> None:
    """Plant a fault into a box (see ``qoslab.faults``)."""
    request(state, {"op": "fault", "box": box, "kind": kind, "args": args})


def happen(state: Path, box: str, kind: str, text: str = "") -> bool:
    """Let a fault of a whole box happen now (see ``Box.happen``); whether it did."""
    return bool(request(state, {"op": "happen", "box": box, "kind": kind, "text": text})["happened"])


def met(state: Path, box: str) -> dict[str, int]:
    """How often each kind of planted fault came about in a box since they were cleared."""
    counted = request(state, {"op": "faults", "box": box})["met"]
    assert isinstance(counted, dict)
    return counted


def attachments(state: Path, box: str) -> list[AttachmentChange]:
    """What was attached to a box's interfaces, and detached, since it started (``qoslab.attachments``)."""
    history = request(state, {"op": "attachments", "box": box})["history"]
    assert isinstance(history, list)
    return [AttachmentChange(**change) for change in history]


def typed(state: Path, box: str) -> list[tuple[str, str]]:
    """The last lines that were typed in sessions with a box, each behind the mode that it was typed in."""
    history = request(state, {"op": "typed", "box": box})["history"]
    assert isinstance(history, list)
    return [(str(mode), str(line)) for mode, line in history]


def configure(state: Path, box: str, lines: Sequence[str]) -> list[str]:
    """Type configuration lines on a box's console; returns what it said."""
    said = request(state, {"op": "config", "box": box, "lines": list(lines)})["said"]
    assert isinstance(said, list)
    return said


def running_pid(state: Path) -> int | None:
    """The process of a lab that is up, None when there is none (a stale pid file counts as none)."""
    with contextlib.suppress(OSError, ValueError):
        pid = int((state / "pid").read_text())
        if _alive(pid) and (state / "control.sock").exists():
            return pid
    return None


def _alive(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False
    return True


def _connect(channel: socket.socket, path: Path) -> None:
    """Connect, by way of the directory's descriptor: a Unix socket's path must be short."""
    if len(os.fsencode(path)) < 100:
        channel.connect(str(path))
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        channel.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
