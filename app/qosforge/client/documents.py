"""Parses documents of a service into our models; a newer service may send fields unknown to this release."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from qosforge.errors import Place, ServiceError

_M = TypeVar("_M", bound=BaseModel)

HINT = "is this a qosforge service, of the same release?"


def read(model: type[_M], document: Any) -> _M:
    """Parse a document as ``model``; unknown fields are ignored.

    Raises:
        ServiceError: it is another document.
    """
    known = {name for field, info in model.model_fields.items() for name in (field, info.alias) if name}
    try:
        return model.model_validate({k: v for k, v in require(document).items() if k in known})
    except ValidationError as error:
        first = error.errors()[0]
        place = Place(path=".".join(map(str, first["loc"])))
        raise ServiceError(f"the service's answer cannot be read: {first['msg']}", place, HINT) from None


def require(document: Any, *names: str) -> dict[str, Any]:
    """A document that has these fields.

    Raises:
        ServiceError: it is another one.
    """
    if not isinstance(document, dict) or not document.keys() >= set(names):
        raise ServiceError("the service's answer cannot be read", hint=HINT)
    return document
