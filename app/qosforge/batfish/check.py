"""Check references and syntax with Batfish, comparing snapshots before and after the change.

Only rows that the change adds count, so that what Batfish does not know of a valid configuration cancels out.
It sees names and first keywords; every number, queue, map and direction is for our own checks.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from math import ceil

from qosforge.batfish.rows import Answers, new_rows
from qosforge.batfish.snapshots import Snapshots, make_snapshots
from qosforge.compiler.compile import Compilation, CompiledDevice
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.lifeline import die_with
from qosforge.note import note
from qosforge.platforms.base import platform
from qosforge.platforms.device_text import Configuration

DEFAULT_PORT = 9996
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 180.0
"""A hundred routers take some 10 s and five hundred a minute; this bounds a service that hangs."""
_ALARM_SECONDS = 5
"""How long after that the kernel ends who asks, though nobody waits for it any more."""


class BatfishFailed(Exception):
    """The service did not answer what was asked; the message says why."""


def check_with_batfish(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    predicted: Mapping[str, PredictedConfiguration] | None = None,
    *,
    host: str | None,
    port: int = DEFAULT_PORT,
    require: bool = False,
    answer_seconds: float = ANSWER_SECONDS,
) -> tuple[Finding, ...]:
    """What Batfish at ``host`` finds in a compilation, or that it did not check.

    ``predicted`` are the configurations that the candidates are made of, where they are made already. With
    ``require``, not having checked is an error. The service has ``answer_seconds`` for everything.
    """
    missing = tuple(_not_modelled(compilation))
    if host is None:
        return (note("batfish-not-checked", required=require), *missing)
    snapshots = make_snapshots(compilation, running, predicted)
    if not snapshots.after:
        return missing
    try:
        with socket.create_connection((host, port), timeout=CONNECT_SECONDS):
            pass
    except (OSError, OverflowError, UnicodeError) as error:  # the latter two: no port, no name at all
        reason = getattr(error, "strerror", None) or str(error)
        return (note("batfish-unreachable", host=host, port=port, reason=reason, required=require), *missing)
    try:
        answers = _ask(host, port, snapshots, answer_seconds)
    except BatfishFailed as error:
        return (note("batfish-failed", host=host, port=port, reason=str(error), required=require), *missing)
    return (*new_rows(answers), _read_answers(snapshots), *missing)


def _not_modelled(compilation: Compilation) -> Iterator[Finding]:
    platforms: dict[str, list[CompiledDevice]] = {}
    for device in compilation.devices:
        if platform(device.request.platform, device.name).batfish_format is None:
            platforms.setdefault(device.request.platform, []).append(device)
    for name, devices in platforms.items():
        yield note(
            "batfish-not-modelled",
            Place(),
            name=name,
            devices=", ".join(d.name for d in devices),
        )


def _bounded(parent: int, seconds: float) -> None:
    """Let this process live no longer than who asks, nor much longer than it is waited for."""
    die_with(parent)
    signal.alarm(ceil(seconds) + _ALARM_SECONDS)


def _ask(host: str, port: int, snapshots: Snapshots, seconds: float) -> Answers:
    command = [sys.executable, "-m", "qosforge.batfish.questions", host, str(port)]
    # The service is named outright: no proxy stands before it.
    environment = {**os.environ, "NO_PROXY": host, "no_proxy": host}
    question = json.dumps({"before": snapshots.before, "after": snapshots.after})
    try:
        done = subprocess.run(  # noqa: S603 (our own module; host and port are arguments, not a shell's words)
            command,
            input=question,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env=environment,
            # It calls the kernel alone, and takes no lock that another thread may have held.
            preexec_fn=partial(_bounded, os.getpid(), seconds),
        )
    except subprocess.TimeoutExpired:
        raise BatfishFailed(f"did not answer within {seconds:g} s") from None
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise BatfishFailed(f"failed: {last[0][:300]}")
    try:
        answers: Answers = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise BatfishFailed("gave an answer that is not understood") from None
    return answers


def _read_answers(snapshots: Snapshots) -> Finding:
    return note(
        "batfish-checked",
        Place(),
        count=len(snapshots.after),
    )
