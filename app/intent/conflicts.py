"""What does not go together in an intent, found even where other parts of it are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from app.errors import InputError
from app.intent.applications import Catalogue
from app.intent.base import is_name
from app.intent.models import Match, Treatment, conflicts, policy_conflicts, unjudged, unknown_classes
from app.intent.yaml_source import Document
from app.units import WRITTEN


def find_conflicts(document: Document, catalogue: Catalogue) -> list[InputError]:
    """Every conflict of a document, each at its place; parts of a wrong type are left out."""
    data = document.data
    classes = _mappings(data, "classes")
    names = [_text(entry.get("name")) for entry in classes]
    apply = _mappings(data, "apply")
    found = [
        *conflicts([(name, _treatment(entry)) for name, entry in zip(names, classes, strict=True)]),
        *policy_conflicts([(_text(entry.get("direction")), _text(entry.get("policy"))) for entry in apply]),
    ]
    known = [name for name in (*names, *_below(classes)) if name is not None]
    # Which class a reference means cannot be told while a class has no proper name: that is told already.
    named = all(name is not None and is_name(name) for name in names)
    for position, entry in enumerate(_mappings(data, "verify") if named else ()):
        judged = _texts(entry, "classes")
        found.extend(unknown_classes(position, judged, _texts(entry, "beside"), known))
        objective = entry.get("objective")
        found.extend(unjudged(position, objective if isinstance(objective, dict) else (), judged))
    problems = [InputError(c.message, document.place(c.path), c.mend) for c in found]
    own = [_text(entry.get("name")) for entry in _mappings(data, "applications")]
    known_applications = [*catalogue, *(name for name in own if name is not None)]
    return problems + list(_unknown_applications(document, classes, known_applications))


def _treatment(entry: dict[str, Any]) -> Treatment | None:
    try:
        return Treatment.model_validate(entry.get("treatment", {}), context=WRITTEN)
    except ValidationError:
        return None


def _below(classes: list[dict[str, Any]]) -> Iterator[str | None]:
    """Names of the classes below these in a link-sharing tree."""
    for entry in classes:
        children = _mappings(entry.get("treatment"), "children")
        yield from (_text(child.get("name")) for child in children)
        yield from _below(children)


def _unknown_applications(
    document: Document,
    classes: list[dict[str, Any]],
    known: Sequence[str],
    base: tuple[str | int, ...] = ("classes",),
) -> Iterator[InputError]:
    for position, entry in enumerate(classes):
        here = (*base, position)
        terms = [
            (key, index, term)
            for key in Match.model_fields
            for index, term in enumerate(_mappings(entry.get("match"), key))
        ]
        for key, index, term in terms:
            for application in _texts(term, "application"):
                if application not in known:
                    near = get_close_matches(application, known, n=1)
                    mend = (
                        f"did you mean {near[0]!r}?"
                        if near
                        else f"known: {', '.join(filter(str.isprintable, known))}"
                    )
                    place = document.place((*here, "match", key, index, "application"))
                    yield InputError(f"unknown application {application!r}", place, mend)
        children = _mappings(entry.get("treatment"), "children")
        yield from _unknown_applications(document, children, known, (*here, "treatment", "children"))


def _mappings(data: Any, key: str) -> list[dict[str, Any]]:
    """The list of mappings under a key; an empty one stands for what is no mapping, so that positions hold."""
    entries = data.get(key) if isinstance(data, dict) else None
    return [e if isinstance(e, dict) else {} for e in (entries if isinstance(entries, list) else ())]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(data: dict[str, Any], key: str) -> list[str]:
    value = data.get(key, [])
    return [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, str)]
