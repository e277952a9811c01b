"""The configuration of a device before and after rendered blocks are merged into it, as trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qosforge.compiler.sides_left import find_sides_left, keep_attachments
from qosforge.configtree import Grammar, Tree, keep_lines, merge
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, platform
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import Configuration, unmasked


@dataclass(frozen=True)
class PredictedConfiguration:
    """What a device holds now (none where that is unknown), and what it comes to hold.

    Candidates are made of it, and validators look at it: what is checked is what is pushed.
    """

    current: Tree | None
    target: Tree


def predict_configuration(
    request: DeviceRequest, blocks: Iterable[Block], running: Configuration | None
) -> PredictedConfiguration:
    """The configuration that a device of a request comes to when the rendered blocks are put into ``running``."""
    current = None if running is None else running_tree(request, running)
    return PredictedConfiguration(current, merged_tree(request, blocks, current))


def running_tree(request: DeviceRequest, running: Configuration) -> Tree:
    """What a device runs, with the lines kept that whatever is merged into it leaves as they are.

    They are those that are not understood, and those that put policies on sides that are `find_sides_left`.
    """
    plan = parse_running(request.platform, running, request.device, request.image)
    texts = {line.line: line.text for line in plan.unknown}
    grammar = _grammar(request)
    tree = grammar.parse(unmasked(running))
    tree = keep_lines(tree, texts) if texts else tree
    left = find_sides_left(request, plan)
    return keep_attachments(tree, left, grammar) if left else tree


def merged_tree(request: DeviceRequest, blocks: Iterable[Block], current: Tree | None) -> Tree:
    """What a device comes to hold; the rendered blocks alone where ``current`` is unknown."""
    grammar = _grammar(request)
    desired = grammar.parse("\n".join(block.text for block in blocks))
    return desired if current is None else merge(current, desired, grammar)


def _grammar(request: DeviceRequest) -> Grammar:
    return platform(request.platform, request.device).grammar
