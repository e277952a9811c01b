"""A NAPALM driver whose every answer and every error is the text of its device, from here on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from cli_candidate.pending import PendingCommit
from napalm.base.base import NetworkDriver

from qosforge.deploy.failures import problem_of
from qosforge.errors import QosforgeError
from qosforge.platforms.device_text import DeviceText, DeviceWords


class DeviceDriver:
    """What tasks on a device are given: the methods of a driver that are used, by NAPALM's names.

    Every error of the driver is raised as one of ours, see `problem_of`. Where the network is read-only,
    ``refused`` is raised in place of all that changes the device.
    """

    def __init__(self, driver: NetworkDriver, words: DeviceWords, refused: QosforgeError | None = None) -> None:
        self._driver = driver
        self._words = words
        self._refused = refused

    def get_config(self, retrieve: Literal["running", "startup"]) -> DeviceText:
        """The running or the startup configuration; blank where the device shows none.

        Raises:
            CommandRefused: the device does not show it.
            DeviceError: the session failed.
        """
        with self._errors():
            return self._words.read(self._driver.get_config(retrieve=retrieve)[retrieve])

    def cli(self, commands: Sequence[str]) -> dict[str, DeviceText]:
        """The answers to show commands, by command.

        Raises:
            CommandRefused: the device refuses one.
            DeviceError: the session failed.
        """
        with self._errors():
            answers: dict[str, str] = self._driver.cli(list(commands))
            return {command: self._words.text(answer) for command, answer in answers.items()}

    def pending_commit(self) -> PendingCommit | None:
        """The commit that waits to be confirmed, whoever entered it; ``None`` where there is none.

        Raises:
            DeviceError: the session failed, or the device's answer cannot be understood.
        """
        with self._errors():
            pending: PendingCommit | None = self._driver.get_pending_commit()
            return pending

    def load_merge_candidate(self, config: str) -> None:
        """Hand over lines for the next commit."""
        with self._errors(changing=True):
            self._driver.load_merge_candidate(config=config)

    def commit_config(self, revert_in: int | None = None) -> None:
        """Enter them; the device goes back after ``revert_in`` seconds unless that is confirmed.

        Raises:
            ChangeRefused: the device does not take a line.
            CommitPending: another commit waits to be confirmed, so none was entered.
            DeviceError: the session failed.
        """
        with self._errors(changing=True):
            self._driver.commit_config(revert_in=revert_in)

    def confirm_commit(self) -> None:
        """Keep what was entered, and save it."""
        with self._errors(changing=True):
            self._driver.confirm_commit()

    def rollback(self) -> None:
        """Roll back a commit that waits to be confirmed."""
        with self._errors(changing=True):
            self._driver.rollback()

    @contextmanager
    def _errors(self, *, changing: bool = False) -> Iterator[None]:
        if changing and self._refused is not None:
            raise self._refused
        try:
            yield
        except Exception as caught:  # noqa: BLE001  a driver may raise anything
            raise problem_of(caught, self._words) from None
