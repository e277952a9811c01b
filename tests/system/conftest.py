"""One lab of the whole campus per test module, on the air while its tests run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .campus import Campus
from .crowd import Crowd


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    made = Campus(tmp_path_factory.mktemp("campus") / "var")
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Crowd]:
    made = Crowd(tmp_path)
    made.var.mkdir(mode=0o700)
    try:
        made.start()
        yield made
    finally:
        made.stop()
