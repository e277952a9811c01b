"""The command ``qosforge`` in processes of its own, without paying for its imports each time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from qosforge.cli.entry import main
from tests.forkserver import computing_process
from tests.patience import PATIENCE

_LOOK_SECONDS = 0.03
"""How often it is looked whether something has happened: often enough for devices that take a fifth of a second for
a line, and seldom enough to take no core from them.
"""


def become(arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
    """Turn this process into the command: its output goes to files, its exit code is the process's."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.update(environment)
    sys.argv = ["qosforge", *arguments]
    main()


@dataclass(frozen=True)
class Ended:
    """How a command ended; ``code`` is negative where a signal ended it."""

    code: int
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        """Everything it printed."""
        return self.stdout + self.stderr

    @property
    def problems(self) -> list[str]:
        """The lines that say what is wrong."""
        return [line for line in self.stderr.splitlines() if line.startswith("error: ")]


class Command:
    """A command on its way. It is a process of its own that may be killed."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        become: Callable[[Sequence[str], Mapping[str, str], Path], None] = become,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.arguments = tuple(arguments)
        self._folder = folder
        self._process: ForkServerProcess = computing_process(become, arguments, environment, folder)
        self._process.start()
        self.pid = self._process.pid

    def wait_for(self, condition: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Wait until ``condition`` holds; the test fails when the command ends before, or never comes there."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert self._process.is_alive(), f"it ended before {what}:\n{self.printed().text}"
            assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
            time.sleep(_LOOK_SECONDS)

    @property
    def alive(self) -> bool:
        """Whether it goes on."""
        return self._process.is_alive()

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.join()

    def wait(self, seconds: float = PATIENCE) -> Ended:
        """Wait for its end; the test fails when it does not come."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            self.kill()
            raise AssertionError(f"it did not end within {seconds} s:\n{self.printed().text}")
        return self.printed()

    def printed(self) -> Ended:
        """What it printed until now."""
        texts = []
        for name in ("stdout", "stderr"):
            path = self._folder / name
            texts.append(path.read_text() if path.exists() else "")
        code = self._process.exitcode
        return Ended(-1 if code is None else code, *texts)
