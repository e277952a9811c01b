"""Find features that need Cisco Express Forwarding on a device that runs without it."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Plan


def check_forwarding(plan: Plan, running: Plan | None) -> Iterator[Finding]:
    """``nbar-needs-cef`` and ``car-needs-cef``: what a plan asks for and the device, as it runs, does not do."""
    if running is None or running.system.express_forwarding is not False:
        return
    rules = [r for i in plan.interfaces for r in (*i.ingress.rules, *i.egress.rules)]
    applications = dict.fromkeys(t.application for r in rules for t in r.any_of if t.application)
    policed = [i.name for i in plan.interfaces if i.ingress.policers or i.egress.policers]
    if applications:
        yield note("nbar-needs-cef", Place(device=plan.device), applications=", ".join(applications))
    if policed:
        yield note("car-needs-cef", Place(device=plan.device), interfaces=", ".join(policed))
