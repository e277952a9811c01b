"""The caller's account: roles, password, tokens, sessions, language."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from pydantic import StringConstraints

from qosforge.access.passwords import LONGEST, SHORTEST
from qosforge.access.roles import Role, max_role
from qosforge.access.sessions import Login, cookie_name, cookie_path
from qosforge.access.tokens import LONGEST_LIFE, USUAL_LIFE, tokens
from qosforge.api.access_models import Line, NetworkName, NewPassword, NewToken, Password, PasswordChange
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.routes import me
from qosforge.api.routes.tokens import make_token, revoke_one_token
from qosforge.web.language import COOKIE, available, own_name
from qosforge.web.pages import Page, ThePage, sees

router = APIRouter()

_YEAR_SECONDS = 365 * 24 * 3600

_Purpose = Annotated[Line, StringConstraints(strip_whitespace=True, min_length=1)]


@router.get("/account", dependencies=sees(Role.VIEWER))
def account(page: ThePage, caller: Caller, backend: TheBackend, request: Request) -> Response:
    """The account page: roles, password, tokens and sessions."""
    return page.answer(
        "account/page.html.j2",
        shortest=SHORTEST,
        longest=LONGEST,
        languages={language: own_name(language) for language in sorted(available())},
        sessions=me.my_sessions(caller, backend, request),
        previous=_previous_login(caller, backend, request),
        **_of_tokens(page, caller),
    )


def _previous_login(caller: Caller, backend: TheBackend, request: Request) -> Login | None:
    cookie = request.cookies.get(cookie_name(backend.settings))
    if cookie is None or caller.credential != "session":
        return None
    return backend.access.previous_login(caller, cookie)


@router.post("/account/password", dependencies=sees(Role.VIEWER))
def change_password(
    *,
    caller: Caller,
    backend: TheBackend,
    request: Request,
    current: Annotated[Password, Form(title="Password until now")],
    new: Annotated[NewPassword, Form(title="New password")],
) -> Response:
    """Change my password; all my sessions end, so I log in again."""
    me.change_password(PasswordChange(current=current, new=new), caller, backend, request)
    return Response(status_code=204, headers={"HX-Redirect": "/login?to=%2Faccount&because=password"})


@router.post("/account/tokens", dependencies=sees(Role.OPERATOR))
def add_token(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    name: Annotated[_Purpose, Form(title="What it is for")],
    role: Annotated[Role, Form(title="Role")],
    networks: Annotated[list[NetworkName] | None, Form(title="Networks")] = None,
    days: Annotated[int, Form(title="Days", ge=1, le=LONGEST_LIFE.days)] = USUAL_LIFE.days,
) -> Response:
    """Create a token and show its text once."""
    order = NewToken(name=name, role=role, networks=networks or None, days=days)
    made = make_token(order, caller, backend, audit)
    return page.answer("account/tokens.html.j2", made=made, **_of_tokens(page, caller))


@router.delete("/account/tokens/{token_id}", dependencies=sees(Role.VIEWER))
def revoke_token(page: ThePage, caller: Caller, backend: TheBackend, token_id: str) -> Response:
    """Revoke one of my tokens."""
    revoke_one_token(caller, backend, token_id)
    notice = page.text("The token is revoked.")
    return page.answer("account/tokens.html.j2", notice=notice, **_of_tokens(page, caller))


@router.delete("/account/sessions/others", dependencies=sees(Role.VIEWER))
def end_other_sessions(page: ThePage, caller: Caller, backend: TheBackend, request: Request) -> Response:
    """Log out everywhere but here."""
    me.end_my_sessions(caller=caller, backend=backend, request=request, others=True)
    rest = me.my_sessions(caller, backend, request)
    notice = page.text("You are logged out everywhere but in this browser.")
    return page.answer("account/sessions.html.j2", sessions=rest, notice=notice)


@router.delete("/account/sessions/{session}", dependencies=sees(Role.VIEWER))
def end_session(page: ThePage, caller: Caller, backend: TheBackend, request: Request, session: str) -> Response:
    """End one of my sessions."""
    me.end_my_session(caller, backend, session)
    rest = me.my_sessions(caller, backend, request)
    return page.answer("account/sessions.html.j2", sessions=rest, notice=page.text("That session is over."))


@router.delete("/account/sessions", dependencies=sees(Role.VIEWER))
def end_sessions(caller: Caller, backend: TheBackend, request: Request) -> Response:
    """Log out everywhere."""
    me.end_my_sessions(caller=caller, backend=backend, request=request)
    return Response(status_code=204, headers={"HX-Redirect": "/login?because=everywhere"})


@router.post("/account/language", dependencies=sees(Role.VIEWER, recorded=False))
def choose_language(
    backend: TheBackend, language: Annotated[str, Form(max_length=32)], request: Request
) -> Response:
    """Set the language of pages in this browser."""
    answer = Response(status_code=204, headers={"HX-Refresh": "true"})
    if language in available():
        secure = request.url.scheme == "https"
        path = cookie_path(backend.settings)
        answer.set_cookie(COOKIE, language, _YEAR_SECONDS, path=path, secure=secure, httponly=True, samesite="lax")
    return answer


def _of_tokens(page: Page, caller: Caller) -> dict[str, Any]:
    """The part about tokens; a token can have at most a role of mine."""
    highest = max_role(*caller.roles.values())
    return {
        "tokens": tokens(page.backend.database, caller.name),
        "now": page.backend.access.now(),
        "roles": [role for role in Role if highest is not None and highest.covers(role)],
        "networks": caller.networks(page.backend.networks.names()),
        "usual_days": USUAL_LIFE.days,
        "most_days": LONGEST_LIFE.days,
    }
