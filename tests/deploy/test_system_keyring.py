"""Values of the system's keyring: what is read, how often, and what every failure says without a secret in it."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import InitError, KeyringLocked

from qosforge.deploy import system_keyring
from qosforge.deploy.secret_source import FromKeyring
from qosforge.deploy.system_keyring import KeyringReader
from qosforge.errors import InputError, Place

WHERE = Place(file="credentials.yaml", path="core.password")
SECRET = "PLANTED-value"
TACACS = FromKeyring(keyring="campus-tacacs", user="netops")


class MemoryKeyring(KeyringBackend):
    """A keyring in memory, which counts how often it is asked and may refuse."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {("campus-tacacs", "netops"): SECRET}
        self.asked = 0
        self.refuse: Callable[[], None] = lambda: None

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self.refuse()
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    """The system's keyring of this test."""
    made, before = MemoryKeyring(), keyring.get_keyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def refusal(source: FromKeyring = TACACS) -> InputError:
    """How reading fails; no secret is in the error, nor in what it came from."""
    with pytest.raises(InputError) as caught:
        KeyringReader().read(source, WHERE)
    assert "PLANTED" not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert caught.value.where == WHERE
    return caught.value


def test_a_value_is_read_once_for_fifty_devices(ring: MemoryKeyring, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    reader = KeyringReader()
    with ThreadPoolExecutor(50) as devices:
        assert set(devices.map(lambda _: reader.read(TACACS, WHERE), range(50))) == {SECRET}
    assert ring.asked == 1
    assert "PLANTED" not in caplog.text + repr(reader)


def test_what_it_does_not_have_is_told(ring: MemoryKeyring) -> None:
    told = refusal(FromKeyring(keyring="campus-tacacs", user="other"))
    assert told.message == "the system's keyring does not have the user 'other' of 'campus-tacacs'"
    assert told.hint == "keyring set campus-tacacs other"
    ring.entries["campus-tacacs", "netops"] = "PLANTED\nof two lines"
    assert "has several lines" in refusal().message


def raising(error: Exception) -> Callable[[], None]:
    def refuse() -> None:
        raise error

    return refuse


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (KeyringLocked("PLANTED"), "is locked", "unlock it"),
        (InitError("PLANTED"), "failed: InitError", "keyring diagnose"),
        (OSError("PLANTED"), "failed: OSError", "keyring diagnose"),
    ],
)
def test_a_keyring_that_refuses_is_asked_once(
    ring: MemoryKeyring, error: Exception, message: str, hint: str
) -> None:
    ring.refuse = raising(error)
    told = refusal()
    assert message in told.message
    assert hint in told.hint
    reader = KeyringReader()
    for _ in range(50):
        with pytest.raises(InputError):
            reader.read(TACACS, WHERE)
    assert ring.asked == 2


def test_a_dialog_that_nobody_answers_is_left(ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(system_keyring, "SECONDS", 0.05)
    ring.refuse = lambda: answered.wait(10) and None
    assert "does not answer in time" in refusal().message
    answered.set()


@pytest.mark.parametrize(
    ("backend", "message", "hint"),
    [
        (fail.Keyring, "this system has no keyring", "keep the value in a Vault"),
        (null.Keyring, "is switched off", "keyring diagnose"),
    ],
)
def test_a_system_without_a_keyring_is_told(
    ring: MemoryKeyring, backend: type[KeyringBackend], message: str, hint: str
) -> None:
    keyring.set_keyring(backend())
    told = refusal()
    assert message in told.message
    assert hint in told.hint


def test_a_backend_that_is_not_installed_is_told(ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "no_such_module.Keyring")
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    assert "failed: ModuleNotFoundError" in refusal().message
