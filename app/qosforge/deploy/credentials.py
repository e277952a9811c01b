"""Credentials of devices: by name from the environment or the administrator's file, or those that a lab made."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from qosforge.deploy.credentials_file import VALUES, CredentialsEntry, read_credentials_file
from qosforge.deploy.secret_reader import SecretReader
from qosforge.errors import InputError, Place
from qosforge.variables import CREDENTIALS, DeviceVariable

DEFAULT = "default"
"""What a device without ``credentials`` has of the file."""


@dataclass(frozen=True)
class Credentials:
    """What logs in to a device; never printed.

    ``key_file`` with its ``passphrase``, or the keys of an ``agent``, log in instead of the password, or beside it.
    """

    username: str
    password: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)
    key_file: Path | None = None
    passphrase: str = field(default="", repr=False)
    agent: bool = False

    @property
    def secrets(self) -> frozenset[str]:
        """What nobody may see of them."""
        return frozenset(filter(None, (self.password, self.secret, self.passphrase)))


def lab_credentials(device: str, lab: Path, environment: Mapping[str, str] = os.environ) -> Credentials:
    """Credentials of a device of a lab.

    ``QOSFORGE_USERNAME``, ``QOSFORGE_PASSWORD`` and ``QOSFORGE_SECRET`` (enable), each with ``_<DEVICE>`` appended
    for one device alone; without them ``credentials.json`` in the lab's state folder.

    Raises:
        InputError: neither is there, or the file cannot be read.
    """
    given = _of_the_environment(device, environment)
    if given is not None:
        return given
    path = lab / "credentials.json"
    if not path.is_file():
        raise InputError("no credentials", Place(device=device), f"{_SET}, or start the lab")
    logins = lab / "logins.json"
    try:
        if logins.is_file() and (own := json.loads(logins.read_text(encoding="utf-8")).get(device)):
            return Credentials(own["username"], key_file=Path(own["key"]))
        held = json.loads(path.read_text(encoding="utf-8"))
        return Credentials(held["username"], held["password"], held["secret"])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"cannot be used: {error}", Place(file=str(path)), "start the lab again") from None


class CredentialStore:
    """Credentials of devices outside a lab, each looked up once."""

    def __init__(self, file: Path, environment: Mapping[str, str] = os.environ) -> None:
        """Nothing is read yet."""
        self._file = file
        self._environment = environment
        self._reader = SecretReader(environment)
        self._entries: Mapping[str, CredentialsEntry] | None = None
        self._known: dict[str, Credentials] = {}

    def of(self, device: str, name: str | None, username: str | None = None) -> Credentials:
        """What logs in to a device whose inventory gives its credentials this name, and perhaps a user name.

        By name: ``QOSFORGE_CREDENTIALS_<NAME>_USERNAME``, ``_PASSWORD`` and ``_SECRET`` (enable), else the entry of
        the file. Without a name: the variables of `lab_credentials`, else the entry ``default``. A name that nobody
        knows is an error, whatever else there is: no device gets what was not meant for it.

        Raises:
            InputError: there are none, or they cannot be read.
        """
        found = self._named(device, name) if name is not None else self._unnamed(device)
        return found if username is None else replace(found, username=username)

    def _named(self, device: str, name: str) -> Credentials:
        if name not in self._known:
            prefix = f"{CREDENTIALS}{_variable(name)}_"
            given = {key: self._environment.get(prefix + key, "") for key in ("USERNAME", "PASSWORD", "SECRET")}
            if given["PASSWORD"]:
                self._known[name] = Credentials(given["USERNAME"], given["PASSWORD"], given["SECRET"])
            else:
                self._known[name] = self._entry(device, name)
        return self._known[name]

    def _unnamed(self, device: str) -> Credentials:
        given = _of_the_environment(device, self._environment)
        if given is not None:
            return given
        if DEFAULT not in self._known:
            self._known[DEFAULT] = self._entry(device, DEFAULT)
        return self._known[DEFAULT]

    def _entry(self, device: str, name: str) -> Credentials:
        if self._entries is None:
            self._entries = read_credentials_file(self._file)
        if name not in self._entries:
            if name == DEFAULT:
                hint = f"{_SET}, or give {self._file} an entry {DEFAULT!r}"
                raise InputError("no credentials", Place(device=device), hint)
            hint = f"set {CREDENTIALS}{_variable(name)}_USERNAME and _PASSWORD, or add the entry to {self._file}"
            raise InputError(f"there are no credentials {name!r}", Place(device=device), hint)
        entry = self._entries[name]
        username, password, secret, passphrase = (
            entry.value(key, Place(file=str(self._file), path=f"{name}.{key}"), self._reader) for key in VALUES
        )
        key_file = entry.key.expanduser() if entry.key else None
        return Credentials(username, password, secret, key_file, passphrase, entry.agent)


_SET = "set QOSFORGE_USERNAME and QOSFORGE_PASSWORD (and QOSFORGE_SECRET)"


def _of_the_environment(device: str, environment: Mapping[str, str]) -> Credentials | None:
    suffix = f"_{_variable(device)}"

    def setting(variable: DeviceVariable) -> str | None:
        return environment.get(variable + suffix, environment.get(variable))

    username, password = setting(DeviceVariable.USERNAME), setting(DeviceVariable.PASSWORD)
    return Credentials(username, password, setting(DeviceVariable.SECRET) or "") if username and password else None


def _variable(name: str) -> str:
    return name.upper().replace("-", "_").replace(".", "_")
