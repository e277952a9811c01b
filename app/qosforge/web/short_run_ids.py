"""Runs by the beginnings of their ids, as pages show them: an address with one leads to the run."""

from __future__ import annotations

import re

import sqlalchemy as sa

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.runs.record.tables import RUNS
from qosforge.web.pages import Page

_BEGINNING = re.compile(r"/runs/([0-9a-f-]{4,35})")


def runs_meant(page: Page) -> tuple[str, ...]:
    """The ids that begin as the address of the page says, of the runs that its reader may see; two at most.

    Others' runs count for nothing: whether they are there is not to be told from it.
    """
    found = _BEGINNING.fullmatch(page.request.url.path.lower())
    if found is None or page.caller is None or page.request.method != "GET":
        return ()
    query = sa.select(RUNS.c.id).where(RUNS.c.id.startswith(found[1], autoescape=True)).limit(2)
    if not page.caller.may(Role.VIEWER, EVERY_NETWORK):
        query = query.where(RUNS.c.network.in_(sorted(page.caller.roles)))
    return tuple(page.backend.database.query(lambda connection: list(connection.scalars(query))))
