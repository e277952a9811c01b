"""Secrets that callers show: how they are made, and what of them is stored (hashes only).

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


def stored(text: str) -> str:
    """What is stored of a secret: its SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def matches(text: str, hashed: str) -> bool:
    """Whether ``hashed`` was stored of ``text``; the time it takes says nothing of either."""
    return hmac.compare_digest(stored(text), hashed)


def derived(secret: str, purpose: str) -> str:
    """Another secret that only the holder of ``secret`` can know, and that does not give ``secret`` away: an HMAC
    (RFC 2104) with SHA-256, 64 hexadecimal digits.
    """
    return hmac.new(secret.encode(), purpose.encode(), hashlib.sha256).hexdigest()
