"""The values that sources of the credentials file give."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from qosforge.deploy.private_file import read_first_line
from qosforge.deploy.secret_source import FromFile, FromVariable, FromVault, SecretSource
from qosforge.errors import InputError, Place

if TYPE_CHECKING:
    from qosforge.deploy.system_keyring import KeyringReader
    from qosforge.deploy.vault import VaultReader


class SecretReader:
    """Reads sources. What a Vault or the keyring gives is read once in its life. Safe to share between threads."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Nothing is read yet."""
        self._environment = environment
        self._lock = threading.Lock()
        self._vault: VaultReader | None = None
        self._keyring: KeyringReader | None = None

    def read(self, source: SecretSource, where: Place) -> str:
        """The value of a source; ``where`` is the place that asks for it.

        Raises:
            InputError: it is not there, or cannot be read.
        """
        if isinstance(source, FromVariable):
            value = self._environment.get(source.env)
            if value is None:
                raise InputError(f"the variable {source.env} is not set", where, "set it where qosforge runs")
            return value
        if isinstance(source, FromFile):
            return read_first_line(source.file.expanduser())
        if isinstance(source, FromVault):
            return self._vault_reader().read(source, where)
        return self._keyring_reader().read(source, where)

    def _vault_reader(self) -> VaultReader:
        # Slow to import, and most files have no such source.
        from qosforge.deploy.vault import VaultReader  # noqa: PLC0415

        with self._lock:
            self._vault = self._vault or VaultReader(self._environment)
            return self._vault

    def _keyring_reader(self) -> KeyringReader:
        from qosforge.deploy.system_keyring import KeyringReader  # noqa: PLC0415

        with self._lock:
            self._keyring = self._keyring or KeyringReader()
            return self._keyring
