"""Answers of a router's programs, read with care: a router, or who stands in its place, may say anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LONGEST_NAME = 15
"""Bytes of an interface's name: IFNAMSIZ - 1 (include/uapi/linux/if.h)."""
_NOT_UNDERSTOOD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What reading ends with where an answer has another form, numbers without end, or nests without end."""


class AnswerError(ValueError):
    """An answer is not what the command prints. The text names the command, and nothing of the answer but a key."""


@contextmanager
def understood(command: str) -> Iterator[None]:
    """Read the answer to a command in this block.

    Raises:
        AnswerError: the block failed on what the answer holds.
    """
    try:
        yield
    except AnswerError:
        raise
    except KeyError as error:
        raise AnswerError(f"the answer to {command!r} is not understood: it has no {error}"[:200]) from None
    except _NOT_UNDERSTOOD:
        raise AnswerError(f"the answer to {command!r} is not understood") from None


_PLAIN = re.compile(r'"options":\{(\w[^"{}]{1,200})\}')
"""Options that ``tc`` prints as plain text in a document: ``"options":{default 11 }`` of ``hfsc`` (tc/q_hfsc.c)."""


def read_json(text: str, command: str) -> Any:
    """The value of a JSON document that a command prints; ``NaN`` and the like are none.

    Options that are plain text become those of the key ``said``.

    Raises:
        AnswerError: it is no JSON, has a number of thousands of digits, or nests without end.
    """
    try:
        quoted = _PLAIN.sub(lambda found: f'"options":{{"said":{json.dumps(found[1].strip())}}}', text)
        return json.loads(quoted, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise AnswerError(f"the answer to {command!r} is no JSON that is understood") from None


def read_list(text: str, command: str) -> list[Any]:
    """The entries of a JSON document that is a list.

    Raises:
        AnswerError: it is none; see `read_json`.
    """
    with understood(command):
        entries = read_json(text, command)
        if not isinstance(entries, list):
            raise TypeError
        return entries


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def interface_name(name: object) -> str:
    """An interface's name as the kernel takes it (``dev_valid_name`` in net/core/dev.c).

    Raises:
        ValueError: it is none: a line that it stands in would be another one, or two.
    """
    if not isinstance(name, str) or not 0 < len(name.encode()) <= _LONGEST_NAME:
        raise ValueError("no name of an interface")
    if not name.isprintable() or any(letter.isspace() or letter in "/:" for letter in name):
        raise ValueError("no name of an interface")
    return name


def whole(number: object) -> int:
    """A whole number of at most 64 bits.

    Raises:
        ValueError: it is something else, which, multiplied, would be something else again.
    """
    if type(number) is not int or not -(1 << 63) <= number < 1 << 64:
        raise ValueError("no whole number of 64 bits")
    return number


def printable(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Lines that are one line each, without control characters.

    Raises:
        ValueError: one is not.
    """
    if not all(line.isprintable() for line in lines):
        raise ValueError("control characters")
    return lines
