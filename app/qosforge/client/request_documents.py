"""Parts of the requests to a service: policies, networks and idempotency keys."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qosforge.errors import InputError, Place
from qosforge.intent.includes import SHIPPED
from qosforge.intent.loader import LoadedIntent, load_intent
from qosforge.intent.parameters import read_settings

LONGEST_KEY = 255

_NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]*?)(?:@(?P<version>[0-9]{1,9}))?")
_KEY = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")

Json = dict[str, Any]


def policy_choice(policy: Path, parameters: Sequence[str]) -> Json:
    """The policy of a call: a file's text with what it includes, else one that the service has: ``NAME[@VERSION]``.

    Raises:
        InputError, InputErrors: the file is no valid intent, or a parameter is set wrongly.
    """
    named = _NAMED.fullmatch(str(policy))
    if named and policy.suffix not in (".yaml", ".yml") and not policy.exists():
        version = {"version": int(named["version"])} if named["version"] else {}
        return {"name": named["name"], **version, "parameters": _values(parameters)}
    return inline_policy(load_intent(policy, parameters))


def stored_version(text: str) -> tuple[str, int]:
    """Name and number of a policy's version, from ``NAME@VERSION``.

    Raises:
        InputError: it names no version.
    """
    named = _NAMED.fullmatch(text)
    if named is None or named["version"] is None:
        raise InputError(f"{text[:64]!r} names no version", Place(path="NAME@VERSION"), "write it like gold@3")
    return named["name"], int(named["version"])


def inline_policy(loaded: LoadedIntent) -> Json:
    """A policy by its text; what ships with qosforge the service has itself."""
    own = {name: text for name, text in loaded.included.items() if not name.startswith(f"{SHIPPED}/")}
    return {
        "text": loaded.document.text,
        "file": loaded.document.file,
        "included": own,
        "parameters": _values(loaded.settings),
    }


def network_name(given: Path | None) -> str:
    """A network as the service calls it: of a folder its name."""
    return given.name if given is not None else "campus"


def idempotency_key(key: str | None) -> str:
    """The idempotency key: the caller's, or one for this call alone.

    It is not made of what is asked for: a pipeline that is started again for the same commit means another run.

    Raises:
        InputError: it cannot be one.
    """
    if key is None:
        return str(uuid.uuid4())
    if len(key) > LONGEST_KEY or not _KEY.fullmatch(key):
        raise InputError(
            "is no idempotency key",
            Place(path="--idempotency-key"),
            f"1 to {LONGEST_KEY} printable ASCII characters without spaces, quotes and backslashes",
        )
    return key


def _values(settings: Sequence[str]) -> Json:
    given, refused = read_settings(settings)
    for problem in refused.values():
        raise problem
    return {name: parameter.value for name, parameter in given.items()}
