"""The first screen of a new policy: its name, its network, and what it begins from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from qosforge.access.roles import Principal, Role
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.errors import QosforgeError
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
    from_: Annotated[str | None, Query(alias="from", max_length=40)] = None,
    offered: Name = "",
    state: Annotated[str, Query(max_length=80)] = "",
) -> Response:
    """The starting points with how they do on a network.

    ``from`` is chosen, ``offered`` what was chosen for the reader: it gives way to what is recommended, or to
    nothing until that is known. 204 while there is no more to say than the page's ``state`` does.
    """
    caller.require(Role.VIEWER, network)
    # The page asks again and again while it is computed: what has failed meanwhile is told, not begun again.
    known = _known_fits(caller, backend, network, retry=not state.startswith(f"{network} "))
    if state and state == known.state:
        return Response(status_code=204)
    context = _starts(caller, backend, known)
    is_ours = from_ is None or (offered and from_ == offered)
    first = context["recommended"] or None
    return page.answer(
        "policies/starts.html.j2",
        **context,
        chosen=first if is_ours else from_,
        offered=(first if is_ours else None) or "",
    )


def new_policy_form(page: Page, caller: Principal, backend: Backend, start: str, network: str) -> Response:
    """The form; ``start`` is what it begins from, where that is chosen already."""
    networks = caller.networks(backend.networks.names(), Role.OPERATOR)
    shown = network if network in networks else next(iter(networks), "")
    context = _starts(caller, backend, _known_fits(caller, backend, shown, retry=True))
    groups = context["groups"]
    known = [card.about.name for card in (*groups.starting_points, *groups.own, *groups.papers)]
    # Of a network nothing is chosen before it is known what fits: who goes on early would begin with errors.
    first = context["recommended"] or None
    return page.answer(
        "policies/new.html.j2",
        **context,
        chosen=start if start in known else first,
        offered="" if start in known else first or "",
        networks=networks,
    )


@dataclass(frozen=True)
class _Known:
    """How the starting points do on a network, as far as that is known; ``problem`` says why it cannot be."""

    network: str
    state: str = ""
    fits: Fits | None = None
    problem: QosforgeError | None = None


def _known_fits(caller: Principal, backend: Backend, network: str, *, retry: bool) -> _Known:
    """Have the starting points compiled for a network, where there is one; to ``retry`` also where that failed.

    That it cannot be done is no error of the page: a policy can begin without it.
    """
    if not network:
        return _Known(network)
    try:
        found, seen = backend.networks.network(network), backend.policies.seen_by(caller)
        progress = submit_fits(backend, seen, found, person=caller.name, retry=retry)
    except QosforgeError as error:
        return _Known(network, f"{network} failed", problem=error)
    fits = progress.result if progress.state == "done" else None
    return _Known(network, f"{network} {progress.state}", fits, progress.error)


def _starts(caller: Principal, backend: Backend, known: _Known) -> dict[str, Any]:
    """The policies to start from, with what is known of the shipped ones on the network."""
    seen = backend.policies.seen_by(caller)
    groups = PolicyGroups.of([PolicyCard(one, policy_summary(seen, one), ()) for one in seen.newest()])
    fits = known.fits
    return {
        "groups": groups,
        "fits": fits,
        "problem": known.problem,
        "network": known.network,
        "state": known.state,
        "computing": known.state.endswith((" waiting", " computing")),
        "recommended": recommended_start(fits) if fits is not None else "" if known.network else RECOMMENDED,
    }
