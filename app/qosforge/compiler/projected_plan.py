"""The plan that a device will hold, parsed from its running configuration with rendered blocks merged into it."""

from __future__ import annotations

from collections.abc import Iterable

from qosforge.configtree import merge
from qosforge.configtree.tree_text import tree_text
from qosforge.plan.model import Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, platform
from qosforge.platforms.device_text import Configuration, unmasked


def project_plan(request: DeviceRequest, running: Configuration, blocks: Iterable[Block]) -> Plan:
    """What the device of a request holds once the blocks are entered, interfaces outside the request included."""
    target = platform(request.platform, request.device)
    current = target.grammar.parse(unmasked(running))
    desired = target.grammar.parse("\n".join(block.text for block in blocks))
    merged = merge(current, desired, target.grammar)
    return target.parse(tree_text(merged, target.grammar), request.device, request.image)
