"""The command ``serve``: the REST interface, and on SQLite the runs too."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from ipaddress import ip_address
from types import FrameType
from typing import Annotated

import structlog
import typer
import uvicorn

from app.api.application import PREFIX, create_app
from app.api.backend import Backend, open_backend
from app.errors import ServiceError
from app.operations.revision import release
from app.runs.executor import Executor
from app.settings import Settings, load_settings
from app.telemetry.logs import configure_logs
from app.telemetry.traces import start_traces

NOTICE_SECONDS = 1.0
"""How long it says that it is not ready before it takes no more connections: for who looks, such as a balancer."""

DRAIN_SECONDS = 60.0
"""How long the steps of runs that are in flight may take to end."""

_HEADER_BYTES = 32 << 10
_BACKLOG = 1024
_LOG = structlog.get_logger(__name__)

Host = Annotated[str, typer.Option(help="Address to listen at; another than the loopback's is reached by others.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0: any free one.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)


def serve(host: Host = "127.0.0.1", port: Port = 8080) -> None:
    """Serve the REST interface. On SQLite this process also carries out the runs; on PostgreSQL start workers.

    On SIGTERM (or Ctrl-C) it says that it is not ready, lets requests end, ends event streams, finishes the steps
    in flight and goes; runs go on when it comes back.
    """
    settings = load_settings()
    configure_logs(settings.log_format)
    with ExitStack() as opened:
        opened.callback(start_traces(settings.otlp_endpoint, release()))
        listening = opened.enter_context(closing(_listening(host, port)))
        _warn_of_others(host, settings)
        backend = opened.enter_context(open_backend(settings))
        if backend.database.is_embedded:
            opened.enter_context(_executing(settings))
        backend.compute.start()
        config = uvicorn.Config(
            create_app(backend),
            log_config=None,
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=_HEADER_BYTES,
            timeout_graceful_shutdown=int(settings.request_seconds) + 1,
        )
        address, chosen = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        _LOG.info("serving", url=f"http://{shown}:{chosen}{PREFIX}", docs=f"{PREFIX}/docs")
        _Server(config, backend).run([listening])
        _LOG.info("stopping")


class _Server(uvicorn.Server):
    """Ends in order: not ready, then no new connections, then the open requests; a second signal hurries."""

    def __init__(self, config: uvicorn.Config, backend: Backend) -> None:
        super().__init__(config)
        self._backend = backend

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The server's own one would raise the signal again at its end, and nothing of ours would be put away.
        before = {number: signal.signal(number, self._end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        if self._backend.stopping.is_set():
            self.force_exit = self.should_exit
            self.should_exit = True
            return
        self._backend.stopping.set()
        notice = threading.Timer(NOTICE_SECONDS, self._close)
        notice.daemon = True
        notice.start()

    def _close(self) -> None:
        self.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens; before anything is opened, so that a port in use is told at once."""
    made: socket.socket | None = None
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        if made is not None:
            made.close()
        raise ServiceError(
            f"cannot listen at {host} port {port}: {error.strerror}", mend="choose another --host or --port"
        ) from error
    return made


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


def _warn_of_others(host: str, settings: Settings) -> None:
    try:
        alone = ip_address(host).is_loopback
    except ValueError:
        alone = host == "localhost"
    if not alone and not (settings.public_url or "").startswith("https:"):
        _LOG.warning("others reach this address without TLS: put a proxy with TLS before it", host=host)
