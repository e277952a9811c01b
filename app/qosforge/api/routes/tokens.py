"""Bearer tokens: one's own; those of others need an admin of every network."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from qosforge.access.roles import Role
from qosforge.access.tokens import create_token, require_revocable, revoke_token, tokens
from qosforge.access.users import find_user
from qosforge.api.access_models import CreatedToken, NewToken, TokenView, UserName
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import Needs
from qosforge.api.problems import responses

router = APIRouter(tags=["tokens"])


@router.get("/tokens", summary="List tokens", dependencies=[Depends(Needs(Role.VIEWER))], responses=responses(404))
def list_tokens(
    caller: Caller,
    backend: TheBackend,
    user: Annotated[UserName | None, Query(description="Whose; by default the caller's own.")] = None,
    everybody: Annotated[bool, Query(description="Those of all users.")] = False,
) -> list[TokenView]:
    """Tokens without their secrets, newest first; revoked and expired ones, too."""
    owner = None if everybody else user or caller.name
    if owner != caller.name:
        caller.require(Role.ADMIN)
    if owner is not None:
        with backend.database.read() as connection:
            find_user(connection, owner)
    return [TokenView.model_validate(token) for token in tokens(backend.database, owner)]


@router.post(
    "/tokens",
    summary="Create a token",
    status_code=201,
    dependencies=[Depends(Needs(Role.OPERATOR))],
    responses=responses(404),
)
def make_token(body: NewToken, caller: Caller, backend: TheBackend, audit: TheAuditEntry) -> CreatedToken:
    """Create a token and show it once. It may do no more than its creator, and ends with the creating token."""
    if body.user not in (None, caller.name):
        caller.require(Role.ADMIN)  # before it is looked up: who is a user here is not told to others
    with backend.database.write() as connection:  # not to be repeated: each time it would be another one
        made, text = create_token(
            connection,
            find_user(connection, body.user or caller.name),
            body.name,
            body.role,
            body.networks,
            at=backend.access.now(),
            life=timedelta(days=body.days),
            maker=caller,
        )
    audit.resource = f"tokens/{made.id}"
    audit.detail = {"user": made.user, "role": made.role, "networks": made.networks}
    return CreatedToken.model_validate({**TokenView.model_validate(made).model_dump(), "token": text})


@router.delete(
    "/tokens/{token_id}", summary="Revoke a token", status_code=204, dependencies=[Depends(Needs(Role.VIEWER))]
)
def revoke_one_token(caller: Caller, backend: TheBackend, token_id: str) -> None:
    """Revoke a token and those it created. A token may revoke only itself and those it created."""
    with backend.database.read() as connection:
        require_revocable(connection, caller, token_id)
    backend.database.transact(lambda connection: revoke_token(connection, token_id, backend.access.now()))
