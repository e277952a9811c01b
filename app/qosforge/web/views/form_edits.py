"""Edits made in the policy form, as changes of the policy's text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from qosforge.intent.editing import Change, Insert, Move, Remove, Set
from qosforge.intent.models import RESERVED_CLASS
from qosforge.intent.yaml_source import Path_
from qosforge.web.views.form_fields import at, element_id

InputKind = Literal["text", "number", "one-or-many", "list", "flag"]
InputText = Annotated[str, Field(max_length=10_000)]
PathPart = Annotated[str, Field(max_length=200)] | Annotated[int, Field(ge=0, le=100_000)]

_WHOLE = re.compile(r"\s*([0-9]{1,9})\s*%?\s*")


class FormEdit(BaseModel):
    """One edit; ``path`` is its place in the policy's own text.

    ``set``: a value was entered (an empty one removes the key, unless ``what`` is `KEEP_EMPTY`).
    ``choose``: another of several alternatives was chosen; the old one is removed.
    ``amount``: the number of the chosen alternative.
    ``insert``, ``remove``: an entry of a list was added or removed (``remove``: also a key).
    ``move``: an entry of a list was moved from ``index`` to ``target``.
    ``override``: a class of a library is copied into the policy itself.
    """

    model_config = ConfigDict(extra="forbid")

    op: Literal["set", "choose", "amount", "insert", "move", "remove", "override"]
    path: Annotated[tuple[PathPart, ...], Field(min_length=1, max_length=64)]
    value: InputText | list[InputText] | bool = ""
    kind: InputKind = "text"
    what: Annotated[str, Field(max_length=64)] = ""
    index: Annotated[int, Field(ge=0)] = 0
    target: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.op in ("choose", "amount") and self.what not in WAYS:
            raise ValueError(f"there are no ways for {self.what!r}")
        return self


KEEP_EMPTY = "kept"
"""An empty value stays in the text: it is about to be filled in, and until then it is a problem."""

Ways = Mapping[str, Any]
"""Alternatives: their keys below the path, each with the value that a new one begins with."""

WAYS: Mapping[str, Ways] = {
    "service": {
        "priority.percent": 10,
        "priority.rate": "1 Mb/s",
        "priority": True,
        "bandwidth.remaining_percent": 10,
        "bandwidth.percent": 10,
        "bandwidth.rate": "1 Mb/s",
        "bandwidth.weight": 1,
    },
    "queue": {"packets": 64, "bytes": "15 kB", "time": "20 ms", "percent": 80},
    "fragment": {"blocking_delay": "10 ms", "packetisation": "20 ms", "size": "500 B"},
}
"""Alternatives by the form's name of the choice."""

_EMPTY_TERMS: Mapping[str, Mapping[str, Any]] = {
    "ports": {"protocol": "udp", "destination_port": []},
}
"""New terms of a match that begin with more than one empty field."""


def way_of(what: str, data: Any) -> str:
    """The alternative that is in use; empty where there is none."""
    if what == "service" and at(data, ("priority",)) is True:
        return "priority"
    for way in WAYS[what]:
        if way != "priority" and at(data, tuple(way.split("."))) is not None:
            return way
    # A mapping without its number (an unfinished one, or only a burst): strict priority.
    return "priority" if what == "service" and isinstance(at(data, ("priority",)), dict) else ""


def edit_changes(edit: FormEdit, data: Any, merged: Any) -> Sequence[Change]:
    """The changes that an edit makes to a policy; ``merged`` is its data with the includes."""
    path: Path_ = edit.path
    match edit.op:
        case "set":
            value = _value(edit, at(data, path))
            return [Set(path, value)] if edit.what == KEEP_EMPTY else _set(path, value, data)
        case "choose":
            return _choose(path, edit.what, str(edit.value), data)
        case "amount":
            way = way_of(edit.what, at(data, path))
            # An empty one stays: a priority without its number would be strict priority.
            return [Set((*path, *way.split(".")), _value(edit, None))] if way else ()
        case "insert":
            entries = at(data, path)
            end = len(entries) if isinstance(entries, list) else 0
            place = end - 1 if edit.what == "class" and _default_last(entries) else end
            return [Insert(path, place, _new_entry(edit, data, merged))]
        case "move":
            return [Move(path, edit.index, edit.target)]
        case "remove":
            return [Remove(path)] if _is_there(data, path) else ()
        case "override":
            return _override(str(edit.value), data, merged)


