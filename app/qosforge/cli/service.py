"""The service as a process: its parts in the order in which they begin and end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address
from types import FrameType

import structlog
import uvicorn

from qosforge.api.application import PREFIX
from qosforge.api.backend import Backend, open_backend
from qosforge.api.middleware.header_timeout import HeaderTimeoutProtocol
from qosforge.cli.entry import look_as_usual
from qosforge.cli.serve import warn_of_unknown_variables
from qosforge.cli.signals import stop_signals
from qosforge.compute import start_server
from qosforge.errors import ServiceError
from qosforge.executor.executor import Executor
from qosforge.release import release
from qosforge.settings import Settings
from qosforge.telemetry.exposition import exposed_metrics
from qosforge.telemetry.logs import configure_logs
from qosforge.telemetry.traces import start_traces
from qosforge.web.site import create_site

NOTICE_SECONDS = 1.0
"""How long it says that it is not ready before it takes no more connections: for who looks, such as a balancer."""

DRAIN_SECONDS = 60.0
"""How long the steps of runs that are in flight may take to end."""

_TICK_SECONDS = 0.5
"""How often the server looks whether it is to end, and what the second is for the header ``Date``."""
_HEADER_BYTES = 32 << 10
_LOG = structlog.get_logger(__name__)


def serve_at(listening: socket.socket, settings: Settings, metrics: str | None = None) -> None:
    """Serve at a socket that listens, until a signal ends it; on SQLite carry out the runs, too.

    ``metrics`` (``ADDRESS:PORT``): where scrapes are answered without a token, also while the store is away.

    Raises:
        InputError, ServiceError: ``metrics`` is no address, or it cannot listen there.
        EngineBusy: another process of this SQLite installation carries out the runs.
        StoreError: the store cannot be opened.
    """
    configure_logs(settings.log_format)
    warn_of_unknown_variables()
    with ExitStack() as opened:
        opened.callback(start_traces(settings.otlp_endpoint, release()))
        backend = opened.enter_context(open_backend(settings))
        opened.enter_context(exposed_metrics(backend.metrics.registry, metrics))
        if backend.database.is_embedded:
            opened.enter_context(_executing(settings))
        start_server()
        look_as_usual()
        config = uvicorn.Config(
            create_site(backend),
            http=HeaderTimeoutProtocol,
            forwarded_allow_ips=list(settings.trusted_proxies),
            log_config=None,
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=_HEADER_BYTES,
            timeout_graceful_shutdown=int(settings.request_seconds) + 1,
        )
        address, port = listening.getsockname()[:2]
        _warn_of_others(address, settings)
        shown = f"[{address}]" if ":" in address else address
        url = f"http://{shown}:{port}{PREFIX}"
        _Server(config, backend, lambda: _LOG.info("serving", url=url, docs=f"{PREFIX}/docs", pages="/")).run(
            [listening]
        )
        _LOG.info("stopping")


class _Server(uvicorn.Server):
    """Ends in order: not ready, then no new connections, then the open requests; a second signal hurries.

    ``serving`` is called when it answers, and heeds signals.
    """

    def __init__(self, config: uvicorn.Config, backend: Backend, serving: Callable[[], None]) -> None:
        super().__init__(config)
        self._backend = backend
        self._serving = serving
        self._ending = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._serving()

    async def main_loop(self) -> None:
        # The server's own loop wakes ten times a second, whoever is there.
        while not await self.on_tick(0):
            await asyncio.sleep(_TICK_SECONDS)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The server's own one would raise the signal again at its end, and nothing of ours would be put away.
        before = {number: signal.signal(number, self._end) for number in stop_signals()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        if self._ending:
            self.force_exit = self.should_exit
            self.should_exit = True
            return
        self._ending = True  # before the event: the next signal may come in its midst, and would wait for its lock
        self._backend.stopping.set()
        notice = threading.Timer(NOTICE_SECONDS, self._close)
        notice.daemon = True
        notice.start()

    def _close(self) -> None:
        self._backend.previews.sessions.close("the service ends")
        self.should_exit = True


@contextmanager
def _executing(settings: Settings) -> Iterator[None]:
    """Carry out runs beside the requests."""
    executor = Executor(settings, lambda stage, line: _LOG.info(line, stage=stage))
    executor.start()
    try:
        yield
    finally:
        if not executor.stop(DRAIN_SECONDS):
            _LOG.error("steps did not end in time; their runs go on at the next start", seconds=DRAIN_SECONDS)
            os._exit(ServiceError.exit_code)


def _warn_of_others(address: str, settings: Settings) -> None:
    if not ip_address(address).is_loopback and not (settings.public_url or "").startswith("https:"):
        _LOG.warning("others reach this address without TLS: put a proxy with TLS before it", address=address)
