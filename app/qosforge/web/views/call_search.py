"""What a person looks for in the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Query
from pydantic import BeforeValidator

from qosforge.access.audit_log import CallFilter, Result

Kind = Literal["runs", "policies", "networks", "people", "webhooks", "service", "sessions"]
KINDS: tuple[Kind, ...] = ("runs", "policies", "networks", "people", "webhooks", "service", "sessions")
"""What calls are about; ``sessions`` are those that log in and out."""
Kinds = Kind | Literal["changes"]
"""A kind; ``changes`` are all but ``sessions``."""
Outcome = Result | Literal["not_done"]
"""A result; ``not_done`` are all but ``done``."""

Day = Annotated[date | None, BeforeValidator(lambda value: value or None)]
"""A day of UTC; a form sends an empty one where none was chosen."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PREFIXES = ("", "/api/v1")
_AREAS: dict[Kind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "runs": (("/runs", "/measurements", "/sweeps"), ()),
    "policies": (("/policies", "/preview", "/compile", "/validate"), ()),
    "networks": (("/networks",), ("drift",)),
    "people": (("/users", "/me/", "/account", "/tokens", "/testers"), ("user", "token", "tester")),
    "webhooks": (("/webhooks",), ("webhook",)),
    "service": ((), ("backup", "database")),
    "sessions": (("/login", "/logout"), ()),
}
"""How the paths of each kind begin, and its commands."""


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

    def query(self, **changes: Any) -> str:
        """The query of an address that asks for the same, but for these changes."""
        chosen = vars(self) | {"who": self.who.strip()} | changes
        return urlencode({name: str(value) for name, value in chosen.items() if value})

    def filter(self) -> CallFilter:
        """The same as the log is asked."""
        return CallFilter(
            actor=self.who.strip(),
            network=self.network,
            results=_results(self.result),
            actions=actions_of(self.kind) if self.kind and self.kind != "changes" else (),
            # What belongs to no kind, as calls of an older release may, is among the rest.
            other_than=actions_of("sessions") if self.kind == "changes" else (),
            since=datetime.combine(self.since, time.min, UTC) if self.since else None,
            until=datetime.combine(self.until, time.max, UTC) if self.until else None,
            before=self.before,
        )


def actions_of(kind: Kind) -> tuple[str, ...]:
    """How what was asked begins, of every call of a kind: of pages, of REST and of commands."""
    areas, commands = _AREAS[kind]
    paths = [f"{prefix}{area}" for prefix in _PREFIXES for area in areas]
    asked = tuple(f"{method} {path}" for path in paths for method in _METHODS)
    return asked + tuple(f"qosforge {command} " for command in commands)


def _results(outcome: Outcome | Literal[""]) -> tuple[Result, ...]:
    if outcome == "not_done":
        return ("refused", "failed", "unknown")
    return (outcome,) if outcome else ()
