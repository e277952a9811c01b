"""A session of pybatfish that gives up soon."""

from __future__ import annotations

import logging
from typing import Any

_TRIES = 2
"""How often a request is sent again that failed: pybatfish does it ten times, over minutes."""
_BACKOFF = 0.25
_LONGEST_REQUEST = 15.0
"""Seconds without a byte after which a request has failed; work of the service is polled, and none takes long."""


def open_session(host: str, port: int, seconds: float) -> Any:
    """A session with a service that is to answer everything within ``seconds``.

    Raises:
        OSError, pybatfish.exception.BatfishException: the service fails.
    """
    # Slow to import, and only needed in the process that asks. Options are read when the client is imported.
    from pybatfish.client.options import Options  # noqa: PLC0415

    Options.max_retries_to_connect_to_coordinator = _TRIES
    Options.max_initial_tries_to_connect_to_coordinator = _TRIES
    Options.request_backoff_factor = _BACKOFF

    from pybatfish.client.session import Session  # noqa: PLC0415

    logging.getLogger("pybatfish").setLevel(logging.ERROR)
    return Session(host=host, port=port, timeout=min(_LONGEST_REQUEST, seconds / 2))
