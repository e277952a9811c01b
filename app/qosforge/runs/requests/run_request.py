"""The request of a new run: its options, validation, and what makes two requests the same."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from qosforge.artifacts.store import canonical_json
from qosforge.errors import InputError, Place
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.policy_library.versions import PolicyVersion
from qosforge.runs.workflow.live import require_checks, require_traffic

LONGEST_TICKET = 64


@dataclass(frozen=True)
class RunRequest:
    """What a run is to do.

    ``tester`` is who judges: the ``twin``, or an ``external`` tester that gives a measurement after the push (and
    before it, if ``before``). ``not_before`` is the earliest moment of the push; ``timeout`` counts from there.
    ``source`` is where the policy comes from: ``repository``, ``commit``, ``path``; ``stored`` the version of a
    stored policy that ``intent`` is, where it is one.
    """

    network: Network
    intent: LoadedIntent
    measure: bool = True
    strict: bool = False
    require_batfish: bool = False
    seed: int = 1
    tester: Literal["twin", "external"] = "twin"
    before: bool = False
    ticket: str = ""
    not_before: datetime | None = None
    timeout: timedelta | None = None
    source: dict[str, str] | None = None
    stored: PolicyVersion | None = None


def require_valid(request: RunRequest) -> None:
    """Make sure that a request can be carried out on its network.

    Raises:
        InputError: the policy gives nothing to judge, though the run should measure; or the request is wrong.
    """
    if request.measure:
        require_checks(request.intent)
        if request.tester != "external":  # it has traffic of its own
            require_traffic(request.network)
    elif request.tester == "external":
        raise InputError("an external tester measures, and this run should not", hint="ask for one of the two")
    problem = request.network.changes.ticket_problem(request.ticket)
    if problem is not None:
        raise InputError(problem, Place(path="ticket"), f"give the ticket that {request.network.name} asks for")
    if len(request.ticket) > LONGEST_TICKET or not (request.ticket.isprintable()):
        raise InputError("this is no ticket", Place(path="ticket"), f"at most {LONGEST_TICKET} characters")
    if request.timeout is not None and request.timeout <= timedelta(0):
        raise InputError("a timeout is longer than nothing", Place(path="timeout"), "give seconds above 0")


def digest(request: RunRequest) -> str:
    """SHA-256 over what makes two requests the same, for idempotency keys."""
    return hashlib.sha256(canonical_json(_identity(request)).encode()).hexdigest()


def _identity(request: RunRequest) -> dict[str, Any]:
    """What makes two requests the same. A network counts by name: a repeated request may meet a newer inventory."""
    return {
        "network": request.network.name,
        "intent": request.intent.version,
        "measure": request.measure,
        "strict": request.strict,
        "require_batfish": request.require_batfish,
        "seed": request.seed,
        "tester": request.tester,
        "before": request.before,
        "ticket": request.ticket,
        "not_before": request.not_before.isoformat() if request.not_before else None,
        "timeout": request.timeout.total_seconds() if request.timeout else None,
        "source": request.source,
    }
