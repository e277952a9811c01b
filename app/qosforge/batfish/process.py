"""The process that asks Batfish: it ends with whoever waits for it, in time, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from qosforge.batfish.http_exchange import Address
from qosforge.lifeline import die_with

_MODULE = "qosforge.batfish.questions"
_LOOK_SECONDS = 1.0
"""How often it is asked whether the answers are still wanted."""
_ALARM_SECONDS = 5
"""How long after its time the kernel ends who asks, though nobody waits for it any more."""
_LARGEST = 6 << 30
"""Bytes of address space of who asks, whatever a service answers."""


class BatfishFailed(Exception):
    """The service did not answer what was asked; the message says why."""


class NotAwaited(Exception):
    """Nobody waits for the answers any more."""


def ask(
    address: Address,
    network: str,
    question: str,
    *,
    seconds: float,
    folder: Path,
    unwanted: Callable[[], bool] | None = None,
) -> Any:
    """The answers to a question, both JSON, by a process of its own that has ``seconds`` and writes to ``folder``.

    Raises:
        BatfishFailed: the service failed, or was not ready in time.
        NotAwaited: ``unwanted``, which is asked every second, said so.
    """
    deadline = time.monotonic() + seconds
    command = [sys.executable, "-m", _MODULE, address.host, str(address.port), network, f"{seconds:.3f}"]
    # The service is named outright: no proxy stands before it.
    environment = {**os.environ, "NO_PROXY": address.host, "no_proxy": address.host, "TMPDIR": str(folder)}
    with subprocess.Popen(  # noqa: S603 (our own module; the rest are arguments, not a shell's words)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        # It calls the kernel alone, and takes no lock that another thread may have held.
        preexec_fn=partial(_bounded, os.getpid(), seconds),  # noqa: PLW1509
    ) as process:
        try:
            told, problems = _outcome(process, question, deadline, unwanted)
        except subprocess.TimeoutExpired:
            raise BatfishFailed(f"did not answer within {seconds:.3g} s") from None
        finally:
            process.kill()  # nothing where it has ended
    if process.returncode != 0:
        raise BatfishFailed(f"failed: {_reason(process.returncode, problems)}")
    try:
        return json.loads(told)
    except json.JSONDecodeError:
        raise BatfishFailed("gave an answer that is not understood") from None


def _bounded(parent: int, seconds: float) -> None:
    """Let this process live no longer than who asks, nor much longer than it is waited for; bound its size."""
    die_with(parent)
    signal.alarm(ceil(seconds) + _ALARM_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (_LARGEST, _LARGEST))


def _outcome(
    process: subprocess.Popen[str], question: str, deadline: float, unwanted: Callable[[], bool] | None
) -> tuple[str, str]:
    """Both outputs of a process that ends in time."""
    given: str | None = question
    while True:
        left = deadline - time.monotonic()
        try:
            return process.communicate(given, timeout=max(0.0, min(left, _LOOK_SECONDS)))
        except subprocess.TimeoutExpired:
            given = None  # what is left of it is still sent
            if left <= _LOOK_SECONDS:
                raise
            if unwanted is not None and unwanted():
                raise NotAwaited from None


def _reason(code: int, problems: str) -> str:
    last = problems.strip().splitlines()[-1:] or [f"its client was ended by signal {-code}" if code < 0 else ""]
    return last[0][:300] or "no reason given"
