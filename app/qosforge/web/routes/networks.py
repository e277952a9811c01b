"""Networks: the list, and one network as a drawing with the state of every link."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Depends, Form, Query, Response
from starlette.responses import JSONResponse

from qosforge.access.roles import Role
from qosforge.api.access_models import NetworkName
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.resources import DriftInterval, NewNetwork, Writable
from qosforge.api.routes import devices as of_devices
from qosforge.api.routes import networks as rest
from qosforge.deploy.inspection import Subject
from qosforge.deploy.route import lab_of
from qosforge.device_state.drift_watch import LEAST_MINUTES, MOST_MINUTES, drift_watch
from qosforge.device_state.qos_state import QosStatus
from qosforge.inventory.catalogue import InventoryBroken
from qosforge.inventory.models import Network
from qosforge.inventory.reach import Transport
from qosforge.platforms.base import installed
from qosforge.runs.requests.addresses import lacks_addresses, no_address_at_all
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.network_graph import FEW_DEVICES, MANY_DEVICES, network_graph, network_outline
from qosforge.web.views.network_runs import half_way_runs, network_runs
from qosforge.web.views.network_tables import DEVICE_STATES, DeviceSearch, NetworkTables
from qosforge.web.views.networks import network_view
from qosforge.web.views.overview import network_health
from qosforge.web.views.runs_now import first_going_on, runs_now
from qosforge.web.views.sync import origin

router = APIRouter()

Tab = Literal["devices", "links", "checks", "settings"]


@router.get("/networks", dependencies=sees(Role.VIEWER))
def list_networks(page: ThePage, caller: Caller, backend: TheBackend) -> Response:
    """The networks that the caller sees, and how each is."""
    found: dict[str, Network] = {}
    problems: list[InventoryBroken] = []
    for name in caller.networks(backend.networks.names()):
        try:
            found[name] = backend.networks.network(name)
        except InventoryBroken as error:
            problems.append(error)
    health = network_health(backend, list(found))
    return page.answer(
        "networks/list.html.j2",
        networks=found,
        health=health,
        moment=backend.access.now(),
        half_way=half_way_runs(backend),
        now=first_going_on(backend),
        unaddressed=_unaddressed(backend, found.values()),
        problems=problems,
    )


def _unaddressed(backend: Backend, networks: Iterable[Network]) -> frozenset[str]:
    """The networks of which no device has an address; one whose lab is damaged says so on its own page."""
    return frozenset(network.name for network in networks if lacks_addresses(backend.settings, network))


@router.post("/networks", dependencies=sees(Role.ADMIN, everywhere=True))
def add_network(
    backend: TheBackend, audit: TheAuditEntry, name: Annotated[NetworkName, Form(title="Name")]
) -> Response:
    """Create a network without devices, and go to its page."""
    made = rest.add_network(NewNetwork(name=name), backend, audit)
    return Response(status_code=204, headers={"HX-Redirect": f"/networks/{made.name}"})


@router.post("/networks/{network}/check", dependencies=sees(Role.VIEWER, recorded=False))
def check_network(page: ThePage, backend: TheBackend, network: str) -> Response:
    """Whether the devices of a network are reached, are what the inventory says, and can be changed."""
    found = of_devices.check_network(page.request, backend, network)
    return page.answer("networks/check.html.j2", network=network, checked=found.devices, subjects=list(Subject))


@router.put("/networks/{network}/writable", dependencies=sees(Role.ADMIN))
def set_writable(
    *, page: ThePage, backend: TheBackend, audit: TheAuditEntry, network: str, writable: Annotated[bool, Form()]
) -> Response:
    """Set whether changes may be pushed to a network's devices."""
    rest.set_writable(Writable(writable=writable), backend, audit, network)
    notice = page.text("Changes may be pushed now.") if writable else page.text("Nothing is pushed any more.")
    return page.answer("networks/rules.html.j2", notice=notice, **_rules(backend, network))


