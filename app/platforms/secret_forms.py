"""Which words of a platform's configuration lines are secrets: found at any place in a line, behind any prefix."""

from __future__ import annotations

import re
from collections.abc import Iterable

BLOT = "********"
_SHORTEST = 3
"""Characters of a secret that is blotted out wherever it stands; shorter ones stand in too many other words."""
_WORD = r"[^\s,;'\"<>)\]]+"
_QUOTED = rf"(?:\"[^\"\n]*\"|'[^'\n]*'|{_WORD})"

KIND = r"(?:[0-9]\s+)?"
"""The number before a secret that says how it is encoded."""
SECRET = rf"(?!(?:and|are|for|is|may|not|of|or|prompt|than|that|to|was)\b)(?P<secret>{_QUOTED})"
"""A secret; these words are those of a sentence about passwords and keys."""


class SecretForms:
    """A platform's forms of secret-bearing lines.

    Each is a regular expression whose group ``secret`` is what must not be seen. They are looked for anywhere in a
    line, so that a difference's ``+``, an indentation, a quotation or a sentence around it does not hide one.
    """

    def __init__(self, forms: Iterable[str]) -> None:
        self.forms = tuple(forms)
        self._patterns = tuple(re.compile(rf"(?<![\w-]){form}", re.IGNORECASE) for form in self.forms)

    def secrets(self, text: str) -> frozenset[str]:
        """Every secret that lines of ``text`` hold, long enough to be told from other words."""
        found = {match["secret"].strip("\"'") for pattern in self._patterns for match in pattern.finditer(text)}
        return frozenset(secret for secret in found if len(secret) >= _SHORTEST and secret.strip("*"))

    def blotted(self, text: str, secrets: Iterable[str] = ()) -> str:
        """``text`` without what its lines hold by their form, and without these secrets wherever they stand."""
        for secret in sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", BLOT, text)
        for pattern in self._patterns:
            text = pattern.sub(_blot, text)
        return text


def _blot(match: re.Match[str]) -> str:
    start, end = (position - match.start() for position in match.span("secret"))
    whole = match[0]
    return f"{whole[:start]}{BLOT}{whole[end:]}"
