"""The bodies of webhooks for the OpenAPI 3.1 document: an operation for each type of event."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model
from pydantic.json_schema import models_json_schema

from qosforge.webhooks.messages import DATA, VERSION, EventType, Version

_REFERENCE = "#/components/schemas/{model}"

_HEADERS = {
    "webhook-id": ("string", "The message; the same at every attempt."),
    "webhook-timestamp": ("integer", "When it was sent: seconds since 1970."),
    "webhook-signature": (
        "string",
        (
            "`v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`, by what the"
            " base64 of the secret stands for (after `whsec_`). For a day after a new secret there are two, with a"
            " space between."
        ),
    ),
}

_TOLD = {
    EventType.RUN_ENDED: "A run is over, with its status and its verdict.",
    EventType.RUN_VERDICT_BROKEN: "A run was measured to break its objectives, whether its change was kept or not.",
    EventType.RUN_NEEDS_RECOVERY: "A run stopped with a device between two states.",
    EventType.RUN_APPROVAL_WANTED: "A run waits for an approver.",
    EventType.DRIFT_FOUND: "A device of a network that was in step is not as the last run left it.",
    EventType.DRIFT_CHANGED: "Other devices drifted, or drifted otherwise, than at the look before.",
    EventType.DRIFT_GONE: "No device of a network is drifted any more.",
    EventType.TEST: "Somebody tried the webhook.",
}


class WebhookMessage(BaseModel):
    """What every body has. ``version`` grows when a field changes its meaning or goes; new fields may come at any
    time. ``timestamp``: when it happened; ``service``: where browsers reach it, null where it does not know.
    """

    version: Version = Field(examples=[VERSION])
    timestamp: datetime = Field(examples=["2026-03-01T22:07:07Z"])
    service: str | None = Field(examples=["https://qos.example.net"])


def _model(event: EventType) -> type[BaseModel]:
    name = "".join(word.capitalize() for word in event.value.removeprefix("webhook.").replace("_", ".").split("."))
    fields: dict[str, Any] = {"type": (Literal[event.value], ...), "data": (DATA[event], ...)}
    return create_model(f"Webhook{name}", __base__=WebhookMessage, __doc__=_TOLD[event], **fields)


MESSAGES = {event: _model(event) for event in EventType}
"""The body of a delivery, by the type of its event."""


def webhook_operations() -> tuple[dict[str, Any], dict[str, Any]]:
    """The document's ``webhooks``, and the schemas that they refer to."""
    operations: dict[str, Any] = {event.value: {"post": _operation(event)} for event in EventType}
    models = [(model, "serialization") for model in MESSAGES.values()]
    _, found = models_json_schema(models, ref_template=_REFERENCE)  # type: ignore[arg-type]  # a literal, kept
    return operations, found["$defs"]


def _operation(event: EventType) -> dict[str, Any]:
    schema = {"$ref": _REFERENCE.format(model=MESSAGES[event].__name__)}
    return {
        "tags": ["webhooks"],
        "operationId": f"receive_{event.name.lower()}",
        "summary": _TOLD[event],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": about, "schema": {"type": type_}}
            for name, (type_, about) in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "It is taken. Whatever else is answered, it is sent again."}},
    }
