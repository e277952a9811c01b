"""The base of models that never change: they are copied and compared thousands of times in one compile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):  # noqa: PLW1641  # pydantic gives each frozen model a hash of its fields
    """A frozen model of fields alone: no other fields are allowed, none is private, and nothing is cached in it.

    It is copied and compared as pydantic does it, without looking for what such a model does not have: the copy
    takes a third of the time. A subclass that has it after all raises `TypeError` where it is defined: what a
    `functools.cached_property` keeps, say, would be compared, and be untrue of a copy with a change.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cached = any(isinstance(value, cached_property) for base in cls.__mro__ for value in vars(base).values())
        if cached or cls.__private_attributes__ or cls.model_config.get("extra") == "allow":
            raise TypeError(f"{cls.__name__} has more than its fields")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """See `pydantic.BaseModel.model_copy`."""
        if deep:
            return super().model_copy(update=update, deep=True)
        change = update or {}
        copied = type(self).__new__(type(self))
        put = object.__setattr__
        put(copied, "__dict__", {**self.__dict__, **change})
        put(copied, "__pydantic_fields_set__", self.__pydantic_fields_set__.union(change))
        put(copied, "__pydantic_extra__", None)
        put(copied, "__pydantic_private__", None)
        return copied

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented
