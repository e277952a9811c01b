"""Secrets and signatures of webhooks, by the Standard Webhooks specification, version 1.0.0
(https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, "Signature scheme").

No secret is stored: each one derives from the key of the installation, which is outside the database, and from what
the webhook's row has of it (its id and the number of its secret). Whoever has the rows alone can sign nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qosforge.access.credentials import derive_secret
from qosforge.database.connections import is_embedded
from qosforge.errors import InputError, Place, StoreError
from qosforge.settings import Settings
from qosforge.variables import SecretVariable

VARIABLE = SecretVariable.WEBHOOK_KEY
SHORTEST_KEY = 32
"""Characters: what ``openssl rand -hex 16`` writes."""
_FILE = "webhook.key"
_PREFIX = "whsec_"
_FINGERPRINT = 16


@dataclass(frozen=True)
class SigningKey:
    """The key of an installation, from which the secrets of its webhooks derive; no ``repr`` shows it."""

    text: str = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that tell this key from another, and nothing more of it."""
        return derive_secret(self.text, "webhook key")[:_FINGERPRINT]

    def secret(self, webhook: str, number: int) -> str:
        """The secret ``number`` of a webhook (its id): ``whsec_`` and the base64 of 32 bytes."""
        made = bytes.fromhex(derive_secret(self.text, f"webhook {webhook} secret {number}"))
        return _PREFIX + base64.b64encode(made).decode()


def signature(secrets_: Sequence[str], message: str, timestamp: int, body: bytes) -> str:
    """The header ``webhook-signature``: for each secret ``v1,`` and the base64 of the HMAC-SHA256 of
    ``<message>.<timestamp>.<body>``, with spaces between them.

    ``timestamp``: seconds since 1970 of the attempt; ``message``: its id, which has no full stop.
    """
    signed = f"{message}.{timestamp}.".encode() + body
    return " ".join(
        "v1," + base64.b64encode(hmac.new(_bytes(secret), signed, hashlib.sha256).digest()).decode()
        for secret in secrets_
    )


def _bytes(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)


def load_key(settings: Settings, environment: Mapping[str, str] = os.environ) -> SigningKey:
    """The key of the installation: ``QOSFORGE_WEBHOOK_KEY``, what the file has that ``QOSFORGE_WEBHOOK_KEY_FILE``
    names, or on SQLite what ``webhook.key`` in the run directory has, which is made where it is not there.

    Raises:
        InputError: there is none, it is too short, or its file cannot be read.
        StoreError: on SQLite, the file cannot be made.
    """
    key = find_key(settings, environment)
    if key is None:
        own = settings.make_var_dir() / _FILE
        _make(own)
        key = _parse_key(_read(own), Place(file=str(own)))
    return key


def find_key(settings: Settings, environment: Mapping[str, str] = os.environ) -> SigningKey | None:
    """The key as `load_key` finds it, but none is made: ``None`` where that is still to be done.

    Raises:
        InputError: as `load_key`.
    """
    path = environment.get(VARIABLE.file)
    if path:
        return _parse_key(_read(Path(path)), Place(file=path))
    if environment.get(VARIABLE):
        return _parse_key(environment[VARIABLE], Place(path=VARIABLE))
    if not is_embedded(settings.database_url):
        raise InputError(
            "webhooks are signed by a key that every process of the installation has, and none is set",
            Place(path=VARIABLE),
            f"set it, or {VARIABLE.file}, for `serve` and every worker; `openssl rand -hex 32` writes one",
        )
    own = settings.var_dir / _FILE
    return _parse_key(_read(own), Place(file=str(own))) if own.exists() else None


def _parse_key(text: str, place: Place) -> SigningKey:
    if len(text.strip()) < SHORTEST_KEY:
        hint = f"give {SHORTEST_KEY} characters or more; `openssl rand -hex 32` writes a good one"
        raise InputError("the key of webhooks is too short", place, hint)
    return SigningKey(text.strip())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise InputError(
            "the file of the key of webhooks cannot be read",
            Place(file=str(path)),
            "let the service's user, and nobody else, read it",
        ) from error


def _make(path: Path) -> None:
    """Write a new key whole or not at all; the first of several processes makes it."""
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(scratch, path)
        except FileExistsError:
            pass
        finally:
            scratch.unlink()
    except OSError as error:
        raise StoreError(
            f"the key of webhooks cannot be made: {error.strerror}",
            Place(file=str(path)),
            f"let the service write there, or set {VARIABLE}",
        ) from error
