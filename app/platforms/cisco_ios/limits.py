"""What IOS refuses or misreads, found before it is asked."""

from __future__ import annotations

from collections.abc import Iterator

from app.findings import Finding, Severity
from app.plan.model import InterfacePlan, ShareUnit
from app.plan.request import DeviceRequest, InterfaceRequest
from app.platforms.cisco_ios.capabilities import capabilities, train


def check_bandwidth(
    request: DeviceRequest, wanted: InterfaceRequest, held: InterfacePlan | None
) -> Iterator[Finding]:
    """Shares and fragment sizes are computed from the interface's ``bandwidth``: it must be the link's rate."""
    if held is None or held.bandwidth_kbps is None or not (wanted.schedule or wanted.efficiency):
        return
    kbps = wanted.usable // 1000
    if held.bandwidth_kbps != kbps:
        yield Finding(
            code="bandwidth-differs",
            severity=Severity.ERROR,
            message="the interface's bandwidth is not the link's rate, so every share would be wrong",
            device=request.device,
            interface=wanted.name,
            direction="output",
            asked=f"{kbps} kb/s",
            will_be=f"{held.bandwidth_kbps} kb/s",
            mend=f"set 'bandwidth {kbps}' on the interface, or correct the rate in the inventory",
        )


def check_queues(request: DeviceRequest, wanted: InterfaceRequest, plan: InterfacePlan) -> Iterator[Finding]:
    """Ranges and sums of the queues of one interface."""
    scheduler = plan.egress.scheduler
    assert scheduler is not None
    explicit = 0.0
    for queue in scheduler.queues:
        if queue.share is None:
            continue
        if queue.share.unit is ShareUnit.KBPS:
            limits = capabilities()["priority_kbps" if queue.priority else "bandwidth_kbps"]
            if not limits["minimum"] <= queue.share.value <= limits["maximum"]:
                yield _queue_finding(
                    request,
                    wanted,
                    queue.name or "",
                    "share-out-of-range",
                    f"{queue.share.value} kb/s is outside {limits['minimum']} to {limits['maximum']} kb/s",
                )
            explicit += queue.share.value * 100_000 / wanted.usable
        elif queue.share.unit is ShareUnit.PERCENT:
            explicit += queue.share.value
    reserved = capabilities()["max_reserved_percent"]
    until = train(reserved["until"])
    if explicit > reserved["value"] and train(request.image) <= until:
        yield _queue_finding(
            request,
            wanted,
            "",
            "reserved-bandwidth-exceeded",
            f"classes reserve {explicit:.4g} % of the link, this image allows {reserved['value']} %",
        )


def _queue_finding(request: DeviceRequest, wanted: InterfaceRequest, name: str, code: str, message: str) -> Finding:
    return Finding(
        code=code,
        severity=Severity.ERROR,
        message=message,
        device=request.device,
        interface=wanted.name,
        direction="output",
        traffic_class=name or None,
        mend="ask for less, or give shares as remaining_percent",
    )
