"""NAPALM's own driver ``ios``, within limits."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from napalm.base.exceptions import (
    CommandErrorException,
    ConnectionClosedException,
    ConnectionException,
    MergeConfigException,
)
from napalm.ios.ios import IOSDriver
from netmiko.cisco import CiscoIosSSH
from netmiko.exceptions import NetmikoTimeoutException

from cli_candidate.answers import require_configuration, require_nothing_more
from cli_candidate.bounded import BoundedDriver
from cli_candidate.connection import guarded
from cli_candidate.errors import CommitPendingError, EnableRefusedError
from cli_candidate.pending import PendingCommit
from cli_candidate.route import SessionRoute

# NAPALM and Netmiko search the answers to file commands and commits by patterns whose work grows with the square
# of a line, or of the answer, and nothing else in the process runs meanwhile. Such answers are short.
_LONGEST_ANSWER = 64 << 10
_LONGEST_LINE = 1 << 10
# NAPALM's pattern for the removal of users, and the same with bounded work.
_USERNAMES = ".*all username.*confirm"
_USERNAMES_BOUNDED = r"all username[^\n]{0,200}confirm"

# What NAPALM's commit says before it has entered anything: it saw a commit that is pending, or it did not get into
# configuration mode with a timer, which the device refuses while one is pending.
_IN_PROGRESS = "Configuration session already in progress"
_NO_TIMED_MODE = "revert_in requires 'archive' feature"


class _IosConnection(guarded(CiscoIosSSH)):  # type: ignore[misc]
    """Netmiko's IOS connection; unless ``takes_any`` is set, answers longer than they ever are get refused."""

    takes_any = False

    def send_command(self, command_string: str, expect_string: str | None = None, **parameters: Any) -> Any:
        if expect_string is not None:
            expect_string = expect_string.replace(_USERNAMES, _USERNAMES_BOUNDED)
        answer = super().send_command(command_string, expect_string, **parameters)
        if not self.takes_any:
            _require_short(command_string, answer)
        return answer

    def save_config(self, *arguments: Any, **parameters: Any) -> str:
        """As Netmiko has it; but NAPALM looks at no answer to it, so what was not saved is said here.

        Raises:
            CommandErrorException: the answer does not end as IOS's does when it saved.
        """
        answer = str(super().save_config(*arguments, **parameters))
        if "[OK]" not in answer:
            raise CommandErrorException(f"write mem: not saved: {answer.strip()[:_LONGEST_LINE]!r}")
        return answer


def _require_short(command: str, answer: str) -> None:
    longest = max(map(len, answer.split("\n")))
    if len(answer) > _LONGEST_ANSWER or longest > _LONGEST_LINE:
        raise CommandErrorException(
            f"{command}: an answer of {len(answer)} characters, {longest} in a line; "
            f"{_LONGEST_ANSWER} and {_LONGEST_LINE} are the most"
        )


