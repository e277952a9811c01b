"""Policies: the list, the versions of one, and differences of versions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Response

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.api.access_models import NetworkName
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.routes.policies import Number, TakeOver, take_policy_over
from qosforge.api.run_pages import visible_networks
from qosforge.intent.policy_source import shipped_policies
from qosforge.policy_library.trust import writer_role
from qosforge.policy_library.versions import LATEST, SHIPPED_VERSION
from qosforge.runs.record.outlines import last_runs_of_policies
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.changes import describe_change, diff_lines
from qosforge.web.views.network_runs import networks_in_force
from qosforge.web.views.policies import PolicyGroups, policy_cards, policy_summary
from qosforge.web.views.policy_search import MOST_CARDS, STATES, PolicyList, PolicySearch

router = APIRouter()


@router.get("/policies", dependencies=sees(Role.VIEWER))
def policies(
    page: ThePage, caller: Caller, backend: TheBackend, search: Annotated[PolicySearch, Depends()]
) -> Response:
    """Every policy by its newest version, or those that fit a search."""
    seen = backend.policies.seen_by(caller)
    newest = seen.newest()
    runs = last_runs_of_policies(backend.database, visible_networks(caller))
    held = networks_in_force(backend.database, {run.network for each in runs.values() for run in each})
    cards = policy_cards(seen, newest, runs, held)
    return page.answer(
        "policies/list.html.j2",
        found=PolicyList.of(PolicyGroups.of(cards), search),
        standing=held,
        search=search,
        states=STATES,
        most_cards=MOST_CARDS,
        networks=sorted({*caller.networks(backend.networks.names()), search.network} - {""}),
        writable={one.name for one in newest if caller.may(writer_role(one.network), one.network)},
    )


@router.get("/policies/{name}", dependencies=sees(Role.VIEWER))
def policy(page: ThePage, caller: Caller, backend: TheBackend, name: str) -> Response:
    """The versions of a policy, and which of them somebody has to take over before they run."""
    seen = backend.policies.seen_by(caller)
    operated = caller.networks(backend.networks.names(), Role.OPERATOR)
    versions = seen.versions(name)
    runs = last_runs_of_policies(backend.database, visible_networks(caller), name).get(name, ())
    return page.answer(
        "policies/policy.html.j2",
        name=name,
        versions=versions,
        newest=seen.get(name),
        summary=policy_summary(seen, versions[0]),
        runs=runs,
        standing=networks_in_force(backend.database, {run.network for run in runs}),
        may_store=seen.may_store(name),
        to_take_over={
            one.number: [
                network
                for network in operated
                if one.network in (EVERY_NETWORK, network) and not one.is_trusted_on(network)
            ]
            for one in versions
        },
        library=name in shipped_policies(),
        library_version=SHIPPED_VERSION,
    )


@router.post("/policies/{name}/versions/{number}/take-over", dependencies=sees(Role.OPERATOR))
def take_over(
    *,
    caller: Caller,
    backend: TheBackend,
    audit: TheAuditEntry,
    name: str,
    number: int,
    network: Annotated[NetworkName, Form()],
) -> Response:
    """Stand for a version that somebody else wrote, so that it may be run on a network of mine."""
    take_policy_over(
        body=TakeOver(network=network), caller=caller, backend=backend, audit=audit, name=name, number=number
    )
    return Response(status_code=204, headers={"HX-Redirect": f"/policies/{name}"})


@router.get("/policies/{name}/difference", dependencies=sees(Role.VIEWER))
def difference(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    name: str,
    before: Annotated[Number, Query()],
    after: Annotated[Number, Query()] = LATEST,
) -> Response:
    """The difference of two versions: in words, and line by line."""
    found = backend.policies.seen_by(caller).difference(name, before, after)
    return page.answer(
        "policies/difference.html.j2",
        name=name,
        found=found,
        changes=[describe_change(change) for change in found.changes],
        lines=list(diff_lines(found.text)),
    )
