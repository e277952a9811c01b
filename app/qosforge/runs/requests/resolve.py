"""Resolve a run request: check it against its network and policy, and keep these as artifacts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from qosforge.artifacts.store import Artifacts, canonical_json
from qosforge.deploy.route import lab_of
from qosforge.errors import InputError, Place
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.changes import Approval
from qosforge.inventory.models import Network
from qosforge.keep_rule import KeepRule, strictest
from qosforge.policy_library.versions import PolicyVersion
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.set_aside import RecordedSetAside
from qosforge.runs.requests.run_request import LONGEST_TICKET, RunRequest
from qosforge.settings import Settings
from qosforge.telemetry.traces import current_traceparent
from qosforge.tester.measurable import require_checks, require_traffic


@dataclass(frozen=True)
class RunDocuments:
    """The network and the policy that a run request names; ``stored`` is the version of a stored policy."""

    network: Network
    intent: LoadedIntent
    stored: PolicyVersion | None = None


def require_valid(request: RunRequest, documents: RunDocuments) -> None:
    """Make sure that a request can be carried out on its network.

    Raises:
        InputError: the policy gives nothing to judge, though the run should measure; or the request is wrong.
    """
    network = documents.network
    if request.measure:
        require_checks(documents.intent)
        if request.tester != "external":  # it has traffic of its own
            require_traffic(network)
    elif request.tester == "external":
        raise InputError("an external tester measures, and this run should not", hint="ask for one of the two")
    problem = network.changes.ticket_problem(request.ticket)
    if problem is not None:
        raise InputError(problem, Place(path="ticket"), f"give the ticket that {network.name} asks for")
    if not request.ticket.isprintable():
        raise InputError("this is no ticket", Place(path="ticket"), f"at most {LONGEST_TICKET} characters")


def resolve_run(
    request: RunRequest,
    documents: RunDocuments,
    *,
    settings: Settings,
    artifacts: Artifacts,
    approval: Approval,
    who: str,
    now: datetime,
) -> ResolvedRun:
    """The run that a valid request of ``who`` comes to ``now``; ``approval`` is who has to approve changes of its
    network.
    """
    aside = request.set_aside
    network, intent, stored = documents.network, documents.intent, documents.stored
    lab = lab_of(settings, network)
    seconds = request.timeout_seconds
    begins = max(now, request.not_before or now)
    return ResolvedRun(
        network_name=network.name,
        policy=intent.intent.intent,
        policy_version=intent.version,
        ticket=request.ticket,
        source=request.source.model_dump(exclude_none=True) if request.source else None,
        not_before=request.not_before,
        deadline=None if seconds is None else begins + timedelta(seconds=seconds),
        intent_file=intent.document.file,
        intent_artifact=artifacts.put_text(intent.document.text),
        intent_included={name: artifacts.put_text(text) for name, text in intent.included.items()},
        intent_parameters=intent.settings,
        network_artifact=artifacts.put_text(network.model_dump_json(by_alias=True)),
        lab=str(lab) if lab else None,
        seed=request.seed,
        measure=request.measure,
        strict=request.strict,
        require_batfish=request.require_batfish,
        accept_unconfirmed=request.accept_unconfirmed,
        set_aside=None if aside is None else RecordedSetAside(**aside.model_dump(), by=who),
        batfish_host=settings.batfish_host,
        batfish_port=settings.batfish_port,
        tester=request.tester,
        before=request.before,
        timeout_seconds=seconds,
        approval=approval,
        keep=keep_rule(network, intent.intent.keep),
        policy_name=stored.name if stored else "",
        policy_number=stored.number if stored else None,
        traceparent=current_traceparent(),
    )


def keep_rule(network: Network, intent: KeepRule | None) -> KeepRule:
    """When a change of a network is kept, by an intent's rule and the network's."""
    return strictest([intent, network.changes.keep])


def digest(request: RunRequest, documents: RunDocuments) -> str:
    """SHA-256 over what makes two requests the same, for idempotency keys."""
    return hashlib.sha256(canonical_json(_identity(request, documents)).encode()).hexdigest()


def _identity(request: RunRequest, documents: RunDocuments) -> dict[str, Any]:
    """What makes two requests the same. A network counts by name: a repeated request may meet a newer inventory."""
    seconds = request.timeout_seconds
    return {
        "network": documents.network.name,
        "intent": documents.intent.version,
        "measure": request.measure,
        "strict": request.strict,
        "require_batfish": request.require_batfish,
        "seed": request.seed,
        "tester": request.tester,
        "before": request.before,
        "ticket": request.ticket,
        "not_before": request.not_before.isoformat() if request.not_before else None,
        "timeout": None if seconds is None else float(seconds),
        "source": request.source.model_dump(exclude_none=True) if request.source else None,
        # Not where it is not: keys that an earlier release recorded stand for the same request.
        **({"accept_unconfirmed": True} if request.accept_unconfirmed else {}),
        **({"set_aside": request.set_aside.model_dump()} if request.set_aside else {}),
    }
