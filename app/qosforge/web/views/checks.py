"""The checks that a starting point gets for a network when it is chosen."""

from __future__ import annotations

from typing import Any

from qosforge.intent.policy_analysis import analyse_policy
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.models import Network
from qosforge.tester.derived_checks import derive_checks


def fitting_checks(written: PolicySource, network: Network) -> tuple[dict[str, Any], ...] | None:
    """Checks between the network's end hosts, as the language writes them; none where its traffic has no flow of a
    class with an objective. ``None``: the policy's own fit, or the policy is wrong.
    """
    loaded = analyse_policy(written).loaded
    if loaded is None:
        return None
    known = {station.name for station in network.stations}
    own = loaded.intent.verify
    if own and all({check.from_, check.to} <= known for check in own):
        return None
    return tuple(
        {
            "from": check.from_,
            "to": check.to,
            "classes": list(check.classes),
            **({"beside": list(check.beside)} if check.beside else {}),
            "seconds": check.seconds,
        }
        for check in derive_checks(loaded.intent, network)
    )
