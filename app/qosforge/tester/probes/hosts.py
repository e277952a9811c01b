"""Commands on the hosts of probes: over OpenSSH, or in network namespaces of this machine."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import IO

from qosforge.errors import Place, TesterError
from qosforge.inventory.probes import GuestHost, LabHost, ProbeHost
from qosforge.system_packages import install_command

PACKAGES: Mapping[str, str] = {
    "mgen": "mgen",
    "iperf3": "iperf3",
    "irtt": "irtt",
    "chronyc": "chrony",
    "ntpq": "ntpsec",
    "pmc": "linuxptp",
}
"""The Debian package of each tool that hosts may need."""

_SECONDS = 20
_SPARE_SECONDS = 30.0
_SPARE_GUEST_SECONDS = 600.0
"""The clock of a guest in virtual time may pass a minute while one session here is opened."""
_TOOK_TOO_LONG = 124
"""The code of timeout(1) where it ended a command."""
_LOOK_SECONDS = 0.05
_FIRST_OF_ALL = ("chrt", "--rr", "1")
_KEEPING = """\
log=$(mktemp) && exec 3>"$log" 4<"$log" && rm "$log" || exit 1
word=$1 count=$2
shift 2
trap 'kill $! 2>/dev/null' USR1
"$@" >&3 &
until [ "$(grep -c -e "$word" /proc/$$/fd/4)" -ge "$count" ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
echo "kept by $$"
grep -m "$count" -e "$word" /proc/$$/fd/4
wait $!
code=$?
[ $code -le 128 ] || wait $!
cat <&4
exit $code
"""
"""Runs a command with its output in a file without a name, which is gone with it. First come its own number and so
many lines that have a word, as soon as they are there, and all that the command printed once it has ended. The
signal USR1 ends the command."""
_KEPT = re.compile(r"^kept by (\d+)\s*$", re.MULTILINE)
_SSH = ("ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", f"ConnectTimeout={_SECONDS}")


@cache
def _first_of_all() -> tuple[str, ...]:
    """What runs a command of this machine ahead of its other work, whose turns would count as delay; nothing where
    that is refused."""
    try:
        refused = subprocess.run([*_FIRST_OF_ALL, "true"], capture_output=True, check=False).returncode  # noqa: S603
    except OSError:
        return ()
    return () if refused else _FIRST_OF_ALL


def _guest_options(described: GuestHost) -> list[str]:
    own = ("-F", "none", "-o", f"UserKnownHostsFile={described.known_hosts}", "-o", "IdentitiesOnly=yes")
    return [*own, "-i", described.key, "-p", str(described.port)]


@dataclass(frozen=True, slots=True)
class Host:
    """The host of a station. ``ssh_options`` are further ones of every ``ssh``, such as the file of host keys."""

    station: str
    described: ProbeHost | LabHost | GuestHost
    ssh_options: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether it is of this machine or of one guest here, and so has one clock with the others."""
        return isinstance(self.described, LabHost | GuestHost) or self.described.namespace is not None

    @property
    def prints_at_once(self) -> bool:
        """Whether a log is here as it is written; over a connection it could hold up what writes it."""
        return self.is_local and not isinstance(self.described, GuestHost)

    def command(self, words: Sequence[str], *, terminal: bool = False) -> list[str]:
        """A command of this machine that runs ``words`` on the host; on a ``terminal`` they end when ssh does."""
        if isinstance(self.described, LabHost):
            return [*_first_of_all(), "nsenter", "--target", str(self.described.process), "--net", "--", *words]
        if isinstance(self.described, GuestHost):
            ssh = [*_SSH, "-tt"] if terminal else _SSH
            there = shlex.join([*_FIRST_OF_ALL, *words])
            return [*ssh, *_guest_options(self.described), "root@127.0.0.1", "--", there]
        if self.described.namespace is not None:
            return ["ip", "netns", "exec", self.described.namespace, *words]
        login = self.described.ssh or ""
        ssh = [*_SSH, "-tt"] if terminal else _SSH
        return [*ssh, *self.ssh_options, "-p", str(self.described.port), login, "--", shlex.join(words)]

    def start(self, words: Sequence[str], seconds: float) -> HostProcess:
        """Begin a command that may take so many ``seconds`` once all others have begun.

        Some time later it ends, also where nobody is left to end it; a guest ends with what started it.
        """
        spare = _SPARE_GUEST_SECONDS if isinstance(self.described, GuestHost) else _SPARE_SECONDS
        bound = f"{seconds + spare:.0f}"
        return HostProcess(self, self.command(["timeout", "-k", "1", bound, *words], terminal=True))

    def start_logging(self, words: Sequence[str], seconds: float, first: tuple[str, int]) -> HostProcess:
        """Begin a command that never waits until its log has got here, see `start`.

        On another host the log stays there until the command has ended, but for the ``first`` lines that have a
        word: they are told as soon as there are so many.
        """
        if self.prints_at_once:
            return self.start(words, seconds)
        word, count = first
        return self.start(("sh", "-c", _KEEPING, "sh", word, str(count), *words), seconds)

    def output(self, words: Sequence[str]) -> str:
        """What a short command prints.

        Raises:
            TesterError: it fails, or the host is not reached.
        """
        try:
            done = subprocess.run(  # noqa: S603 (words of ours, quoted for the host's shell)
                self.command(words), capture_output=True, text=True, timeout=2 * _SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise self.error(f"{words[0]} does not end", "look whether the host is well") from None
        if done.returncode:
            raise self.error(f"{words[0]} fails: {last_line(done.stderr or done.stdout)}")
        return done.stdout

    def require(self, tools: Sequence[str]) -> None:
        """Make sure that the host is reached and has these tools.

        Raises:
            TesterError: it is not, or lacks some; says which packages have them.
        """
        looks = "; ".join(f"command -v {tool} >/dev/null || echo {tool}" for tool in tools)
        missing = self.output(["sh", "-c", f"{looks}; true"]).split()
        if missing:
            command = install_command(dict.fromkeys(PACKAGES.get(tool, tool) for tool in missing))
            raise self.error(f"it lacks {', '.join(missing)}", f"install it there: {command}")

    def error(self, message: str, hint: str = "") -> TesterError:
        """An error of this host."""
        return TesterError(f"the host of {self.station}: {message}", Place(file="probes.yaml", path="hosts"), hint)


class HostProcess:
    """A command on a host. What it prints goes into a file: a full pipe would hold it up."""

    def __init__(self, host: Host, command: Sequence[str]) -> None:
        self._host = host
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 (until `end`)
        self._complaint = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(  # noqa: S603 (words of ours, quoted for the host's shell)
            command, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._complaint
        )

    def await_lines(self, word: str, count: int, tool: str) -> None:
        """Wait until it printed so many lines that have a word.

        Raises:
            TesterError: it ends before, or takes too long.
        """
        end = time.monotonic() + _SECONDS
        while not self._has_lines(word, count, tool, end):
            time.sleep(_LOOK_SECONDS)

    def _has_lines(self, word: str, count: int, tool: str, end: float) -> bool:
        if _read(self._output).count(word) >= count:
            return True
        if self._process.poll() is not None or time.monotonic() > end:
            raise self._host.error(f"{tool} is not ready: {last_line(_read(self._complaint))}")
        return False

    @staticmethod
    def await_each(processes: Mapping[str, HostProcess], word: str, tool: str) -> dict[str, float]:
        """Wait until each printed a line that has a word; when it did, in seconds of ``time.monotonic``.

        Raises:
            TesterError: one ends before, or takes too long.
        """
        end = time.monotonic() + _SECONDS
        seen: dict[str, float] = {}
        while len(seen) < len(processes):
            for name, process in processes.items():
                if name not in seen and process._has_lines(word, 1, tool, end):
                    seen[name] = time.monotonic()
            time.sleep(_LOOK_SECONDS)
        return seen

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def printed(self) -> str:
        """What it printed up to now."""
        return _read(self._output)

    def finished(self, tool: str, meanwhile: Callable[[], None]) -> str:
        """What it printed until it ended; what is called ``meanwhile`` may raise.

        Raises:
            TesterError: it printed nothing and failed, or took so long that it was ended.
        """
        while (code := self._process.poll()) is None:
            meanwhile()
            time.sleep(_LOOK_SECONDS)
        printed = _read(self._output)
        if code == _TOOK_TOO_LONG:
            raise self._host.error(f"{tool} took too long, and was ended", "look whether the host is well")
        if code and not printed:
            raise self._host.error(f"{tool} fails: {last_line(_read(self._complaint))}")
        return printed

    def log_after(self, seconds: float, tool: str, meanwhile: Callable[[], None]) -> str:
        """All that it printed, where its log is kept on its host: it goes on for so long by the clock there, and is
        ended.

        Raises:
            TesterError: the host is not reached.
        """
        kept = _KEPT.search(self.printed())
        if kept is not None and self.is_running:
            self._host.output(["sh", "-c", f"sleep {seconds:g}; kill -USR1 {kept[1]} 2>/dev/null || true"])
        return self.finished(tool, meanwhile)

    def end(self) -> None:
        """End it, and forget what it printed."""
        if self.is_running:
            self._process.terminate()
            self._process.wait()
        self._output.close()
        self._complaint.close()


def _read(file: IO[bytes]) -> str:
    # At a place of its own: where the file goes on is that of the command, too.
    number = file.fileno()
    return os.pread(number, os.fstat(number).st_size, 0).decode("utf-8", "replace")


def last_line(text: str) -> str:
    """What a program complained about last."""
    return (text.strip().splitlines() or ["it says nothing"])[-1][:200]
