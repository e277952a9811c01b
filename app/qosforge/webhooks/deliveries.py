"""Deliveries of webhooks: the queue, claims, results and the log.

An attempt is claimed before it is made, by one process, for `LEASE`; who dies with a claim leaves it to the next
one. So a message may come twice, and always with the same id.
"""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from qosforge.database.connections import Database
from qosforge.errors import Place
from qosforge.webhooks.messages import EventType, Notice
from qosforge.webhooks.outbox import WAITING, write_one
from qosforge.webhooks.registry import Webhook, WebhookDisabled, WebhookUnknown, find_webhook
from qosforge.webhooks.tables import DELIVERIES, WEBHOOKS

_MINUTE, _HOUR = 60.0, 3600.0
PAUSES = (5.0, 5 * _MINUTE, 30 * _MINUTE, *(hours * _HOUR for hours in (2, 5, 10, 14, 20, 24)))
"""Seconds before each attempt after the first one: the schedule of Standard Webhooks 1.0.0, "Deliverability and
reliability". Each is up to a tenth longer, by chance.
"""
MOST_ATTEMPTS = len(PAUSES) + 1
_JITTER = 0.1
_LONGEST_WISH = 24 * _HOUR
"""Of a receiver's ``Retry-After``, so much counts."""

LEASE = timedelta(seconds=60)
"""Far longer than an attempt takes."""

MOST_KEPT = 500
"""Deliveries of a webhook in its log, whatever became of them; beyond that the oldest go."""

_GONE = 410


class DeliveryState(StrEnum):
    """The state of a delivery."""

    WAITING = WAITING
    """It is sent when it is due."""
    DELIVERED = "delivered"
    """The receiver took it."""
    FAILED = "failed"
    """The last attempt failed."""


@dataclass(frozen=True)
class Delivery:
    """One delivery in the log. ``attempts``: made so far; ``tried``, ``status`` (of the answer) and ``error``: of
    the last one; ``due``: when the next one is made, ``None`` where there is none.
    """

    id: str
    message: str
    type: str
    at: datetime
    state: DeliveryState
    attempts: int
    due: datetime | None
    tried: datetime | None
    status: int | None
    error: str


@dataclass(frozen=True)
class DeliveryClaim:
    """A delivery that this process has claimed, to send as attempt ``attempts``."""

    id: str
    claim: str
    webhook: Webhook
    message: str
    type: str
    at: datetime
    data: dict[str, Any]
    attempts: int


@dataclass(frozen=True)
class AttemptResult:
    """The result of an attempt: the HTTP status of the answer, and the error (empty: success)."""

    status: int | None = None
    error: str = ""
    retry_after: float | None = None


_LISTED = [DELIVERIES.c[name] for name in Delivery.__dataclass_fields__]


def deliveries(connection: sa.Connection, webhook_id: str, limit: int = MOST_KEPT) -> list[Delivery]:
    """The log of a webhook, newest first."""
    query = sa.select(*_LISTED).where(DELIVERIES.c.webhook_id == webhook_id)
    rows = connection.execute(query.order_by(DELIVERIES.c.seq.desc()).limit(limit))
    return [_delivery(row) for row in rows]


def redeliver(connection: sa.Connection, name: str, delivery: str, now: datetime) -> Delivery:
    """Queue a delivery of a webhook again, with all its attempts; its message keeps its id.

    One that waits goes out at once; one that is being sent stays as it is.

    Raises:
        WebhookUnknown: there is no such webhook, or no such delivery of it.
        WebhookDisabled: the webhook sends nothing.
    """
    webhook = _sending(connection, name)
    own = (DELIVERIES.c.id == delivery) & (DELIVERIES.c.webhook_id == webhook.id)
    free = DELIVERIES.c.claimed_until.is_(None) | (DELIVERIES.c.claimed_until <= now)
    again = {"state": WAITING, "attempts": 0, "due": now, "claim": None, "claimed_until": None}
    connection.execute(sa.update(DELIVERIES).where(own, free).values(again))
    row = connection.execute(sa.select(*_LISTED).where(own)).one_or_none()
    if row is None:
        raise WebhookUnknown("there is no such delivery", Place(path="delivery"), "the log has those that are kept")
    return _delivery(row)


def send_test(connection: sa.Connection, name: str, who: str, now: datetime) -> Delivery:
    """Queue a test delivery, whatever the filters of the webhook.

    Raises:
        WebhookUnknown: there is no such webhook.
        WebhookDisabled: the webhook sends nothing.
    """
    webhook = _sending(connection, name)
    event = Notice(EventType.TEST, "", {"webhook": webhook.name, "created_by": who}, now)
    made = write_one(connection, webhook.id, event)
    return _delivery(connection.execute(sa.select(*_LISTED).where(DELIVERIES.c.id == made)).one())


def _sending(connection: sa.Connection, name: str) -> Webhook:
    webhook = find_webhook(connection, name)
    if not webhook.enabled:
        raise WebhookDisabled(f"webhook {name} is disabled", Place(path="name"), "enable it first")
    return webhook


