"""The plan that a device will hold, parsed from its running configuration with rendered blocks merged into it."""

from __future__ import annotations

from collections.abc import Iterable

from qosforge.compiler.merged_configuration import merged_tree, running_tree
from qosforge.configtree.tree_text import tree_text
from qosforge.plan.model import Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, platform
from qosforge.platforms.device_text import Configuration


def project_plan(request: DeviceRequest, running: Configuration, blocks: Iterable[Block]) -> Plan:
    """What the device of a request holds once the blocks are entered, interfaces outside the request included."""
    target = platform(request.platform, request.device)
    merged = merged_tree(request, blocks, running_tree(request, running))
    return target.parse(tree_text(merged, target.grammar), request.device, request.image)
