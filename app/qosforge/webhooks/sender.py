"""The sender of deliveries: a few webhooks at once, each by one process and in the order of its events."""

from __future__ import annotations

import logging
import threading
import time

from qosforge.database.connections import Database
from qosforge.errors import QosforgeError
from qosforge.settings import Settings
from qosforge.webhooks.deliveries import (
    AttemptResult,
    DeliveryClaim,
    DeliveryState,
    claim_next,
    due_webhooks,
    prune,
    settle,
)
from qosforge.webhooks.messages import body
from qosforge.webhooks.posting import NotDelivered, Poster
from qosforge.webhooks.registry import Webhook
from qosforge.webhooks.signing import SigningKey, load_key, signature
from qosforge.webhooks.targets import AllowList, parse_url

AT_ONCE = 8
"""Webhooks that one process sends to at a time."""
_DRAIN_SECONDS = 2.0
"""How long attempts under way may take once the process is to end; then they are cut, and made again."""
_SLOWEST_NAME = 30.0
"""Seconds that resolving a name may take: beyond, the claim may not last for what follows."""
_LONGEST_ERROR = 500

_log = logging.getLogger(__name__)


class Sender:
    """Sends deliveries in threads of its own, until :meth:`stop`."""

    def __init__(self, database: Database, settings: Settings, poster: Poster | None = None) -> None:
        self._database = database
        self._settings = settings
        self._allowed = AllowList(settings.webhook_hosts)
        self._poster = poster or Poster()
        self._key: SigningKey | None = None
        self._stopping = False
        self._busy: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()

    def any_due(self) -> bool:
        """Whether there is something to send that this process could begin to send now."""
        return bool(self._free())

    def tick(self) -> None:
        """Begin to send what is due. It takes as long as it takes elsewhere; this returns at once.

        Raises:
            StoreError: the database is away.
        """
        for webhook_id in self._free():
            thread = threading.Thread(target=self._drain, args=(webhook_id,), name="webhook", daemon=True)
            with self._lock:
                self._busy[webhook_id] = thread
            thread.start()

    def stop(self) -> None:
        """Begin nothing any more, and cut what is under way after a moment: it is claimed, and sent again."""
        self._stopping = True
        with self._lock:
            threads = list(self._busy.values())
        end = time.monotonic() + _DRAIN_SECONDS
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        self._poster.close()
        for thread in threads:
            thread.join(1.0)

    def _free(self) -> list[str]:
        with self._lock:
            busy = set(self._busy)
        places = AT_ONCE - len(busy)
        if self._stopping or places <= 0:
            return []
        return [each for each in due_webhooks(self._database) if each not in busy][:places]

    def _drain(self, webhook_id: str) -> None:
        try:
            while not self._stopping and (claimed := claim_next(self._database, webhook_id)) is not None:
                outcome = self._attempt(claimed)
                _tell(claimed, outcome, settle(self._database, claimed, outcome))
                dropped = prune(self._database, webhook_id)
                if dropped:
                    _log.warning(
                        "deliveries are dropped unsent: too many wait",
                        extra={"webhook": claimed.webhook.name, "deliveries": dropped},
                    )
        except QosforgeError as error:
            _log.warning("deliveries of a webhook wait: %s", error)
        except Exception:  # noqa: BLE001 - whatever failed, others go on, and its claim runs out
            _log.exception("sending to a webhook failed")
        finally:
            with self._lock:
                del self._busy[webhook_id]

    def _attempt(self, claimed: DeliveryClaim) -> AttemptResult:
        try:
            return AttemptResult(self._post(claimed))
        except NotDelivered as error:
            return AttemptResult(error.status, error.message[:_LONGEST_ERROR], error.retry_after)
        except QosforgeError as error:
            return AttemptResult(error=str(error)[:_LONGEST_ERROR])

    def _post(self, claimed: DeliveryClaim) -> int:
        secrets = self._secrets(claimed.webhook)
        target = parse_url(claimed.webhook.url)
        begun = time.monotonic()
        places = self._allowed.addresses(target)
        if time.monotonic() - begun > _SLOWEST_NAME:
            raise NotDelivered(f"resolving {target.host} took too long")
        sent = body(claimed.type, claimed.at, claimed.data, self._settings.public_url)
        now = int(time.time())
        headers = {
            "webhook-id": claimed.message,
            "webhook-timestamp": str(now),
            "webhook-signature": signature(secrets, claimed.message, now, sent),
        }
        return self._poster.post(target, places, headers, sent)

    def _secrets(self, webhook: Webhook) -> list[str]:
        """The secrets that count, the newest first."""
        key = self._key = self._key or load_key(self._settings)
        if key.fingerprint != webhook.key:
            raise NotDelivered(
                "the key of webhooks is not the one that its secret was made with: give this process that key, or"
                " the webhook a new secret"
            )
        numbers = [webhook.secret_number]
        if webhook.previous_until is not None and time.time() < webhook.previous_until.timestamp():
            numbers.append(webhook.secret_number - 1)
        return [key.secret(webhook.id, number) for number in numbers]


def _tell(claimed: DeliveryClaim, outcome: AttemptResult, state: DeliveryState | None) -> None:
    """A line of the log; never with the URL, whose path may be a secret."""
    fields = {
        "webhook": claimed.webhook.name,
        "event_type": claimed.type,
        "webhook_message": claimed.message,
        "attempt": claimed.attempts,
        "status": outcome.status,
        "error": outcome.error,
    }
    if state is None:
        _log.warning("the claim of a delivery ran out: another process sends it", extra=fields)
    elif state is DeliveryState.DELIVERED:
        _log.info("delivered", extra=fields)
    else:
        _log.warning("not delivered", extra={**fields, "given_up": state is DeliveryState.FAILED})
