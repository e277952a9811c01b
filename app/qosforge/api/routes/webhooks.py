"""Webhooks: where events are posted. They concern every network, so an admin of all manages them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Query

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.middleware.audit_log import AuditEntry
from qosforge.api.middleware.authorization import Needs, NeedsNamed
from qosforge.api.problems import responses
from qosforge.api.webhook_models import CreatedWebhook, DeliveryView, NewWebhook, WebhookChange, WebhookView
from qosforge.webhooks.deliveries import MOST_KEPT, Delivery, deliveries, redeliver, send_test
from qosforge.webhooks.registry import (
    Webhook,
    WebhookSpec,
    add_webhook,
    change_webhook,
    find_webhook,
    remove_webhook,
    renew_secret,
    set_enabled,
    webhooks,
)
from qosforge.webhooks.signing import load_key
from qosforge.webhooks.targets import AllowList, parse_url

router = APIRouter(tags=["webhooks"])

T = TypeVar("T")

_EVERYWHERE = [Depends(Needs(Role.ADMIN, everywhere=True))]


@router.get("/webhooks", summary="List webhooks", dependencies=_EVERYWHERE)
def list_webhooks(backend: TheBackend) -> list[WebhookView]:
    """Every webhook, by name."""
    with backend.database.read() as connection:
        return [WebhookView.model_validate(webhook) for webhook in webhooks(connection)]


@router.post(
    "/webhooks",
    summary="Create a webhook",
    status_code=201,
    dependencies=[Depends(NeedsNamed("webhooks", Role.ADMIN, everywhere=True))],
    responses=responses(409),
)
def make_webhook(body: NewWebhook, backend: TheBackend, audit: TheAuditEntry) -> CreatedWebhook:
    """Create a webhook and show its secret once."""
    spec = _spec(body, audit)
    audit.resource = f"webhooks/{body.name}"
    key = load_key(backend.settings)
    with backend.database.write() as connection:  # not to be repeated: each time it would have another secret
        made = add_webhook(connection, body.name, spec, _allow_list(backend), key=key, at=backend.access.now())
    return _with_secret(*made)


@router.get("/webhooks/{name}", summary="Show a webhook", dependencies=_EVERYWHERE)
def show_webhook(backend: TheBackend, name: str) -> WebhookView:
    """One webhook."""
    with backend.database.read() as connection:
        return WebhookView.model_validate(find_webhook(connection, name))


@router.put("/webhooks/{name}", summary="Change a webhook", dependencies=_EVERYWHERE)
def change_one_webhook(body: WebhookChange, backend: TheBackend, audit: TheAuditEntry, name: str) -> WebhookView:
    """Change the URL and the filters of a webhook. Waiting deliveries go to the new URL."""
    spec = _spec(body, audit)
    changed = _transact(backend, lambda connection: change_webhook(connection, name, spec, _allow_list(backend)))
    return WebhookView.model_validate(changed)


@router.delete("/webhooks/{name}", summary="Remove a webhook", status_code=204, dependencies=_EVERYWHERE)
def remove_one_webhook(backend: TheBackend, name: str) -> None:
    """Remove a webhook with its log; waiting deliveries are dropped."""
    _transact(backend, lambda connection: remove_webhook(connection, name))


@router.post("/webhooks/{name}/enable", summary="Enable a webhook", dependencies=_EVERYWHERE)
def enable_webhook(backend: TheBackend, name: str) -> WebhookView:
    """Enable a webhook; waiting deliveries are sent, too."""
    return WebhookView.model_validate(_transact(backend, lambda connection: set_enabled(connection, name, True)))


@router.post("/webhooks/{name}/disable", summary="Disable a webhook", dependencies=_EVERYWHERE)
def disable_webhook(backend: TheBackend, name: str) -> WebhookView:
    """Disable a webhook: new events are not queued, waiting deliveries stay."""
    return WebhookView.model_validate(_transact(backend, lambda connection: set_enabled(connection, name, False)))


@router.post("/webhooks/{name}/secret", summary="Renew a webhook's secret", dependencies=_EVERYWHERE)
def renew_webhook_secret(backend: TheBackend, name: str) -> CreatedWebhook:
    """Renew the secret of a webhook and show it once. For a day deliveries are signed with the old one, too."""
    key = load_key(backend.settings)
    with backend.database.write() as connection:  # not to be repeated: each time it would be another one
        renewed = renew_secret(connection, name, key, backend.access.now())
    return _with_secret(*renewed)


@router.post(
    "/webhooks/{name}/test",
    summary="Send a test event to a webhook",
    status_code=202,
    dependencies=_EVERYWHERE,
    responses=responses(409),
)
def try_webhook(caller: Caller, backend: TheBackend, name: str) -> DeliveryView:
    """Send a webhook an event of type ``webhook.test``; the result is in the log of its deliveries."""
    return _delivery(
        backend, lambda connection: send_test(connection, name, caller.name, backend.database.now(connection))
    )


@router.get("/webhooks/{name}/deliveries", summary="List a webhook's deliveries", dependencies=_EVERYWHERE)
def webhook_deliveries(
    backend: TheBackend,
    name: str,
    limit: Annotated[int, Query(ge=1, le=MOST_KEPT)] = 100,
) -> list[DeliveryView]:
    """The newest deliveries of a webhook, newest first."""
    with backend.database.read() as connection:
        found = deliveries(connection, find_webhook(connection, name).id, limit)
    return [DeliveryView.model_validate(each) for each in found]


@router.post(
    "/webhooks/{name}/deliveries/{delivery}/redeliver",
    summary="Send a delivery again",
    status_code=202,
    dependencies=_EVERYWHERE,
    responses=responses(409),
)
def redeliver_one(backend: TheBackend, name: str, delivery: str) -> DeliveryView:
    """Redeliver: send a delivery again, with all its attempts. Its message keeps its id."""
    return _delivery(
        backend, lambda connection: redeliver(connection, name, delivery, backend.database.now(connection))
    )


def _transact(backend: Backend, work: Callable[[sa.Connection], T]) -> T:
    """Run a function in one transaction, and notify the sender of webhooks."""

    def announced(connection: sa.Connection) -> T:
        result = work(connection)
        backend.database.announce(connection)
        return result

    return backend.database.transact(announced)


def _delivery(backend: Backend, work: Callable[[sa.Connection], Delivery]) -> DeliveryView:
    return DeliveryView.model_validate(_transact(backend, work))


def _allow_list(backend: Backend) -> AllowList:
    return AllowList(backend.settings.webhook_hosts)


def _spec(body: WebhookChange, audit: AuditEntry) -> WebhookSpec:
    """The spec of a body, which the audit log has too, without the path of the URL: it may be a secret."""
    audit.detail = body.model_dump(mode="json", include={"events", "networks"})
    audit.detail["to"] = parse_url(body.url).origin
    return WebhookSpec(body.url, body.events, body.networks)


def _with_secret(webhook: Webhook, secret: str) -> CreatedWebhook:
    view = WebhookView.model_validate(webhook)
    return CreatedWebhook(**view.model_dump(), secret=secret)
