"""What is computed from a network and the last readings of its devices has a key, told without reading any text."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from qosforge.api.backend import Backend
from qosforge.inventory.models import Network
from qosforge.memoise import memoise_at_most
from qosforge.release import release


def readings_key(backend: Backend, network: Network, *more: Any) -> str:
    """A hash of this release, a network, the last readings of its devices, and of ``more``, which JSON can say.

    Raises:
        StoreError: the store is away.
    """
    readings = {name: one.artifact for name, one in backend.summaries.of(network).readings.items()}
    parts = [release(), _digest(network), readings, *more]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@memoise_at_most(16)
def _digest(network: Network) -> str:
    return hashlib.sha256(network.model_dump_json(by_alias=True).encode()).hexdigest()
