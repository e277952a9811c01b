"""Find and mask the secrets in a platform's configuration lines, anywhere in a line and behind any prefix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from qosforge.visible import visible

MASK = "********"
_REMEMBERED = 20_000
_REMEMBERED_LENGTH = 200
"""Lines without a secret that are known, and their longest: a fleet's configurations have mostly the same few."""
_LONGEST_LINE = 4096
"""Characters of a line that is looked at; a longer one is no configuration line, and is not shown at all."""
_SHORTEST = 3
"""Characters of a secret that is masked wherever it stands; shorter ones stand in too many other words."""
_SENTENCE = r"(?!(?:and|are|for|is|may|not|of|or|prompt|than|that|to|was)\b)"
"""Not before these: they are words of a sentence about passwords and keys."""

_PRIVATE_KEY = re.compile(r"(?<=PRIVATE KEY-----)[^-]+(?=-----END|\Z)")
_LETTERS = re.compile(r"[^\W_]+")
_BREAK = re.compile(r"\r?\n[ \t]*")
_LINE_END, _ESCAPE = re.compile(r"(?:\\[nr])+"), re.compile(r"\\(?:t|x[0-9a-f]{2})")
"""As ``repr`` writes them: drivers quote answers so, and then a letter stands before the first word of a line."""

KIND = r"(?:[0-9]\s+)?"
"""The number before a secret that says how it is encoded."""
SECRET = rf"{_SENTENCE}(?P<secret>\"[^\"\n]*\"|'[^'\n]*'|\S+)"
"""A secret up to the next blank, or in quotation marks."""
SECRET_TO_END = rf"{_SENTENCE}(?P<secret>\S[^\n]*)"
"""A secret that may hold blanks: the rest of the line."""
EVERYWHERE = (r"\w+://[^\s:/@]+:(?P<secret>[^\s@]+)(?=@)",)
"""Forms that no platform has for itself: the password in a URL (RFC 3986, section 3.2.1)."""


