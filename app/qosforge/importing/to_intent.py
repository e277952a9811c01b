"""Translate parts of a plan to the intent language; what has no counterpart is reported."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from qosforge.dscp import DSCP_NAMES
from qosforge.intent.applications import Catalogue
from qosforge.intent.models import RESERVED_CLASS
from qosforge.plan.early_drop import Red
from qosforge.plan.model import Action, Policer, PortRange, Queue, Rule, ShareUnit, Term

IntentData = dict[str, Any]
"""A part of an intent as YAML holds it."""
NoteUnmapped = Callable[[str], None]
"""Reports what the language cannot express."""

_PROTOCOLS = {1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 89: "ospf"}
_LONGEST_NAME = 40
_COLOURS = {"low": "green", "medium": "yellow", "high": "red"}
_NAMES = {number: name for name, number in reversed(DSCP_NAMES.items()) if name not in ("default", "cs0")}


def intent_name(name: str) -> str:
    """The name of a class or policy as the intent language can have it."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", name)[:_LONGEST_NAME]
    if not plain[:1].isalpha():
        plain = f"c-{plain}"[:_LONGEST_NAME]
    return f"{plain}-class" if plain == RESERVED_CLASS else plain


def rate(bits_per_second: int) -> str:
    """A rate without loss: ``2 Mb/s``, ``1500 b/s``."""
    for unit, factor in (("Gb/s", 10**9), ("Mb/s", 10**6), ("kb/s", 10**3)):
        if bits_per_second % factor == 0 and bits_per_second:
            return f"{bits_per_second // factor} {unit}"
    return f"{bits_per_second} b/s"


def code_point(value: int) -> str | int:
    """A DSCP by its name where it has one."""
    return _NAMES.get(value, value)


def match_of(rule: Rule, catalogue: Catalogue, note: NoteUnmapped) -> IntentData | None:
    """What a rule takes; None where no match says it."""
    any_of = [w for term in rule.any_of if (w := _term(term, catalogue, note)) is not None]
    none_of = [w for term in rule.none_of if (w := _term(term, catalogue, note)) is not None]
    found: IntentData = {}
    if none_of:
        found["none"] = none_of
    if any_of and not (none_of and rule.any_of == (Term(),)):
        found = {"any": _join_terms(any_of), **found}
    return found or None


def _join_terms(terms: list[IntentData]) -> list[IntentData]:
    """Neighbours that ask for an application alone as one list of applications."""
    result: list[IntentData] = []
    for term in terms:
        if set(term) == {"application"} and result and set(result[-1]) == {"application"}:
            result[-1] = {"application": [*_many(result[-1]["application"]), term["application"]]}
        else:
            result.append(term)
    return result


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _term(term: Term, catalogue: Catalogue, note: NoteUnmapped) -> IntentData | None:
    words: IntentData = {}
    if term.application is not None:
        if term.application not in catalogue:
            note(f"application {term.application}: the catalogue does not have it")
            return None
        words["application"] = term.application
    lists: dict[str, list[Any]] = {
        "dscp": [code_point(d) for d in term.dscp],
        "precedence": list(term.precedence),
        "cos": list(term.cos),
        "protocol": [] if term.protocol is None else [_PROTOCOLS.get(term.protocol, term.protocol)],
        "source": [term.source],
        "destination": [term.destination],
        "source_port": [_ports(p) for p in term.source_ports],
        "destination_port": [_ports(p) for p in term.destination_ports],
        "vlan": list(term.vlan),
        "source_mac": [term.source_mac],
        "destination_mac": [term.destination_mac],
        "input_interface": [term.input_interface],
        "mpls_experimental": list(term.mpls_experimental),
        "qos_group": list(term.qos_group),
    }
    for name, values in lists.items():
        given = [v for v in values if v is not None]
        if given:
            words[name] = given[0] if len(given) == 1 else given
    if not words:
        note("a class of its own that takes every packet")
        return None
    return words


def _ports(ports: PortRange) -> int | str:
    return ports.first if ports.first == ports.last else f"{ports.first}-{ports.last}"


def mark_of(rule: Rule) -> IntentData:
    """The marks that a rule sets."""
    words: IntentData = {}
    if rule.set_dscp is not None:
        words["dscp"] = code_point(rule.set_dscp)
    if rule.set_precedence is not None:
        words["precedence"] = rule.set_precedence
    if rule.set_cos is not None:
        words["cos"] = rule.set_cos
    if rule.set_drop_precedence is not None:
        words["drop_precedence"] = rule.set_drop_precedence
    for name in ("qos_group", "mpls_imposition", "mpls_topmost"):
        if (value := getattr(rule, f"set_{name}")) is not None:
            words[name] = value
    return words


def police_of(police: Policer, direction: str, note: NoteUnmapped) -> IntentData | None:
    """A policer; None where the language has none like it."""
    words: IntentData
    if police.percent is not None:
        times = (("burst_time", police.burst_ms), ("excess_burst_time", police.excess_burst_ms))
        words = {"percent": police.percent, **{name: f"{ms} ms" for name, ms in times if ms is not None}}
        if police.peak_percent is not None:
            words["peak_percent"] = police.peak_percent
    else:
        words = {"rate": rate(police.rate), "burst": f"{police.burst} B"}
        if police.peak_rate is not None:
            words["peak_rate"] = rate(police.peak_rate)
        if police.excess_burst is not None:
            words["excess_burst"] = f"{police.excess_burst} B"
    if any(a is not None and a.proceed for a in (police.conform, police.exceed, police.violate)):
        note("a policer that hands packets to the next one ('continue')")
        return None
    if police.conform.drop:
        note("a policer that drops what conforms")
        return None
    for name, action in (("conform", police.conform), ("exceed", police.exceed), ("violate", police.violate)):
        if action is not None and not (name == "conform" and action == Action()):
            words[name] = action_of(action)
    if police.violate is not None and police.excess_burst is None:
        note("what violates a policer of one bucket")
        del words["violate"]
    if direction == "output":
        words["direction"] = "output"
    return words


