"""The service as a process of its own: begun as usual, or by a fork, which has imported all of it already."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, Self

import httpx2

from qosforge.cli.entry import main
from tests.checkout import PYTHONPATH
from tests.forkserver import FORKSERVER, computing_process
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
QOSFORGE = (sys.executable, "-c", "from qosforge.cli.entry import main; main()")
_START_SECONDS = PATIENCE


_SERVE = ("serve", "--port", "0", "--json")


class _Fork:
    """The service in a fork, with what tests use of `subprocess.Popen`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = FORKSERVER.Pipe(duplex=False)
        self._process = computing_process(_serve, environment, theirs)
        self._process.start()
        theirs.close()
        self.pid = self._process.pid
        self.stderr: IO[str] = os.fdopen(os.dup(ours.fileno()))
        ours.close()

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        assert code is not None, f"it did not end within {timeout} s"
        return code

    def send_signal(self, number: int) -> None:
        assert self.pid is not None
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()


def _serve(environment: Mapping[str, str], words: Connection) -> None:
    os.dup2(words.fileno(), 2)
    words.close()
    # The stream that was there knows of a file that it could seek in: with a pipe below, it cannot be set up again.
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["qosforge", *_SERVE]
    main()


@dataclass
class Served:
    """A process ``qosforge serve`` with its log; its settings are those of ``environment``."""

    process: subprocess.Popen[str] | _Fork
    url: str = ""
    log: list[dict[str, Any]] = field(default_factory=list)
    _reader: threading.Thread = field(init=False)

    @classmethod
    def start(cls, var_dir: Path, *, fork: bool = False, **settings: str) -> Self:
        """Start it on a free port of the loopback, and wait until it listens."""
        environment = {
            **os.environ,
            "PYTHONPATH": PYTHONPATH,
            "QOSFORGE_VAR_DIR": str(var_dir),
            "QOSFORGE_COMPUTE_PROCESSES": "1",
            **{f"QOSFORGE_{name.upper()}": value for name, value in settings.items()},
        }
        process = (
            _Fork(environment)
            if fork
            else subprocess.Popen(
                [*QOSFORGE, *_SERVE], env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True
            )
        )
        made = cls(process)
        listening = threading.Event()
        made._reader = threading.Thread(target=made._read, args=(listening,))
        made._reader.start()
        if not listening.wait(_START_SECONDS) or not made.url:
            made.end()
            raise AssertionError(f"it did not serve: {made.log}")
        return made

    def _read(self, listening: threading.Event) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            try:
                entry = json.loads(line)
            except ValueError:
                entry = {"event": line}
            self.log.append(entry)
            if entry.get("event") == "serving":
                self.url = entry["url"]
                listening.set()
        listening.set()

    def client(self, **headers: str) -> httpx2.Client:
        """A client of its interface."""
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def end(self) -> None:
        """Kill what is left of it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def said(self, event: str) -> bool:
        """Whether its log has such a line (soon)."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if any(event in str(entry.get("event")) for entry in self.log):
                return True
            time.sleep(0.05)
        return False


@contextmanager
def serving(var_dir: Path, *, fork: bool = False, **settings: str) -> Iterator[Served]:
    """The service while the block lasts; where the process itself is not what a test is about, a fork is enough."""
    made = Served.start(var_dir, fork=fork, **settings)
    try:
        yield made
    finally:
        made.end()
