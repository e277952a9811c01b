"""The first screen of a new policy: its name, its network, and what it begins from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from qosforge.access.roles import Principal, Role
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.device_state.drift_watch import drift_watch
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
    """How the starting points do on a network, as far as that is known; ``problem`` says why it cannot be.

    ``devices`` is how many the network has, ``failed`` why some could not be read when that was last tried.
    """

    network: str
    state: str = ""
    fits: Fits | None = None
    problem: QosforgeError | None = None
    devices: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


def _known_fits(caller: Principal, backend: Backend, network: str, *, retry: bool) -> _Known:
    """Have the starting points compiled for a network, where there is one; to ``retry`` also where that failed.
    While its devices are read it waits for what they hold.

    That it cannot be done is no error of the page: a policy can begin without it.
    """
    if not network:
        return _Known(network)
    try:
        found, seen = backend.networks.network(network), backend.policies.seen_by(caller)
        watch = drift_watch(backend.database, found.name)
        if watch.is_under_way(backend.access.now()):
            return _Known(network, f"{network} reading", devices=len(found.devices))
        progress = submit_fits(backend, seen, found, person=caller.name, retry=retry)
    except QosforgeError as error:
        return _Known(network, f"{network} failed", problem=error)
    fits = progress.result if progress.state == "done" else None
    return _Known(network, f"{network} {progress.state}", fits, progress.error, len(found.devices), watch.unread)


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
        "reading": known.state.endswith(" reading"),
        "devices": known.devices,
        "failed": known.failed,
        "unread": max((one.unread for one in fits.values()), default=0) if fits is not None else 0,
        "fitting": sum(one.fits for one in fits.values()) if fits is not None else 0,
        "recommended": recommended_start(fits) if fits is not None else "" if known.network else RECOMMENDED,
    }
