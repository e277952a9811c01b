"""The header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): one key, one effect.

The key is optional. Its effect and the key are written in one transaction, so a call that is sent twice, at once or
after a crash, gets the first one's result, and the draft's 409 for one that is still at work has no use here. The
same key with another request is answered 422. Keys belong to who sent them, and never expire.
"""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Header

from qosforge.errors import InputError, Place

HEADER = "Idempotency-Key"
LONGEST = 255

_STRING = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
_PLAIN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


def read_key(value: str) -> str:
    """The key of a header field: a string of structured fields (RFC 9651), ``"…"``; or as many send it, without
    quotes.

    Raises:
        InputError: it is neither, empty or too long.
    """
    text = value.strip(" \t")
    if quoted := _STRING.fullmatch(text):
        key = re.sub(r"\\(.)", r"\1", quoted[1])
    else:
        key = text if _PLAIN.fullmatch(text) else ""
    if not 0 < len(key) <= LONGEST:
        raise InputError(
            "the idempotency key cannot be read",
            Place(path=HEADER),
            f'send 1 to {LONGEST} printable ASCII characters, such as a UUID, in "quotes"',
        )
    return key


async def _key(
    idempotency_key: Annotated[
        str | None,
        Header(
            description="Made up by the caller, a UUID for instance; sent again with the same request it gives the "
            "run that the first one made.",
            max_length=2 * LONGEST + 2,
            examples=['"8e03978e-40d5-43e8-bc93-6894a57f9324"'],
        ),
    ] = None,
) -> str | None:
    return None if idempotency_key is None else read_key(idempotency_key)


IdempotencyKey = Annotated[str | None, Depends(_key)]
"""The key of a call, or ``None``."""
