"""What all models of the intent language share: names, free text, lists and small numbers."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from qosforge.dscp import parse_dscp
from qosforge.frozen import FrozenModel
from qosforge.units import Seconds, shortened

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_TEXT = re.compile(r"[\w .,;:()/%+=&'–-]*")


def is_name(value: str) -> bool:
    """Whether a text may serve as a name."""
    return _NAME.fullmatch(value) is not None


def _name(value: str) -> str:
    # Names reach device templates: one newline would be a command on a router.
    if not is_name(value):
        raise ValueError(
            f"{shortened(value)} is not a name: letters, digits, '-' and '_' only, beginning with a letter"
        )
    return value


def _text(value: str) -> str:
    if _TEXT.fullmatch(value) is None or not value.isprintable():
        raise ValueError(f"{shortened(value)} is not free text: one line of letters, digits and .,;:()/%+=&' only")
    return value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str | int | dict) else value


def _distinct(values: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    # Said twice means the same, but a device would print it once: the plan must equal what is read back.
    return tuple(dict.fromkeys(values))


class _OneOrMany:
    """Tells the JSON Schema that a single value stands for a list of one."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        many = handler(schema)
        return {"anyOf": [many["items"], many]}


_T = TypeVar("_T", bound=Hashable)
Many = Annotated[tuple[_T, ...], BeforeValidator(_listed), AfterValidator(_distinct), _OneOrMany()]
"""A list without repetitions; one value alone may stand for it."""
Some = Annotated[
    tuple[_T, ...], Field(min_length=1), BeforeValidator(_listed), AfterValidator(_distinct), _OneOrMany()
]
"""Such a list with one value at least."""


def _above_zero(value: float) -> float:
    if value <= 0:
        raise ValueError("0 cannot be kept: give a time above zero")
    return value


Name = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_name)]
Text = Annotated[str, Field(max_length=200), AfterValidator(_text)]
Dscp = Annotated[int, BeforeValidator(parse_dscp, json_schema_input_type=int | str)]
Cos = Annotated[int, Field(ge=0, le=7, strict=True)]
MplsExperimental = Annotated[int, Field(ge=0, le=7, strict=True)]
QosGroup = Annotated[int, Field(ge=0, le=99, strict=True)]
"""A number that a device's inputs give a packet for its own outputs; IOS counts to 99."""
Percent = Annotated[int, Field(ge=1, le=100, strict=True)]
Duration = Annotated[Seconds, AfterValidator(_above_zero)]
Flag = Annotated[bool, Field(strict=True)]
Requirement = Flag
"""True: prefer (a missing one is a warning), False: require (an error)."""


class IntentModel(FrozenModel):
    """Base of all intent models: immutable, no unknown key."""
