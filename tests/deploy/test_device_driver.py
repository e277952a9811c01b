"""A driver as tasks have it: what the device says is a text of it, errors too, and none leaves as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_candidate.errors import CommitPendingError, CommitProgress, LineRefusedError
from napalm.base.base import NetworkDriver
from napalm.base.exceptions import (
    CommandErrorException,
    ConnectionClosedException,
    MergeConfigException,
    NapalmException,
)

from qosforge.deploy.credentials import Credentials
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.failures import problem_of
from qosforge.errors import (
    ChangeRefused,
    CommandRefused,
    CommitPending,
    DeviceError,
    InputError,
    Place,
    QosforgeError,
)
from qosforge.platforms.device_text import DeviceText, DeviceWords
from qosforge.platforms.secret_forms import MASK

pytestmark = pytest.mark.hostile

LOGIN = Credentials("ada", "pa55word", "enab1e", Path("key"), "phrase")
RUNNING = "hostname sw1\nsnmp-server community PLANTED000 RO\n"
SAID = "\x1b[2J [bold]PLANTED000[/bold] pa55word enab1e phrase"
SHOWN = f"␛[2J [bold]{MASK}[/bold] {MASK} {MASK} {MASK}"


class Box(NetworkDriver):  # type: ignore[misc]  # NAPALM has no types
    """Says the same to everything, or fails with it."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.done: list[str] = []

    def _do(self, what: str) -> str:
        self.done.append(what)
        if self.error is not None:
            raise self.error
        return SAID

    def get_config(self, retrieve: str = "all", **_: object) -> dict[str, str]:
        self.done.append(f"read {retrieve}")
        return {"running": RUNNING, "startup": "", "candidate": ""}

    def cli(self, commands: list[str], encoding: str = "text") -> dict[str, str]:
        return dict.fromkeys(commands, self._do("cli"))

    def get_environment(self) -> dict[str, dict[int, dict[str, float]]]:
        self._do("environment")
        return {"cpu": {0: {"%usage": 12.5}}}

    def get_pending_commit(self) -> None:
        self._do("pending")

    def load_merge_candidate(self, filename: str | None = None, config: str | None = None) -> None:
        self._do(f"load {config}")

    def commit_config(self, message: str = "", revert_in: int | None = None) -> None:
        self._do(f"commit {revert_in}")

    def confirm_commit(self) -> None:
        self._do("confirm")

    def rollback(self) -> None:
        self._do("rollback")


def words() -> DeviceWords:
    return DeviceWords("sw1", "cisco_ios", LOGIN.secrets)


CHANGES: dict[str, Callable[[DeviceDriver], None]] = {
    "load": lambda driver: driver.load_merge_candidate("x"),
    "commit": lambda driver: driver.commit_config(revert_in=60),
    "confirm": lambda driver: driver.confirm_commit(),
    "rollback": lambda driver: driver.rollback(),
}
ACTS: dict[str, Callable[[DeviceDriver], object]] = {
    **CHANGES,
    "cli": lambda driver: driver.cli(["show x"]),
    "pending": lambda driver: driver.pending_commit(),
    "environment": lambda driver: driver.cpu_percent(),
}
ERRORS = {
    MergeConfigException: ChangeRefused,
    CommandErrorException: CommandRefused,
    CommitPendingError: CommitPending,
    ConnectionClosedException: DeviceError,
    NapalmException: DeviceError,
    OSError: DeviceError,
    KeyError: DeviceError,
}


def test_configurations_and_answers_are_texts_of_the_device() -> None:
    driver = DeviceDriver(Box(), words())
    answer = driver.cli(["show x"])["show x"]
    configuration = driver.get_config("running")
    assert isinstance(answer, DeviceText)
    assert isinstance(configuration, DeviceText)
    assert "PLANTED000" not in f"{answer} {configuration!r}"
    assert configuration.unmasked == RUNNING
    assert driver.get_config("startup").is_blank
    assert answer.shown() == SHOWN, "what the configuration holds, too, which was read after it"


def is_without_answer(act: str, raised: type[Exception]) -> bool:
    """Whether a device that is well said nothing, or nothing that its driver reads, of how busy it is."""
    return act == "environment" and issubclass(raised, KeyError | CommandErrorException)


@pytest.mark.parametrize("raised", [UnboundLocalError, AttributeError, KeyError, CommandErrorException])
def test_a_processor_that_is_not_understood_is_not_told(raised: type[Exception]) -> None:
    assert DeviceDriver(Box(raised(SAID)), words()).cpu_percent() is None
    assert DeviceDriver(Box(), words()).cpu_percent() == 12.5


@pytest.mark.parametrize(
    ("act", "raised"),
    [(act, raised) for act in ACTS for raised in ERRORS if not is_without_answer(act, raised)],
)
def test_every_error_of_a_driver_has_passed_the_door(act: str, raised: type[Exception]) -> None:
    driver = DeviceDriver(Box(raised(SAID)), words())
    driver.get_config("running")
    with pytest.raises(ERRORS[raised]) as told:
        ACTS[act](driver)
    assert MASK in told.value.message
    assert not any(secret in str(told.value) for secret in ("PLANTED000", *LOGIN.secrets, "\x1b"))
    assert told.value.where.device == "sw1"
    assert told.value.__suppress_context__, "a traceback does not show the driver's own"


def test_what_a_device_answered_to_a_line_is_kept_apart_and_passes_the_door() -> None:
    refused = LineRefusedError(CommitProgress(6, "policy-map X", 5, 134), f"{SAID}\n% Error: no memory.\n")
    driver = DeviceDriver(Box(refused), words())
    driver.get_config("running")
    with pytest.raises(ChangeRefused) as told:
        driver.commit_config()
    assert told.value.answer.endswith("% Error: no memory.")
    assert MASK in told.value.answer
    assert "PLANTED000" not in str(told.value.document())


def test_an_error_of_ours_is_itself_and_passes_the_door() -> None:
    error = InputError("it says pa55word", Place(device="sw1"), "mend it")
    assert problem_of(error, words()) is error
    assert error.message == f"it says {MASK}"


@pytest.mark.parametrize("act", CHANGES)
def test_a_read_only_device_is_read_and_not_changed(act: str) -> None:
    box = Box()
    refused = QosforgeError("read-only")
    driver = DeviceDriver(box, words(), refused)
    driver.get_config("running")
    driver.cli(["show x"])
    with pytest.raises(QosforgeError, match="read-only"):
        CHANGES[act](driver)
    assert box.done == ["read running", "cli"]


def test_what_is_entered_reaches_the_driver_as_it_is() -> None:
    box = Box()
    driver = DeviceDriver(box, words())
    for change in CHANGES.values():
        change(driver)
    driver.commit_config()
    assert box.done == ["load x", "commit 60", "confirm", "rollback", "commit None"]
