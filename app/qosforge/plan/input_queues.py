"""Queues of a device's ingress."""

from __future__ import annotations

from qosforge.plan.base import PlanModel


class InputQueues(PlanModel):
    """Queues of a device's ingress, shared by all ports: shares by weight, one of them served first up to a part.

    ``buffer_percent`` and ``weights`` have one entry a queue; ``priority_queue`` gets ``priority_percent`` of the
    ring before the rest is shared; ``cos_to_queue`` has 8 entries, ``dscp_to_queue`` 64. ``cos_drop_percent`` and
    ``dscp_drop_percent`` say how full its queue is where each mark is dropped; empty where that is always 100.
    """

    weights: tuple[int, ...]
    buffer_percent: tuple[int, ...]
    priority_queue: int | None = None
    priority_percent: int = 0
    cos_to_queue: tuple[int, ...] = ()
    dscp_to_queue: tuple[int, ...] = ()
    thresholds: tuple[tuple[int, ...], ...] = ()
    cos_drop_percent: tuple[int, ...] = ()
    dscp_drop_percent: tuple[int, ...] = ()
