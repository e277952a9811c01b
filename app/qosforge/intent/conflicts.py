"""Find contradictions in an intent, also where other parts of it are invalid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from qosforge.errors import InputError
from qosforge.intent.applications import Catalogue
from qosforge.intent.base import is_name
from qosforge.intent.conflict_rules import (
    Branch,
    Conflict,
    conflicts,
    policy_conflicts,
    unjudged,
    unknown_classes,
)
from qosforge.intent.models import Match, Treatment
from qosforge.intent.yaml_source import YamlDocument
from qosforge.units import WRITTEN, listed, shortened


def find_conflicts(document: YamlDocument, catalogue: Catalogue) -> Iterator[InputError]:
    """The conflicts of a document one by one, each at its place; parts of a wrong type are left out."""
    data = document.data
    classes = _mappings(data, "classes")
    tree = branches(data)
    apply = _mappings(data, "apply")
    policies = [(_text(entry.get("direction")), _text(entry.get("policy"))) for entry in apply]
    yield from _with_places(document, conflicts(tree))
    yield from _with_places(document, policy_conflicts(policies))
    names = list(_names(tree))
    known = [name for name in names if name is not None]
    # Which class a reference means cannot be told while a class has no proper name: that is told already.
    named = all(name is not None and is_name(name) for name in names)
    for position, entry in enumerate(_mappings(data, "verify") if named else ()):
        judged = _texts(entry, "classes")
        yield from _with_places(document, unknown_classes(position, judged, _texts(entry, "beside"), known))
        objective = entry.get("objective")
        bounds = objective if isinstance(objective, dict) else ()
        yield from _with_places(document, unjudged(position, bounds, judged))
    own = [_text(entry.get("name")) for entry in _mappings(data, "applications")]
    yield from _twice(document, own)
    known_applications = dict.fromkeys([*catalogue, *(name for name in own if name is not None)])
    yield from _unknown_applications(document, classes, known_applications)


def _with_places(document: YamlDocument, conflicts: Iterable[Conflict]) -> Iterator[InputError]:
    return (InputError(c.message, document.place(c.path), c.hint) for c in conflicts)


def _twice(document: YamlDocument, applications: Sequence[str | None]) -> Iterator[InputError]:
    """Applications of one name in one file; that of a file which includes another one takes its place."""
    seen: set[tuple[str | None, str]] = set()
    for position, name in enumerate(applications):
        place = document.place(("applications", position, "name"))
        if name is not None and (place.file, name) in seen:
            yield InputError(f"application {name!r} is defined twice", place, "keep one of them")
        elif name is not None:
            seen.add((place.file, name))


def branches(data: Any) -> list[Branch]:
    """The tree of classes of an intent's data, whatever is wrong with single ones."""
    return _branches(_mappings(data, "classes"))


def _branches(classes: list[dict[str, Any]]) -> list[Branch]:
    return [
        Branch(
            _text(entry.get("name")),
            _treatment(entry.get("treatment", {})),
            _branches(_mappings(entry.get("treatment"), "children")),
        )
        for entry in classes
    ]


def _treatment(written: Any) -> Treatment | None:
    """A treatment without the classes below it: what is wrong with those says nothing of it."""
    own = {k: v for k, v in written.items() if k != "children"} if isinstance(written, dict) else written
    try:
        return Treatment.model_validate(own, context=WRITTEN)
    except ValidationError:
        return None


def _names(tree: Sequence[Branch]) -> Iterator[str | None]:
    """Names of the classes of a tree, parents before their children."""
    for branch in tree:
        yield branch.name
        yield from _names(branch.below)


def _unknown_applications(
    document: YamlDocument,
    classes: list[dict[str, Any]],
    known: Collection[str],
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
                    hint = f"did you mean {near[0]!r}?" if near else f"known: {listed(known)}"
                    place = document.place((*here, "match", key, index, "application"))
                    yield InputError(f"unknown application {shortened(application)}", place, hint)
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
