"""Port ranges: ``GigabitEthernet1/0/[1-48]`` describes 48 interfaces of one kind at once.

The brackets are those of NetBox, where components are made in bulk by such names ("Alphanumeric ranges are
supported: ``[ge,xe]-0/0/[0-9]``"): here they hold numbers alone, ``[1-24,26]``. A name may have several, such as
``GigabitEthernet[1-3]/0/[1-48]`` of a stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qosforge.expansion import combine, count_combinations
from qosforge.units import shortened

MOST_PORTS = 4_096
"""Interfaces of a device: more than the VLANs that it may have an interface for."""

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_PART = re.compile(r"(0|[1-9][0-9]{0,4})(?:-(0|[1-9][0-9]{0,4}))?")
_LAST_NUMBER = re.compile(r"(.*?(?<![0-9]))(0|[1-9][0-9]{0,4})([^0-9]*)")
"""A port's name around its last number, where brackets can hold that; before it stands no digit."""
_EXAMPLE = "write it like GigabitEthernet1/0/[1-48] or [1-24,26-48]"


@dataclass(frozen=True)
class Overlap:
    """Ports that two names of an inventory both describe; ``first`` stands before ``second``."""

    first: str
    second: str
    ports: tuple[str, ...]


def is_range(name: str) -> bool:
    """Whether a name stands for several ports, or is meant to."""
    return "[" in name or "]" in name


def port_names(name: str) -> tuple[str, ...]:
    """The ports that a name of an inventory stands for, in the order of their numbers; a plain name is its own.

    Raises:
        ValueError: its brackets hold no ranges of numbers, or they come to more than `MOST_PORTS`; the message has
            the hint after a colon.
    """
    if not is_range(name):
        return (name,)
    pieces = _BRACKETS.split(name)
    texts, lists = pieces[::2], [_numbers(name, piece) for piece in pieces[1::2]]
    if any(is_range(text) for text in texts):
        raise ValueError(f"{shortened(name)} has a bracket without its other one: {_EXAMPLE}")
    count = count_combinations(*lists)
    if count > MOST_PORTS:
        raise ValueError(
            f"{shortened(name)} stands for {count:,} ports, at most {MOST_PORTS:,} are described for a device: "
            "describe those that the device has"
        )
    return tuple(
        "".join(part for pair in zip(texts, (*map(str, numbers), ""), strict=True) for part in pair)
        for numbers in combine(*lists)
    )


def range_names(ports: Iterable[str]) -> tuple[str, ...]:
    """Names that stand for these ports and no others: those that differ in their last number alone share one.

    The names are in the order of their first ports.
    """
    numbers: dict[str | tuple[str, str], list[int]] = {}
    for port in dict.fromkeys(ports):
        found = _LAST_NUMBER.fullmatch(port)
        if found is None:
            numbers[port] = []
        else:
            numbers.setdefault((found[1], found[3]), []).append(int(found[2]))
    return tuple(
        key if isinstance(key, str) else f"{key[0]}{_bracketed(sorted(last))}{key[1]}"
        for key, last in numbers.items()
    )


def _bracketed(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return f"[{','.join(str(run[0]) if len(run) == 1 else f'{run[0]}-{run[-1]}' for run in runs)}]"


def overlaps(names: Iterable[str]) -> Iterator[Overlap]:
    """The pairs of names that describe the same ports, where the ranges among them are right."""
    described: dict[str, str] = {}
    for name in names:
        try:
            ports = port_names(name)
        except ValueError:
            continue
        again: dict[str, list[str]] = {}
        for port in ports:
            if port in described:
                again.setdefault(described[port], []).append(port)
            else:
                described[port] = name
        for first, shared in again.items():
            yield Overlap(first, name, tuple(shared))


def _numbers(name: str, text: str) -> range | list[int]:
    """The numbers of one pair of brackets; a single range is not made, so that it can be counted first."""
    ranges = [_range(name, part.strip()) for part in text.split(",")]
    if len(ranges) == 1:
        return ranges[0]
    if sum(map(len, ranges)) > MOST_PORTS:
        raise ValueError(f"{shortened(name)} stands for more than {MOST_PORTS:,} ports: {_EXAMPLE}")
    numbers = [number for each in ranges for number in each]
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"{shortened(name)} has a number twice in its brackets: keep one of them")
    return numbers


def _range(name: str, part: str) -> range:
    found = _PART.fullmatch(part)
    if found is None:
        raise ValueError(f"{shortened(name)} has brackets that hold no numbers: {_EXAMPLE}")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise ValueError(f"{shortened(name)} has a range that goes backwards: write [{last}-{first}]")
    return range(first, last + 1)