class BoundedIosDriver(BoundedDriver, IOSDriver):
    """``ios`` as NAPALM has it, over SSH, with limits for each step in place of Netmiko's own clocks.

    Its file copies and its rollback are steps, too. ``optional_args`` are those of ``ios``, and the two of
    :class:`BoundedDriver`; ``read_timeout_override`` is a limit of silence.
    """

    def __init__(
        self,
        hostname: str,
        username: str,
        password: str,
        timeout: int = 60,
        optional_args: dict[str, Any] | None = None,
    ) -> None:
        """Keep the parameters; nothing is contacted before ``open()``.

        Raises:
            ValueError: there is no such transport.
        """
        arguments = self._take_own(optional_args or {})
        if self.route.transport == "telnet":
            arguments["transport"] = "telnet"
        if self.route != SessionRoute():
            # SCP takes a connection of its own, by Paramiko and straight to the device.
            arguments["inline_transfer"] = True
        super().__init__(hostname, username, password, timeout, arguments)

    def _netmiko_open(
        self, device_type: str, netmiko_optional_args: dict[str, Any] | None = None
    ) -> _IosConnection:
        try:
            connection = _IosConnection(
                device_type=device_type,
                host=self.hostname,
                username=self.username,
                password=self.password,
                timeout=self.timeout,
                guard=self.guard,
                route=self.route,
                **(netmiko_optional_args or {}),
            )
        except NetmikoTimeoutException as error:
            self.guard.close()
            raise ConnectionException(f"cannot open a session to {self.hostname}") from error
        except BaseException:
            self.guard.close()
            raise
        self._netmiko_device = connection
        if not self.force_no_enable:
            self._enable(connection)
        return connection

    def _enable(self, connection: _IosConnection) -> None:
        try:
            connection.enable()
        except ValueError as error:
            connection.disconnect()
            self.guard.close()
            raise EnableRefusedError(f"{self.hostname} refuses the enable secret") from error

    def get_config(self, *arguments: Any, **parameters: Any) -> dict[str, str]:
        """As ``ios`` has it; neither a refusal nor what goes on after something like the prompt is taken for it.

        Raises:
            CommandErrorException: the device shows none, or where it ends cannot be told.
        """
        with self._any_answers():
            configs: dict[str, str] = super().get_config(*arguments, **parameters)
        device = self.device
        prompt = device.base_prompt
        device.write_channel(device.RETURN)
        text = device.read_until_pattern(rf"{re.escape(prompt)}[^\s#>]*[#>]") + device.clear_buffer()
        require_nothing_more("\n".join(line for line in text.split("\n") if not line.startswith(prompt)))
        require_configuration("show running-config", configs["running"])
        return configs

    def _get_pending_commits(self) -> dict[str, str]:
        """As ``ios`` has it, and also where the archive was taken away meanwhile: the timer goes on without it."""
        pending: dict[str, str] = super()._get_pending_commits()
        if not pending:
            told = self.device.send_command("show archive config rollback timer")
            if (user := re.search(r"(?m)^User: (\S+)", told)) is not None:
                pending = {"user": user[1]}
                if (timer := re.search(r"(?m)^Timer value: (.*)", told)) is not None:
                    pending["timer"] = timer[1]
        return pending

    def get_pending_commit(self) -> PendingCommit | None:
        """The commit that waits to be confirmed, by whomever."""
        pending = self._get_pending_commits()
        if not pending:
            return None
        user = pending.get("user", "").strip()
        minutes = re.match(r"(\d+) min", pending.get("timer", ""))
        return PendingCommit(user, user == self.username, timer=60 * int(minutes[1]) if minutes else None)

    def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
        """As ``ios`` has it.

        Raises:
            CommitPendingError: another commit waits to be confirmed, so nothing was entered.
        """
        try:
            super().commit_config(message, revert_in)
        except (CommandErrorException, MergeConfigException) as error:
            seen = _IN_PROGRESS in str(error)
            if not seen and not (_NO_TIMED_MODE in str(error) and self.has_pending_commit()):
                raise
            raise CommitPendingError("another commit waits to be confirmed") from error

    def confirm_commit(self) -> None:
        """As ``ios`` has it; and where none waits what runs is saved, for who confirmed it may not have.

        Raises:
            CommandErrorException: the device did not save.
            CommitConfirmException: another user's commit waits.
        """
        if self.has_pending_commit():
            super().confirm_commit()
        else:
            self.device.save_config()

    def cli(self, *arguments: Any, **parameters: Any) -> dict[str, Any]:
        """As ``ios`` has it."""
        with self._any_answers():
            answers: dict[str, Any] = super().cli(*arguments, **parameters)
        return answers

    @contextlib.contextmanager
    def _any_answers(self) -> Iterator[None]:
        """Take answers of any size that the limits allow while the block lasts: nobody searches them here."""
        device = self.device
        if device is None:
            raise ConnectionClosedException(f"no session to {self.hostname}: call open() first")
        device.takes_any = True
        try:
            yield
        finally:
            device.takes_any = False

    def _netmiko_close(self) -> None:
        super()._netmiko_close()
        self.guard.close()
