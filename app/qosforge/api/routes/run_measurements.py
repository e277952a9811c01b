"""Measurements that an external tester gives to a run, known by its signature."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Header, Request

from qosforge.access.roles import NotAuthenticated
from qosforge.access.signatures import Signatures, Signer
from qosforge.api.dependencies import TheBackend
from qosforge.api.middleware.audit_log import AuditEntry
from qosforge.api.problems import responses
from qosforge.api.run_models import MeasurementReceipt
from qosforge.runs.record.store import RunUnknown
from qosforge.tester.measurement.document import Measurement, Side

router = APIRouter(tags=["runs"])

_EXAMPLE = {
    "when": "after",
    "evidence": "measured",
    "tester": "probe-1",
    "seed": 1,
    "delay_reference": "first bit to first bit",
    "scenarios": [],
}


async def _raw(request: Request) -> bytes:
    return await request.body()  # kept by the request: the same bytes that the document is read from


def _signer(
    *,
    request: Request,
    backend: TheBackend,
    run_id: str,
    side: Side,
    raw: Annotated[bytes, Depends(_raw)],
    x_jws_signature: Annotated[
        str | None, Header(description="Detached JWS over the body: `header..signature`.", max_length=4096)
    ] = None,
) -> Signer:
    path = request.url.path
    audit = request.state.audit = AuditEntry(f"{request.method} {path}", resource=path)
    if x_jws_signature is None:
        raise NotAuthenticated("the measurement is not signed", hint="send the header X-JWS-Signature")
    tester = Signatures(backend.database).verify(x_jws_signature, raw, run_id, side)
    audit.actor, audit.credential = tester.name, f"tester:{tester.name}"[:64]
    audit.open(backend.access, request.state.request_id)
    return tester


@router.put(
    "/runs/{run_id}/measurements/{side}",
    summary="Give the measurement of a run",
    responses=responses(401, 403, 409),
    openapi_extra={"x-signed": True},
)
def put_measurement(
    *,
    request: Request,
    backend: TheBackend,
    tester: Annotated[Signer, Depends(_signer)],
    run_id: str,
    side: Side,
    document: Annotated[Measurement, Body(examples=[_EXAMPLE])],
) -> MeasurementReceipt:
    """Submit an external tester's measurement of one side of a run's push.

    The signature takes the place of a token. The same measurement may be sent again; another is refused.
    """
    run = backend.run_requests.run(run_id)
    if run.id != run_id:  # the beginning of an id is for people: what is signed is for one run
        raise RunUnknown("there is no such run", hint="name the run by its whole id")
    audit: AuditEntry = request.state.audit
    audit.network = run.network
    tester.require(run.network)
    backend.run_requests.receive(run.id, side, tester.name, document)
    return MeasurementReceipt(run=run.id, side=side, tester=tester.name)
