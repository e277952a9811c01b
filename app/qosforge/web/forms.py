"""Invalid forms: a message for each field, with the field's title and in plain words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import Response

from qosforge.api.problems import WRONG_INPUT, problem_response, request_id_of
from qosforge.errors import validator_message
from qosforge.web.pages import Page


def install_form_handler(app: FastAPI) -> None:
    """Install the handler for invalid forms of pages; API calls are answered as before."""
    otherwise = cast(
        Callable[[Request, Exception], Awaitable[Response]], app.exception_handlers[RequestValidationError]
    )

    async def tell(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        if request.url.path.startswith("/api/"):
            return await otherwise(request, error)
        page = Page(request)
        errors = [_entry(page, fault) for fault in error.errors()]
        return problem_response(request_id_of(request), WRONG_INPUT, errors[0]["message"], errors=errors)

    app.add_exception_handler(RequestValidationError, tell)


def _entry(page: Page, fault: Mapping[str, Any]) -> dict[str, str]:
    field = str(fault["loc"][1]) if len(fault["loc"]) > 1 else ""
    name = _titles(page.request).get(field) or field.replace("_", " ")
    return {"device": "", "path": field, "message": f"{page.text(name)}: {_words(page, fault)}", "hint": ""}


def _titles(request: Request) -> dict[str, str]:
    """The titles that a route gives its fields (``Form(title=…)``), by their names in the form."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return {}
    fields = (*route.dependant.body_params, *route.dependant.query_params)
    return {field.alias: field.field_info.title for field in fields if field.field_info.title}


def _words(page: Page, fault: Mapping[str, Any]) -> str:
    limits = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            return page.text("is needed")
        case "string_too_long" | "too_long":
            return page.text("takes %(most)s characters at most", most=limits["max_length"])
        case "string_too_short" if limits["min_length"] == 1:
            return page.text("is needed")
        case "string_too_short" | "too_short":  # the latter of secrets
            return page.text("takes %(least)s characters at least", least=limits["min_length"])
        case "string_pattern_mismatch":
            return page.text("has a character that cannot stand here")
        case "int_parsing" | "int_type" | "int_from_float":
            return page.text("takes a whole number")
        case "float_parsing" | "float_type":
            return page.text("takes a number")
        case "greater_than_equal":
            return page.text("takes %(least)s at least", least=limits["ge"])
        case "less_than_equal":
            return page.text("takes %(most)s at most", most=limits["le"])
        case "enum" | "literal_error":
            return page.text("is none of the choices")
        case _:
            return validator_message(str(fault["msg"]))
