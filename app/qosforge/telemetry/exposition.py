"""An endpoint of metrics beside whatever else a process does: for workers, and while the store is away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, start_http_server

from qosforge.errors import InputError, ServiceError

_OPTION = "--metrics"


@contextmanager
def exposed_metrics(registry: CollectorRegistry, where: str | None) -> Iterator[None]:
    """Answer scrapes at ``where`` (``ADDRESS:PORT``), of anybody who reaches it, while the block lasts.

    ``None``: nowhere.

    Raises:
        InputError: it is no address with a port.
        ServiceError: it cannot listen there.
    """
    if where is None:
        yield
        return
    address, port = _address(where)
    try:
        server, thread = start_http_server(port, address, registry)
    except OSError as error:
        raise ServiceError(
            f"cannot listen for scrapes at {where}: {error.strerror}", hint=f"choose another {_OPTION}"
        ) from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _address(where: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{where}")
        found = (parts.hostname, parts.port)
    except ValueError:
        found = (None, None)
    if found[0] is None or found[1] is None or parts.netloc != where or "@" in where:
        raise InputError(f"{where!r} is no address with a port", hint=f"write {_OPTION} 127.0.0.1:9464")
    return found[0], found[1]
