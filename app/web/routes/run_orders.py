"""Ordering a run: which policy for which network, how it is tried, and when."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from app.access.roles import EVERY_NETWORK, Role
from app.api.dependencies import Caller, TheBackend, TheNote
from app.api.run_models import RUNS
from app.errors import InputError, QosforgeError
from app.inventory.models import Network
from app.runs.live import require_checks
from app.runs.policies import Policies
from app.runs.policy_versions import LATEST
from app.web.pages import Page, ThePage, sees
from app.web.views.run_order import Ordered, chosen_policy

router = APIRouter()

Name = Annotated[str, Query(max_length=128)]


@router.get("/runs/new", dependencies=sees(Role.OPERATOR))
def ask(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    network: Name = "",
    policy: Name = "",
    version: Annotated[str, Query(pattern=r"^(latest|[0-9]{1,9})?$")] = "",
) -> Response:
    """The form of an order; network, policy and version may be chosen already."""
    networks = caller.networks(backend.networks.names(), Role.OPERATOR)
    chosen = network if network in networks else next(iter(networks), "")
    seen = backend.policies.seen_by(caller)
    policies = tuple(one.name for one in seen.newest() if one.network in (EVERY_NETWORK, chosen))
    found = policy if policy in policies else next(iter(policies), "")
    return page.answer(
        "runs/order.html.j2",
        networks=networks,
        policies=policies,
        network=chosen,
        policy=found,
        version=version if policy == found and version else LATEST,
        versions=seen.versions(found) if found else (),
        key=uuid.uuid4(),
        **_rules(page, backend.networks.network(chosen) if chosen else None),
        nothing_to_judge=_nothing_to_judge(seen, found, version or LATEST) if found else None,
    )


@router.post("/runs", dependencies=sees(Role.OPERATOR))
def place(caller: Caller, backend: TheBackend, note: TheNote, ordered: Annotated[Ordered, Depends()]) -> Response:
    """Ask for the run, and go to its page."""
    note.network = ordered.network
    caller.require(Role.OPERATOR, ordered.network)
    run, _ = backend.desk.place(ordered.order(backend, caller), caller.name, ordered.key)
    note.resource = f"{RUNS}/{run.id}"
    return Response(status_code=204, headers={"HX-Redirect": f"/runs/{run.id}"})


def _rules(page: Page, network: Network | None) -> dict[str, Any]:
    if network is None:
        return {"rules": None, "approval": "none", "opens": None, "closed_by": ""}
    now = page.backend.desk.store.now()
    return {
        "rules": network.changes,
        "approval": page.backend.desk.approval(network),
        "opens": network.changes.next_open(now),
        "closed_by": network.changes.closed_by(now),
    }


def _nothing_to_judge(policies: Policies, policy: str, version: str) -> QosforgeError | None:
    """Why a run of the policy cannot be judged; ``None`` where it can."""
    try:
        require_checks(chosen_policy(policies, policy, version)[0])
    except InputError as error:
        return error
    return None
