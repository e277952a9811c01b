"""The first screen of a new policy: its name, its network, and what it begins from."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from qosforge.access.roles import Principal, Role
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.policy_library.groups import RECOMMENDED
from qosforge.web.pages import Page, ThePage, sees
from qosforge.web.views.policies import PolicyCard, PolicyGroups, policy_summary
from qosforge.web.views.starting_points import Fits, recommended_start, submit_fits

router = APIRouter()

Name = Annotated[str, Query(max_length=40)]
Network = Annotated[str, Query(max_length=100)]


@router.get("/policies/new/starts", dependencies=sees(Role.OPERATOR))
def starts(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    network: Network,
    from_: Annotated[str, Query(alias="from", max_length=40)] = "",
    offered: Name = "",
    state: Annotated[str, Query(max_length=80)] = "",
) -> Response:
    """The starting points with how they do on a network.

    ``from`` is chosen, ``offered`` what was chosen for the reader: it gives way to what is recommended. 204 while
    there is no more to say than the page's ``state`` does.
    """
    caller.require(Role.VIEWER, network)
    context = _starts(caller, backend, network)
    if state and state == context["state"]:
        return Response(status_code=204)
    chosen = from_
    if offered and from_ == offered:
        chosen = context["recommended"] or from_
    return page.answer("policies/starts.html.j2", **context, chosen=chosen, offered=offered and chosen)


def new_policy_form(page: Page, caller: Principal, backend: Backend, start: str, network: str) -> Response:
    """The form; ``start`` is what it begins from, where that is chosen already."""
    networks = caller.networks(backend.networks.names(), Role.OPERATOR)
    shown = network if network in networks else next(iter(networks), "")
    context = _starts(caller, backend, shown)
    groups = context["groups"]
    known = [card.about.name for card in (*groups.starting_points, *groups.own, *groups.papers)]
    first = context["recommended"] or next((name for name in (RECOMMENDED, *known) if name in known), "")
    return page.answer(
        "policies/new.html.j2",
        **context,
        chosen=start if start in known else first,
        offered="" if start in known else first,
        networks=networks,
    )


def _starts(caller: Principal, backend: Backend, network: str) -> dict[str, Any]:
    """The policies to start from, and how the shipped ones do on the network, as far as that is known."""
    seen = backend.policies.seen_by(caller)
    groups = PolicyGroups.of([PolicyCard(one, policy_summary(seen, one), ()) for one in seen.newest()])
    names = [card.about.name for card in groups.starting_points]
    fits: Fits | None = None
    state = ""
    if network and names:
        progress = submit_fits(backend, seen, names, backend.networks.network(network), person=caller.name)
        fits = progress.result if progress.state == "done" else None
        state = f"{network} {progress.state}"
    return {
        "groups": groups,
        "fits": fits,
        "network": network,
        "state": state,
        "computing": state.endswith(("waiting", "computing")),
        "recommended": recommended_start(fits) if fits is not None else "" if network else RECOMMENDED,
    }
