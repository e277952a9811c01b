"""Check the shape of Nornir's three files, which Nornir itself accepts with any key."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qosforge.errors import InputError
from qosforge.intent.problems import as_problem
from qosforge.intent.yaml_source import Path_, YamlDocument
from qosforge.inventory.reach import misplaced


class _Defaults(BaseModel):
    """What Nornir knows of every host."""

    model_config = ConfigDict(extra="forbid")

    hostname: str | None = None
    port: Annotated[int, Field(ge=1, le=65535, strict=True)] | None = None
    username: str | None = None
    password: str | None = None
    platform: str | None = None
    data: dict[str, Any] | None = None
    connection_options: dict[str, dict[str, Any]] = {}


class _Entry(_Defaults):
    """A host or a group."""

    groups: list[str] | None = None


def misshapen(
    hosts: YamlDocument, groups: YamlDocument | None, defaults: YamlDocument | None
) -> Iterator[InputError]:
    """Every problem of the files' shape: entries, their keys, and the groups that they name."""
    known = list(groups.data) if groups is not None and isinstance(groups.data, dict) else []
    for document in (hosts, groups):
        if document is None:
            continue
        if not isinstance(document.data, dict):
            yield _no_mapping(document)
            continue
        for name, body in document.data.items():
            yield from _problems(_Entry, body, document, (name,))
            yield from misplaced(body if isinstance(body, dict) else {}, document, (name,))
            yield from _unknown_groups(name, body, document, known)
    if groups is not None and isinstance(groups.data, dict):
        yield from _circles(groups)
    if defaults is not None:
        yield from _problems(_Defaults, defaults.data, defaults, ())
        yield from misplaced(defaults.data if isinstance(defaults.data, dict) else {}, defaults, ())


def _no_mapping(document: YamlDocument) -> InputError:
    return InputError("must be a mapping", document.place(()), "see inventories/campus")


def _problems(model: type[BaseModel], body: Any, document: YamlDocument, path: Path_) -> Iterator[InputError]:
    if not isinstance(body, dict):
        yield (
            _no_mapping(document)
            if not path
            else InputError(f"{path[0]!r} must be a mapping", document.place(path), "see inventories/campus")
        )
        return
    try:
        model.model_validate(body)
    except ValidationError as error:
        yield from (as_problem(document, details, model, path) for details in error.errors())


def _unknown_groups(name: str, body: Any, document: YamlDocument, known: list[str]) -> Iterator[InputError]:
    for position, group in enumerate(_groups(body)):
        if isinstance(group, str) and group not in known:
            near = get_close_matches(group, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"groups.yaml has {', '.join(known) or 'none'}"
            yield InputError(f"there is no group {group!r}", document.place((name, "groups", position)), hint)


def _groups(body: Any) -> list[Any]:
    named = body.get("groups") if isinstance(body, dict) else None
    return named if isinstance(named, list) else []


def _circles(groups: YamlDocument) -> Iterator[InputError]:
    """Groups that are groups of themselves: Nornir would follow them without end."""
    for name in groups.data:
        waiting, seen = [name], set[str]()
        while waiting:
            above = [g for g in _groups(groups.data.get(waiting.pop())) if isinstance(g, str) and g not in seen]
            seen.update(above)
            waiting += above
        if name in seen:
            place = groups.place((name, "groups"))
            yield InputError(f"group {name!r} belongs to itself", place, "break the circle: take one group out")
