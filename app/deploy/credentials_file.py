"""The administrator's file of credentials: by name, each value written there or named where it is kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from app.errors import InputError, InputErrors, Place
from app.intent.problems import as_problem
from app.intent.yaml_source import Document, read_document

_LARGEST = 64 << 10
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Kept(BaseModel):
    """Where a value is kept: the environment variable ``env``, or the ``file`` whose first line it is."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    file: Path | None = None

    @model_validator(mode="after")
    def _one(self) -> Kept:
        if (self.env is None) == (self.file is None):
            raise ValueError("a value is kept in one place: give env or file")
        return self

    def read(self, where: Place, environment: Mapping[str, str]) -> str:
        """The value.

        Raises:
            InputError: it is not there, or others may read the file.
        """
        if self.env is not None:
            value = environment.get(self.env)
            if value is None:
                raise InputError(f"the variable {self.env} is not set", where, "set it where qosforge runs")
            return value
        assert self.file is not None  # one of the two is given
        path = self.file.expanduser()
        require_private(path)
        try:
            lines = path.read_text(encoding="utf-8")[:_LARGEST].splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read: {error}", Place(file=str(path)), "correct the file") from None
        return lines[0] if lines else ""


class Entry(BaseModel):
    """Credentials: a password, or a private ``key`` with its passphrase, or the keys of the ``agent``; ``secret``
    is the enable secret.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    username: str | None = None
    password: SecretStr | Kept | None = None
    secret: SecretStr | Kept | None = None
    key: Path | None = None
    passphrase: SecretStr | Kept | None = None
    agent: bool = False

    @model_validator(mode="after")
    def _something(self) -> Entry:
        if self.password is None and self.key is None and not self.agent:
            raise ValueError("nothing logs in: give password, key or agent")
        return self

    def value(
        self, key: Literal["password", "secret", "passphrase"], where: Place, environment: Mapping[str, str]
    ) -> str:
        """What is written or kept under a key; empty where nothing is.

        Raises:
            InputError: it is not where it is said to be kept.
        """
        given: SecretStr | Kept | None = getattr(self, key)
        if given is None:
            return ""
        if isinstance(given, SecretStr):
            return given.get_secret_value()
        return given.read(where, environment)


def read_credentials_file(path: Path) -> Mapping[str, Entry]:
    """The entries of a file by name; none where there is no file.

    Raises:
        InputError: others than its owner may read it, or it is no YAML.
        InputErrors: entries are wrong; no value is in the messages.
    """
    if not path.is_file():
        return {}
    require_private(path)
    document = read_document(path)
    if not isinstance(document.data, dict):
        raise InputError("must be a mapping of names", Place(file=str(path)), "see docs/reaching.md")
    entries: dict[str, Entry] = {}
    problems: list[InputError] = []
    for name, body in document.data.items():
        entry = _entry(str(name), body, document, problems)
        if entry is not None:
            entries[str(name)] = entry
    if problems:
        raise InputErrors("not a file of credentials", Place(file=str(path)), "", problems)
    return entries


def require_private(path: Path) -> None:
    """Make sure that nobody but its owner can read a file, and that this process is the owner's.

    Raises:
        InputError: others may read it, or it is somebody else's.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", Place(file=str(path)), "correct the path") from None
    if found.st_mode & _OTHERS:
        raise InputError("others than its owner may read it", Place(file=str(path)), f"chmod 600 {path}")
    if found.st_uid not in (os.geteuid(), 0):
        raise InputError("it belongs to somebody else", Place(file=str(path)), "use a file of your own")


def _entry(name: str, body: Any, document: Document, problems: list[InputError]) -> Entry | None:
    if not isinstance(body, dict):
        problems.append(
            InputError(f"{name} must be a mapping", document.place((name,)), "give username and password")
        )
        return None
    try:
        return Entry.model_validate(body)
    except ValidationError as error:
        for details in error.errors():
            # A value must not come back in a message: only the place and the kind of what is wrong do.
            told = as_problem(document, {**details, "input": "…"}, Entry, (name,))
            problems.append(told)
        return None
