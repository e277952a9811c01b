"""Lists of runs as pages show them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Query

from qosforge.access.roles import Principal
from qosforge.api.backend import Backend
from qosforge.api.run_pages import visible_networks
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus, Verdict

PAGE = 30
"""Runs of one page."""

Known = Annotated[str, Query(max_length=32, description="Fingerprint of what the page shows already.")]

_Text = Annotated[str, Query(max_length=128)]


@dataclass(frozen=True)
class RunFilters:
    """The filters of a list of runs; empty ones filter nothing."""

    network: _Text = ""
    status: Annotated[RunStatus | Literal[""], Query()] = ""
    policy: _Text = ""
    verdict: Annotated[Verdict | Literal[""], Query()] = ""
    by: _Text = ""
    since: Annotated[date | Literal[""], Query()] = ""

    @property
    def query(self) -> str:
        """The filters that are set, as a query."""
        return urlencode({name: str(value) for name, value in vars(self).items() if value != ""})

    def with_status(self, status: str) -> str:
        """The same filters with another status, as a query with its ``?``; empty where nothing is filtered."""
        values = {name: str(value) for name, value in (vars(self) | {"status": status}).items() if value != ""}
        return f"?{urlencode(values)}" if values else ""

    def runs(self, backend: Backend, caller: Principal, before: str | None, limit: int) -> list[Run]:
        """The runs that pass, newest first, of networks that the caller sees."""
        return backend.run_requests.store.list_runs(
            limit,
            networks=visible_networks(caller, self.network or None),
            status=self.status or None,
            policy=self.policy or None,
            verdict=self.verdict or None,
            requested_by=self.by or None,
            since=datetime.combine(self.since, time(), UTC) if self.since else None,
            before=before,
        )


def fingerprint(runs: Iterable[Run]) -> str:
    """A hash of what a list of these runs shows."""
    shown = "\n".join(f"{run.id} {run.updated.isoformat()}" for run in runs)
    return hashlib.sha256(shown.encode()).hexdigest()[:16]
