"""Words of errors and hints, which begin small as they stand after a place, as sentences of their own on a page."""

from __future__ import annotations

_COMMAND = "qosforge "
_BEGINNINGS = ("a", "all", "an", "it", "name", "no", "not", "nothing", "only", "the", "there", "this", "too", "who")
_ENDS = (".", "!", "?", ":", "…")


def capital(text: str) -> str:
    """An error's message with a capital first letter, unless it may begin with a name."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0] in _BEGINNINGS else text


def sentence(text: str) -> str:
    """A text that begins with no name, with a capital first letter and a full stop; none behind a command."""
    if not text or text.startswith(_COMMAND):
        return text
    said = text[:1].upper() + text[1:]
    return said if text.endswith(_ENDS) or f": {_COMMAND}" in text else f"{said}."
