"""Policies: which there are, their versions, and what versions have other than each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.access.roles import Role
from app.api.dependencies import TheBackend
from app.api.routes.policies import Number
from app.intent.written import shipped_policies
from app.runs.policies import LATEST, LIBRARY_VERSION
from app.web.pages import ThePage, sees
from app.web.views.changes import diff_lines, told

router = APIRouter()


@router.get("/policies", dependencies=sees(Role.VIEWER))
def policies(page: ThePage, backend: TheBackend) -> Response:
    """Every policy by its newest version, and how to begin another one."""
    return page.answer("policies/list.html.j2", policies=backend.policies.newest(), shipped=shipped_policies())


@router.get("/policies/{name}", dependencies=sees(Role.VIEWER))
def policy(page: ThePage, backend: TheBackend, name: str) -> Response:
    """The versions of a policy."""
    return page.answer(
        "policies/policy.html.j2",
        name=name,
        versions=backend.policies.versions(name),
        newest=backend.policies.get(name),
        library=name in shipped_policies(),
        library_version=LIBRARY_VERSION,
    )


@router.get("/policies/{name}/difference", dependencies=sees(Role.VIEWER))
def difference(
    *,
    page: ThePage,
    backend: TheBackend,
    name: str,
    before: Annotated[Number, Query()],
    after: Annotated[Number, Query()] = LATEST,
) -> Response:
    """What one version has other than another: in words, and line by line."""
    found = backend.policies.difference(name, before, after)
    return page.answer(
        "policies/difference.html.j2",
        name=name,
        found=found,
        changes=[told(change) for change in found.changes],
        lines=list(diff_lines(found.text)),
    )
