"""Request and response bodies of the routes about webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from qosforge.api.access_models import Networks
from qosforge.webhooks.deliveries import DeliveryState
from qosforge.webhooks.messages import EventType
from qosforge.webhooks.registry import NAME_PATTERN
from qosforge.webhooks.targets import LONGEST_URL

_REQUEST = ConfigDict(extra="forbid")

WebhookName = Annotated[str, StringConstraints(pattern=rf"^{NAME_PATTERN}$")]
WebhookUrl = Annotated[str, StringConstraints(pattern=r"^https?://[!-~]+$", max_length=LONGEST_URL)]
Events = Annotated[list[EventType] | None, Field(max_length=len(EventType))]


class WebhookChange(BaseModel):
    """The URL of a webhook, and the events and networks that it is for (null: all)."""

    model_config = _REQUEST

    url: WebhookUrl = Field(examples=["https://chat.example.net/hooks/qos"])
    events: Events = Field(default=None, examples=[["run.ended"]])
    networks: Networks = Field(default=None, examples=[["campus"]])


class NewWebhook(WebhookChange):
    """A new webhook; it is enabled."""

    name: WebhookName = Field(examples=["chat"])


class WebhookView(BaseModel):
    """A webhook without its secret. ``disabled_because`` says why the service itself disabled it."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    url: str
    events: list[EventType] | None
    networks: list[str] | None
    enabled: bool
    disabled_because: str
    created: datetime
    secret_since: datetime


class CreatedWebhook(WebhookView):
    """A webhook with its new secret, which is shown only once."""

    secret: str = Field(examples=["whsec_…"])


class DeliveryView(BaseModel):
    """One delivery. ``attempts``: made so far; ``tried``, ``status`` and ``error``: of the last one; ``due``: when
    the next one is made, null where there is none. ``message`` is what the receiver gets as ``webhook-id``.
    """

    model_config = ConfigDict(from_attributes=True)

    id: str
    message: str
    type: EventType
    at: datetime
    state: DeliveryState
    attempts: int
    due: datetime | None
    tried: datetime | None
    status: int | None
    error: str
