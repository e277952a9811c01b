"""Queueing that others have configured on interfaces, and that no policy goes beside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.cisco_ios.circuits import takes_policy

_IN_THE_WAY = {
    # "Configuring Weighted Fair Queueing": CBWFQ needs an interface with its default queueing.
    "refused": re.compile(r"(priority-group|custom-queue-list|random-detect|fair-queue(?= \d))\b.*"),
    # QoS command reference, ip rtp priority: beside CBWFQ, strict priority over all its classes.
    "beside": re.compile(r"(ip rtp (?:priority|reserve))\b.*"),
    "auto-qos": re.compile(r"(auto qos(?: voip)?)\b.*"),
}


def check_foreign_queueing(request: DeviceRequest, running: Plan | None) -> Iterator[Finding]:
    """``queueing-in-the-way``: lines that a device refuses a policy beside, or that serve packets before it."""
    for interface_request in request.interfaces:
        if running is None or not takes_policy(request, interface_request):
            continue
        lines = [
            line.text
            for line in running.unknown
            if line.context.split()[:2] == ["interface", interface_request.name]
        ]
        for variant, pattern in _IN_THE_WAY.items():
            found = [(text, match[1]) for text in lines if (match := pattern.fullmatch(text))]
            if found:
                yield note(
                    "queueing-in-the-way",
                    Place(device=request.device, interface=interface_request.name, direction="output"),
                    variant=variant,
                    held=", ".join(repr(text) for text, _ in found),
                    removal=" and ".join(dict.fromkeys(f"'no {command}'" for _, command in found)),
                )
