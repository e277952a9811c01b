"""Check policies that an interface outside an intent shares with one that the intent changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from qosforge.compiler.canonical_form import canonical_form
from qosforge.findings import Finding, Severity
from qosforge.plan.model import Egress, Ingress, Plan

_SIDES: tuple[tuple[Literal["ingress", "egress"], str], ...] = (("ingress", "input"), ("egress", "output"))


def find_shared_policies(plan: Plan, running: Plan) -> Iterator[Finding]:
    """``policy-shared``: one finding for every interface side outside the plan whose policy the plan changes.

    A policy name stands for one content on the whole device. ``running`` is the plan of its configuration.
    """
    for side, direction in _SIDES:
        if all(getattr(there, side).policy is None for there in running.interfaces):
            continue
        before = {i.name: getattr(i, side) for i in running.interfaces}
        after = {i.name: getattr(i, side) for i in plan.interfaces}
        changed = {name for name, made in after.items() if name not in before or not _alike(before[name], made)}
        coming = {getattr(i, side).policy: after[i.name] for i in plan.interfaces if i.name in changed}
        for there in running.interfaces:
            policy: str | None = getattr(there, side).policy
            left = there.name not in changed
            if policy is not None and left and policy in coming and not _alike(coming[policy], before[there.name]):
                yield Finding(
                    code="policy-shared",
                    severity=Severity.ERROR,
                    message=f"policy {policy} is on this interface too, which the intent leaves as it is",
                    device=plan.device,
                    interface=there.name,
                    direction=direction,
                    requested="no change here",
                    applied="another policy of this name",
                    hint="give the intent's scopes a 'policy' of another name, or put the interface under them",
                )


def _alike(one: Ingress | Egress, other: Ingress | Egress) -> bool:
    """Whether two sides have the same policy: its name, its rules and the queues behind them."""
    if one.policy != other.policy:
        return False
    # Most are equal as they are, and orders are then nobody's concern.
    return _content(one) == _content(other) or _content(canonical_form(one)) == _content(canonical_form(other))


def _content(side: Ingress | Egress) -> object:
    return side.rules, side.scheduler if isinstance(side, Egress) else side.trust
