"""The caller: identity, password and web sessions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from qosforge.access.passwords import hash_password, set_password
from qosforge.access.roles import NotAllowed, Principal, Role
from qosforge.access.sessions import (
    cookie_name,
    csrf_token,
    end_one_session,
    end_sessions,
    session_id,
    sessions,
)
from qosforge.access.users import find_user
from qosforge.api.access_models import Me, PasswordChange, SessionView
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses

router = APIRouter(tags=["users"])


def me_of(caller: Principal, cookie: str | None) -> Me:
    """Who calls, by a session of ``cookie`` or by a token."""
    csrf = csrf_token(cookie) if cookie is not None and caller.credential == "session" else None
    return Me(name=caller.name, credential=caller.credential, roles=dict(caller.roles), csrf=csrf)


@router.get("/me", summary="Show who I am", dependencies=[Depends(Needs(Role.VIEWER))])
def me(caller: Caller, backend: TheBackend, request: Request) -> Me:
    """Who I am, and what I may do."""
    return me_of(caller, request.cookies.get(cookie_name(backend.settings)))


@router.put(
    "/me/password", summary="Change my password", status_code=204, dependencies=[Depends(Needs(Role.VIEWER))]
)
def change_password(body: PasswordChange, caller: Caller, backend: TheBackend, request: Request) -> None:
    """Change my password; all my sessions end. Not by a token: who found one shall not get a way in of its own."""
    _require_session(caller)
    address = request.client.host if request.client else ""
    backend.access.confirm(caller, body.current.get_secret_value(), address)
    password_hash = hash_password(body.new.get_secret_value())
    backend.database.transact(
        lambda connection: set_password(
            connection, find_user(connection, caller.name), password_hash, backend.access.now()
        )
    )


@router.get("/me/sessions", summary="List my sessions", dependencies=[Depends(Needs(Role.VIEWER))])
def my_sessions(caller: Caller, backend: TheBackend, request: Request) -> list[SessionView]:
    """My open web sessions, the most recently used first; never their secrets."""
    cookie = request.cookies.get(cookie_name(backend.settings))
    current = session_id(cookie) if cookie is not None and caller.credential == "session" else None
    found = sessions(backend.database, caller.user_id, backend.access.now())
    return [SessionView(**asdict(one), current=one.id == current) for one in found]


@router.delete(
    "/me/sessions", summary="Log out everywhere", status_code=204, dependencies=[Depends(Needs(Role.VIEWER))]
)
def end_my_sessions(
    *,
    caller: Caller,
    backend: TheBackend,
    request: Request,
    others: Annotated[bool, Query(description="All but the session that asks.")] = False,
) -> None:
    """Log out everywhere: all my web sessions end, or all other ones. Not by a token."""
    _require_session(caller)
    current = request.cookies.get(cookie_name(backend.settings)) if others else None
    backend.database.transact(
        lambda connection: end_sessions(connection, caller.user_id, backend.access.now(), current)
    )


@router.delete(
    "/me/sessions/{session}",
    summary="End one of my sessions",
    status_code=204,
    dependencies=[Depends(Needs(Role.VIEWER))],
    responses=responses(404),
)
def end_my_session(caller: Caller, backend: TheBackend, session: str) -> None:
    """End one of my web sessions. Not by a token."""
    _require_session(caller)
    backend.database.transact(
        lambda connection: end_one_session(connection, caller.user_id, session, backend.access.now())
    )


def _require_session(caller: Principal) -> None:
    """Make sure that a person calls: who found a token shall neither get another way in nor shut its user out.

    Raises:
        NotAllowed: the caller is known by a token.
    """
    if caller.credential != "session":
        raise NotAllowed("a token changes no password and ends no session", hint="log in, or ask an admin")
