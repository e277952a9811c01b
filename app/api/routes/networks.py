"""Networks: the inventories that the service has."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from app.access.roles import Role
from app.api.dependencies import Caller, TheBackend
from app.api.problems import responses
from app.api.resources import NetworkDetail, NetworkEntry, NetworkList
from app.api.security import Needs

router = APIRouter(tags=["networks"])


@router.get("/networks", dependencies=[Depends(Needs(Role.VIEWER))])
def list_networks(caller: Caller, backend: TheBackend) -> NetworkList:
    """The networks that the caller sees."""
    seen = caller.networks(backend.networks.names())
    return NetworkList(networks=[NetworkEntry.of(backend.networks.network(name)) for name in seen])


@router.get("/networks/{network}", dependencies=[Depends(Needs(Role.VIEWER))], responses=responses(404))
def get_network(backend: TheBackend, network: str) -> NetworkDetail:
    """A network: devices, links, end hosts."""
    return NetworkDetail.of(backend.networks.network(network))
