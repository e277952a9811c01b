"""Rejects unknown query parameters: a misspelt filter must not be ignored."""

from __future__ import annotations

from difflib import get_close_matches

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.routing import APIRoute

from qosforge.errors import InputError, InputErrors, Place


def require_known_parameters(request: Request) -> None:
    """Make sure that the route of a request knows every query parameter.

    Raises:
        InputErrors: it does not; carries one problem for each.
    """
    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or not request.query_params:
        return
    fields = get_flat_params(route.dependant)
    known = sorted(field.alias for field in fields if isinstance(field.field_info, Query))
    problems = [
        InputError(f"there is no parameter {name!r}", Place(path=f"query.{name}"), _hint(name, known))
        for name in dict.fromkeys(request.query_params)
        if name not in known
    ]
    if problems:
        raise InputErrors("the query has parameters that are not known here", errors=problems)


def _hint(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known here: {', '.join(known)}" if known else "this address takes no parameters"
