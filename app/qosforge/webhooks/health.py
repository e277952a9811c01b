"""Whether the receiver of a webhook takes what it is sent, by the last attempts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa

from qosforge.webhooks.deliveries import DeliveryState
from qosforge.webhooks.tables import DELIVERIES, WEBHOOKS


@dataclass(frozen=True)
class WebhookHealth:
    """When the receiver last took a delivery, and what failed after that: since when (the moment of the event) and
    the error of the newest attempt. ``failing_since`` is ``None`` where nothing failed since.
    """

    delivered: datetime | None = None
    failing_since: datetime | None = None
    error: str = ""


def webhook_health(connection: sa.Connection) -> dict[str, WebhookHealth]:
    """The health of every webhook that something was sent to, by the webhook's name."""
    row = DELIVERIES.c
    sent = DELIVERIES.join(WEBHOOKS)
    taken = sa.select(WEBHOOKS.c.name, sa.func.max(row.tried)).select_from(sent)
    delivered = connection.execute(
        taken.where(row.state == DeliveryState.DELIVERED.value).group_by(WEBHOOKS.c.name)
    )
    found = {name: WebhookHealth(at) for name, at in delivered}
    failures = sa.select(WEBHOOKS.c.name, row.at, row.tried, row.error).select_from(sent).where(row.error != "")
    for name, at, tried, error in connection.execute(failures.order_by(row.tried, row.seq)):
        before = found.get(name, WebhookHealth())
        if before.delivered is None or tried > before.delivered:
            since = min(at, before.failing_since or at)
            found[name] = replace(before, failing_since=since, error=error)
    return found
