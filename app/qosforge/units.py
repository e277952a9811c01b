"""Quantities with units as people write them: rates, times, ratios.

Internally: rates are integer bits per second, times are float seconds, ratios are floats from 0 to 1. A document
that people write must give a unit with every quantity: validate it in `WRITTEN`; without that context a bare
number is taken as already parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Annotated, Final

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo

WRITTEN: Final = {"written": True}
"""Pydantic validation context of documents that people write."""

_QUANTITY = re.compile(r"\s*([0-9]{1,24}(?:\.[0-9]{1,24})?)\s*([A-Za-z/%µμ]+)\s*")
_RATES = {"b/s": 1, "bps": 1, "kb/s": 10**3, "kbps": 10**3, "Mb/s": 10**6, "Mbps": 10**6, "Gb/s": 10**9,
          "Gbps": 10**9}  # fmt: skip
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}


def shortened(value: object) -> str:
    """A value as messages quote it: its Python form, a date as it is written; cut where it is long."""
    try:
        text = str(value) if isinstance(value, date) else repr(value)
    except ValueError:  # Python writes no whole number of thousands of digits
        return f"a number of {value.bit_length():,} bits" if isinstance(value, int) else "values with a long number"
    return text if len(text) <= 60 else f"{text[:57]}..."


def counted(number: int, noun: str) -> str:
    """How many of a thing, such as ``1 device`` or ``3 devices``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Iterable[str], most: int = 40) -> str:
    """Names as messages list them, those that can be printed: the first ones where they are many."""
    some = [
        name if len(name) <= 60 else f"{name[:57]}..." for name in islice(filter(str.isprintable, names), most + 1)
    ]
    return ", ".join([*some[:most], *(["…"] if len(some) > most else [])])


def _quantity(value: object, units: dict[str, int] | dict[str, float], what: str, example: str) -> float:
    if isinstance(value, bool) or not isinstance(value, str):
        raise ValueError(f"{shortened(value)} has no unit: write {what} like {example!r}")
    match = _QUANTITY.fullmatch(value)
    if match is None or match[2] not in units:
        known = ", ".join(sorted(units))
        raise ValueError(f"{shortened(value)} is not {what}: write it like {example!r} (units: {known})")
    return float(match[1]) * units[match[2]]


def parse_rate(value: object) -> int:
    """A rate in bits per second from text such as ``768 kb/s``; an ``int`` is taken as already parsed.

    Raises:
        ValueError: not a rate, no or an unknown unit, or zero.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    rate = round(_quantity(value, _RATES, "a rate", "768 kb/s"))
    if rate <= 0:
        raise ValueError(f"{value!r} is not a usable rate: it must be above zero")
    return rate


def parse_seconds(value: object) -> float:
    """A time in seconds from text such as ``16 ms``; a ``float`` is taken as already parsed.

    Raises:
        ValueError: not a time, or no or an unknown unit.
    """
    if isinstance(value, float):
        return value
    return _quantity(value, _TIMES, "a time", "16 ms")


def parse_ratio(value: object) -> float:
    """A ratio from 0 to 1 from text such as ``0.1 %``; a ``float`` is taken as already parsed.

    Raises:
        ValueError: not a percentage, or outside 0 to 100 %.
    """
    if isinstance(value, float):
        return value
    ratio = _quantity(value, {"%": 0.01}, "a percentage", "0.1 %")
    if ratio > 1:
        raise ValueError(f"{value!r} is no part of a whole: write at most 100 %")
    return ratio


def format_rate(bits_per_second: float) -> str:
    """A rate as people write it: ``2 Mb/s``, ``56 kb/s``."""
    for unit, factor in (("Gb/s", 10**9), ("Mb/s", 10**6), ("kb/s", 10**3)):
        if bits_per_second >= factor:
            return f"{bits_per_second / factor:.6g} {unit}"
    return f"{bits_per_second:.6g} b/s"


def format_seconds(seconds: float) -> str:
    """A time as people write it: ``16 ms``."""
    if seconds >= 1:
        return f"{seconds:.6g} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.6g} ms"
    return f"{seconds * 1e6:.6g} µs"


def format_ratio(ratio: float) -> str:
    """A ratio as a percentage: ``0.1 %``."""
    return f"{ratio * 100:.6g} %"


def _exact(unit: str, factor: float = 1) -> PlainSerializer:
    # Documents that last must read back to the same number, so nothing is rounded here.
    def text(value: float) -> str:
        return f"{Decimal(f'{value * factor:.15g}'):f} {unit}"

    return PlainSerializer(text, when_used="json")


def _written(parse: Callable[[object], float], example: str) -> BeforeValidator:
    def validate(value: object, info: ValidationInfo) -> float:
        if info.context == WRITTEN and not isinstance(value, str):
            raise ValueError(f"{shortened(value)} is not a quantity with its unit: write it like {example!r}")
        return parse(value)

    return BeforeValidator(validate, json_schema_input_type=str)


Rate = Annotated[int, _written(parse_rate, "768 kb/s"), _exact("b/s")]
Seconds = Annotated[float, _written(parse_seconds, "16 ms"), _exact("s")]
Ratio = Annotated[float, _written(parse_ratio, "0.1 %"), _exact("%", 100)]
