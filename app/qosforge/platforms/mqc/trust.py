"""Inputs that trust the marks of packets: devices that keep every DSCP do the rest by policies."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.plan.model import Rule, Term
from qosforge.plan.request import InterfaceRequest
from qosforge.platforms.mqc.lines import CLASS_DEFAULT

COS_CLASS = "QOSFORGE-COS."
"""Begins the names of the class-maps of one CoS each; no class name has a dot."""
UNTRUSTED_POLICY = "QOSFORGE-UNTRUSTED"
COS_POLICY = "QOSFORGE-COS"


def trust_policy(
    interface_request: InterfaceRequest, dscp_of: Mapping[int, int]
) -> tuple[str, tuple[Rule, ...]] | None:
    """The policy, by name and rules, of an input that does not simply keep the DSCPs it gets; else None.

    One that trusts the CoS writes ``dscp_of`` it, else the DSCP of the same precedence.
    """
    nothing = Rule(name=CLASS_DEFAULT, any_of=(Term(),), set_dscp=0)
    if not interface_request.trust or interface_request.trust_in in (None, "dscp"):
        return None
    if interface_request.trust_in == "none":
        return UNTRUSTED_POLICY, (nothing,)
    by_cos = (
        Rule(name=f"{COS_CLASS}{cos}", any_of=(Term(cos=(cos,)),), set_dscp=dscp_of.get(cos, 8 * cos))
        for cos in range(1, 8)
    )
    return COS_POLICY, (*by_cos, nothing.model_copy(update={"set_dscp": dscp_of.get(0, 0)}))
