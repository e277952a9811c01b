"""Queues that serve the flows of a class in turn: the kernel's ``fq_codel``, without what CoDel drops."""

from __future__ import annotations

from typing import Any

from napalm_linux_tc.fair import KIND, USUAL_FLOWS

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Queue
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES

FAIR = KIND
"""The scheduler, as ``tc`` and the ``features`` of an inventory name it."""


def lower_fairness(
    request: DeviceRequest, class_request: ClassRequest, place: Place, queue: Queue, findings: list[Finding]
) -> dict[str, Any]:
    """The fields of a queue, whose limit is known, that serves its flows in turn; none where none asks for it.

    The ``features`` of the request are the schedulers that the kernel has.
    """
    asked = class_request.treatment.fair_queue
    if asked is None:
        return {}
    if FAIR not in request.features:
        findings.append(
            note("fair-queue-unsupported", place, variant="kernel-unknown", scheduler=FAIR, preferred=asked.prefer)
        )
        return {}
    fields: dict[str, Any] = {"fair": True, "flows": asked.flows or USUAL_FLOWS}
    if queue.limit_bytes is None:
        return fields
    size = CAPABILITIES.full_packet.value
    packets = min(max(queue.limit_bytes // size, 1), CAPABILITIES.queue_limit.maximum)
    findings.append(
        note(
            "queue-limit-approximate",
            place,
            variant="in-packets",
            size=size,
            requested=f"{queue.limit_bytes} B",
            applied=f"{packets} packets",
        )
    )
    return {**fields, "limit_bytes": None, "limit_packets": packets}
