"""External testers, by their public keys. An admin of some networks manages those that measure nowhere else."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.access.testers import Tester, add_tester, find_tester, revoke_tester, testers
from qosforge.api.access_models import NewTester, TesterView
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.authorization import Needs, NeedsNamed
from qosforge.api.problems import responses

router = APIRouter(tags=["testers"])

_ADMIN = [Depends(Needs(Role.ADMIN))]


@router.get("/testers", summary="List external testers", dependencies=_ADMIN)
def list_testers(caller: Caller, backend: TheBackend) -> list[TesterView]:
    """Every tester that measures on a network of the caller's, by name."""
    return [TesterView.model_validate(tester) for tester in testers(backend.database) if _concerns(caller, tester)]


@router.post(
    "/testers",
    summary="Register an external tester",
    status_code=201,
    dependencies=[Depends(NeedsNamed("testers", Role.ADMIN))],
    responses=responses(409),
)
def register_tester(body: NewTester, caller: Caller, backend: TheBackend, audit: TheAuditEntry) -> TesterView:
    """Register a tester by its public key. Its name stays taken for good."""
    audit.resource, audit.detail = f"testers/{body.name}", body.model_dump(include={"public_key", "networks"})
    _require(caller, body.networks)
    return TesterView.model_validate(
        backend.database.transact(
            lambda connection: add_tester(
                connection, body.name, body.public_key, body.networks, backend.access.now()
            )
        )
    )


@router.delete("/testers/{name}", summary="Revoke an external tester", status_code=204, dependencies=_ADMIN)
def revoke_one_tester(caller: Caller, backend: TheBackend, name: str) -> None:
    """Revoke a tester: its measurements are no longer accepted."""
    with backend.database.read() as connection:
        tester = find_tester(connection, name)
    _require(caller, tester.networks)
    backend.database.transact(lambda connection: revoke_tester(connection, name, backend.access.now()))


def _concerns(caller: Principal, tester: Tester) -> bool:
    networks = caller.roles if tester.networks is None else tester.networks
    return any(caller.may(Role.ADMIN, network) for network in networks)


def _require(caller: Principal, networks: list[str] | tuple[str, ...] | None) -> None:
    for network in (EVERY_NETWORK,) if networks is None else networks:
        caller.require(Role.ADMIN, network)