def action_of(action: Action) -> str | IntentData:
    """What a policer does with a packet."""
    if action.drop:
        return "drop"
    if action.set_dscp is not None:
        return {"remark": code_point(action.set_dscp)}
    if action.set_precedence is not None:
        return {"precedence": action.set_precedence}
    return {"cos": action.set_cos} if action.set_cos is not None else "transmit"


def treatment_of(queue: Queue, note: NoteUnmapped) -> IntentData:
    """How a queue is served, its children aside."""
    words: IntentData = {}
    share = share_of(queue)
    if queue.priority:
        words["priority"] = share or True
        if queue.burst is not None and share:
            words["priority"] = {**share, "burst": f"{queue.burst} B"}
    elif share:
        words["bandwidth"] = share
    if queue.red is not None:
        words["wred"] = red_of(queue.red) or True
    if queue.fair:
        words["fair_queue"] = True if queue.flows is None else {"flows": queue.flows}
    if queue.limit_bytes is not None:
        words["queue_limit"] = {"bytes": f"{queue.limit_bytes} B"}
    elif queue.limit_ms is not None:
        words["queue_limit"] = {"time": f"{queue.limit_ms} ms"}
    elif queue.limit_packets is not None:
        words["queue_limit"] = {"packets": queue.limit_packets}
    elif queue.thresholds and not any(threshold.cos for threshold in queue.thresholds):
        words["queue_limit"] = {
            "thresholds": [
                {"dscp": [code_point(point) for point in threshold.dscp], "percent": threshold.percent}
                for threshold in queue.thresholds
            ]
        }
    if queue.buffer_percent is not None:
        words["buffers"] = {"percent": queue.buffer_percent}
    if shape := shape_of(queue):
        words["shape"] = shape
    if queue.level is not None and not queue.priority:
        note("an order of service within shares")
    return words


def shape_of(queue: Queue) -> IntentData:
    """What a queue is shaped to; nothing where it is not."""
    if queue.shape_percent is not None:
        times = (("burst_time", queue.shape_burst_ms), ("excess_burst_time", queue.shape_excess_ms))
        return {"percent": queue.shape_percent, **{name: f"{ms} ms" for name, ms in times if ms is not None}}
    if queue.shape_rate is None:
        return {}
    sizes = (("burst", queue.shape_burst_bits), ("excess_burst", queue.shape_excess_bits))
    return {"rate": rate(queue.shape_rate), **{name: f"{bits // 8} B" for name, bits in sizes if bits is not None}}


def share_of(queue: Queue) -> IntentData:
    """A guaranteed share in the language's units; nothing where an uncapped priority queue has one."""
    if queue.share is None or (queue.priority and not queue.capped):
        return {}
    value = queue.share.value
    match queue.share.unit:
        case ShareUnit.KBPS:
            return {"rate": rate(value * 1000)}
        case ShareUnit.PERCENT:
            return {"percent": value}
        case ShareUnit.REMAINING_PERCENT:
            return {"remaining_percent": value}
        case ShareUnit.WEIGHT:
            return {"weight": value}


def red_of(red: Red) -> IntentData:
    """Early detection with all its curves."""
    unit = {"packets": "packets", "bytes": "B", "ms": "ms", "us": "us", "percent": "%"}[red.unit]
    profiles = []
    for profile in red.profiles:
        marks: IntentData = {}
        if profile.colour is not None:
            marks["colour"] = _COLOURS[profile.colour]
        elif profile.dscp:
            marks["dscp"] = [code_point(d) for d in profile.dscp]
        elif profile.precedence:
            marks["precedence"] = list(profile.precedence)
        elif len(red.profiles) == 1:
            # One for all packets; a profile of the language names its marks, and these are all.
            marks["precedence"] = list(range(8))
        limits = {"minimum": f"{profile.minimum} {unit}", "maximum": f"{profile.maximum} {unit}"}
        if red.unit != "percent":
            limits["probability"] = f"{100 / profile.denominator:.12g} %"
        if marks:
            profiles.append({**marks, **limits})
    # What counts in parts of a queue averages as the device does; 0 where it has no average.
    averages = red.weight_exponent and red.unit != "percent"
    words: IntentData = {"weight_exponent": red.weight_exponent} if averages else {}
    if profiles:
        words["profiles"] = profiles
    if red.ecn:
        words["ecn"] = True
    return words


def same_match(one: IntentData | None, other: IntentData | None) -> bool:
    """Whether two matches list the same alternatives, in whatever order."""
    if one is None or other is None:
        return one is other

    def canonical(words: IntentData) -> dict[str, list[str]]:
        return {key: sorted(map(repr, terms)) for key, terms in words.items()}

    return canonical(one) == canonical(other)
