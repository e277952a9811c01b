"""Single values as a person writes them: in quotes only where they would be read as something else."""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from typing import Any

from qosforge.errors import InputError
from qosforge.intent.yaml_source import parse_document

_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`~=<].*")
"""Texts that may stand without quotes."""
_BRACES = re.compile(r"[,\[\]{}\"'`]")
"""What may not be in them between braces or brackets."""
_OTHERWISE = re.compile(
    r"(?i:y|n|yes|no|on|off|true|false|null)|[-+.]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|0[0-7_]+"
)
"""Texts that readers of YAML 1.1 take for something else."""
_ESCAPED = re.compile(r"[^\x20-\x7e\xa0-\u1fff\u2010-\u2027\u202f-\ud7ff\uf900-\ufdff\ufe10-\ufefe\uff00-\uffef]")


def scalar(value: Any, braces: bool = True, quotes: str = "") -> str:
    """A scalar's text, as it may stand in ``braces`` or on a line of its own.

    A string keeps the kind of ``quotes`` that stood around its predecessor.

    Raises:
        ValueError: it is no text, number, truth value or null that a policy can hold.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value, braces, quotes)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    raise ValueError(f"{value!r} is no value of a policy")


@lru_cache(maxsize=4096)
def _text(value: str, braces: bool, quotes: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{value!r} is no text")
    if quotes == "'" and _ESCAPED.search(value) is None:
        return "'" + value.replace("'", "''") + "'"
    plain = (
        not quotes
        and _PLAIN.fullmatch(value) is not None
        and not (braces and _BRACES.search(value))
        and value == value.strip()
        and value.isprintable()
        and not re.search(r":(?:\s|$)|\s#|\$\{", value)
        and _OTHERWISE.fullmatch(value) is None
        and _reads_as_text(value, braces)
    )
    return value if plain else _ESCAPED.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _reads_as_text(value: str, braces: bool) -> bool:
    """Whether a text is read as itself where it stands without quotes."""
    try:
        return bool(parse_document(f"[{value}]" if braces else f"- {value}", "").data == [value])
    except InputError:
        return False
