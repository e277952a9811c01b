"""Every field of every request takes the type that the document says, and no other that could be turned into it."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from qosforge.api.application import create_app
from qosforge.api.backend import Backend

WRONG: dict[str, tuple[Any, ...]] = {"integer": (False, "1", 1.0), "boolean": (0, 1, "yes", "false")}


def bodies(backend: Backend) -> dict[str, type[BaseModel]]:
    """The interface's own models of all bodies, and of what stands in them, by name."""
    found: dict[str, type[BaseModel]] = {}

    def visit(kind: Any) -> None:
        if isinstance(kind, type) and issubclass(kind, BaseModel) and _is_own(kind, found):
            found[kind.__name__] = kind
            for field in kind.model_fields.values():
                visit(field.annotation)
        for part in getattr(kind, "__args__", ()):
            visit(part)

    for one in iter_route_contexts(create_app(backend).routes):
        route = one.original_route
        if isinstance(route, APIRoute) and route.body_field is not None:
            visit(route.body_field.field_info.annotation)
    return found


def _is_own(kind: type[BaseModel], found: dict[str, type[BaseModel]]) -> bool:
    # A measurement that a tester signed is a document of its own, not a request of ours.
    return kind.__module__.startswith("qosforge.api.") and kind.__name__ not in found


def wrong_values(field: FieldInfo, kind: str) -> list[Any]:
    """What a field takes though it is of another type."""
    adapter: TypeAdapter[Any] = TypeAdapter(field.rebuild_annotation())
    taken = []
    for value in WRONG[kind]:
        try:
            adapter.validate_python(value)
        except ValidationError:
            continue
        taken.append(value)
    return taken


@pytest.mark.parametrize("kind", sorted(WRONG))
def test_no_field_takes_a_value_of_another_type(backend: Backend, kind: str) -> None:
    looked_at, wrong = 0, {}
    for name, model in bodies(backend).items():
        properties = model.model_json_schema()["properties"]
        for key, field in model.model_fields.items():
            schema = properties.get(field.alias or key, {})
            kinds = {schema.get("type"), *(one.get("type") for one in schema.get("anyOf", ()))}
            if kind in kinds and "string" not in kinds:
                looked_at += 1
                if taken := wrong_values(field, kind):
                    wrong[f"{name}.{key}"] = taken
    assert looked_at >= 3
    assert wrong == {}


@pytest.mark.parametrize("seeds", [[False], ["1"], [1.0]])
def test_a_list_holds_what_it_says(backend: Backend, seeds: list[Any]) -> None:
    model = bodies(backend)["SweepRequest"]
    with pytest.raises(ValidationError):
        model.model_validate({"network": "campus", "policy": {"name": "gold"}, "seeds": seeds})
