"""A store, a key, and webhooks that go to a receiver on the loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from qosforge.runs.record.store import RunStore
from qosforge.settings import Settings
from qosforge.webhooks.deliveries import Delivery, deliveries
from qosforge.webhooks.posting import Poster, PostLimits
from qosforge.webhooks.registry import Webhook, WebhookSpec, add_webhook, find_webhook
from qosforge.webhooks.sender import Sender
from qosforge.webhooks.signing import load_key
from qosforge.webhooks.tables import DELIVERIES
from qosforge.webhooks.targets import AllowList
from tests.runs.conftest import spawn, sqlite_url, store_url

__all__ = ["spawn", "sqlite_url", "store_url"]

KEY = "0123456789abcdef" * 4
EARLY = datetime(2004, 6, 1, tzinfo=UTC)


@dataclass
class Desk:
    """A store with webhooks, and what sends to them."""

    store: RunStore
    settings: Settings
    sender: Sender

    def add(self, name: str, url: str, **wanted: Any) -> tuple[Webhook, str]:
        """A new webhook and its secret."""
        allowed, key = AllowList(self.settings.webhook_hosts), load_key(self.settings)
        return self.store.database.transact(
            lambda connection: add_webhook(
                connection, name, WebhookSpec(url, **wanted), allowed, key=key, at=self.store.now()
            )
        )

    def change(self, work: Callable[[sa.Connection], Any]) -> Any:
        """Do it in one transaction."""
        return self.store.database.transact(work)

    def webhook(self, name: str) -> Webhook:
        """The webhook as it is now."""
        with self.store.database.read() as connection:
            return find_webhook(connection, name)

    def log(self, name: str) -> list[Delivery]:
        """Its deliveries, newest first."""
        with self.store.database.read() as connection:
            return deliveries(connection, find_webhook(connection, name).id)

    def hurry(self) -> None:
        """Let everything that waits be due."""
        waits = DELIVERIES.c.due.is_not(None)
        self.change(lambda connection: connection.execute(sa.update(DELIVERIES).where(waits).values(due=EARLY)))


@pytest.fixture
def desk(store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("QOSFORGE_WEBHOOK_KEY", KEY)
    settings = Settings(
        var_dir=tmp_path / "var",
        database_url=store_url,
        webhook_hosts=("127.0.0.0/8", "localhost"),
        public_url="https://qos.example.net",
    )
    with RunStore(store_url) as store:
        made = Desk(
            store, settings, Sender(store.database, settings, Poster(PostLimits(seconds=2, body_seconds=0.2)))
        )
        yield made
        made.sender.stop()
