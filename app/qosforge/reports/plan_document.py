"""A plan as plain JSON. Many interfaces, and many devices, have the very same policies: each is written once."""

from __future__ import annotations

from typing import Any

from qosforge.memoise import memoise
from qosforge.plan.base import PlanModel
from qosforge.plan.model import InterfacePlan, Plan

_SHARED = ("ingress", "egress")


def plan_document(plan: Plan) -> dict[str, Any]:
    """What a plan says beyond its defaults: fields in their order, with what is in them. It may not be changed."""
    parts = {"system": _written(plan.system), "interfaces": [_interface(each) for each in plan.interfaces]}
    return _with_parts(plan, {name: part for name, part in parts.items() if part})


def _interface(plan: InterfacePlan) -> dict[str, Any]:
    sides = {name: getattr(plan, name) for name in _SHARED}
    fields = InterfacePlan.model_fields
    return _with_parts(plan, {name: _written(side) for name, side in sides.items() if side != fields[name].default})


def _with_parts(model: PlanModel, parts: dict[str, Any]) -> dict[str, Any]:
    """A model with these of its fields already written."""
    rest = model.model_dump(mode="json", exclude_defaults=True, exclude={"system", "interfaces", *_SHARED})
    said = {**rest, **parts}
    return {name: said[name] for name in type(model).model_fields if name in said}


@memoise
def _written(part: PlanModel) -> dict[str, Any]:
    return part.model_dump(mode="json", exclude_defaults=True)
