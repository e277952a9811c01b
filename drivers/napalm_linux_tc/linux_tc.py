"""Linux routers over SSH: queues by ``tc``, rules by ``nft``, a timer on the router that takes a change back."""

from __future__ import annotations

import re
import shlex
from typing import Any

import paramiko
from cli_candidate.bounded import BoundedDriver
from cli_candidate.connection import GuardedConnection, guarded
from cli_candidate.errors import CommitPendingError, CommitProgress, LineRefusedError
from cli_candidate.pending import PendingCommit
from napalm.base.exceptions import (
    CommandErrorException,
    CommitConfirmException,
    ConnectAuthError,
    ConnectionClosedException,
    ConnectionException,
    MergeConfigException,
)
from napalm.base.netmiko_helpers import netmiko_args
from netmiko.exceptions import NetmikoAuthenticationException, NetmikoBaseException, NetmikoTimeoutException
from netmiko.linux import LinuxSSH

from napalm_linux_tc import processors, reading, undo

_PATH = "PATH=$PATH:/usr/sbin:/sbin; export LC_ALL=C; "
_KNOWN = ("tc ", "nft ")
_NO_STATUS = -1
"""What paramiko gives for a command whose session ended before it did."""


class LinuxTcDriver(BoundedDriver):
    """Enters commands of ``tc`` and ``nft`` on a Linux router, as root or by ``sudo -n``.

    A candidate is such commands, one a line. Those of ``nft`` are one transaction, which the kernel takes whole or
    not at all, and are checked before anything is entered. Those of ``tc`` are one batch of one process: until its
    last line, packets of the interface wait in the queues that are there already, or pass.

    ``commit_config(revert_in=seconds)`` leaves a process on the router that brings back what was unless
    ``confirm_commit()`` or ``rollback()`` comes before. What is confirmed is kept in ``/etc/qosforge/qos.conf``,
    and entered at a restart by a unit of systemd, where the router has that. Without ``revert_in`` a commit is kept
    at once.
    """

    def __init__(
        self,
        hostname: str,
        username: str,
        password: str,
        timeout: int = 60,
        optional_args: dict[str, Any] | None = None,
    ) -> None:
        """Keep the parameters; nothing is contacted before :meth:`open`. ``optional_args`` are Netmiko's."""
        arguments = self._take_own(optional_args or {})
        self.hostname = hostname
        self.username = username
        self.password = password
        self.timeout = timeout
        self.platform = "linux_tc"
        self.profile = [self.platform]
        self._netmiko_arguments: dict[str, Any] = netmiko_args(arguments)
        self._candidate: tuple[str, ...] | None = None
        self._schedulers: tuple[str, ...] | None = None
        self._as_root = ""
        self.device: GuardedConnection | None = None

    # Session

    def open(self) -> None:
        """Log in.

        Raises:
            ConnectAuthError: user name or password refused, or the user is not root and may not use ``sudo -n``.
            ConnectionException: unreachable, wrong or unknown host key, or to be reached otherwise than by SSH.
        """
        if self.route.transport != "ssh":
            # Each command has a session of its own in the connection, and no terminal.
            raise ConnectionException(f"a Linux router is reached by ssh, and not by {self.route.transport}")
        where = f"{self.hostname}:{self._netmiko_arguments.get('port') or 22}"
        try:
            self.device = guarded(LinuxSSH)(
                device_type="linux",
                host=self.hostname,
                username=self.username,
                password=self.password,
                timeout=self.timeout,
                guard=self.guard,
                route=self.route,
                **self._netmiko_arguments,
            )
            if self._run("id -u")[0].strip() != "0":
                self._as_root = "sudo -n "
                if self._run("true")[2]:
                    self.close()
                    raise ConnectAuthError(f"{where}: {self.username!r} is not root and may not use 'sudo -n'")
        except NetmikoAuthenticationException as error:
            raise ConnectAuthError(f"{where} refuses the credentials of {self.username!r}") from error
        except (NetmikoTimeoutException, NetmikoBaseException, OSError, EOFError, paramiko.SSHException) as error:
            raise ConnectionException(f"cannot open a session to {where}: {error}") from error
        finally:
            if self.device is None:
                self.guard.close()

    def close(self) -> None:
        """End the session; the candidate goes with it, a timer on the router does not."""
        device, self.device = self.device, None
        if device is not None:
            device.disconnect()
        self.guard.close()
        self._candidate = None

    def is_alive(self) -> dict[str, bool]:
        """Whether the session stands."""
        return {"is_alive": self.device is not None and bool(self.device.is_alive())}

    def _run(self, command: str, data: str = "") -> tuple[str, str, int]:
        """Run a shell command as root with ``data`` as its input: what it says, its errors, its exit code."""
        if self.device is None or self.device.remote_conn_pre is None:
            raise ConnectionClosedException(f"no session to {self.hostname}: call open() first")
        self.guard.check()
        whole = f"{self._as_root}sh -c {shlex.quote(_PATH + command)}"
        try:
            stdin, stdout, stderr = self.device.remote_conn_pre.exec_command(whole)
            stdin.write(data)
            stdin.channel.shutdown_write()
            said, errors = (stream.read().decode(errors="replace") for stream in (stdout, stderr))
            code = stdout.channel.recv_exit_status()
        except (OSError, EOFError, paramiko.SSHException) as error:
            self.guard.check()  # it says more, where it was the guard that cut the session
            raise ConnectionClosedException(f"{self.hostname} closed the session: {error}") from error
        self.guard.check()
        if code == _NO_STATUS:
            raise ConnectionClosedException("the device closed the session")
        return said, errors, code

    def _ask(self, command: str) -> str:
        said, errors, code = self._run(command)
        if code:
            raise CommandErrorException(f"{command}: {errors.strip() or said.strip()}")
        return said

    # Candidate

    def load_merge_candidate(self, filename: str | None = None, config: str | None = None) -> None:
        """Keep a candidate here; the router sees nothing of it before :meth:`commit_config`.

        Raises:
            MergeConfigException: no text, or a line that is no command of ``tc`` or ``nft``.
        """
        if config is None or filename is not None:
            raise MergeConfigException("give the commands as config")
        lines = tuple(filter(None, map(str.strip, config.splitlines())))
        for number, line in enumerate(lines, start=1):
            if not line.startswith(_KNOWN) or not line.isprintable():
                raise MergeConfigException(f"line {number}: {line!r} is no command of tc or nft")
        self._candidate = lines

    def compare_config(self) -> str:
        """The commands that would be entered.

        Raises:
            MergeConfigException: no candidate is loaded.
        """
        return "\n".join(f"+ {line}" for line in self._loaded())

    def discard_config(self) -> None:
        """Forget the candidate; the router is not touched."""
        self._candidate = None

    def _loaded(self) -> tuple[str, ...]:
        if self._candidate is None:
            raise MergeConfigException("no candidate: call load_merge_candidate first")
        return self._candidate

    # Commit

    def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
        """Enter the candidate: rules are checked, then trees are entered, then rules.

        Raises:
            CommitPendingError: a commit waits to be confirmed.
            CommitConfirmException: the timer cannot be set, or was over before all was entered: it is as before.
            LineRefusedError: the router refuses a line; those of ``tc`` before it stay.
            NotImplementedError: a message is given.
        """
        if message:
            raise NotImplementedError("linux_tc: a router keeps no commit message")
        lines = self._loaded()
        if self.has_pending_commit():
            raise CommitPendingError("a commit waits to be confirmed: confirm_commit() keeps it")
        if revert_in is not None:
            self._arm(lines, revert_in)
        self._enter(lines, goes_back=revert_in is not None)
        self._candidate = None
        if revert_in is None:
            self._save()

    def _enter(self, lines: tuple[str, ...], *, goes_back: bool) -> None:
        rules, tree = undo.batches(lines, "nft"), undo.batches(lines, "tc")
        enter = undo.entering if goes_back else str
        if rules:
            self._batch("nft -c -f -", rules, lines, "nft")
        if tree:
            self._batch(enter("tc -batch -"), tree, lines, "tc")
        if rules:
            self._batch(enter("nft -f -"), rules, lines, "nft")

    def _batch(self, command: str, batch: str, lines: tuple[str, ...], program: str) -> None:
        _, errors, code = self._run(command, batch)
        if not code:
            return
        if code == undo.GONE:
            raise CommitConfirmException("the timer was over before all lines were entered: the router went back")
        own = [number for number, line in enumerate(lines, start=1) if line.startswith(f"{program} ")]
        place = own[min(max(_line_of(errors), 1), len(own)) - 1]
        applied = place - 1 if program == "tc" else 0
        raise LineRefusedError(CommitProgress(place, lines[place - 1], applied, len(lines)), errors.strip())

    def _arm(self, lines: tuple[str, ...], seconds: int) -> None:
        if seconds <= 0:
            raise CommitConfirmException(f"revert_in={seconds}: at least one second is needed")
        before, touched = self._running(), undo.touched(lines)
        if lost := undo.lost(before, touched):
            raise CommitConfirmException(f"going back would not bring {lost[0]!r} back: it is somebody else's")
        tree, rules = undo.going_back(before, touched)
        _, errors, code = self._run(undo.arm(seconds, self.username, tree, rules))
        if code or not self.has_pending_commit():
            raise CommitConfirmException(f"the router does not set a timer: {errors.strip()}")

    def has_pending_commit(self) -> bool:
        """Whether the router goes back by itself unless a commit is confirmed."""
        return self.get_pending_commit() is not None

    def get_pending_commit(self) -> PendingCommit | None:
        """The commit that waits to be confirmed, by whomever.

        Raises:
            CommandErrorException: the router's note of it is not understood.
        """
        said, _, code = self._run(undo.PENDING)
        if code:
            return None
        found = re.fullmatch(r"(\d{1,15}) (\d{1,15}) (\S+)\s+(\d{1,15})\s*", said)
        if found is None:
            raise CommandErrorException(f"{undo.FOLDER}/pending is not understood: {said.strip()!r}")
        deadline, timer, now = (int(found[number]) for number in (1, 2, 4))
        user = found[3]
        return PendingCommit(user, user == self.username, timer=timer, left=max(deadline - now, 0))

    def confirm_commit(self) -> None:
        """Stop the timer and keep what is held over a restart.

        Raises:
            CommandErrorException: the router does not keep it.
        """
        self._run(undo.DISARM)
        self._save()

    def _save(self) -> None:
        text = "".join(f"{line}\n" for line in undo.kept(self._running()) if line.startswith(_KNOWN))
        _, errors, code = self._run(undo.SAVE, text)
        if code:
            raise CommandErrorException(f"{undo.SAVED} was not written: {errors.strip()}")

    def rollback(self) -> None:
        """Bring back what was before the commit that waits.

        Raises:
            CommandErrorException: none waits, or the router does not take it back.
        """
        _, errors, code = self._run(undo.GO_BACK)
        if code:
            raise CommandErrorException(f"nothing was rolled back: {errors.strip() or 'no commit waits'}")

    # Reading

    def get_config(
        self,
        retrieve: str = "all",
        full: bool = False,
        sanitized: bool = False,
        format: str = "text",  # noqa: A002 - NAPALM's name
    ) -> dict[str, str]:
        """Running and startup configuration as commands; ``startup`` is what a restart enters.

        Raises:
            NotImplementedError: ``format`` other than text.
            CommandErrorException: a program fails, or its answer is not understood.
        """
        del full, sanitized  # nothing is left out, and nothing is secret
        if format != "text":
            raise NotImplementedError(f"linux_tc: format {format!r}; there is only 'text'")
        configs = {"startup": "", "running": "", "candidate": ""}
        if retrieve in {"startup", "all"}:
            configs["startup"] = self._ask(f"cat {undo.SAVED} 2>/dev/null || true")
        if retrieve in {"running", "all"}:
            configs["running"] = "".join(f"{line}\n" for line in self._running())
        return configs

    def _running(self) -> tuple[str, ...]:
        said, errors, code = self._run(reading.script(schedulers=self._schedulers is None))
        if code:
            command, answer = reading.broken_off(said)
            raise CommandErrorException(f"{command}: {errors.strip() or answer or 'it fails'}")
        answers = reading.answered(said)
        try:
            if self._schedulers is None:
                self._schedulers = reading.told_schedulers(answers)
            return (*self._schedulers, *reading.held_lines(answers))
        except ValueError as error:
            raise CommandErrorException(str(error)) from error

    def get_facts(self) -> dict[str, Any]:
        """NAPALM's facts as far as a router tells them."""
        said = self._ask("uname -n; uname -r; cut -d. -f1 /proc/uptime")
        found = re.fullmatch(r"(\S+)\n(\S+)\n(\d{1,15})\n", said)
        if found is None:
            raise CommandErrorException(f"the router's answer is not understood: {said.strip()!r}")
        name, release, uptime = found.groups()
        return {
            "vendor": "Linux",
            "model": "Linux",
            "os_version": release,
            "serial_number": "",
            "uptime": float(uptime),
            "hostname": name,
            "fqdn": name,
            "interface_list": [line.split()[4] for line in self._running() if line.startswith("ip link")],
        }

    def get_environment(self) -> dict[str, Any]:
        """NAPALM's environment as far as every router tells it: how busy each processor is, over a second.

        Raises:
            CommandErrorException: the answer is not understood.
        """
        try:
            busy = processors.busy_percents(self._ask(processors.ASK))
        except ValueError as error:
            raise CommandErrorException(str(error)) from error
        return {
            "cpu": {number: {"%usage": percent} for number, percent in busy.items()},
            "memory": {},
            "fans": {},
            "temperature": {},
            "power": {},
        }

    def cli(self, commands: list[str], encoding: str = "text") -> dict[str, str]:
        """Run shell commands and return what each one says, errors included.

        Raises:
            NotImplementedError: ``encoding`` other than text.
        """
        if encoding != "text":
            raise NotImplementedError(f"linux_tc: encoding {encoding!r}; there is only 'text'")
        answers = {command: self._run(command) for command in commands}
        return {command: said + errors for command, (said, errors, _) in answers.items()}


def _line_of(errors: str) -> int:
    """The line of a batch that a program complains of: ``/dev/stdin:3:5-9`` (nft), ``Command failed -:3`` (tc)."""
    found = re.search(r"(?:^/dev/stdin|failed -):(\d{1,9})\b", errors, re.MULTILINE)
    return int(found[1]) if found else 1