@router.get("/networks/{network}", dependencies=sees(Role.VIEWER))
def show_network(
    *,
    page: ThePage,
    backend: TheBackend,
    network: str,
    search: Annotated[DeviceSearch, Depends()],
    tab: Annotated[Tab, Query()] = "devices",
) -> Response:
    """A network: its drawing and devices, its links, what they are checked for, or its settings."""
    found = backend.networks.network(network)
    watch, moment = drift_watch(backend.database, found.name), backend.access.now()
    view = network_view(backend, found, watch)
    (health,) = network_health(backend, [found.name])
    tables = NetworkTables(view, search)
    has_graph = len(found.devices) > MANY_DEVICES
    return page.answer(
        "networks/network.html.j2",
        tab=tab,
        view=view,
        health=health,
        runs=network_runs(backend, found.name),
        now=runs_now(backend, found.name),
        search=search,
        found=tables.links if tab == "links" else tables.devices,
        choices=tables.choices,
        device_states=DEVICE_STATES,
        link_states=(*(status.value for status in QosStatus), "unreached"),
        has_graph=has_graph,
        under_way=watch.is_under_way(moment),
        read_now=watch.read_now(moment),
        asked=False,
        asked_anew=False,
        unaddressed=no_address_at_all(backend.settings, found),
        has_search=_has_search(found),
        **_tab(backend, network, tab),
        **_rules(backend, network),
    )


def _tab(backend: Backend, network: str, tab: Tab) -> dict[str, Any]:
    """What one part of the page needs alone."""
    if tab == "checks":
        return {"watch": rest.network_drift(backend, network)}
    if tab == "settings":
        transports = get_args(Transport)
        return {"origin": origin(backend, network), "platforms": sorted(installed()), "transports": transports}
    return {}


@router.get("/networks/{network}/drawing", dependencies=sees(Role.VIEWER))
def show_drawing(page: ThePage, backend: TheBackend, network: str) -> Response:
    """A network's drawing by itself: of a large one, for print and for browsers without scripts."""
    view = network_view(backend, backend.networks.network(network))
    outline = network_outline(view) if len(view.cards) > MANY_DEVICES else ()
    return page.answer("networks/drawing.html.j2", view=view, outline=outline)


@router.get("/networks/{network}/graph", dependencies=sees(Role.VIEWER))
def show_graph(backend: TheBackend, network: str) -> Response:
    """A network's devices and links as data, for the graph of a large one."""
    view = network_view(backend, backend.networks.network(network))
    return JSONResponse(network_graph(view, backend.settings.path_prefix))


@router.post("/networks/{network}/read", dependencies=sees(Role.OPERATOR))
def read_network(
    *,
    page: ThePage,
    backend: TheBackend,
    network: str,
    go: bool = False,
    tab: Annotated[Tab | None, Query()] = None,
) -> Response:
    """Have every device of a network read as soon as a process can, and ``go`` to its page.

    ``tab`` is the one of the network's page that asks: there the answer takes the place of what asked.
    """
    rest.check_drift(backend, network)
    if go:
        return Response(status_code=204, headers={"HX-Redirect": f"/networks/{network}"})
    found = backend.networks.network(network)
    return page.answer(
        "networks/reading.html.j2",
        name=network,
        tab=tab or "devices",
        devices=len(found.devices),
        has_search=_has_search(found),
        under_way=True,
        asked=tab is not None,
        read_now=None,
        asked_anew=not backend.summaries.of(found).readings,
    )


@router.put("/networks/{network}/drift", dependencies=sees(Role.ADMIN))
def watch_network(
    *,
    page: ThePage,
    backend: TheBackend,
    audit: TheAuditEntry,
    network: str,
    minutes: Annotated[int | None, Form(title="Minutes", ge=LEAST_MINUTES, le=MOST_MINUTES)] = None,
) -> Response:
    """Set how often a network is checked for drift."""
    watch = rest.watch_network(DriftInterval(minutes=minutes), backend, audit, network)
    notice = page.text("The service looks for drift by itself.") if minutes else page.text("It looks no more.")
    (health,) = network_health(backend, [network])
    return page.answer("networks/drift.html.j2", watch=watch, health=health, notice=notice)


def _has_search(network: Network) -> bool:
    """Whether its tables are long enough to be searched."""
    return max(len(network.devices), len(network.links)) > FEW_DEVICES


def _rules(backend: Backend, network: str) -> dict[str, Any]:
    found, now = backend.networks.network(network), datetime.now(UTC)
    emulated = lab_of(backend.settings, found) is not None
    return {
        "network": network,
        "rules": found.changes,
        "approval": NetworkRules(backend.settings).approval(found.changes),
        "closed": found.changes.closed_by(now),
        "opens": found.changes.next_open(now),
        "emulated": emulated,
        "read_only": found.changes.read_only(emulated=emulated),
    }
