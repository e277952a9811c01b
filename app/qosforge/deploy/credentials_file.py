"""The administrator's file of credentials: by name, each value written there, or the source that it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails

from qosforge.deploy.private_file import require_private
from qosforge.deploy.secret_reader import SecretReader
from qosforge.deploy.secret_source import FORMS, Secret, SecretSource, Text
from qosforge.errors import InputError, InputErrors, Place
from qosforge.intent.problems import as_problem
from qosforge.intent.yaml_source import YamlDocument, read_document

ValueName = Literal["username", "password", "secret", "passphrase"]
VALUES: tuple[ValueName, ...] = get_args(ValueName)
"""Keys of an entry whose values may come from a source."""


class CredentialsEntry(BaseModel):
    """Credentials: a password, or a private ``key`` with its passphrase, or the keys of the ``agent``; ``secret``
    is the enable secret.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    username: Text | None = None
    password: Secret | None = None
    secret: Secret | None = None
    key: Path | None = None
    passphrase: Secret | None = None
    agent: bool = False

    @model_validator(mode="after")
    def _something(self) -> CredentialsEntry:
        if self.password is None and self.key is None and not self.agent:
            raise ValueError("nothing logs in: give password, key or agent")
        return self

    def value(self, key: ValueName, where: Place, reader: SecretReader) -> str:
        """What stands under a key, or comes from its source; empty where nothing stands.

        Raises:
            InputError: the source does not give it.
        """
        value: str | SecretStr | SecretSource | None = getattr(self, key)
        if value is None:
            return ""
        if isinstance(value, SecretStr):
            return value.get_secret_value()
        return value if isinstance(value, str) else reader.read(value, where)

    def sources(self) -> Mapping[ValueName, SecretSource]:
        """The sources that values come from, by their keys."""
        values = {name: getattr(self, name) for name in VALUES}
        return {name: value for name, value in values.items() if isinstance(value, SecretSource)}


def read_credentials_file(path: Path) -> Mapping[str, CredentialsEntry]:
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
    entries: dict[str, CredentialsEntry] = {}
    problems: list[InputError] = []
    for name, body in document.data.items():
        entry = _entry(str(name), body, document, problems)
        if entry is not None:
            entries[str(name)] = entry
    if problems:
        raise InputErrors("not a file of credentials", Place(file=str(path)), "", problems)
    return entries


def _entry(name: str, body: Any, document: YamlDocument, problems: list[InputError]) -> CredentialsEntry | None:
    if not isinstance(body, dict):
        problems.append(
            InputError(f"{name} must be a mapping", document.place((name,)), "give username and password")
        )
        return None
    try:
        return CredentialsEntry.model_validate(body)
    except ValidationError as error:
        problems.extend(_problem(details, document, name) for details in error.errors())
        return None


def _problem(details: ErrorDetails, document: YamlDocument, name: str) -> InputError:
    # A value must not come back in a message: only the place and the kind of what is wrong do.
    masked: ErrorDetails = {**details, "input": "…"}
    match details["loc"]:
        case (key, str() as form, *rest) if form in FORMS:
            return as_problem(document, {**masked, "loc": tuple(rest)}, FORMS[form], (name, key))
    return as_problem(document, masked, CredentialsEntry, (name,))
