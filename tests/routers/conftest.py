"""A lab of two Linux routers on a line of 10 Mb/s, with a station at each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qoslab import control
from qoslab.control import Overlay
from qoslab.spec import BoxSpec, LinkSpec, NetworkSpec, StationSpec

RATE = 10_000_000


def network(startup: Path) -> NetworkSpec:
    routers = [
        BoxSpec(name=name, platform="linux_tc", username="u", password="p", startup_config=startup)
        for name in ("r1", "r2")
    ]
    links = [
        LinkSpec(a=("r1", "wan0"), b=("r2", "wan0"), rate=RATE),
        LinkSpec(a=("r1", "lan0"), rate=10**9, station=StationSpec(name="a", address="198.51.100.1")),
        LinkSpec(a=("r2", "lan0"), rate=10**9, station=StationSpec(name="b", address="198.51.100.2")),
    ]
    return NetworkSpec(network="two", boxes=routers, links=links)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "lab"


@pytest.fixture
def lab(tmp_path: Path, state: Path) -> Iterator[Overlay]:
    startup = tmp_path / "startup.cfg"
    startup.write_text("ip link set dev lan0 up\nip link set dev wan0 up\n", encoding="utf-8")
    try:
        yield control.start(network(startup), state)
    finally:
        control.clean(state)
