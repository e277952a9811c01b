"""Connections of callers that say nothing, or say it slowly, are closed: the server itself waits for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""How long a connection may take to tell the head of a request, from its beginning or its last answer."""


class TimedProtocol(H11Protocol):
    """The server's own HTTP/1.1, with a bound for the head of a request; the application bounds the rest."""

    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Wait on while the head is not whole."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._head is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def on_response_complete(self) -> Any:
        """An answer is out: its request's timer must not outlive it."""
        self._stop_waiting()
        super().on_response_complete()
