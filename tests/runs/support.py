"""What the tests of runs share: a clock under control, and waiting for other processes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from qosforge.compute import Compute
from qosforge.runs.engine.computing import Computing
from qosforge.runs.record.reason import Reason
from tests.patience import PATIENCE

Spawn = Callable[..., "subprocess.Popen[str]"]
"""Start ``python -c script arguments`` in the checkout."""


WHY = Reason("it was to end so", "push", "nothing: it is a test")
"""The reason of a run that a test lets end."""


class Clock:
    """Moments under the test's control."""

    def __init__(self) -> None:
        self.moment = datetime(2004, 6, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def forward(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


def wait_for(condition: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Poll until ``condition`` holds; the test fails when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def finish(child: subprocess.Popen[str]) -> str:
    """What a child printed; the test fails when the child did."""
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors
    return output


def computing() -> Computing:
    """A computing process, which begins with the first call and ends with this one."""
    return Computing(Compute(1), 60)
