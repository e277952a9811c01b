"""A NAPALM driver whose answers and errors are all marked as a device's text, which may hold secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Literal

from cli_candidate.pending import PendingCommit
from napalm.base.base import NetworkDriver
from napalm.base.exceptions import CommandErrorException

from qosforge.deploy.failures import problem_of
from qosforge.errors import QosforgeError
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.telemetry.traces import span

_NOT_UNDERSTOOD = (
    *(NotImplementedError, CommandErrorException),
    *(ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError),
)
"""What drivers end with, on a session that is well, where they have no answer or cannot read it: NAPALM's read
memory and temperature, too, and raise UnboundLocalError and the like where an image words these otherwise.
"""


class DeviceDriver:
    """What tasks on a device are given: the methods of a driver that are used, by NAPALM's names.

    Every error of the driver is raised as one of ours, see `problem_of`. Where the network is read-only,
    ``refused`` is raised in place of all that changes the device. Every call is a span of its trace, without what
    the device or the caller says.
    """

    def __init__(
        self, driver: NetworkDriver, words: DeviceWords, refused: QosforgeError | None = None, network: str = ""
    ) -> None:
        """``network`` is the one that the device belongs to, for traces; empty where it belongs to none yet."""
        self._driver = driver
        self._words = words
        self._refused = refused
        self._network = network

    def get_config(self, retrieve: Literal["running", "startup"]) -> DeviceText:
        """The running or the startup configuration; blank where the device shows none.

        Raises:
            CommandRefused: the device does not show it.
            DeviceError: the session failed.
        """
        with self._call(f"read {retrieve}"):
            return self._words.read(self._driver.get_config(retrieve=retrieve)[retrieve])

    def cli(self, commands: Sequence[str]) -> dict[str, DeviceText]:
        """The answers to show commands, by command.

        Raises:
            CommandRefused: the device refuses one.
            DeviceError: the session failed.
        """
        with self._call("show"):
            answers: dict[str, str] = self._driver.cli(list(commands))
            return {command: self._words.text(answer) for command, answer in answers.items()}

    def cpu_percent(self) -> float | None:
        """How busy its busiest processor is, in per cent; ``None`` where its driver does not tell, or where the
        device refuses or words the answer so that the driver fails on it.

        Raises:
            DeviceError: the session failed.
        """
        with self._call("read environment"):
            try:
                processors = self._driver.get_environment().get("cpu", {})
                busy = [float(each["%usage"]) for each in processors.values()]
            except _NOT_UNDERSTOOD:
                return None
            # A driver that finds no figure says -1.
            return max((percent for percent in busy if percent >= 0), default=None)

    def pending_commit(self) -> PendingCommit | None:
        """The commit that waits to be confirmed, whoever entered it; ``None`` where there is none.

        Raises:
            DeviceError: the session failed, or the device's answer cannot be understood.
        """
        with self._call("read pending commit"):
            pending: PendingCommit | None = self._driver.get_pending_commit()
            return pending

    def load_merge_candidate(self, config: str) -> None:
        """Hand over lines for the next commit."""
        with self._call("load", changing=True):
            self._driver.load_merge_candidate(config=config)

    def commit_config(self, revert_in: int | None = None) -> None:
        """Enter them; the device goes back after ``revert_in`` seconds unless that is confirmed.

        Raises:
            ChangeRefused: the device does not take a line.
            CommitPending: another commit waits to be confirmed, so none was entered.
            DeviceError: the session failed.
        """
        with self._call("commit", changing=True):
            self._driver.commit_config(revert_in=revert_in)

    def confirm_commit(self) -> None:
        """Keep what was entered, and save it."""
        with self._call("confirm", changing=True):
            self._driver.confirm_commit()

    def rollback(self) -> None:
        """Roll back a commit that waits to be confirmed."""
        with self._call("roll back", changing=True):
            self._driver.rollback()

    @contextmanager
    def _call(self, what: str, *, changing: bool = False) -> Iterator[None]:
        if changing and self._refused is not None:
            raise self._refused
        with device_span(what, self._words, self._network):
            try:
                yield
            except Exception as caught:  # noqa: BLE001  a driver may raise anything
                raise problem_of(caught, self._words) from None


def device_span(what: str, words: DeviceWords, network: str = "") -> AbstractContextManager[None]:
    """A span of what is done with a device, in the trace that the caller stands in."""
    return span(f"device {what}", device=words.device, platform=words.platform, network=network)
