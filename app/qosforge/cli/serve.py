"""The command ``serve``: the REST interface, and on SQLite the runs too."""

from __future__ import annotations

import os
import socket
from contextlib import closing
from typing import Annotated

import structlog
import typer

from qosforge.errors import ServiceError
from qosforge.settings import load_settings, unknown_variables

_BACKLOG = 1024
_LOG = structlog.get_logger(__name__)

Host = Annotated[str, typer.Option(help="Address to listen at; another than the loopback's is reached by others.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0: any free one.")]

AsJson = Annotated[bool, typer.Option("--json", help="Log as JSON, whatever the setting says.")]

Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="ADDRESS:PORT",
        help="Answer scrapes of Prometheus there, too, without a token: let only those reach it who may read them.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)


def serve(host: Host = "127.0.0.1", port: Port = 8080, metrics: Metrics = None, as_json: AsJson = False) -> None:
    """Serve the pages and the REST interface. On SQLite this process carries out the runs, too; else start workers.

    On SIGTERM, SIGHUP (or Ctrl-C) it says that it is not ready, lets requests end, ends event streams, finishes the
    steps in flight and goes; runs go on when it comes back.
    """
    settings = load_settings()
    with closing(_listening(host, port)) as listening:
        # The drivers, the engine and the plots take seconds to import: a port in use is told before.
        from qosforge.cli.service import serve_at  # noqa: PLC0415

        settings = settings.model_copy(update={"log_format": "json"}) if as_json else settings
        serve_at(listening, settings, metrics)


def warn_of_unknown_variables() -> None:
    """Log the variables that look like settings and are none: they have no effect, and nobody would see it."""
    for name, near in unknown_variables(os.environ).items():
        _LOG.warning("a variable is read by nobody", variable=name, **({"did_you_mean": near} if near else {}))


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
            f"cannot listen at {host} port {port}: {error.strerror}", hint="choose another --host or --port"
        ) from error
    return made
