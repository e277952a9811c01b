"""One lab of the whole campus per test module, on the air while its tests run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .campus import Campus


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    made = Campus(tmp_path_factory.mktemp("campus") / "var")
    try:
        made.start()
        yield made
    finally:
        made.stop()
