"""Webhooks, for admins of every network: targets of events, and the log of deliveries."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Response

from qosforge.access.roles import Role
from qosforge.api.access_models import NetworkName
from qosforge.api.dependencies import Caller, TheAuditEntry, TheBackend
from qosforge.api.routes import webhooks as rest
from qosforge.api.webhook_models import NewWebhook, WebhookChange, WebhookName, WebhookUrl
from qosforge.web.pages import Page, ThePage, sees
from qosforge.webhooks.health import webhook_health
from qosforge.webhooks.messages import EventType

router = APIRouter()

_ADMIN = sees(Role.ADMIN, everywhere=True)
_SHOWN = 50

Url = Annotated[WebhookUrl, Form(title="URL")]
Events = Annotated[list[EventType] | None, Form(title="Events")]
Networks = Annotated[list[NetworkName] | None, Form(title="Networks")]


@router.get("/webhooks", dependencies=_ADMIN)
def every_webhook(page: ThePage, backend: TheBackend) -> Response:
    """All webhooks, and a form for a new one."""
    return page.answer(
        "webhooks/page.html.j2",
        **_listed(backend),
        allowed=backend.settings.webhook_hosts,
        **_choices(page),
    )


@router.post("/webhooks", dependencies=sees(Role.ADMIN, everywhere=True, names="webhooks"))
def add_webhook(
    *,
    page: ThePage,
    backend: TheBackend,
    audit: TheAuditEntry,
    name: Annotated[WebhookName, Form(title="Name")],
    url: Url,
    events: Events = None,
    networks: Networks = None,
) -> Response:
    """Create a webhook and show its secret once, with the list that has it now."""
    made = rest.make_webhook(NewWebhook(name=name, url=url, events=events, networks=networks), backend, audit)
    return page.answer("webhooks/made.html.j2", made=made, **_listed(backend))


@router.get("/webhooks/{name}", dependencies=_ADMIN)
def one_webhook(page: ThePage, backend: TheBackend, name: str) -> Response:
    """One webhook and its deliveries."""
    return page.answer("webhooks/webhook.html.j2", **_of(page, backend, name))


@router.put("/webhooks/{name}", dependencies=_ADMIN)
def change_webhook(
    *,
    page: ThePage,
    backend: TheBackend,
    audit: TheAuditEntry,
    name: str,
    url: Url,
    events: Events = None,
    networks: Networks = None,
) -> Response:
    """Change its URL and filters."""
    rest.change_one_webhook(WebhookChange(url=url, events=events, networks=networks), backend, audit, name)
    return _details(page, backend, name, page.text("The webhook is changed."))


@router.delete("/webhooks/{name}", dependencies=_ADMIN)
def remove_webhook(backend: TheBackend, name: str) -> Response:
    """Remove a webhook."""
    rest.remove_one_webhook(backend, name)
    return Response(status_code=204, headers={"HX-Redirect": "/webhooks"})


@router.post("/webhooks/{name}/enable", dependencies=_ADMIN)
def enable_webhook(page: ThePage, backend: TheBackend, name: str) -> Response:
    """Enable a webhook."""
    rest.enable_webhook(backend, name)
    return _details(page, backend, name, page.text("The webhook is enabled; what waits goes out."))


@router.post("/webhooks/{name}/disable", dependencies=_ADMIN)
def disable_webhook(page: ThePage, backend: TheBackend, name: str) -> Response:
    """Disable a webhook."""
    rest.disable_webhook(backend, name)
    return _details(page, backend, name, page.text("The webhook is disabled: it sends nothing."))


@router.post("/webhooks/{name}/secret", dependencies=_ADMIN)
def renew_secret(page: ThePage, backend: TheBackend, name: str) -> Response:
    """Renew the secret and show it once."""
    made = rest.renew_webhook_secret(backend, name)
    return page.answer("webhooks/details.html.j2", made=made, **_of(page, backend, name))


@router.post("/webhooks/{name}/test", dependencies=_ADMIN)
def send_test(page: ThePage, caller: Caller, backend: TheBackend, name: str) -> Response:
    """Send a test event."""
    rest.try_webhook(caller, backend, name)
    notice = page.text("A test is on its way. Look again in a moment: the deliveries tell what came of it.")
    return _details(page, backend, name, notice)


@router.post("/webhooks/{name}/deliveries/{delivery}/redeliver", dependencies=_ADMIN)
def redeliver(page: ThePage, backend: TheBackend, name: str, delivery: str) -> Response:
    """Send a delivery again."""
    rest.redeliver_one(backend, name, delivery)
    return _details(page, backend, name, page.text("The delivery is sent once more."))


def _listed(backend: TheBackend) -> dict[str, Any]:
    return {"webhooks": rest.list_webhooks(backend), "health": backend.database.transact(webhook_health)}


def _details(page: Page, backend: TheBackend, name: str, notice: str) -> Response:
    return page.answer("webhooks/details.html.j2", notice=notice, **_of(page, backend, name))


def _of(page: Page, backend: TheBackend, name: str) -> dict[str, Any]:
    webhook = rest.show_webhook(backend, name)
    return {
        "webhook": webhook,
        "health": backend.database.transact(webhook_health),
        "deliveries": rest.webhook_deliveries(backend, name, _SHOWN),
        **_choices(page),
    }


def _choices(page: Page) -> dict[str, Any]:
    chosen = [event for event in EventType if event is not EventType.TEST]
    return {"events": chosen, "networks": page.backend.networks.names()}
