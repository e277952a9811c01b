"""A live Batfish for the tests that need one."""

from __future__ import annotations

import os

import pytest

from qosforge.batfish.http_exchange import Address

from .support import DEFAULT_PORT


@pytest.fixture
def live() -> Address:
    """Address of a live service."""
    host = os.environ.get("QOSFORGE_BATFISH_HOST")
    if not host:
        pytest.fail("set QOSFORGE_BATFISH_HOST, or deselect the tests marked batfish")
    return Address(host, int(os.environ.get("QOSFORGE_BATFISH_PORT", DEFAULT_PORT)))
