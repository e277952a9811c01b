"""Users, for admins of every network: roles, login and tokens."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Response

from qosforge.access.audit_log import last_logins, logged_in_before
from qosforge.access.passwords import LONGEST, SHORTEST
from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.access.tokens import tokens
from qosforge.api.access_models import (
    Grant,
    Identity,
    NetworkOrAll,
    NewPassword,
    NewUser,
    PasswordSetting,
    UserName,
)
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.routes import users as rest
from qosforge.api.routes.tokens import revoke_one_token
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.views.people import PeopleSearch, people_list

router = APIRouter()

_ADMIN = sees(Role.ADMIN, everywhere=True)


@router.get("/users", dependencies=_ADMIN)
def people(
    page: ThePage, caller: Caller, backend: TheBackend, search: Annotated[PeopleSearch, Depends()]
) -> Response:
    """A form for a new user, and all users or those that are looked for."""
    found = people_list(rest.list_users(caller, backend), last_logins(backend.database), search)
    return page.answer("users/page.html.j2", found=found, provider=backend.provider is not None)


@router.post("/users", dependencies=sees(Role.ADMIN, everywhere=True, names="users"))
def add_user(
    *,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    name: Annotated[UserName, Form(title="Name")],
    subject: Annotated[str, Form(title="Subject", max_length=255, pattern=r"^[^\x00-\x1f\x7f]*$")] = "",
) -> Response:
    """Create a user, and go to its page to grant roles and a login."""
    provider = backend.provider
    identity = Identity(issuer=provider.issuer, subject=subject) if provider is not None and subject else None
    rest.make_user(NewUser(name=name, identity=identity), caller, backend, audit)
    return Response(status_code=204, headers={"HX-Redirect": f"/users/{name}"})


@router.get("/users/{name}", dependencies=_ADMIN)
def person(page: ThePage, caller: Caller, backend: TheBackend, name: str) -> Response:
    """One user."""
    return page.answer("users/user.html.j2", **_of(page, caller, name))


@router.post("/users/{name}/disable", dependencies=_ADMIN)
def disable(page: ThePage, caller: Caller, backend: TheBackend, name: str) -> Response:
    """Disable a user."""
    rest.disable_user(caller, backend, name)
    return _details(page, caller, name, page.text("%(name)s is deactivated.", name=name))


@router.post("/users/{name}/enable", dependencies=_ADMIN)
def enable(page: ThePage, caller: Caller, backend: TheBackend, name: str) -> Response:
    """Enable a user."""
    rest.enable_user(caller, backend, name)
    return _details(page, caller, name, page.text("%(name)s may come in again.", name=name))


@router.post("/users/{name}/password", dependencies=_ADMIN)
def set_password(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    name: str,
    password: Annotated[NewPassword, Form(title="New password")],
) -> Response:
    """Set a user's password."""
    rest.set_users_password(PasswordSetting(password=password), backend, name)
    return _details(page, caller, name, page.text("The password is set. Tell it to nobody else."))


@router.delete("/users/{name}/password", dependencies=_ADMIN)
def take_password(page: ThePage, caller: Caller, backend: TheBackend, name: str) -> Response:
    """Remove a user's password."""
    rest.set_users_password(PasswordSetting(password=None), backend, name)
    return _details(page, caller, name, page.text("%(name)s has no password any more.", name=name))


@router.post("/users/{name}/grants", dependencies=_ADMIN)
def grant(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    name: str,
    network: Annotated[NetworkOrAll, Form(title="Where")],
    role: Annotated[Role, Form(title="Role")],
) -> Response:
    """Grant a user a role on a network, in place of the current one."""
    rest.grant_role(body=Grant(role=role), caller=caller, backend=backend, audit=audit, name=name, network=network)
    audit.network = "" if network == EVERY_NETWORK else network
    return _details(page, caller, name, page.text("The role is given; it counts at once."))


@router.delete("/users/{name}/grants/{network}", dependencies=_ADMIN)
def revoke(page: ThePage, caller: Caller, backend: TheBackend, name: str, network: NetworkOrAll) -> Response:
    """Revoke a user's role on a network."""
    rest.revoke_role(caller, backend, name, network)
    return _details(page, caller, name, page.text("The role is taken; it counts at once."))


@router.delete("/users/{name}/tokens/{token_id}", dependencies=_ADMIN)
def revoke_token(page: ThePage, caller: Caller, backend: TheBackend, name: str, token_id: str) -> Response:
    """Revoke a user's token."""
    revoke_one_token(caller, backend, token_id)
    return _details(page, caller, name, page.text("The token is revoked."))


def _details(page: Page, caller: Principal, name: str, notice: str) -> Response:
    return page.answer("users/details.html.j2", notice=notice, **_of(page, caller, name))


def _of(page: Page, caller: Principal, name: str) -> dict[str, Any]:
    now = page.backend.access.now()
    return {
        "user": rest.show_user(caller, page.backend, name),
        "tokens": tokens(page.backend.database, name),
        "now": now,
        "last_login": logged_in_before(page.backend.database, name, now),
        "roles": list(Role),
        "networks": page.backend.networks.names(),
        "shortest": SHORTEST,
        "longest": LONGEST,
    }
