"""Parameters: named values, set once and referred to as ``${name}``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema

from qosforge.errors import InputError, Place
from qosforge.findings import Finding
from qosforge.intent.base import is_name
from qosforge.intent.yaml_source import MAX_BYTES, Path_, YamlDocument, parse_document
from qosforge.note import note
from qosforge.units import shortened

LONGEST_TEXT = 200
"""Characters of a parameter's text: as many as free text of an intent has."""
MOST_VALUES = 64
"""Entries of a parameter that is a list."""

MOST_UNKNOWN = 100
"""References in vain that are looked up among the parameters for what may be meant."""

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_HINT = "write ${name}; a name has letters, digits, '-' and '_' only"

Scalar = str | int | float | bool


def _value(value: Any) -> Any:
    entries = value if isinstance(value, list) else [value]
    if not entries or any(not isinstance(entry, Scalar) for entry in entries):
        told = shortened(value).replace(": ", ":")  # what follows a colon and a space is the hint
        raise ValueError(
            f"{told} is no value of a parameter: give text, a number, true or false, or a list of these"
        )
    if len(entries) > MOST_VALUES:
        raise ValueError(f"{len(entries)} values are too many for a parameter: give at most {MOST_VALUES}")
    for entry in entries:
        if isinstance(entry, str) and (not entry or len(entry) > LONGEST_TEXT):
            raise ValueError(f"{shortened(entry)} is empty or too long: give 1 to {LONGEST_TEXT} characters")
        if isinstance(entry, str) and "${" in entry:
            raise ValueError(f"{shortened(entry)} refers to a parameter: give the value itself")
    return value


_SCALARS = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}

Value = Annotated[
    Any,
    AfterValidator(_value),
    WithJsonSchema({"anyOf": [*_SCALARS["anyOf"], {"type": "array", "minItems": 1, "items": _SCALARS}]}),
]
"""What a parameter may be: text, a number, true or false, or a list of these."""


@dataclass(frozen=True)
class Parameter:
    """A parameter's value, and where it is given."""

    value: Any
    where: Place


Spot = tuple[str | None, int | None, int | None]
"""File, line and column of a value."""


def spot(place: Place) -> Spot:
    """File, line and column of a place."""
    return place.file, place.line, place.column


@dataclass
class Resolution:
    """References being resolved: which parameters they used, where, and what is wrong with them.

    ``broken`` are names of parameters whose own value is wrong: that is told already.
    """

    known: Mapping[str, Parameter]
    broken: Collection[str] = ()
    used: set[str] = field(default_factory=set)
    resolved: dict[Spot, list[str]] = field(default_factory=dict)
    failed: set[Spot] = field(default_factory=set)
    unknown: list[InputError] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)
    _length: int = 0

    def substitute(self, document: YamlDocument, path: Path_) -> Any:
        """The value at ``path`` of a document with every reference in it replaced.

        Raises:
            InputError: the values come to more text than a file may have.
        """
        value = document.data
        for part in path:
            value = value[part]
        if "${" not in document.text and "\\" not in document.text:  # an escape may stand for a part of it
            return value
        return self._in(document, path, value)

    def explained(self, problem: InputError) -> InputError:
        """A problem with a value, with the parameters that the value was made of."""
        names = self.resolved.get(spot(problem.where), ())
        made = ", ".join(f"${{{n}}} is {shortened(self.known[n].value)} from {self.known[n].where}" for n in names)
        if not made:
            return problem
        return InputError(problem.message, problem.where, f"{problem.hint}; {made}" if problem.hint else made)

    def _in(self, document: YamlDocument, path: Path_, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._in(document, (*path, key), entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._in(document, (*path, index), entry) for index, entry in enumerate(value)]
        if isinstance(value, str) and "${" in value:
            return self._resolved(value, document.place(path))
        return value

    def _resolved(self, text: str, where: Place) -> Any:
        names = list(dict.fromkeys(_REFERENCE.findall(text)))
        if "${" in _REFERENCE.sub("", text) or not all(is_name(name) for name in names):
            self.problems.append(InputError(f"{shortened(text)} is no reference to a parameter", where, _HINT))
            self.failed.add(spot(where))
            return text
        self.used.update(names)
        missing = [name for name in names if name not in self.known]
        self.unknown.extend(
            InputError(f"unknown parameter {shortened(name)}", where, self._hint(name))
            for name in missing
            if name not in self.broken and len(self.unknown) <= MOST_UNKNOWN
        )
        whole = _REFERENCE.fullmatch(text)
        lists = [name for name in names if name in self.known and isinstance(self.known[name].value, list)]
        if lists and not whole:
            message = f"parameter {lists[0]!r} is a list and cannot stand inside a text"
            self.problems.append(InputError(message, where, "let it be the whole value"))
        if missing or (lists and not whole):
            self.failed.add(spot(where))
            return text
        self.resolved[spot(where)] = names
        value = self.known[whole[1]].value if whole else self._interpolated(text)
        self._length += len(str(value))
        if self._length > MAX_BYTES:
            raise InputError(f"parameters come to more than {MAX_BYTES:,} characters", where, "use fewer of them")
        return value

    def _interpolated(self, text: str) -> str:
        return _REFERENCE.sub(lambda found: _text(self.known[found[1]].value), text)

    def _hint(self, name: str) -> str:
        near = get_close_matches(name, self.known, n=1)
        return f"did you mean {near[0]!r}?" if near else f"give it under parameters, or with --set {name}=VALUE"

    def unused(self, declared: Mapping[str, Parameter]) -> Iterator[Finding]:
        """``parameter-unused`` for every parameter of a file that nothing refers to."""
        for name, parameter in declared.items():
            if name not in self.used:
                yield note(
                    "parameter-unused",
                    Place(file=parameter.where.file, line=parameter.where.line),
                    name=name,
                )


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_settings(settings: Sequence[str]) -> tuple[dict[str, Parameter], dict[str, InputError]]:
    """Parameters given as ``name=value`` beside the intent, each value as YAML writes it; and the wrong ones."""
    found: dict[str, Parameter] = {}
    problems: dict[str, InputError] = {}
    for setting in settings:
        name, _, text = setting.partition("=")
        where = Place(path=f"--set {name}" if is_name(name) else "--set")
        if not is_name(name) or not text:
            problems[name or setting] = InputError(
                f"{shortened(setting)} sets no parameter", where, "write name=value"
            )
            continue
        if name in found:
            problems[name] = InputError(f"parameter {name!r} is set twice", where, "keep one of them")
            continue
        try:
            found[name] = Parameter(_value(parse_document(text, "").data), where)
        except InputError:
            message = f"{shortened(text)} cannot be read as a value"
            problems[name] = InputError(message, where, "put it in quotes if it is meant as text")
        except ValueError as error:
            message, _, hint = str(error).partition(": ")
            problems[name] = InputError(message, where, hint)
    return found, problems


def unknown_settings(
    settings: Mapping[str, Parameter], declared: Mapping[str, Any], used: set[str]
) -> list[InputError]:
    """Parameters given beside an intent that has none of that name."""
    names = sorted({*declared, *used} - (settings.keys() - declared.keys() - used))
    problems = []
    for name, parameter in settings.items():
        if name in declared or name in used:
            continue
        near = get_close_matches(name, names, n=1)
        known = f"known: {', '.join(names)}" if names else "the intent has no parameters"
        hint = f"did you mean {near[0]!r}?" if near else known
        problems.append(InputError(f"the intent has no parameter {name!r}", parameter.where, hint))
    return problems
