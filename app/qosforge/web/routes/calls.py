"""The audit log, newest first. Admins of some networks see the calls that concern these."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator

from qosforge.access.audit_log import CallFilter
from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.calls import call_view

router = APIRouter()

_AT_ONCE = 50

Day = Annotated[date | None, BeforeValidator(lambda value: value or None)]
"""A day of UTC; a form sends an empty one where none was chosen."""


@router.get("/calls", dependencies=sees(Role.ADMIN))
def calls(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    who: Annotated[str, Query(title="Who", max_length=128)] = "",
    network: Annotated[str, Query(title="Network", max_length=128)] = "",
    refused: Annotated[bool, Query(title="Only what was refused or failed")] = False,
    since: Annotated[Day, Query(title="From")] = None,
    until: Annotated[Day, Query(title="To")] = None,
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
) -> Response:
    """Calls that would change something, with their callers and results."""
    managed = [name for name in caller.roles if caller.may(Role.ADMIN, name)]
    seen = None if EVERY_NETWORK in managed else managed
    sought = CallFilter(
        actor=who.strip(),
        network=network,
        refused=refused,
        since=datetime.combine(since, time.min, UTC) if since else None,
        until=datetime.combine(until, time.max, UTC) if until else None,
        before=before,
    )
    found = backend.access.latest_calls(seen, sought, _AT_ONCE + 1)
    return page.answer(
        "calls/page.html.j2",
        calls=[call_view(page.text, call) for call in found[:_AT_ONCE]],
        older=found[_AT_ONCE - 1].seq if len(found) > _AT_ONCE else None,
        sought=sought,
        days={"since": since, "until": until},
        networks=caller.networks(backend.networks.names(), Role.ADMIN),
    )
