"""Characters that speak to a terminal, or change the order in which text is read, as text that can be seen."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup

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


def visible_in_page(value: Any) -> Any:
    """What a template's expression gives, as a page may have it: texts, escaped ones too, are visible.

    For `jinja2.Environment`'s ``finalize``. Line ends of texts that come from forms (CRLF) stay.
    """
    if not isinstance(value, str):
        return value
    text = "\r\n".join(map(visible, str(value).split("\r\n")))
    return Markup(text) if isinstance(value, Markup) else text  # noqa: S704 (it was escaped before)


def visible_json(document: str) -> str:
    """The text of a JSON document with these characters as JSON's own escapes (RFC 8259, section 7).

    What is read from it is the same; line ends between its values stay.
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < ord(" "):
        return chr(_PICTURES + code)
    return "␡" if code == _DELETE else f"<U+{code:04X}>"
