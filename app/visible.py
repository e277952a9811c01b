"""Characters that speak to a terminal, or change the order in which text is read, as text that can be seen."""

from __future__ import annotations

import re

_DELETE = 0x7F
_PICTURES = 0x2400
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, delete, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks (Unicode Standard Annex 9)
    "\u2028\u2029\ufeff]"  # separators of lines and paragraphs, byte order mark
)


def visible(text: str) -> str:
    """The text with every control character, escape and bidirectional mark written as what it is.

    C0 controls become their pictures (``␛``), others their number (``<U+202E>``). Tabs and line feeds stay.
    """
    return _UNSEEN.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < ord(" "):
        return chr(_PICTURES + code)
    return "␡" if code == _DELETE else f"<U+{code:04X}>"
