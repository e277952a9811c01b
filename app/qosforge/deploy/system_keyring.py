"""Secrets of the operating system's keyring, by the library `keyring`: Secret Service, KWallet, that of macOS, or
what the library's own configuration names.
"""

from __future__ import annotations

from functools import partial

import keyring
from keyring.backends import null
from keyring.errors import KeyringLocked, NoKeyringError

from qosforge.deploy.lookup import Failure, Lookups, call_within, one_line
from qosforge.deploy.secret_source import FromKeyring
from qosforge.errors import InputError, Place

SECONDS = 60.0
"""Longest time for one value: somebody may have to answer a dialog that unlocks the keyring."""

_ELSEWHERE = "a service has none as a rule: keep the value in a Vault, a file or a variable"


class KeyringReader:
    """Reads each value once; what it read is in memory alone."""

    def __init__(self) -> None:
        """Nothing is opened yet."""
        self._values: Lookups[FromKeyring, str] = Lookups(_look)

    def read(self, source: FromKeyring, where: Place) -> str:
        """The value of a user for a service.

        Raises:
            InputError: there is no keyring, it stays locked, or it has no such value.
        """
        value = self._values.get(source)
        if isinstance(value, Failure):
            raise InputError(value.message, where, value.hint)
        return value


def _look(source: FromKeyring) -> str | Failure:
    entry = f"the user {source.user!r} of {source.keyring!r}"
    try:
        # What keyrings say is not passed on: they are programs of others, and may quote what they hold.
        value = call_within(SECONDS, partial(_value, source))
    except TimeoutError:
        return Failure("the system's keyring does not answer in time", "unlock it, and try again", everywhere=True)
    except NoKeyringError:
        return Failure("this system has no keyring", _ELSEWHERE, everywhere=True)
    except KeyringLocked:
        return Failure("the system's keyring is locked", "unlock it, and try again", everywhere=True)
    except Exception as error:  # noqa: BLE001 - each keyring has errors of its own
        told = f"the system's keyring failed: {type(error).__name__}"
        return Failure(told, "keyring diagnose tells which one is used", everywhere=True)
    if isinstance(value, Failure):
        return value
    if value is None:
        return Failure(f"the system's keyring does not have {entry}", f"keyring set {source.keyring} {source.user}")
    line = one_line(value)
    if isinstance(line, Failure):
        return Failure(f"in the system's keyring, {entry} {line.message}", line.hint)
    return line


def _value(source: FromKeyring) -> str | Failure | None:
    backend = keyring.get_keyring()
    if isinstance(backend, null.Keyring):
        return Failure("the system's keyring is switched off", "keyring diagnose tells where", everywhere=True)
    return backend.get_password(source.keyring, source.user)
