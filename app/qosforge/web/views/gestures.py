"""What a person does in the policy form, as changes of the policy's text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from qosforge.intent.editing import Change, Insert, Move, Remove, Set
from qosforge.intent.models import RESERVED_CLASS
from qosforge.intent.yaml_source import Path_
from qosforge.web.views.spots import at, element_id

Kind = Literal["text", "number", "one-or-many", "list", "flag"]
Text = Annotated[str, Field(max_length=10_000)]
Part = Annotated[str, Field(max_length=200)] | Annotated[int, Field(ge=0, le=100_000)]

_WHOLE = re.compile(r"\s*([0-9]{1,9})\s*%?\s*")


class Gesture(BaseModel):
    """One thing done in the form; ``path`` is where, in the policy's own text.

    ``set``: a value was typed or ticked (empty: taken away, unless ``what`` is `KEPT`).
    ``choose``: one of several ways to say something, the old way goes.
    ``amount``: the number of the way that is chosen.
    ``insert``, ``remove``: of an entry of a list (``remove`` also of a key).
    ``move``: an entry of a list changes its place (``index`` to ``target``).
    ``override``: a class of a library is written into the policy itself.
    """

    model_config = ConfigDict(extra="forbid")

    op: Literal["set", "choose", "amount", "insert", "move", "remove", "override"]
    path: Annotated[tuple[Part, ...], Field(min_length=1, max_length=64)]
    value: Text | list[Text] | bool = ""
    kind: Kind = "text"
    what: Annotated[str, Field(max_length=64)] = ""
    index: Annotated[int, Field(ge=0)] = 0
    target: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.op in ("choose", "amount") and self.what not in WAYS:
            raise ValueError(f"there are no ways for {self.what!r}")
        return self


KEPT = "kept"
"""What stays in the text though it is empty: somebody is about to fill it in, and until then that is a problem."""

Ways = Mapping[str, Any]
"""Ways to say one thing: the keys below the path, and what a new one begins with."""

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
    "queue": {"packets": 64, "bytes": "15 kB", "time": "20 ms"},
    "fragment": {"blocking_delay": "10 ms", "packetisation": "20 ms", "size": "500 B"},
}
"""By the name that the form has for what is chosen."""

_EMPTY_TERMS: Mapping[str, Mapping[str, Any]] = {
    "ports": {"protocol": "udp", "destination_port": []},
}
"""What a new alternative of a match begins with, where that is more than one empty field."""


def way_of(what: str, data: Any) -> str:
    """The way in which something is said; empty where nothing is."""
    if what == "service" and at(data, ("priority",)) is True:
        return "priority"
    for way in WAYS[what]:
        if way != "priority" and at(data, tuple(way.split("."))) is not None:
            return way
    # A mapping without its number (an unfinished one, or only a burst): strict priority.
    return "priority" if what == "service" and isinstance(at(data, ("priority",)), dict) else ""


def changes_of(gesture: Gesture, data: Any, merged: Any) -> Sequence[Change]:
    """The changes that a gesture makes to a policy of this data; ``merged`` has what it includes too."""
    path: Path_ = gesture.path
    match gesture.op:
        case "set":
            value = _value(gesture, at(data, path))
            return [Set(path, value)] if gesture.what == KEPT else _set(path, value, data)
        case "choose":
            return _chosen(path, gesture.what, str(gesture.value), data)
        case "amount":
            way = way_of(gesture.what, at(data, path))
            # An empty one stays: a priority without its number would be strict priority.
            return [Set((*path, *way.split(".")), _value(gesture, None))] if way else ()
        case "insert":
            entries = at(data, path)
            end = len(entries) if isinstance(entries, list) else 0
            place = end - 1 if gesture.what == "class" and _default_last(entries) else end
            return [Insert(path, place, _new(gesture, data, merged))]
        case "move":
            return [Move(path, gesture.index, gesture.target)]
        case "remove":
            return [Remove(path)] if _is_there(data, path) else ()
        case "override":
            return _overridden(str(gesture.value), data, merged)


def focus_after(changes: Sequence[Change]) -> str:
    """The id of what a person goes on with after changes; empty: with what they are at."""
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


def _value(gesture: Gesture, old: Any) -> Any:
    """What was entered, as YAML has it; what cannot be that stays as it is, for the language to say so."""
    value = gesture.value
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and "${" in value:
        return value.strip()
    if gesture.kind == "number" and isinstance(value, str):
        found = _WHOLE.fullmatch(value)
        return int(found[1]) if found else value.strip()
    if gesture.kind in ("one-or-many", "list"):
        entries = [
            _scalar(part) for part in (value.split(",") if isinstance(value, str) else value) if part.strip()
        ]
        single = gesture.kind == "one-or-many" and len(entries) == 1 and not isinstance(old, list)
        return entries[0] if single else entries
    if gesture.kind == "flag":
        return {"true": True, "false": False}.get(str(value), "")
    return value.strip() if isinstance(value, str) else value


def _scalar(text: str) -> Any:
    text = text.strip()
    return int(text) if re.fullmatch(r"0|[1-9][0-9]{0,8}", text) else text


def _chosen(path: Path_, what: str, way: str, data: Any) -> Sequence[Change]:
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
        value = _carried(here, old, way)
        changes.append(Set((*path, top), True if way == "priority" else {way.split(".")[1]: value}))
    others = [(*path, other) for other in ("priority", "bandwidth") if other != top]
    return [*changes, *(Remove(other) for other in others if _is_there(data, other))]


def _carried(here: Any, old: str, way: str) -> Any:
    """The number of the old way where it fits the new one, else what that begins with."""
    number = at(here, tuple(old.split("."))) if old else None
    same = old.rpartition(".")[2].endswith("percent") and way.endswith("percent")
    same = same or old.rpartition(".")[2] == way.rpartition(".")[2]
    return number if same and number is not None else WAYS["service"][way]


def _default_last(entries: Any) -> bool:
    return isinstance(entries, list) and bool(entries) and at(entries[-1], ("name",)) == RESERVED_CLASS


def _new(gesture: Gesture, data: Any, merged: Any) -> Any:
    """A new entry of a list: as little as the language takes, the rest is asked for in the form."""
    value = str(gesture.value)
    match gesture.what:
        case "class":
            entries = at(merged, gesture.path) or at(data, gesture.path)
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


def _overridden(name: str, data: Any, merged: Any) -> Sequence[Change]:
    classes = at(merged, ("classes",))
    own = at(data, ("classes",))
    for entry in classes if isinstance(classes, list) else ():
        if at(entry, ("name",)) == name:
            return [Insert(("classes",), len(own) if isinstance(own, list) else 0, entry)]
    return ()
