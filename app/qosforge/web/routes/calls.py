"""The audit log, newest first. Admins of some networks see the calls that concern these."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from qosforge.access.audit_log import count_calls
from qosforge.access.call_kinds import KINDS
from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.tokens import token_names
from qosforge.access.users import users
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.call_search import CallSearch
from qosforge.web.views.calls import call_view, token_of

router = APIRouter()

_AT_ONCE = 50


@router.get("/calls", dependencies=sees(Role.ADMIN))
def calls(page: ThePage, caller: Caller, backend: TheBackend, sought: Annotated[CallSearch, Depends()]) -> Response:
    """Calls that would change something, with their callers and results."""
    managed = [name for name in caller.roles if caller.may(Role.ADMIN, name)]
    seen = None if EVERY_NETWORK in managed else managed
    found = backend.access.latest_calls(seen, sought.filter(), _AT_ONCE + 1)
    fitting = count_calls(backend.database, seen, sought.of_all_pages())
    left = count_calls(backend.database, seen, sought.filter()) if sought.before else fitting
    names = token_names(backend.database, {token_of(call) for call in found}) if seen is None else {}
    people = [user.name for user in users(backend.database)] if seen is None else []
    return page.answer(
        "calls/page.html.j2",
        calls=[call_view(page.text, call, people) for call in found[:_AT_ONCE]],
        first=fitting - left + 1,
        fitting=fitting,
        token_names=names,
        older=found[_AT_ONCE - 1].seq if len(found) > _AT_ONCE else None,
        sought=sought,
        kinds=KINDS,
        people=people,
        networks=caller.networks(backend.networks.names(), Role.ADMIN),
    )
