"""Follow a run to its end over server-sent events, across broken connections and restarts of the service."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qosforge.client.connection import Connection
from qosforge.errors import Place, ServiceError

OUTAGE_SECONDS = 300.0
"""How long the service may be away while a run is followed."""
PAUSE_SECONDS = (0.5, 1.0, 2.0, 5.0)
"""Between tries to reach it again; the last goes on."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    """One event of a run's stream."""

    kind: str
    data: Json


class StillRunning(ServiceError):
    """The run is still going on after the time to wait."""


def follow(
    connection: Connection, run_id: str, tell: Callable[[StreamedEvent], None], *, seconds: float, after: int = 0
) -> None:
    """Call ``tell`` with every event of a run once and in order, until the run is over.

    Raises:
        StillRunning: it is not over after ``seconds``; it goes on without a watcher.
        ServiceError: the service was away for longer than `OUTAGE_SECONDS`.
        QosforgeError: the run is unknown, or the token does not allow to see it.
    """
    end = time.monotonic() + seconds
    seen = time.monotonic()
    tries = 0
    while True:
        try:
            with connection.events(f"/runs/{run_id}/events", after) as events:
                for event in events:
                    seen, tries = time.monotonic(), 0
                    _require_time(end, run_id)
                    if event is None:
                        continue
                    if event.kind == "end":
                        return
                    if event.id.isascii() and event.id.isdigit() and int(event.id) > after and event.data:
                        after = int(event.id)
                        tell(StreamedEvent(event.kind, _data(event.data)))
                # The service ends a stream when it stops, or when the stream is old.
                seen = time.monotonic()
        except StillRunning:
            raise
        except ServiceError as broken:
            # Unreachable, or a service that starts or is full and says so: both pass.
            away = time.monotonic() - seen
            if away > OUTAGE_SECONDS:
                raise ServiceError(
                    f"the service has been away for {away:.0f} s; run {run_id} is its own and goes on",
                    broken.where,
                    f"follow it again with qosforge wait {run_id}",
                ) from None
        _require_time(end, run_id)
        time.sleep(min(PAUSE_SECONDS[min(tries, len(PAUSE_SECONDS) - 1)], max(end - time.monotonic(), 0)))
        tries += 1


def _require_time(end: float, run_id: str) -> None:
    if time.monotonic() >= end:
        raise StillRunning(
            f"run {run_id} is not over yet",
            Place(),
            f"it goes on by itself: follow it again with qosforge wait {run_id}",
        )


def _data(text: str) -> Json:
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
