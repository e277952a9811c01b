"""What devices hold, as plans."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.inventory.models import Network
from qosforge.plan.model import Plan
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration


def running_plans(network: Network, texts: Mapping[str, Configuration]) -> dict[str, Plan]:
    """What devices hold, by the configurations they gave."""
    plans = {}
    for name, text in texts.items():
        device = network.device(name)
        plans[name] = parse_running(device.platform, text, name, device.image)
    return plans
