"""Pages of runs by a cursor: it names the run that a page ended at, so nothing moves when runs are added."""

from __future__ import annotations

import base64
import binascii
import uuid
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Query, Request

from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.errors import InputError, Place


def visible_networks(caller: Principal, network: str | None = None) -> tuple[str, ...] | None:
    """The networks whose runs a list has: those that the caller sees, or one of them; ``None``: all."""
    seen = None if caller.may(Role.VIEWER, EVERY_NETWORK) else caller.networks(caller.roles)
    if network is None:
        return seen
    return (network,) if seen is None or network in seen else ()


def write_cursor(run_id: str) -> str:
    """The cursor of the page that begins after a run."""
    return base64.urlsafe_b64encode(uuid.UUID(run_id).bytes).rstrip(b"=").decode()


def read_cursor(text: str) -> str:
    """The run that a cursor names.

    Raises:
        InputError: it is none that this service gave.
    """
    try:
        return str(uuid.UUID(bytes=base64.b64decode(text + "==", altchars=b"-_", validate=True)))
    except (ValueError, binascii.Error) as error:
        hint = "take the link `next` of a page, or begin without a cursor"
        raise InputError("the cursor cannot be read", Place(path="cursor"), hint) from error


def next_page(request: Request, last_run: str) -> str:
    """Path and query of the page that begins after a run: the request's own, with another cursor."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    prefix = request.app.state.backend.settings.path_prefix
    return f"{prefix}{request.url.path}?{urlencode([*kept, ('cursor', write_cursor(last_run))])}"


async def _before(
    cursor: Annotated[str | None, Query(max_length=64, description="From the link `next` of a page.")] = None,
) -> str | None:
    return None if cursor is None else read_cursor(cursor)


Before = Annotated[str | None, Depends(_before)]
"""The run that the last page ended at, or ``None`` at the first page."""