def due_webhooks(database: Database) -> list[str]:
    """Ids of the webhooks with due deliveries that no process has claimed; the longest due first."""

    def find(connection: sa.Connection) -> list[str]:
        now = database.now(connection)
        other = DELIVERIES.alias()
        claimed = sa.exists().where(other.c.webhook_id == DELIVERIES.c.webhook_id, other.c.claimed_until > now)
        query = (
            sa.select(DELIVERIES.c.webhook_id)
            .join(WEBHOOKS, WEBHOOKS.c.id == DELIVERIES.c.webhook_id)
            .where(WEBHOOKS.c.enabled, DELIVERIES.c.due <= now, ~claimed)
            .group_by(DELIVERIES.c.webhook_id)
            .order_by(sa.func.min(DELIVERIES.c.due))
        )
        return list(connection.scalars(query))

    return database.query(find)


def claim_next(database: Database, webhook_id: str) -> DeliveryClaim | None:
    """Claim the first delivery of a webhook that is due; ``None`` where there is none, or another process sends."""
    token = str(uuid.uuid4())

    def claim(connection: sa.Connection) -> DeliveryClaim | None:
        locked = sa.select(WEBHOOKS.c.name).where(WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.enabled)
        name = connection.scalar(locked.with_for_update(key_share=True, skip_locked=True))
        now = database.now(connection)
        own = DELIVERIES.c.webhook_id == webhook_id
        sent = sa.select(DELIVERIES.c.claim).where(own, DELIVERIES.c.claimed_until > now)
        if name is None or connection.scalar(sent.limit(1)) not in (None, token):
            return None
        used_up = own & (DELIVERIES.c.attempts >= MOST_ATTEMPTS) & (DELIVERIES.c.due <= now)
        ended = {"state": DeliveryState.FAILED.value, "due": None, "error": "the process that sent it ended"}
        connection.execute(sa.update(DELIVERIES).where(used_up).values(ended))
        due = sa.select(DELIVERIES).where(own, DELIVERIES.c.due <= now).order_by(DELIVERIES.c.seq).limit(1)
        row = connection.execute(due).one_or_none()
        if row is None:
            return None
        values = {"claim": token, "claimed_until": now + LEASE, "attempts": row.attempts + 1, "tried": now}
        connection.execute(sa.update(DELIVERIES).where(DELIVERIES.c.seq == row.seq).values(values))
        webhook = find_webhook(connection, name)
        return DeliveryClaim(row.id, token, webhook, row.message, row.type, row.at, row.data, row.attempts + 1)

    return database.transact(claim)


def settle(database: Database, claimed: DeliveryClaim, outcome: AttemptResult) -> DeliveryState | None:
    """Record the result of an attempt; ``None`` where the claim has expired and another process has it.

    A receiver that is gone for good (410) disables its webhook, as the specification advises.
    """

    def write(connection: sa.Connection) -> DeliveryState | None:
        now = database.now(connection)
        state, due = _next_state(claimed, outcome, now)
        values = {
            "state": state.value,
            "due": due,
            "status": outcome.status,
            "error": outcome.error,
            "claim": None,
            "claimed_until": None,
        }
        mine = (DELIVERIES.c.id == claimed.id) & (DELIVERIES.c.claim == claimed.claim)
        if connection.execute(sa.update(DELIVERIES).where(mine).values(values)).rowcount == 0:
            return None
        if outcome.status == _GONE:
            gone = {"enabled": False, "disabled_because": "the receiver answered 410: it is gone for good"}
            connection.execute(sa.update(WEBHOOKS).where(WEBHOOKS.c.id == claimed.webhook.id).values(gone))
        database.announce(connection)
        return state

    return database.transact(write)


def prune(database: Database, webhook_id: str) -> int:
    """Drop the oldest deliveries of a webhook beyond `MOST_KEPT`; how many of them were still waiting."""

    def drop(connection: sa.Connection) -> int:
        own = DELIVERIES.c.webhook_id == webhook_id
        newest = sa.select(DELIVERIES.c.seq).where(own).order_by(DELIVERIES.c.seq.desc())
        last = connection.scalar(newest.offset(MOST_KEPT).limit(1))
        if last is None:
            return 0
        free = DELIVERIES.c.claimed_until.is_(None) | (DELIVERIES.c.claimed_until <= database.now(connection))
        gone = sa.delete(DELIVERIES).where(own, DELIVERIES.c.seq <= last, free).returning(DELIVERIES.c.state)
        return sum(state == WAITING for state in connection.scalars(gone))

    return database.transact(drop)


def _next_state(
    claimed: DeliveryClaim, outcome: AttemptResult, now: datetime
) -> tuple[DeliveryState, datetime | None]:
    if not outcome.error:
        return DeliveryState.DELIVERED, None
    if claimed.attempts >= MOST_ATTEMPTS:
        return DeliveryState.FAILED, None
    pause = PAUSES[claimed.attempts - 1] * (1 + random.uniform(0, _JITTER))  # noqa: S311  not a secret
    wish = min(outcome.retry_after or 0.0, _LONGEST_WISH)
    return DeliveryState.WAITING, now + timedelta(seconds=max(pause, wish))


def _delivery(row: sa.Row[Any]) -> Delivery:
    return Delivery(**{**row._mapping, "state": DeliveryState(row.state)})
