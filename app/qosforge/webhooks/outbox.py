"""The outbox: deliveries are written in the transaction of the event that they tell of, and sent from the rows."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from qosforge.webhooks.messages import Notice
from qosforge.webhooks.tables import DELIVERIES, WEBHOOKS

WAITING = "waiting"


def write_notice(connection: sa.Connection, event: Notice) -> bool:
    """Queue an event for every webhook whose filters match; returns whether there was one.

    In the transaction in which it happens, so both are there or neither is.
    """
    enabled = sa.select(WEBHOOKS.c.id, WEBHOOKS.c.events, WEBHOOKS.c.networks).where(WEBHOOKS.c.enabled)
    # Nobody removes one of them before its delivery stands.
    locked = enabled.order_by(WEBHOOKS.c.id).with_for_update(read=True, key_share=True)
    message = f"msg_{uuid.uuid4().hex}"
    rows = [
        _row(webhook.id, message, event, event.at)
        for webhook in connection.execute(locked)
        if _wants(webhook.events, event.type.value) and _wants(webhook.networks, event.network)
    ]
    if rows:
        connection.execute(sa.insert(DELIVERIES), rows)
    return bool(rows)


def write_one(connection: sa.Connection, webhook_id: str, event: Notice) -> str:
    """Queue an event for one webhook, whatever its filters; returns the delivery's id."""
    row = _row(webhook_id, f"msg_{uuid.uuid4().hex}", event, event.at)
    connection.execute(sa.insert(DELIVERIES).values(row))
    return str(row["id"])


def _wants(chosen: list[str] | None, value: str) -> bool:
    return chosen is None or value in chosen


def _row(webhook_id: str, message: str, event: Notice, due: datetime) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()),
        "webhook_id": webhook_id,
        "message": message,
        "type": event.type.value,
        "data": dict(event.data),
        "at": event.at,
        "state": WAITING,
        "attempts": 0,
        "due": due,
    }
