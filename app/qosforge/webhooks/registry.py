"""The registry of webhooks: URL, filters and secret."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from qosforge.access.users import NameTaken, check_networks
from qosforge.errors import InputError, Place
from qosforge.webhooks.messages import EventType
from qosforge.webhooks.signing import SigningKey
from qosforge.webhooks.tables import DELIVERIES, WEBHOOKS
from qosforge.webhooks.targets import AllowList, parse_url

MOST = 50
"""Webhooks of an installation."""

OVERLAP = timedelta(hours=24)
"""How long the secret before a new one still signs, beside it."""

NAME_PATTERN = r"[a-z0-9][a-z0-9._-]{0,63}"
_NAME = re.compile(NAME_PATTERN)


@dataclass(eq=False)
class WebhookUnknown(InputError):
    """There is no such webhook, or no such delivery of it."""


@dataclass(eq=False)
class WebhookDisabled(InputError):
    """The webhook is disabled."""


@dataclass(frozen=True)
class Webhook:
    """One webhook. ``events`` and ``networks``: what it is told of, ``None``: all; ``key`` is the fingerprint of
    the key that its secret derives from. The URL of a chat system may be a secret: it is not part of the ``repr``.
    """

    id: str
    name: str
    url: str = field(repr=False)
    events: tuple[str, ...] | None
    networks: tuple[str, ...] | None
    enabled: bool
    disabled_because: str
    created: datetime
    secret_number: int
    secret_since: datetime
    previous_until: datetime | None
    key: str

    @property
    def origin(self) -> str:
        """Scheme and host of its URL, which may be told."""
        return parse_url(self.url).origin


@dataclass(frozen=True)
class WebhookSpec:
    """The settings of a webhook by an administrator; see `Webhook`."""

    url: str = field(repr=False)
    events: Collection[EventType] | None = None
    networks: Collection[str] | None = None

    def columns(self, allowed: AllowList) -> dict[str, Any]:
        """The webhook as columns of a row, checked.

        Raises:
            InputError: the URL is none, or goes nowhere that is allowed; or a network's name cannot be one.
        """
        allowed.require_possible(parse_url(self.url))
        if self.networks is not None:
            check_networks(self.networks)
        return {
            "url": self.url,
            "events": None if self.events is None else sorted({EventType(event).value for event in self.events}),
            "networks": None if self.networks is None else sorted(set(self.networks)),
        }


def add_webhook(
    connection: sa.Connection, name: str, wanted: WebhookSpec, allowed: AllowList, *, key: SigningKey, at: datetime
) -> tuple[Webhook, str]:
    """Create a webhook; returns it with its secret, which is never shown again.

    Raises:
        NameTaken: there is one of this name.
        InputError: the name cannot be one, there are too many, or as `WebhookSpec.columns`.
    """
    if not _NAME.fullmatch(name):
        hint = "1 to 64 small letters, digits and . _ -, the first one a letter or digit"
        raise InputError("this cannot be the name of a webhook", Place(path="name"), hint)
    if (connection.scalar(sa.select(sa.func.count()).select_from(WEBHOOKS)) or 0) >= MOST:
        raise InputError(f"there are {MOST} webhooks already", Place(path="name"), "remove one first")
    row = {
        **wanted.columns(allowed),
        "id": str(uuid.uuid4()),
        "name": name,
        "enabled": True,
        "created": at,
        "secret_number": 1,
        "secret_since": at,
        "key": key.fingerprint,
    }
    try:
        with connection.begin_nested():
            connection.execute(sa.insert(WEBHOOKS).values(row))
    except sa.exc.IntegrityError as error:
        raise NameTaken(f"there is a webhook {name}", Place(path="name"), "choose another name") from error
    return find_webhook(connection, name), key.secret(str(row["id"]), 1)


def webhooks(connection: sa.Connection) -> list[Webhook]:
    """Every webhook, by name."""
    return [_webhook(row) for row in connection.execute(sa.select(WEBHOOKS).order_by(WEBHOOKS.c.name))]


def find_webhook(connection: sa.Connection, name: str) -> Webhook:
    """The webhook of a name.

    Raises:
        WebhookUnknown: there is none.
    """
    row = connection.execute(sa.select(WEBHOOKS).where(WEBHOOKS.c.name == name)).one_or_none()
    if row is None:
        raise WebhookUnknown("there is no such webhook", Place(path="name"), "`qosforge webhook list` shows all")
    return _webhook(row)


def change_webhook(connection: sa.Connection, name: str, wanted: WebhookSpec, allowed: AllowList) -> Webhook:
    """Change a webhook's settings; its secret stays, and waiting deliveries go to the new URL.

    Raises:
        WebhookUnknown: there is none of this name.
        InputError: as `WebhookSpec.columns`.
    """
    return _set(connection, find_webhook(connection, name), **wanted.columns(allowed))


def set_enabled(connection: sa.Connection, name: str, enabled: bool) -> Webhook:
    """Enable or disable a webhook. Waiting deliveries stay, and are sent once it is enabled again.

    Raises:
        WebhookUnknown: there is none of this name.
    """
    return _set(connection, find_webhook(connection, name), enabled=enabled, disabled_because="")


def renew_secret(connection: sa.Connection, name: str, key: SigningKey, at: datetime) -> tuple[Webhook, str]:
    """Renew the secret of a webhook; returns both. For `OVERLAP` deliveries are signed with the old one, too.

    Raises:
        WebhookUnknown: there is none of this name.
    """
    found = find_webhook(connection, name)
    changed = _set(
        connection,
        found,
        secret_number=found.secret_number + 1,
        secret_since=at,
        previous_until=at + OVERLAP if found.key == key.fingerprint else None,  # of another key none can be made
        key=key.fingerprint,
    )
    return changed, key.secret(changed.id, changed.secret_number)


def remove_webhook(connection: sa.Connection, name: str) -> None:
    """Remove a webhook with its log; waiting deliveries are dropped.

    Raises:
        WebhookUnknown: there is none of this name.
    """
    found = find_webhook(connection, name)
    # First its row: who tells of an event then leaves it out, or has written its delivery before.
    connection.execute(sa.select(WEBHOOKS.c.id).where(WEBHOOKS.c.id == found.id).with_for_update())
    connection.execute(sa.delete(DELIVERIES).where(DELIVERIES.c.webhook_id == found.id))
    connection.execute(sa.delete(WEBHOOKS).where(WEBHOOKS.c.id == found.id))


def _set(connection: sa.Connection, found: Webhook, **values: Any) -> Webhook:
    connection.execute(sa.update(WEBHOOKS).where(WEBHOOKS.c.id == found.id).values(**values))
    return find_webhook(connection, found.name)


def _webhook(row: sa.Row[Any]) -> Webhook:
    fields = dict(row._mapping)
    for name in ("events", "networks"):
        fields[name] = None if fields[name] is None else tuple(fields[name])
    return Webhook(**fields)
