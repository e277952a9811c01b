"""Memoised results are returned for the very same arguments, within bounds, and for no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from qosforge import memoise as module
from qosforge.memoise import forget, memoise
from qosforge.plan.model import Term


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module does not keep the functions that are made here."""
    monkeypatch.setattr(module, "_caches", [])


class Counted:
    """A function that tells how often it was called."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def __call__(self, *args: object) -> list[Any]:
        self.calls.append(args)
        return list(args)


def counted() -> tuple[Counted, Callable[..., list[Any]]]:
    function = Counted()

    def call(*args: object) -> list[Any]:
        return function(*args)

    return function, memoise(call)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (7, 7),
        ("a", "a"),
        (None, None),
        (2.5, 2.5),
        (frozenset({1, 2}), frozenset({2, 1})),
        ((1, ("b",)), (1, ("b",))),
    ],
)
def test_plain_values_are_the_same_where_they_are_equal(one: object, other: object) -> None:
    function, call = counted()
    assert call(one) is call(other)
    assert len(function.calls) == 1


def test_objects_are_the_same_where_they_are_one() -> None:
    function, call = counted()
    first, second = Term(dscp=(46,)), Term(dscp=(46,))
    made = [call(entry) for entry in (first, second, first, (first,), (first,), (second,))]

    assert first == second
    assert made[0] is made[2]
    assert made[3] is made[4]
    assert len(function.calls) == 4


def test_a_value_is_not_taken_for_a_tuple_of_it() -> None:
    function, call = counted()
    one = Term(dscp=(46,))
    for entry in (one, (one,), ((one,),), id(one), (id(one),)):
        call("beside", entry)
        call(entry)
    assert len(function.calls) == 10


def test_an_object_is_not_taken_for_one_that_is_gone() -> None:
    _, call = counted()
    seen = [call(Term(dscp=(number % 64,)))[0].dscp for number in range(3 * module.MAX_RESULTS)]
    assert seen == [(number % 64,) for number in range(3 * module.MAX_RESULTS)]


def test_the_oldest_result_goes_first() -> None:
    function, call = counted()
    for number in range(module.MAX_RESULTS + 1):
        call(number)
    call(module.MAX_RESULTS)
    assert len(function.calls) == module.MAX_RESULTS + 1
    call(0)
    assert len(function.calls) == module.MAX_RESULTS + 2


def test_what_is_forgotten_is_made_anew() -> None:
    function, call = counted()
    call(1)
    forget()
    call(1)
    assert len(function.calls) == 2


def test_an_error_is_raised_every_time() -> None:
    calls: list[int] = []

    @memoise
    def refuse(value: int) -> int:
        calls.append(value)
        raise ValueError(value)

    for _ in range(2):
        with pytest.raises(ValueError, match="3"):
            refuse(3)
    assert calls == [3, 3]


def test_arguments_by_name_are_refused() -> None:
    @memoise
    def call(value: int) -> int:
        return value

    with pytest.raises(TypeError, match="position"):
        call(value=1)
