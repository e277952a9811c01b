"""What a person looks for in the audit log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Query
from pydantic import BeforeValidator

from qosforge.access.audit_log import CallFilter, Result
from qosforge.access.call_kinds import Kind

Kinds = Kind | Literal["changes"]
"""A kind; ``changes`` are all but ``sessions``."""
Outcome = Result | Literal["not_done"]
"""A result; ``not_done`` are all but ``done``."""

Day = Annotated[date | None, BeforeValidator(lambda value: value or None)]
"""A day of UTC; a form sends an empty one where none was chosen."""


@dataclass(frozen=True)
class CallSearch:
    """Calls of a person, on a network, of a kind, with a result and of some days; empty ones filter nothing."""

    who: Annotated[str, Query(title="Who", max_length=128)] = ""
    network: Annotated[str, Query(title="Network", max_length=128)] = ""
    kind: Annotated[Kinds | Literal[""], Query(title="What")] = ""
    result: Annotated[Outcome | Literal[""], Query(title="Result")] = ""
    since: Annotated[Day, Query(title="From")] = None
    until: Annotated[Day, Query(title="To")] = None
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves something out; only what is older leaves out nothing by itself."""
        return bool(self.query(before=None))

    @property
    def is_backwards(self) -> bool:
        """Whether its first day is after its last one, so that nothing can fit."""
        return self.since is not None and self.until is not None and self.since > self.until

    def query(self, **changes: Any) -> str:
        """The query of an address that asks for the same, but for these changes."""
        chosen = vars(self) | {"who": self.who.strip()} | changes
        return urlencode({name: str(value) for name, value in chosen.items() if value})

    def of_all_pages(self) -> CallFilter:
        """The same as the log is asked for entries of any age."""
        return replace(self.filter(), before=None)

    def filter(self) -> CallFilter:
        """The same as the log is asked."""
        return CallFilter(
            actor=self.who.strip(),
            network=self.network,
            results=_results(self.result),
            kind=self.kind if self.kind != "changes" else "",
            # What belongs to no kind, as calls of an older release may, is among the rest.
            other_than="sessions" if self.kind == "changes" else "",
            since=datetime.combine(self.since, time.min, UTC) if self.since else None,
            until=datetime.combine(self.until, time.max, UTC) if self.until else None,
            before=self.before,
        )


def _results(outcome: Outcome | Literal[""]) -> tuple[Result, ...]:
    if outcome == "not_done":
        return ("refused", "failed", "unknown")
    return (outcome,) if outcome else ()
