"""Labs for discoveries: the campus that ships, and a small one of every kind of trouble."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qoslab import control

ROOT = Path(__file__).resolve().parents[2]
CAMPUS = ROOT / "inventories" / "campus"


@pytest.fixture(scope="session")
def shipped() -> Network:
    """The campus as its people describe it."""
    return load_network(CAMPUS)


@pytest.fixture(scope="session")
def campus(tmp_path_factory: pytest.TempPathFactory, shipped: Network) -> Iterator[Path]:
    """The state folder of the running lab of the campus."""
    state = tmp_path_factory.mktemp("campus") / "lab"
    start_lab(shipped, CAMPUS, state)
    yield state
    control.stop(state)
