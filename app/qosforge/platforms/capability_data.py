"""What a platform can do, as data: every figure with its source, read from the platform's ``capabilities.yaml``.

A figure that no published source confirms has a `Doubt`, which names what rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from qosforge.resources import read_yaml

T = TypeVar("T")
Data = TypeVar("Data", bound="CapabilityData")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DoubtfulLine(_Model):
    """Lines of the platform's table that a doubt is about: those of this ``id``, and with ``value`` those of them
    that give it one; with ``equal`` only where it is this word, with ``above`` where a number of it is greater,
    with ``longer`` where it has more characters, or more entries. Those ``without`` give none of these values.

    In short it is ``id`` or ``id.value``.
    """

    id: str
    value: str = ""
    equal: str | None = None
    above: int | None = None
    longer: int | None = None
    without: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        if isinstance(data, str):
            line, _, value = data.partition(".")
            return {"id": line, "value": value}
        return data

    def concerns(self, line: str, values: Mapping[str, Any]) -> bool:
        """Whether a line of this id with these values is one of them."""
        if line != self.id or (self.value and self.value not in values):
            return False
        if any(value in values for value in self.without):
            return False
        found = values.get(self.value)
        if self.equal is not None and found != self.equal:
            return False
        several = found if isinstance(found, tuple) else (found,)
        if self.above is not None and not any(isinstance(one, int) and one > self.above for one in several):
            return False
        return self.longer is None or _length(found) > self.longer


def _length(value: Any) -> int:
    """The characters of a word, or the entries of a list, some of which may be lists with commas."""
    if isinstance(value, tuple):
        return sum(len(str(entry).split(",")) for entry in value)
    return len(str(value))


class Doubt(_Model):
    """What rests on a figure that no published source confirms, and how it is confirmed.

    ``lines`` are configuration lines that the device may not take, or not so. ``fields`` are places of the plan
    that hold the figure, or a number ``derived`` from it, each with words for what that is. ``told_by`` are codes
    of findings that tell of the doubt themselves. From the release ``attested`` on there is no doubt about the
    lines.
    """

    lines: tuple[DoubtfulLine, ...] = ()
    fields: dict[str, str] = {}
    derived: bool = False
    told_by: tuple[str, ...] = ()
    confirm: str
    attested: str = ""

    @model_validator(mode="after")
    def _about_something(self) -> Doubt:
        if not (self.lines or self.fields or self.told_by):
            raise ValueError("a doubt names the `lines` or `fields` that rest on it, or the findings it is told_by")
        return self


class Sourced(_Model):
    """Something that a document says, or that was taken to be so.

    ``doubt`` is what rests on it where no published source confirms it. ``since`` and ``until`` are releases.
    """

    source: str
    doubt: Doubt | None = None
    unit: str = ""
    since: str = ""
    until: str = ""


class Fact(Sourced, Generic[T]):
    """One value."""

    value: T


class Bounds(_Model):
    """The least and the greatest value that a device takes, and its steps."""

    minimum: int
    maximum: int
    step: int = 1
    unit: str = ""

    def nearest(self, value: int) -> int:
        """The value that the device takes nearest to another one; the lower one of two."""
        return min(max((2 * value + self.step - 1) // (2 * self.step) * self.step, self.minimum), self.maximum)


class Range(Bounds, Sourced):
    """Bounds with their source."""


class RangeWithDefault(Range):
    """Bounds, and what holds where nothing is said."""

    default: int


class Highest(Sourced):
    """The greatest value that a device takes."""

    maximum: int


class CapabilityData(_Model):
    """The base of a platform's data."""

    version: Literal[1]

    def doubts(self) -> tuple[tuple[str, Any, Doubt], ...]:
        """Every doubt, with the name of its figure and the figure's value (``None`` where it is no single one)."""
        return tuple(_doubts("", self))


def _doubts(path: str, data: object) -> Iterator[tuple[str, Any, Doubt]]:
    """The doubts of a part of the data; a figure within another one has its name behind that one's."""
    parts: Iterable[tuple[str, object]] = ()
    if isinstance(data, BaseModel):
        doubt = getattr(data, "doubt", None)
        if isinstance(doubt, Doubt):
            yield path, getattr(data, "value", None), doubt
        parts = data
    elif isinstance(data, dict):
        parts = ((str(name), part) for name, part in data.items())
    for name, part in parts:
        yield from _doubts(f"{path}.{name}" if path else name, part)


def nearest(sizes: Iterable[int], value: float) -> int:
    """The size nearest to a value; the smaller one of two."""
    return min(sizes, key=lambda size: (abs(size - value), size))


def load(platform: str, model: type[Data]) -> Data:
    """The capability data of a platform.

    Raises:
        pydantic.ValidationError: the file is not what the model says.
    """
    return model.model_validate(read_yaml(f"qosforge/platforms/{platform}/capabilities.yaml"))
