"""Start a run: policy, network, options and time."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.run_models import RUNS
from qosforge.errors import InputError
from qosforge.inventory.models import Network
from qosforge.keep_rule import KeepRule
from qosforge.policy_library.trust import require_owner
from qosforge.policy_library.versions import LATEST
from qosforge.runs.requests.addresses import require_addresses
from qosforge.runs.requests.resolve import RunDocuments, keep_rule
from qosforge.tester.measurable import require_checks
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.views.network_runs import half_way_run
from qosforge.web.views.run_form import AsideLink, RunForm, chosen_policy
from qosforge.web.views.runs_now import runs_now

router = APIRouter()

Name = Annotated[str, Query(max_length=128)]


@router.get("/runs/new", dependencies=sees(Role.OPERATOR))
def new_run_form(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    network: Name = "",
    policy: Name = "",
    version: Annotated[str, Query(pattern=r"^(latest|[0-9]{1,9})?$")] = "",
    changed: Literal["", "network"] = "",
    aside: Annotated[AsideLink, Depends()],
) -> Response:
    """The form of a new run; network, policy and version may be chosen already, and a finding to set ``aside``.

    A policy of another network than the one asked for brings its own, unless the network is what was ``changed`` in
    the form: then another policy has to be chosen. What is asked for is never replaced by something else.
    """
    networks = caller.networks(backend.networks.names(), Role.OPERATOR)
    seen = backend.policies.seen_by(caller)
    versions = seen.versions(policy) if policy else ()
    owner = versions[0].network if versions else EVERY_NETWORK
    chosen = owner if owner in networks and changed != "network" else network or next(iter(networks), "")
    if chosen:
        caller.require(Role.OPERATOR, chosen)
    elsewhere = nothing_to_judge = keep = fails = partly = None
    if policy:
        intent, about = chosen_policy(seen, policy, version or LATEST)
        keep = intent.intent.keep
        nothing_to_judge = _problem(require_checks, intent)
        elsewhere = _problem(require_owner, about, chosen)
        if chosen and not elsewhere:
            addressed = partial(
                require_addresses, backend.settings, backend.networks.network(chosen), intent.intent
            )
            fails = _problem(addressed, needs_all=False)
            partly = None if fails or nothing_to_judge else _problem(addressed, needs_all=True)
    half_way = half_way_run(backend, chosen) if chosen else None
    touches = backend.run_requests.store.journal.open_touches(half_way.id) if half_way else ()
    return page.answer(
        "runs/new.html.j2",
        networks=networks,
        policies=tuple(one.name for one in seen.newest() if one.network in (EVERY_NETWORK, chosen)),
        network=chosen,
        policy="" if elsewhere else policy,
        elsewhere=elsewhere,
        version=version or LATEST,
        versions=versions,
        key=uuid.uuid4(),
        aside=aside if chosen and caller.may(Role.APPROVER, chosen) else None,
        **_rules(page, backend.networks.network(chosen) if chosen else None, keep),
        nothing_to_judge=nothing_to_judge,
        without_address=fails or partly,
        fails=fails is not None,
        half_way=half_way,
        now=runs_now(backend, chosen) if chosen else (),
        between=tuple(touch.device for touch in touches),
    )


@router.post("/runs", dependencies=sees(Role.OPERATOR))
def start_run(
    caller: Caller, backend: TheBackend, audit: TheAuditEntry, form: Annotated[RunForm, Depends()]
) -> Response:
    """Start the run, and go to its page."""
    audit.network, audit.detail = form.network, {"policy": form.policy}
    caller.require(Role.OPERATOR, form.network)
    if form.set_aside_code:
        caller.require(Role.APPROVER, form.network)
    network = backend.networks.network(form.network)
    intent, stored = chosen_policy(backend.policies.seen_by(caller), form.policy, form.version)
    documents = RunDocuments(network, intent, stored)
    run, _ = backend.run_requests.submit(form.request(documents), documents, caller.name, form.key)
    audit.resource = f"{RUNS}/{run.id}"
    return Response(status_code=204, headers={"HX-Redirect": f"/runs/{run.id}"})


def _rules(page: Page, network: Network | None, keep: KeepRule | None) -> dict[str, Any]:
    """The rules for changes of a network; ``keep`` is the policy's own rule, if it has one."""
    if network is None:
        return {"rules": None, "approval": "none", "opens": None, "closed_by": "", "keep": keep or "met"}
    now = page.backend.run_requests.store.now()
    return {
        "rules": network.changes,
        "approval": page.backend.run_requests.approval(network),
        "keep": keep_rule(network, keep),
        "opens": network.changes.next_open(now),
        "closed_by": network.changes.closed_by(now),
    }


def _problem(require: Callable[..., Any], *arguments: Any, **named: Any) -> InputError | None:
    try:
        require(*arguments, **named)
    except InputError as error:
        return error
    return None
