"""The language of a page: the chosen one, else the browser's where there is a catalogue for it, else English.

Catalogues are gettext's: `locale/<language>/LC_MESSAGES/pages.mo`, made from the strings of the templates
and of the findings (`docs/web.md` says how). Errors, and what devices say, are not translated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path

ENGLISH = "en"
DOMAIN = "pages"
COOKIE = "qosforge-language"
"""Keeps the language that somebody chose in this browser."""

_FOLDER = Path(__file__).parent / "locale"


def chosen_language(accepted: str, wished: str = "") -> str:
    """The language that was ``wished``, else the first of an ``Accept-Language`` header (RFC 9110, 12.5.4), that
    pages can be in.
    """
    known = available()
    if wished in known:
        return wished
    by_tag = {name.replace("_", "-").lower(): name for name in known}  # catalogues: pt_BR, browsers: pt-BR
    for tag in _by_preference(accepted):
        for candidate in (tag, tag.partition("-")[0]):
            if candidate in by_tag:
                return by_tag[candidate]
    return ENGLISH


@cache
def available() -> frozenset[str]:
    """English, and every language that has a catalogue."""
    found = {path.parts[-3] for path in _FOLDER.glob(f"*/LC_MESSAGES/{DOMAIN}.mo")}
    return frozenset({ENGLISH, *found})


@cache
def translations(language: str) -> NullTranslations:
    """The strings of a language."""
    return translation(DOMAIN, _FOLDER, [language], fallback=True)


def own_name(language: str) -> str:
    """The own name of a language: its catalogue's translation of "English"."""
    return translations(language).gettext("English")


def _by_preference(accepted: str) -> Iterator[str]:
    weighted = []
    for position, part in enumerate(accepted.split(",")[:16]):
        tag, _, parameter = part.strip().partition(";")
        name, _, value = parameter.strip().partition("=")
        try:
            weight = float(value) if name == "q" else 1.0
        except ValueError:
            weight = 0.0
        if tag and weight > 0:
            weighted.append((-weight, position, tag.lower()))
    yield from (tag for _, _, tag in sorted(weighted))
