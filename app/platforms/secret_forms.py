"""Which words of a platform's configuration lines are secrets: found at any place in a line, behind any prefix."""

from __future__ import annotations

import re
from collections.abc import Iterable

BLOT = "********"
_SHORTEST = 3
"""Characters of a secret that is blotted out wherever it stands; shorter ones stand in too many other words."""
_WORD = r"[^\s,;'\"<>)\]]+"
_QUOTED = rf"(?:\"[^\"\n]*\"|'[^'\n]*'|{_WORD})"

_PRIVATE_KEY = re.compile(r"(?<=PRIVATE KEY-----)[^-]+(?=-----END|\Z)")

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
        self._patterns = tuple(re.compile(rf"(?<!\w)(?<!\w-){form}", re.IGNORECASE) for form in self.forms)

    def secrets(self, text: str) -> frozenset[str]:
        """Every secret that lines of ``text`` hold, long enough to be told from other words."""
        lines = text.splitlines()
        found = {match["secret"] for line in lines for form in self._patterns for match in form.finditer(line)}
        found = {secret.strip("\"'") for secret in found} | set(_PRIVATE_KEY.findall(text))
        return frozenset(secret for secret in found if len(secret) >= _SHORTEST and secret.strip("*"))

    def blotted(self, text: str, secrets: Iterable[str] = ()) -> str:
        """``text`` without what its lines hold by their form, and without these secrets wherever they stand."""
        for secret in sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", BLOT, text)
        return "".join(map(self._blotted_line, _PRIVATE_KEY.sub(f"\n{BLOT}\n", text).splitlines(keepends=True)))

    def _blotted_line(self, line: str) -> str:
        # All forms read the line as it is: none hides a secret from another one.
        spans = sorted(match.span("secret") for form in self._patterns for match in form.finditer(line))
        parts, end = [], 0
        for start, stop in spans:
            if start >= end:
                parts += [line[end:start], BLOT]
            end = max(end, stop)
        return "".join([*parts, line[end:]])