def focus_after(changes: Sequence[Change]) -> str:
    """The id of the element to focus after changes; empty: the focus stays."""
    match changes[-1] if changes else None:
        case Insert(path, place):
            return element_id((*path, place))
        case Move(path, _, target):
            return element_id((*path, target))
        case Remove(path) if isinstance(path[-1], int):
            return element_id(path)
        case _:
            return ""


def _set(path: Path_, value: Any, data: Any) -> Sequence[Change]:
    if value in ("", [], None) and not isinstance(value, bool):
        return [Remove(path)] if _is_there(data, path) else ()
    return [Set(path, value)]


def _is_there(data: Any, path: Path_) -> bool:
    within, last = at(data, path[:-1]), path[-1]
    if isinstance(within, dict):
        return last in within
    return isinstance(within, list) and isinstance(last, int) and last < len(within)


def _value(edit: FormEdit, old: Any) -> Any:
    """The entered value as YAML data; one that cannot be converted stays text, and is reported as a problem."""
    value = edit.value
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and "${" in value:
        return value.strip()
    if edit.kind == "number" and isinstance(value, str):
        found = _WHOLE.fullmatch(value)
        return int(found[1]) if found else value.strip()
    if edit.kind in ("one-or-many", "list"):
        entries = [
            _scalar(part) for part in (value.split(",") if isinstance(value, str) else value) if part.strip()
        ]
        single = edit.kind == "one-or-many" and len(entries) == 1 and not isinstance(old, list)
        return entries[0] if single else entries
    if edit.kind == "flag":
        return {"true": True, "false": False}.get(str(value), "")
    return value.strip() if isinstance(value, str) else value


def _scalar(text: str) -> Any:
    text = text.strip()
    return int(text) if re.fullmatch(r"0|[1-9][0-9]{0,8}", text) else text


def _choose(path: Path_, what: str, way: str, data: Any) -> Sequence[Change]:
    here = at(data, path)
    old = way_of(what, here)
    if way == old or (way and way not in WAYS[what]):
        return ()
    top = way.split(".", maxsplit=1)[0]
    changes: list[Change] = []
    if what != "service":  # queue limits and fragments: the ways stand beside what else is said
        if not way:
            return [Remove(path)] if _is_there(data, path) else ()
        changes.append(Set((*path, way), WAYS[what][way]))
        return [*changes, Remove((*path, old))] if old else changes
    if way:
        value = _carry_over(here, old, way)
        changes.append(Set((*path, top), True if way == "priority" else {way.split(".")[1]: value}))
    others = [(*path, other) for other in ("priority", "bandwidth") if other != top]
    return [*changes, *(Remove(other) for other in others if _is_there(data, other))]


def _carry_over(here: Any, old: str, way: str) -> Any:
    """The number of the old alternative where it fits the new one, else the initial one of that."""
    number = at(here, tuple(old.split("."))) if old else None
    same = old.rpartition(".")[2].endswith("percent") and way.endswith("percent")
    same = same or old.rpartition(".")[2] == way.rpartition(".")[2]
    return number if same and number is not None else WAYS["service"][way]


def _default_last(entries: Any) -> bool:
    return isinstance(entries, list) and bool(entries) and at(entries[-1], ("name",)) == RESERVED_CLASS


def _new_entry(edit: FormEdit, data: Any, merged: Any) -> Any:
    """A new entry of a list, as short as the language allows; the form asks for the rest."""
    value = str(edit.value)
    match edit.what:
        case "class":
            entries = at(merged, edit.path) or at(data, edit.path)
            taken = {at(entry, ("name",)) for entry in entries} if isinstance(entries, list) else set()
            return {"name": value or next(n for i in range(1, 1000) if (n := f"class-{i}") not in taken)}
        case "term":
            return _EMPTY_TERMS.get(value, {value: []})
        case "rule":
            return {"when": {"rate_below": "768 kb/s"}, "fragment": {"blocking_delay": "10 ms"}}
        case "scope":
            return {"interfaces": [], "direction": value or "output"}
        case "check":
            return {"from": "", "to": "", "classes": []}
        case "application":
            return {"name": value or "application-1", "protocol": "tcp", "ports": []}
        case _:
            return value


def _override(name: str, data: Any, merged: Any) -> Sequence[Change]:
    classes = at(merged, ("classes",))
    own = at(data, ("classes",))
    for entry in classes if isinstance(classes, list) else ():
        if at(entry, ("name",)) == name:
            return [Insert(("classes",), len(own) if isinstance(own, list) else 0, entry)]
    return ()
