"""What must hold for the service to do its work. Public, so it names no host and no path."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from pydantic import BaseModel, Field

from app.api.backend import Backend
from app.database.revisions import held, known
from app.errors import StoreError
from app.runs.slots import executors

_LOG = structlog.get_logger(__name__)


class Check(BaseModel):
    """One thing that was looked at."""

    name: str = Field(examples=["database"])
    good: bool
    detail: str


def checks(backend: Backend) -> list[Check]:
    """Every check; one that cannot be made is not good."""
    return [_made(name, look, backend) for name, look in _CHECKS.items()]


def _made(name: str, look: Callable[[Backend], tuple[bool, str]], backend: Backend) -> Check:
    try:
        good, detail = look(backend)
    except StoreError as error:
        _LOG.warning("not ready", check=name, error=str(error))
        good, detail = False, "the database does not answer"
    return Check(name=name, good=good, detail=detail)


def _database(backend: Backend) -> tuple[bool, str]:
    with backend.database.read() as connection:
        revision = held(connection)
    newest = known()[0]
    return revision == newest, f"revision {revision}" if revision == newest else f"{revision}, expected {newest}"


def _executors(backend: Backend) -> tuple[bool, str]:
    living = len(executors(backend.database))
    return living > 0, f"{living} carry out runs" if living else "nothing carries out runs: start a worker"


def _draining(backend: Backend) -> tuple[bool, str]:
    stopping = backend.stopping.is_set()
    return not stopping, "the service is being stopped" if stopping else "takes requests"


_CHECKS: dict[str, Callable[[Backend], tuple[bool, str]]] = {
    "service": _draining,
    "database": _database,
    "executors": _executors,
}
