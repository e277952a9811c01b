"""Frozen models: copied and compared as pydantic does it."""

from __future__ import annotations

from functools import cached_property

import pytest
from pydantic import PrivateAttr, ValidationError

from qosforge.frozen import FrozenModel


class WithCache:
    @cached_property
    def length(self) -> int:
        return len(vars(self))


class Inner(FrozenModel):
    value: int = 0


class Outer(FrozenModel):
    name: str
    parts: tuple[Inner, ...] = ()


class Other(FrozenModel):
    name: str
    parts: tuple[Inner, ...] = ()


ONE = Outer(name="a", parts=(Inner(value=1),))


def test_a_copy_has_what_was_changed_and_all_else_as_it_was() -> None:
    copied = Outer(name="a").model_copy(update={"parts": (Inner(value=1),)})
    assert copied == ONE
    assert hash(copied) == hash(ONE)
    assert copied.model_dump(exclude_unset=True) == ONE.model_dump(exclude_unset=True)
    assert copied.model_dump_json() == ONE.model_dump_json()
    assert ONE.model_copy() == ONE
    assert ONE.model_copy().parts is ONE.parts


def test_a_deep_copy_shares_nothing() -> None:
    copied = ONE.model_copy(update={"name": "b"}, deep=True)
    assert copied.name == "b"
    assert copied.parts == ONE.parts
    assert copied.parts[0] is not ONE.parts[0]


def test_a_copy_is_frozen_too() -> None:
    with pytest.raises(ValidationError):
        ONE.model_copy().name = "b"  # type: ignore[misc]


def test_models_are_equal_by_their_fields_and_their_class() -> None:
    assert Outer(name="a", parts=(Inner(value=1),)) == ONE
    assert Outer(name="a", parts=(Inner(value=2),)) != ONE
    assert Other(name="a", parts=(Inner(value=1),)) != ONE
    assert ONE != "a"


def test_a_model_with_more_than_fields_is_refused() -> None:
    with pytest.raises(TypeError, match="Private has more than its fields"):

        class Private(FrozenModel):
            _kept: int = PrivateAttr(default=0)

    with pytest.raises(TypeError, match="Open has more than its fields"):

        class Open(FrozenModel, extra="allow"):
            pass

    with pytest.raises(TypeError, match="Cached has more than its fields"):

        class Cached(FrozenModel):
            value: int = 0

            @cached_property
            def twice(self) -> int:
                return 2 * self.value

    with pytest.raises(TypeError, match="Mixed has more than its fields"):

        class Mixed(WithCache, FrozenModel):
            pass
