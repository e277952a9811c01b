"""Memoise functions by the identity of their arguments, or by their value where these are small.

The values of an intent's classes are large and frozen, and many devices share the very same objects. Comparing
identities takes no time, while hashing the values takes longer than much of what is computed from them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

MAX_RESULTS = 256
"""Results kept for each function unless told otherwise; the oldest is dropped first."""
_PLAIN = frozenset({bool, int, float, str, type(None), frozenset})
_LOOKED_INTO = _PLAIN | {tuple}
_ONE, _EACH = object(), object()
"""Stand in a key before the identity of a value, or of each value of a tuple: these are numbers as others are."""
_lock = Lock()
_caches: list[dict[Hashable, tuple[object, object]]] = []
_kept_by_value: list[Callable[[], None]] = []


def memoise(function: Callable[P, R]) -> Callable[P, R]:
    """The function, computing its result once for the same arguments.

    Arguments are positional; neither they nor the result may be changed, and the result depends on nothing else.
    Numbers, texts, frozen sets and tuples of them are compared by value, everything else by identity.
    """
    return memoise_at_most(MAX_RESULTS)(function)


def memoise_at_most(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As `memoise`, with at most so many results kept.

    With more arguments than that, used again and again in one order, no result is ever found.
    """

    def decorator(function: Callable[P, R]) -> Callable[P, R]:
        results: dict[Hashable, tuple[object, R]] = {}
        _caches.append(results)  # type: ignore[arg-type]

        @wraps(function)
        def memoised(*args: P.args, **kwargs: P.kwargs) -> R:
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

        return memoised

    return decorator


def memoise_by_value(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As `memoise_at_most`, with arguments that are small enough to be compared by their values."""

    def decorator(function: Callable[P, R]) -> Callable[P, R]:
        kept = lru_cache(maxsize=most)(function)
        _kept_by_value.append(kept.cache_clear)
        return cast(Callable[P, R], kept)

    return decorator


def _identity(values: tuple[object, ...]) -> Hashable:
    """A key that is equal for the same values: plain ones by value, all others by identity."""
    if _LOOKED_INTO.isdisjoint(map(type, values)):
        return (_EACH, *map(id, values))
    return tuple(
        [
            value
            if (kind := type(value)) in _PLAIN
            else _identity(value)  # type: ignore[arg-type]
            if kind is tuple
            else (_ONE, id(value))
            for value in values
        ]
    )


def forget() -> None:
    """Drop all results, so that they are computed anew."""
    with _lock:
        for results in _caches:
            results.clear()
    for clear in _kept_by_value:
        clear()