class SecretForms:
    """A platform's forms of secret-bearing lines.

    Each is a regular expression whose group ``secret`` is what must not be seen. They are looked for anywhere in a
    line, so that a difference's ``+``, an indentation, a quotation or a sentence around it does not hide one. What
    stands between its words has to be bounded in number: a device may say anything.
    """

    def __init__(self, forms: Iterable[str]) -> None:
        self.forms = tuple(forms)
        self._patterns = tuple(
            re.compile(rf"(?<!\w)(?<!\w-){form}", re.IGNORECASE)
            for form in dict.fromkeys((*self.forms, *EVERYWHERE))
        )
        self._plain: set[str] = set()

    def secrets(self, text: str) -> frozenset[str]:
        """Every secret that lines of ``text`` hold, long enough to be told from other words."""
        found = set(_PRIVATE_KEY.findall(text))
        for line in text.splitlines():
            if len(line) <= _LONGEST_LINE:
                found.update(line[start:stop].strip("\"'") for start, stop in self._spans(line))
        return frozenset(secret for secret in found if len(secret) >= _SHORTEST and secret.strip("*"))

    def mask_secrets(self, text: str, secrets: Iterable[str] = ()) -> str:
        """``text`` without what its lines hold by their form, and without these secrets wherever they stand."""
        text = _without(text, _by_value(text, secrets))
        lines = _PRIVATE_KEY.sub(f"\n{MASK}\n", text).splitlines(keepends=True)
        return "".join(_without(line, self._spans(line)) for line in lines)

    def covered(self, lines: Iterable[str], secrets: Iterable[str] = ()) -> Iterator[str | None]:
        """Lines for a program that has to read them: ``None`` for those that hold a secret by their form.

        Elsewhere each of these secrets has one name, so that what is called like one is still told from others. A
        number is left: it is no name, and would be one of many.
        """
        known = sorted({secret for secret in secrets if not secret.isdigit()})
        names = {secret: f"covered-{number}" for number, secret in enumerate(known, 1)}
        private = False
        for line in lines:
            private = "PRIVATE KEY-----" in line if "-----" in line else private
            yield None if private or self._spans(line) else _renamed(line, names)

    def shown(self, text: str, secrets: Iterable[str] = ()) -> str:
        """``text`` as people, stores and logs may have it: masked, and no character of it unseen."""
        return visible(self.mask_secrets(text, secrets))

    def shown_document(self, document: Any, secrets: Iterable[str] = ()) -> Any:
        """A JSON document whose texts, keys apart, are as :meth:`shown` gives them."""
        match document:
            case str():
                return self.shown(document, secrets)
            case Mapping():
                return {key: self.shown_document(value, secrets) for key, value in document.items()}
            case list() | tuple():
                return [self.shown_document(value, secrets) for value in document]
        return document

    def _spans(self, line: str) -> list[tuple[int, int]]:
        """Where the secrets of a line stand, by any form; a line that has none is remembered, no other is."""
        if line in self._plain:
            return []
        if len(line) > _LONGEST_LINE:
            return [(0, len(line.rstrip("\r\n")))]
        # All forms read the line as it is: none hides a secret from another one.
        spans = [
            (at + match.start("secret"), at + match.end("secret"))
            for at, part in _parts(line)
            for form in self._patterns
            for match in form.finditer(part)
        ]
        if not spans and len(line) <= _REMEMBERED_LENGTH:
            if len(self._plain) >= _REMEMBERED:
                self._plain.clear()
            self._plain.add(line)
        return spans


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """A text, and where ``repr`` escaped something in it the lines that are quoted, too; each behind its place."""
    yield 0, text
    if "\\" not in text:
        return
    begin = 0
    for end, after in [*(found.span() for found in _LINE_END.finditer(text)), (len(text), 0)]:
        yield begin, _ESCAPE.sub(lambda escape: " " * len(escape[0]), text[begin:end])
        begin = after


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with what stands in the spans masked."""
    parts, end = [], 0
    for start, stop in sorted(spans):
        if start >= end:
            parts += [text[end:start], MASK]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def _renamed(text: str, names: Mapping[str, str]) -> str:
    parts, end = [], 0
    for start, stop in sorted(_by_value(text, names)):
        if start >= end:
            parts += [text[end:start], names[text[start:stop]]]
            end = stop
    return "".join([*parts, text[end:]])


def _by_value(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where secrets stand in a text between other characters than letters and digits; also broken over two lines.

    The cost is that of the text, whatever the number of secrets: they are found by their first letters and digits.
    """
    known: dict[str, list[tuple[int, str]]] = {}
    for secret in secrets:
        first = _LETTERS.search(secret)
        if len(secret) >= _SHORTEST and first is not None:
            known.setdefault(first[0], []).append((first.start(), secret))
    if not known:
        return
    for at, part in _parts(text):
        for start, stop in _found(part, known):
            yield at + start, at + stop
    breaks = [match.span() for match in _BREAK.finditer(text)]
    # Only what stands around the break: elsewhere the joined text is the text.
    longest = max(len(secret) for same in known.values() for _, secret in same)
    for (_, begin), (at, after), (end, _) in zip(
        [(0, 0), *breaks], breaks, [*breaks[1:], (len(text), 0)], strict=False
    ):
        left, right = max(begin, at - longest), min(end, after + longest)
        for start, stop in _found(text[left:at] + text[after:right], known):
            if start < at - left < stop:
                yield left + start, stop + left + after - at


def _found(text: str, known: dict[str, list[tuple[int, str]]]) -> Iterator[tuple[int, int]]:
    for word in _LETTERS.finditer(text):
        for ahead, secret in known.get(word[0], ()):
            start = word.start() - ahead
            stop = start + len(secret)
            # What begins or ends with a letter or digit must not be a part of a longer word.
            inside = secret[-1:].isalnum() and text[stop : stop + 1].isalnum()
            if start >= 0 and not inside and text.startswith(secret, start):
                yield start, stop
