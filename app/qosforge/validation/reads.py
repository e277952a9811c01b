"""The devices whose configurations must be read to check a change."""

from __future__ import annotations

from collections.abc import Collection

from qosforge.compiler.scope_resolution import with_neighbours
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network
from qosforge.tester.network_under_test import devices_under_test


def devices_to_read(intent: Intent, network: Network, changed: Collection[str]) -> frozenset[str]:
    """The devices that are changed, those at the other ends of their links, and those that packets pass which the
    intent verifies: what any check, a prediction or a measurement asks for.
    """
    return with_neighbours(changed, network) | devices_under_test(intent, network)
