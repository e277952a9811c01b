"""Where a value of the credentials file comes from instead of standing in it: the four forms of saying so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, SecretStr, Tag


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class FromVariable(_Form):
    """An environment variable."""

    env: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")


class FromFile(_Form):
    """The first line of a file that only its owner may read."""

    file: Path


def _vault_path(value: str) -> str:
    # What these characters mean in a URL would make another request of it.
    plain = value.isprintable() and not set(value) & set("?#%\\{}")
    if not plain or any(part in ("", ".", "..") or part != part.strip() for part in value.split("/")):
        raise ValueError("is no path in a Vault: write it without / at its ends, such as campus/tacacs")
    return value


_VaultPath = Annotated[str, AfterValidator(_vault_path)]
_Name = Annotated[str, Field(min_length=1, max_length=256)]


class FromVault(_Form):
    """A field of a secret in a key-value engine of HashiCorp Vault.

    ``mount`` is where the engine is, ``kv`` its version; ``vault`` is the path below it, as in ``vault kv get``.
    """

    vault: _VaultPath
    field: _Name
    mount: _VaultPath = "secret"
    kv: Literal[1, 2] = 2


class FromKeyring(_Form):
    """The password of a user for a service, in the keyring of the operating system."""

    keyring: _Name
    user: _Name


KEYS: Mapping[str, type[_Form]] = {
    "env": FromVariable,
    "file": FromFile,
    "vault": FromVault,
    "keyring": FromKeyring,
}
"""Every form by the key that makes it one."""

FORMS: Mapping[str, type[BaseModel]] = {form.__name__: form for form in KEYS.values()}
"""Every form by the name that Pydantic's locations have for it."""

_TEXT, _NEITHER = "text", "neither"


def _form_of(value: Any) -> str:
    """The name of the form that a value is meant to have."""
    if isinstance(value, BaseModel):
        return type(value).__name__
    if not isinstance(value, Mapping):
        return _TEXT
    forms = [form.__name__ for key, form in KEYS.items() if key in value]
    return forms[0] if len(forms) == 1 else _NEITHER


def _refuse(_value: Any) -> None:
    raise ValueError(
        "a value has one source: give {env: VARIABLE}, {file: PATH}, {vault: PATH, field: FIELD}"
        " or {keyring: SERVICE, user: NAME}"
    )


SecretSource = FromVariable | FromFile | FromVault | FromKeyring

_Source = (
    Annotated[FromVariable, Tag("FromVariable")]
    | Annotated[FromFile, Tag("FromFile")]
    | Annotated[FromVault, Tag("FromVault")]
    | Annotated[FromKeyring, Tag("FromKeyring")]
    | Annotated[None, BeforeValidator(_refuse), Tag(_NEITHER)]
)
Secret = Annotated[Annotated[SecretStr, Tag(_TEXT)] | _Source, Discriminator(_form_of)]
"""A secret that stands in the file, or its source."""
Text = Annotated[Annotated[str, Tag(_TEXT)] | _Source, Discriminator(_form_of)]
"""A word that is no secret, or its source."""
Sourced = Annotated[_Source, Discriminator(_form_of)]
"""The source of a secret that must not stand in the file itself."""
