"""Users and their roles. An admin of one network manages the roles on it; the rest needs an admin of all."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Depends

from qosforge.access.passwords import hash_password, set_password
from qosforge.access.roles import Principal, Role
from qosforge.access.users import User, add_user, disable, enable, find_user, grant, revoke, users
from qosforge.api.access_models import Grant, NetworkOrAll, NewUser, PasswordSetting, UserView
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import Needs, NeedsNamed
from qosforge.api.problems import responses

router = APIRouter(tags=["users"])

_SOME = [Depends(Needs(Role.ADMIN))]
_EVERYWHERE = [Depends(Needs(Role.ADMIN, everywhere=True))]


@router.get("/users", summary="List users", dependencies=_SOME)
def list_users(caller: Caller, backend: TheBackend) -> list[UserView]:
    """Every user, by name."""
    return [_view(caller, user) for user in users(backend.database)]


@router.post(
    "/users",
    summary="Create a user",
    status_code=201,
    dependencies=[Depends(NeedsNamed("users", Role.ADMIN, everywhere=True))],
    responses=responses(409),
)
def make_user(body: NewUser, caller: Caller, backend: TheBackend, audit: TheAuditEntry) -> UserView:
    """Create a user, without role, password or token."""
    audit.resource, audit.detail = f"users/{body.name}", body.model_dump(include={"identity"})
    who = {} if body.identity is None else body.identity.model_dump()
    backend.database.transact(lambda connection: add_user(connection, body.name, backend.access.now(), **who))
    return _find(caller, backend, body.name)


@router.get("/users/{name}", summary="Show a user", dependencies=_SOME)
def show_user(caller: Caller, backend: TheBackend, name: str) -> UserView:
    """One user."""
    return _find(caller, backend, name)


@router.post("/users/{name}/disable", summary="Disable a user", dependencies=_EVERYWHERE, responses=responses(409))
def disable_user(caller: Caller, backend: TheBackend, name: str) -> UserView:
    """Disable a user: all tokens are revoked and all sessions end. Never the last admin."""
    backend.database.transact(lambda connection: disable(connection, name, backend.access.now()))
    return _find(caller, backend, name)


@router.post("/users/{name}/enable", summary="Enable a user", dependencies=_EVERYWHERE)
def enable_user(caller: Caller, backend: TheBackend, name: str) -> UserView:
    """Enable a disabled user, with the earlier roles and without tokens."""
    backend.database.transact(lambda connection: enable(connection, name))
    return _find(caller, backend, name)


@router.put("/users/{name}/password", summary="Set a user's password", status_code=204, dependencies=_EVERYWHERE)
def set_users_password(body: PasswordSetting, backend: TheBackend, name: str) -> None:
    """Set or remove a user's password; all sessions of the user end."""
    with backend.database.read() as connection:
        user = find_user(connection, name)
    password_hash = None if body.password is None else hash_password(body.password.get_secret_value())
    backend.database.transact(
        lambda connection: set_password(connection, user, password_hash, backend.access.now())
    )


@router.get("/users/{name}/grants", summary="List a user's roles", dependencies=_SOME)
def users_grants(caller: Caller, backend: TheBackend, name: str) -> dict[str, Role]:
    """A user's roles by network, of those networks that the caller manages."""
    return _find(caller, backend, name).roles


@router.put(
    "/users/{name}/grants/{network}",
    summary="Grant a role on a network",
    dependencies=_SOME,
    responses=responses(409),
)
def grant_role(
    *, body: Grant, caller: Caller, backend: TheBackend, audit: TheAuditEntry, name: str, network: NetworkOrAll
) -> UserView:
    """Grant a user a role on a network (``*``: on every one), in place of the current one."""
    audit.detail = {"role": body.role}
    backend.database.transact(lambda connection: grant(connection, name, network, body.role))
    return _find(caller, backend, name)


@router.delete(
    "/users/{name}/grants/{network}",
    summary="Revoke a role on a network",
    dependencies=_SOME,
    responses=responses(409),
)
def revoke_role(caller: Caller, backend: TheBackend, name: str, network: NetworkOrAll) -> UserView:
    """Revoke a user's role on a network."""
    backend.database.transact(lambda connection: revoke(connection, name, network))
    return _find(caller, backend, name)


def _find(caller: Principal, backend: Backend, name: str) -> UserView:
    with backend.database.read() as connection:
        return _view(caller, find_user(connection, name))


def _view(caller: Principal, user: User) -> UserView:
    roles = {network: role for network, role in user.roles.items() if caller.may(Role.ADMIN, network)}
    return UserView.model_validate(replace(user, roles=roles))
