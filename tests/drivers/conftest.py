"""Opening a driver against a scripted peer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from napalm import get_network_driver

from .peer import Peer

IOS_MODES = {
    "class-map": "(config-cmap)",
    "policy-map": "(config-pmap)",
    "class": "(config-pmap-c)",
    "police": "(config-pmap-c-police)",
    "interface": "(config-if)",
}


@pytest.fixture
def connect() -> Iterator[Callable[..., Any]]:
    """``connect(driver, peer, **optional_args)``: start the peer, open the driver; both end with the test."""
    with ExitStack() as stack:

        def start(driver: str, peer: Peer, **optional_args: Any) -> Any:
            stack.enter_context(peer)
            arguments = {"port": peer.port, "read_timeout_override": 3, **optional_args}
            box = get_network_driver(driver)("127.0.0.1", "lab", "lab", optional_args=arguments)
            stack.callback(box.close)
            box.open()
            return box

        yield start
