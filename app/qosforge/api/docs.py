"""The OpenAPI 3.1 document: FastAPI's, with tags, examples, and the roles and problems of every route added."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts

from qosforge.access.sessions import CSRF_HEADER, cookie_name
from qosforge.api import media
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import Problem, responses
from qosforge.api.webhook_docs import webhook_operations
from qosforge.resources import read_yaml

_ALWAYS = (414, 422, 429, 431, 500, 503, 504)
_WITH_ROLE = (401, 403)
_WITH_BODY = (400, 413)

ANSWERS = "qosforge/api/answer_examples.yaml"
"""An example of each of the main answers, by the name of its schema."""

TAGS = {
    "runs": "Changes of a network: started, followed, approved, rolled back.",
    "policies": "Policies and their versions.",
    "previews": "What a policy would configure, and what stands against it. Nothing is changed.",
    "networks": "Networks, their drift, and their sync with a source.",
    "devices": "Devices as the inventory has them, and as they are.",
    "predictions": "What the twin says of a policy before it is pushed.",
    "measurements": "What a network does now.",
    "sweeps": "A policy tried with many parameters.",
    "experiments": "The papers' experiments on the twin.",
    "testers": "External testers, which sign what they measured.",
    "webhooks": "Events that the service sends to other programs.",
    "audit log": "Who called what, and how it was answered.",
    "users": "Users and their roles.",
    "tokens": "Tokens for programs.",
    "login": "Sessions of browsers.",
    "system": "Whether the service works.",
}
"""The parts of the interface, as its page lists them."""


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: FastAPI's, with the roles and with the problems that every route may answer."""
    made = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=app.openapi_version,
        description=app.description,
        routes=app.routes,
        tags=[{"name": name, "description": about} for name, about in TAGS.items()],
    )
    made["servers"] = [{"url": app.state.backend.settings.path_prefix or "/"}]
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs"))
    schemas["Problem"] = problem
    schemas.update(media.SCHEMAS)
    for unused in ("HTTPValidationError", "ValidationError"):  # FastAPI's own, which no route answers
        schemas.pop(unused, None)
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "A token of qosforge: `qf_…`"},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": cookie_name(app.state.backend.settings),
            "description": f"A session by login; calls that change something carry `{CSRF_HEADER}`, too.",
        },
    }
    needed = needs_of(app)
    made["webhooks"], bodies = webhook_operations()
    assert all(schemas.get(name, body) == body for name, body in bodies.items()), "two schemas have one name"
    schemas.update(bodies)
    for name, example in read_yaml(ANSWERS).items():
        schemas[name]["examples"] = [example]
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            _complete(operation, needed.get((path, method)), in_path="{" in path)
    return made


def needs_of(app: FastAPI) -> dict[tuple[str, str], Needs]:
    """The role that each route needs, by path and method in small letters."""
    found: dict[tuple[str, str], Needs] = {}
    for context in iter_route_contexts(app.routes):
        if isinstance(context.original_route, APIRoute):
            needs = _needs(context.dependant)
            if needs is not None:
                path = str(context.path_format)
                found |= {(path, method.lower()): needs for method in context.methods or ()}
    return found


def _needs(dependant: Dependant) -> Needs | None:
    for one in dependant.dependencies:
        found = one.call if isinstance(one.call, Needs) else _needs(one)
        if found is not None:
            return found
    return None


def _complete(operation: dict[str, Any], needs: Needs | None, *, in_path: bool) -> None:
    statuses = [*_ALWAYS]
    if needs is not None:
        operation["x-role"] = needs.role.value
        operation["x-everywhere"] = needs.everywhere
        operation["security"] = [{"token": []}, {"session": []}]
        statuses += _WITH_ROLE
    if "requestBody" in operation:
        statuses += _WITH_BODY
    if in_path:
        statuses.append(404)
    declared = operation["responses"]
    for status, response in responses(*statuses).items():
        if str(status) not in declared or _is_fastapis_own(declared[str(status)]):
            declared[str(status)] = response
    operation["responses"] = dict(sorted(declared.items()))


def _is_fastapis_own(response: dict[str, Any]) -> bool:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    return str(schema.get("$ref", "")).endswith("/HTTPValidationError")
