"""Results kept for arguments that come again, told apart by which objects they are and not by their values.

The values of an intent's classes are large and frozen, and many devices have the very same ones: to ask which
objects they are takes no time, to hash them takes longer than much of what is done with them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MOST = 256
"""How many results of one function are kept, unless told otherwise; the oldest goes first."""
_PLAIN = frozenset({bool, int, float, str, type(None), frozenset})
_lock = Lock()
_kept: list[dict[Hashable, tuple[object, object]]] = []


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which makes its result once for the same arguments.

    Arguments are given by position, nothing changes them or the result, and the result depends on nothing else.
    Numbers, texts, frozen sets and tuples of them are the same where they are equal, all others where they are one
    object.
    """
    return keeping(MOST)(function)


def keeping(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As `shared`, with so many results kept.

    Where more things than that are gone through again and again in one order, no result is ever found.
    """

    def decorator(function: Callable[P, R]) -> Callable[P, R]:
        results: dict[Hashable, tuple[object, R]] = {}
        _kept.append(results)  # type: ignore[arg-type]

        @wraps(function)
        def sharing(*args: P.args, **kwargs: P.kwargs) -> R:
            if kwargs:
                raise TypeError(f"{function.__name__} takes its arguments by position")
            key = _identity(args)
            found = results.get(key)
            if found is None:
                # The arguments are kept too: as long as they are, no other object has their identity.
                found = args, function(*args, **kwargs)
                with _lock:
                    if len(results) >= most:
                        del results[next(iter(results))]
                    results[key] = found
            return found[1]

        return sharing

    return decorator


def _identity(value: object) -> Hashable:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple:
        return tuple(
            [
                entry if type(entry) in _PLAIN else _identity(entry) if type(entry) is tuple else (id(entry),)
                for entry in value  # type: ignore[attr-defined]
            ]
        )
    return (id(value),)


def forget() -> None:
    """Drop all results, so that they are made anew."""
    with _lock:
        for results in _kept:
            results.clear()
