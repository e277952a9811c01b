"""Secrets of callers: made at random, stored as hashes only.

All are 256 random bits, so a plain SHA-256 cannot be turned round and needs no salt.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

_TOKEN = re.compile(r"qf_([0-9a-f]{16})_[0-9a-f]{64}")


def new_token() -> tuple[str, str]:
    """The id of a new token and its text ``qf_<id>_<secret>``; the text is shown once and stored nowhere."""
    token_id = secrets.token_hex(8)
    return token_id, f"qf_{token_id}_{secrets.token_hex(32)}"


def token_id(text: str) -> str | None:
    """The id that a token's text names; ``None`` where the text is no token's."""
    found = _TOKEN.fullmatch(text)
    return found[1] if found else None


def new_secret() -> str:
    """A new secret, for a cookie: 64 hexadecimal digits."""
    return secrets.token_hex(32)


def secret_hash(text: str) -> str:
    """The hash of a secret as it is stored: SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def matches_hash(text: str, hashed: str) -> bool:
    """Whether ``hashed`` is the hash of ``text``, compared in constant time."""
    return hmac.compare_digest(secret_hash(text), hashed)


def derive_secret(secret: str, purpose: str) -> str:
    """Derive another secret from ``secret``, which it does not reveal: an HMAC (RFC 2104) with SHA-256, 64
    hexadecimal digits.
    """
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()
