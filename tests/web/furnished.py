"""A service with something on every page, and an address for each: names, texts and device lines hold markup."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts

from qosforge.access.audit_log import Call
from qosforge.access.roles import Role
from qosforge.access.tokens import create_token
from qosforge.access.users import find_user
from qosforge.api.backend import Backend
from qosforge.intent.policy_source import load_policy
from qosforge.runs.record.summaries import parse_summary
from qosforge.runs.record.tables import RunStatus
from qosforge.webhooks.deliveries import send_test
from qosforge.webhooks.messages import EventType
from qosforge.webhooks.registry import WebhookSpec, add_webhook
from qosforge.webhooks.signing import load_key
from qosforge.webhooks.targets import AllowList
from tests.principals import somebody
from tests.run_requests import request_run
from tests.web.people import Persons

MARKUP = "<img src=x onerror=alert(1)>'\"&lt;"
"""What would run, or would be seen as markup, where it is not escaped."""

NETWORK = "campus"
POLICY = "campus-collaboration"
ADMIN = "root"

SAMPLES = {
    "/": "/",
    "/login": "/login?because=ended",
    "/account": "/account",
    "/audit": "/audit",
    "/audit/{audit_id}": f"/audit/{'0' * 32}",
    "/users": "/users",
    "/users/{name}": "/users/ann",
    "/webhooks": "/webhooks",
    "/webhooks/{name}": "/webhooks/chat",
    "/calls": "/calls?who=ann",
    "/editor/schema": "/editor/schema",
    "/experiments": "/experiments",
    "/experiments/{name}": "/experiments/cern-wrr",
    "/experiments/{name}/outcome": "/experiments/cern-wrr/outcome",
    "/experiments/{name}/outcome.json": "/experiments/cern-wrr/outcome.json",
    "/experiments/{name}/plots": "/experiments/cern-wrr/plots",
    "/networks": "/networks",
    "/networks/{network}": f"/networks/{NETWORK}",
    "/networks/{network}/audit": f"/networks/{NETWORK}/audit",
    "/networks/{network}/drawing": f"/networks/{NETWORK}/drawing",
    "/networks/{network}/graph": f"/networks/{NETWORK}/graph",
    "/networks/{network}/sync": f"/networks/{NETWORK}/sync",
    "/networks/{network}/devices/{device}": f"/networks/{NETWORK}/devices/r1",
    "/policies": "/policies",
    "/policies/new": "/policies/new?from=rfc4594-8",
    "/policies/new/starts": f"/policies/new/starts?network={NETWORK}",
    "/policies/{name}": f"/policies/{POLICY}",
    "/policies/{name}/difference": f"/policies/{POLICY}/difference?before=1&after=2",
    "/policies/{name}/edit": f"/policies/{POLICY}/edit?network={NETWORK}",
    "/preview/prediction": f"/preview/prediction?network={NETWORK}&key={'0' * 64}",
    "/preview/prediction/figures": f"/preview/prediction/figures?network={NETWORK}&key={'0' * 64}&scenario=one",
    "/runs": "/runs",
    "/runs/new": f"/runs/new?policy={POLICY}&network={NETWORK}",
    "/runs/{run_id}": "/runs/{run}",
    "/runs/{run_id}/everything.zip": "/runs/{run}/everything.zip",
    "/runs/{run_id}/figures": "/runs/{run}/figures",
    "/runs/{run_id}/progress": "/runs/{run}/progress",
    "/runs/{run_id}/report.pdf": "/runs/{run}/report.pdf",
    "/runs/{run_id}/standing": "/runs/{run}/standing",
    "/runs/{run_id}/watch": "/runs/{run}/watch",
}
"""An address for every page, and for every part of a page that is fetched by itself."""

FRAGMENTS = frozenset(
    {
        "/experiments/{name}/outcome",
        "/experiments/{name}/plots",
        "/policies/new/starts",
        "/preview/prediction",
        "/preview/prediction/figures",
        "/runs/{run_id}/figures",
        "/runs/{run_id}/progress",
        "/runs/{run_id}/standing",
        "/runs/{run_id}/watch",
    }
)
"""Parts of pages: no page of their own."""

NOT_THERE_YET = frozenset(
    {
        "/audit/{audit_id}",
        "/experiments/{name}/outcome.json",
        "/experiments/{name}/plots",
        "/preview/prediction/figures",
    }
)
"""What comes of an experiment, a prediction or an audit, which take too long to be made for this."""

DOWNLOADS = frozenset(
    {
        "/editor/schema",
        "/experiments/{name}/outcome.json",
        "/networks/{network}/graph",
        "/runs/{run_id}/everything.zip",
        "/runs/{run_id}/report.pdf",
    }
)


def page_routes(app: FastAPI) -> set[tuple[str, str]]:
    """Method and path of every route of the pages."""
    return {
        (method, str(one.path_format))
        for one in iter_route_contexts(app.routes)
        if isinstance(one.original_route, APIRoute) and not str(one.path_format).startswith("/api/")
        for method in one.methods or ()
    }


def _tell(backend: Backend) -> None:
    """Make a webhook that has something to tell; nothing allows the service to send it."""
    wanted, now = (
        WebhookSpec("https://chat.example.net/hooks/qos", [EventType.RUN_APPROVAL_WANTED]),
        datetime.now(UTC),
    )
    allowed, key = AllowList(["chat.example.net"]), load_key(backend.settings)
    backend.database.transact(lambda connection: add_webhook(connection, "chat", wanted, allowed, key=key, at=now))
    backend.database.transact(lambda connection: send_test(connection, "chat", MARKUP, now))


def furnish(backend: Backend) -> dict[str, str]:
    """Fill a service; returns what stands for the parts of sample addresses."""
    now = datetime.now(UTC)
    persons = Persons(backend)
    persons.add(ADMIN, Role.ADMIN)
    persons.add("ann", Role.APPROVER, NETWORK)
    life = {"at": now, "life": timedelta(days=9)}
    for owner in (ADMIN, "ann"):
        backend.database.transact(
            lambda connection, owner=owner: create_token(
                connection, find_user(connection, owner), MARKUP, Role.VIEWER, None, **life
            )
        )
    backend.access.record(Call("POST /api/v1/runs", 202, actor="ann", resource=MARKUP, detail={"why": MARKUP}))
    policies = backend.policies.seen_by(somebody(ADMIN))
    written = policies.get(POLICY).written()
    for number in (1, 2):
        text = f"# {number} {MARKUP}\n{written.text}"
        policies.store(POLICY, replace(written, text=text), MARKUP, network="*", shadow_shipped=True)
    network = backend.networks.network(NETWORK)
    order = request_run(network, load_policy(policies.get(POLICY).written()), ticket=MARKUP)
    _tell(backend)
    run = backend.run_requests.submit(*order, "ann")[0].id
    store = backend.run_requests.store
    lines = f"class-map match-any voice\n match {MARKUP}\n"
    texts = {
        what: backend.artifacts.put_text(f"{lines}! {what}\n") for what in ("delta", "inverse", "configuration")
    }
    read = {"running": {"r1": backend.artifacts.put_text(lines)}, "errors": []}
    candidate = backend.artifacts.put_json({"version": 1, "devices": {"r1": lines}})
    prepared = {"candidate": candidate, "devices": {"r1": {**texts, "empty": False}}}
    for name, made in {"read": read, "prepare": prepared}.items():
        with store.stage(run, name, parse_summary(name, made)):
            pass
    store.set_status(run, RunStatus.NEEDS_APPROVAL, waits_for="the approval of an approver")
    return {"run": run}
