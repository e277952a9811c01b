"""Classifiers, marks and policers of the twin's scenario, from a plan."""

from __future__ import annotations

from typing import Any

from qosforge.plan.model import Action, DropPrecedence, InterfacePolicer, Policer, Rule, System, Term

Json = dict[str, Any]

COLOURS: dict[DropPrecedence, str] = {"low": "green", "medium": "yellow", "high": "red"}


def twin_term(term: Term) -> Json:
    """One alternative of a classifier."""
    fields: Json = {}
    for name in ("dscp", "cos", "precedence"):
        if values := getattr(term, name):
            fields[name] = list(values)
    for name, value in (
        ("application", term.application),
        ("protocol", term.protocol),
        ("src", term.source),
        ("dst", term.destination),
        ("src_mac", term.source_mac),
        ("dst_mac", term.destination_mac),
        ("input", term.input_interface),
    ):
        if value is not None:
            fields[name] = [value]
    if term.vlan:
        fields["vlan"] = list(term.vlan)
    if term.source_ports:
        fields["src_ports"] = [[r.first, r.last] for r in term.source_ports]
    if term.destination_ports:
        fields["dst_ports"] = [[r.first, r.last] for r in term.destination_ports]
    return fields


def twin_match(rule: Rule) -> Json:
    """The packets that a rule matches."""
    packets: Json = {"any": [twin_term(alternative) for alternative in rule.any_of]}
    if rule.none_of:
        packets["not"] = {"any": [twin_term(alternative) for alternative in rule.none_of]}
    return packets


def input_marks(system: System, rule: Rule) -> Json:
    """Marks that a rule sets on input, and the queue it chooses there."""
    result = output_marks(rule)
    if "dscp" in result and "cos" not in result and system.dscp_to_cos:
        result["cos"] = system.dscp_to_cos[result["dscp"]]
    if rule.queue is not None:
        result["group"] = rule.queue
    return result


def output_marks(rule: Rule) -> Json:
    """Marks that a rule sets on output, and on input beside what follows from them there."""
    result: Json = {}
    dscp = rule.set_dscp
    if dscp is None and rule.set_precedence is not None:
        dscp = rule.set_precedence << 3
    if dscp is not None:
        result["dscp"] = dscp
    if rule.set_cos is not None:
        result["cos"] = rule.set_cos
    if rule.set_drop_precedence is not None:
        result["colour"] = COLOURS[rule.set_drop_precedence]
    return result


def twin_policer(police: Policer) -> Json:
    """A policer of a class or queue: one bucket, or a three-colour marker where it has two."""
    result: Json = {"rate_bps": police.rate, "burst_bytes": police.burst}
    if police.peak_rate is not None:
        peak_burst = police.burst if police.excess_burst is None else police.excess_burst
        result |= {"kind": "trtcm", "peak_bps": police.peak_rate, "peak_burst_bytes": peak_burst}
    elif police.excess_burst is not None:
        result |= {"kind": "srtcm", "excess_burst_bytes": police.excess_burst}
    result |= {"conform": _action(police.conform), "exceed": _action(police.exceed)}
    if "kind" in result and police.violate is not None:
        result["violate"] = _action(police.violate)
    return result


def interface_policers(policers: tuple[InterfacePolicer, ...]) -> list[Json]:
    """The policers of an interface (CAR), whose second burst is what a packet may borrow."""
    return [
        {
            "match": {"any": [twin_term(alternative) for alternative in listed.any_of]} if listed.any_of else {},
            "police": {
                "kind": "car",
                "rate_bps": listed.police.rate,
                "burst_bytes": listed.police.burst,
                "extended_burst_bytes": listed.police.excess_burst or 0,
                "conform": _action(listed.police.conform),
                "exceed": _action(listed.police.exceed),
            },
        }
        for listed in policers
    ]


def _action(action: Action) -> Json | str:
    if action.drop:
        return "drop"
    fields = {"dscp": action.set_dscp, "precedence": action.set_precedence, "cos": action.set_cos}
    fields_set: Json = {field: value for field, value in fields.items() if value is not None}
    if action.proceed:
        return fields_set | {"then": "continue"} if fields_set else "continue"
    return fields_set or "transmit"
