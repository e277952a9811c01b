"""Find the lines that are not understood and that a change of a device cannot leave as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qosforge.compiler.merged_configuration import merged_tree, running_tree
from qosforge.configtree import losses, merge, transition
from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.note import note
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, platform
from qosforge.platforms.device_text import Configuration


def find_affected(request: DeviceRequest, running: Configuration, blocks: Sequence[Block]) -> Iterator[Finding]:
    """``not-understood-affected``: one finding for each line and what would become of it."""
    grammar = platform(request.platform, request.device).grammar
    current = running_tree(request, running)
    desired = merged_tree(request, blocks, None)
    target = merge(current, desired, grammar)
    causes: dict[tuple[int, str, str, str], list[str]] = {}
    for loss in losses(transition(current, target, grammar), current, target, desired, grammar):
        causes.setdefault((loss.line.number, loss.line.text, loss.how, loss.holder), []).append(loss.by)
    for (_, text, how, holder), by in causes.items():
        yield note(
            "not-understood-affected",
            Place(device=request.device),
            variant=DEFAULT if how == "removed" else how,
            text=text,
            by=", ".join(by),
            **({"holder": holder} if holder else {}),
        )
