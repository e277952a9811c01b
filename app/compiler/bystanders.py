"""Policies that stand on interfaces beside those that an intent is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from app.compiler.alike import canonical
from app.findings import Finding, Severity
from app.plan.model import Egress, Ingress, InterfacePlan, Plan

_SIDES: tuple[tuple[Literal["ingress", "egress"], str], ...] = (("ingress", "input"), ("egress", "output"))


def shared_policies(plan: Plan, held: Plan) -> Iterator[Finding]:
    """One finding for every side of an interface that ``plan`` leaves as the box holds it, under a policy that is
    to become another one: a name stands for one content on the whole box."""
    for side, direction in _SIDES:
        made = {
            getattr(i, side).policy: _content(getattr(i, side)) for i in plan.interfaces if _changed(i, held, side)
        }
        for there in held.interfaces:
            policy: str | None = getattr(there, side).policy
            wanted = plan.interface(there.name)
            left = wanted is None or not _changed(wanted, held, side)
            if policy is not None and left and policy in made and made[policy] != _content(getattr(there, side)):
                yield Finding(
                    code="policy-shared",
                    severity=Severity.ERROR,
                    message=f"policy {policy} is on this interface too, which the intent leaves as it is",
                    device=plan.device,
                    interface=there.name,
                    direction=direction,
                    asked="no change here",
                    will_be="another policy of this name",
                    mend="give the intent's scopes a 'policy' of another name, or put the interface under them",
                )


def _changed(wanted: InterfacePlan, held: Plan, side: Literal["ingress", "egress"]) -> bool:
    there = held.interface(wanted.name)
    return there is None or _content(getattr(there, side)) != _content(getattr(wanted, side))


def _content(side: Ingress | Egress) -> object:
    """What a policy is: its name, its rules and the queues behind them."""
    alike = canonical(side)
    return alike.policy, alike.rules, alike.scheduler if isinstance(alike, Egress) else alike.trust
