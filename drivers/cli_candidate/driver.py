"""The common driver: NAPALM's merge workflow for a device that has no candidate of its own."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import paramiko
from napalm.base.constants import CISCO_SANITIZE_FILTERS
from napalm.base.exceptions import (
    CommandErrorException,
    ConnectAuthError,
    ConnectionClosedException,
    ConnectionException,
    MergeConfigException,
)
from napalm.base.helpers import sanitize_configs
from napalm.base.netmiko_helpers import netmiko_args
from netmiko.exceptions import (
    NetmikoAuthenticationException,
    NetmikoBaseException,
    NetmikoTimeoutException,
)

from cli_candidate.answers import read_answer, require_configuration
from cli_candidate.bounded import BoundedDriver
from cli_candidate.candidate import CommandLine, parse_candidate, parse_lines
from cli_candidate.configtext import strip_volatile, unwrap
from cli_candidate.connection import GuardedConnection, guarded
from cli_candidate.dialect import Dialect
from cli_candidate.diff import merge_diff
from cli_candidate.errors import EnableRefusedError
from cli_candidate.facts import read_facts
from cli_candidate.pending import PendingCommit
from cli_candidate.sender import CommitReport, Sender
from cli_candidate.terminal import GO_ON, Reply, Terminal


class CandidateDriver(BoundedDriver):
    """Base of the drivers; a subclass names its ``dialect``.

    ``optional_args`` are Netmiko's: ``port``, ``secret``, ``ssh_strict``, ``system_host_keys``, ``alt_host_keys``
    with ``alt_key_file``, ``conn_timeout``, ``fast_cli``, ``global_delay_factor``, ``session_log`` and so on;
    besides ``force_no_enable``, ``limits`` (how long and how much each step may take:
    :class:`cli_candidate.limits.SessionLimits`) and ``read_timeout_override`` (its silence after a command, in
    seconds), ``transport`` and ``jump`` (:class:`cli_candidate.route.SessionRoute`).

    Nothing is written to the startup configuration before ``confirm_commit()``, whether or not
    ``revert_in`` was given (NAPALM's own ``ios`` driver saves at once without it).
    """

    dialect: ClassVar[Dialect]

    def __init__(
        self,
        hostname: str,
        username: str,
        password: str,
        timeout: int = 60,
        optional_args: dict[str, Any] | None = None,
    ) -> None:
        """Keep the parameters; nothing is contacted before :meth:`open`."""
        arguments = self._take_own(optional_args or {})
        self.hostname = hostname
        self.username = username
        self.password = password
        self.timeout = timeout
        self.platform = self.dialect.platform
        self.profile = [self.platform]
        self.force_no_enable = bool(arguments.get("force_no_enable", False))
        self.last_commit: CommitReport | None = None
        self._netmiko_arguments: dict[str, Any] = netmiko_args(arguments)
        self._session: Terminal | None = None
        self._wrap_width: int | None = None
        self._candidate: tuple[CommandLine, ...] | None = None
        self.device: GuardedConnection | None = None

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        exc_traceback: TracebackType | None,
    ) -> None:
        """Close; unlike the inherited method, print nothing about exceptions of this distribution."""
        self.close()

    # Session

    def open(self) -> None:
        """Log in, enter privileged mode and learn the prompt.

        Raises:
            ConnectAuthError: user name, password or enable secret refused.
            ConnectionException: unreachable, wrong or unknown host key, or no command line behind it.
            LimitExceededError: it takes longer than the step ``login`` may.
        """
        port = self._netmiko_arguments.get("port") or (23 if self.route.transport == "telnet" else 22)
        where = f"{self.hostname}:{port}"
        try:
            self._log_in(where)
        except NetmikoAuthenticationException as error:
            raise ConnectAuthError(f"{where} refuses the credentials of {self.username!r}") from error
        except (NetmikoTimeoutException, NetmikoBaseException) as error:
            raise ConnectionException(f"cannot open a session to {where}: {_reason(error)}") from error
        except (OSError, EOFError, ValueError, paramiko.SSHException) as error:
            raise ConnectionException(f"cannot open a session to {where}: {error}") from error
        finally:
            if self._session is None:
                self._drop()

    def _log_in(self, where: str) -> None:
        self.device = guarded(self.dialect.connection)(
            device_type=self.dialect.device_type,
            host=self.hostname,
            username=self.username,
            password=self.password,
            timeout=self.timeout,
            guard=self.guard,
            route=self.route,
            **self._netmiko_arguments,
        )
        if not self.force_no_enable:
            self._enable(self.device, where)
        session = Terminal(self.device)
        self._wrap_width = self._prepare(session)
        self._session = session

    def _enable(self, connection: GuardedConnection, where: str) -> None:
        try:
            connection.enable()
        except ValueError as error:
            raise EnableRefusedError(f"{where} refuses the enable secret") from error

    def _prepare(self, session: Terminal) -> int | None:
        """Send the set-up commands; the width at which output lines are broken from now on."""
        width = self.dialect.wrap_width
        for command in self.dialect.setup:
            answer = read_answer(session.run(command).text, self.dialect.refusal, self.dialect.warning)
            if answer.refusal is not None:
                width = self.dialect.factory_width
        return width

    def close(self) -> None:
        """End the session; the candidate goes with it, a running dead-man timer does not."""
        self._drop()
        self._session = None
        self._candidate = None

    def _drop(self) -> None:
        device, self.device = self.device, None
        if device is not None:
            device.disconnect()
        self.guard.close()

    def is_alive(self) -> dict[str, bool]:
        """Whether the session stands. Sends a NUL, which command lines ignore, to find a dead peer."""
        if self.device is None or self.device.is_closed:
            return {"is_alive": False}
        return {"is_alive": bool(self.device.is_alive())}

    @property
    def _terminal(self) -> Terminal:
        if self._session is None:
            raise ConnectionClosedException(f"no session to {self.hostname}: call open() first")
        return self._session

    # Candidate

    def load_merge_candidate(self, filename: str | None = None, config: str | None = None) -> None:
        """Keep a candidate here; the device sees nothing of it before :meth:`commit_config`.

        Indentation shows the mode a command belongs to, as in a running configuration; ``exit``
        is not needed. A second call replaces the first candidate.

        Raises:
            MergeConfigException: no text, an unreadable file, or a line that cannot be typed safely.
        """
        if filename is not None:
            try:
                config = Path(filename).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise MergeConfigException(f"cannot read the candidate {filename}: {error}") from error
        if config is None:
            raise MergeConfigException("neither filename nor config was given")
        self._candidate = parse_candidate(config, self.dialect.block_open)

    def load_replace_candidate(self, filename: str | None = None, config: str | None = None) -> None:
        """Not possible: the device has no command that replaces its configuration.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            f"{self.platform}: the device cannot replace its running configuration, only merge into it; "
            "compute the delta and load it with load_merge_candidate"
        )

    def compare_config(self) -> str:
        """The commands that would be sent, less those the running configuration already holds.

        Marked ``+`` and ``-`` in the order of the candidate, their context before them; empty when
        nothing would change. See :func:`cli_candidate.diff.merge_diff` for what counts as held.

        Raises:
            MergeConfigException: no candidate is loaded.
        """
        candidate = self._loaded()
        running = parse_lines(self._running(), self.dialect.block_open)
        return merge_diff(candidate, running, self.dialect.absent_is_off)

    def discard_config(self) -> None:
        """Forget the candidate; the device is not touched."""
        self._candidate = None

    def _loaded(self) -> tuple[CommandLine, ...]:
        if self._candidate is None:
            raise MergeConfigException("no candidate: call load_merge_candidate first")
        return self._candidate

    # Commit

    def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
        """Send the whole candidate to the running configuration, command by command.

        Every answer is read. At the first refusal nothing more is sent; what was accepted before
        stays (the exception says how much), because only the caller knows how to roll back: load the
        inverse as the next candidate. Startup is not written; that is ``confirm_commit()``'s work.
        What the device remarked about commands it took is in ``last_commit``.

        Args:
            message: must be empty, no device here keeps one.
            revert_in: seconds after which the device goes back by itself, where it has a timer.

        Raises:
            LineRefusedError (a MergeConfigException), LineTimeoutError, CommitBrokenError: with the
                progress so far.
            MergeConfigException: no candidate is loaded.
            NotImplementedError: a message, or ``revert_in`` where the device has no timer.
        """
        if message:
            raise NotImplementedError(f"{self.platform}: the device keeps no commit message")
        candidate = self._loaded()
        if revert_in is not None:
            self._arm(revert_in)
        self.last_commit = None
        if candidate:
            self.last_commit = Sender(self._terminal, self.dialect).send(candidate)
        else:
            self.last_commit = CommitReport(0, 0, (), ())
        self._candidate = None

    def _arm(self, revert_in: int) -> None:
        raise NotImplementedError(f"{self.platform}: revert_in={revert_in}: {self.dialect.no_timer}")

    def has_pending_commit(self) -> bool:
        """Whether the device will go back by itself unless confirmed; never where it has no timer."""
        return False

    def get_pending_commit(self) -> PendingCommit | None:
        """The commit that waits to be confirmed; never one where the device has no timer."""
        return None

    def confirm_commit(self) -> None:
        """Write the running configuration to startup: the change then survives a restart.

        Raises:
            CommandErrorException: the device did not save.
        """
        reply = self._terminal.run(self.dialect.save_command, GO_ON)
        answer = read_answer(reply.text, self.dialect.refusal, self.dialect.warning)
        if answer.refusal is not None:
            raise CommandErrorException(f"{self.dialect.save_command}: {answer.refusal}")
        if self.dialect.saved is not None and not self.dialect.saved.search(reply.text):
            raise CommandErrorException(f"{self.dialect.save_command}: not saved: {reply.text.strip()!r}")

    def rollback(self) -> None:
        """Not possible: the device keeps no checkpoint.

        Raises:
            CommandErrorException: always, with the way that exists.
        """
        raise CommandErrorException(
            f"{self.platform}: the device keeps no checkpoint to go back to; load the inverse of the change with "
            "load_merge_candidate and commit it"
        )

    # Reading

    def get_config(
        self,
        retrieve: str = "all",
        full: bool = False,
        sanitized: bool = False,
        format: str = "text",  # noqa: A002 - NAPALM's name
    ) -> dict[str, str]:
        """Running and startup configuration without the lines that change by themselves.

        ``candidate`` is always empty, as is ``startup`` where the device cannot print it.

        Raises:
            NotImplementedError: ``full`` where the device cannot print defaults; ``format`` other than text.
            CommandErrorException: the device refuses the command.
        """
        if format != "text":
            raise NotImplementedError(f"{self.platform}: format {format!r}; there is only 'text'")
        configs = {"startup": "", "running": "", "candidate": ""}
        if retrieve in {"startup", "all"} and self.dialect.show_startup is not None:
            configs["startup"] = self._read_config(self.dialect.show_startup)
        if retrieve in {"running", "all"}:
            configs["running"] = self._running(full)
        if sanitized:
            return dict(sanitize_configs(configs, CISCO_SANITIZE_FILTERS))
        return configs

    def _running(self, full: bool = False) -> str:
        if not full:
            return self._read_config(self.dialect.show_running)
        if self.dialect.show_running_full is None:
            raise NotImplementedError(f"{self.platform}: the device cannot print its defaults")
        return self._read_config(self.dialect.show_running_full)

    def _read_config(self, command: str) -> str:
        text = self._show(command)
        if command != self.dialect.show_startup:  # of which some say in such words that there is none
            require_configuration(command, text)
        self._terminal.require_quiet()
        if self._wrap_width is not None:
            text = unwrap(text, self._wrap_width)
        return strip_volatile(text, self.dialect.volatile)

    def _show(self, command: str) -> str:
        """Run an EXEC command whose output is data; only a short answer can be a refusal."""
        reply: Reply = self._terminal.run(command)
        lines = reply.text.strip().split("\n")
        if len(lines) <= 3:  # caret, message and at most one line of explanation
            answer = read_answer(reply.text, self.dialect.refusal, self.dialect.warning)
            if answer.refusal is not None:
                raise CommandErrorException(f"{command}: {answer.refusal}")
        return reply.text

    def get_facts(self) -> dict[str, Any]:
        """NAPALM's facts as far as the device tells them; see :func:`cli_candidate.facts.read_facts`."""
        shown = self._show(self.dialect.facts.command)
        return read_facts(self.dialect.vendor, self._terminal.name, shown, self._running(), self.dialect.facts)

    def cli(self, commands: list[str], encoding: str = "text") -> dict[str, str]:
        """Run EXEC commands and return each one's output as printed, error texts included.

        Raises:
            TypeError: ``commands`` is not a list.
            NotImplementedError: ``encoding`` other than text.
        """
        if encoding != "text":
            raise NotImplementedError(f"{self.platform}: encoding {encoding!r}; there is only 'text'")
        if not isinstance(commands, list):
            raise TypeError("commands must be a list")
        return {command: self._terminal.run(command).text for command in commands}


def _reason(error: BaseException) -> str:
    """Why a session did not come about, in one line: Netmiko puts words of its own around what SSH says."""
    told = error.__context__ if isinstance(error.__context__, paramiko.SSHException) else error
    return next(iter(str(told).strip().splitlines()), type(told).__name__)
