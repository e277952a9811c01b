"""The masks by which access lists of a 2950 compare header fields: one in a policy, few on the switch.

A mask says which bits are looked at; entries with other values share it. What looks at no bits beyond the protocol,
such as ``permit tcp any any``, is a mask that the system has itself (configuration guide, ACL and QoS chapters).
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, ip_network

from qosforge.plan.model import Plan, Rule, Term
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES
from qosforge.platforms.ios_switch.classes import list_kind
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.mqc.access_lists import entries

_PORT_OPERATORS = {"eq": 1, "neq": 1, "gt": 1, "lt": 1, "range": 2}


def note_policy_masks(rules: Iterable[Rule], notes: Notes) -> None:
    """A policy whose lists need several masks; its classes by ``match ip dscp`` need none that is known."""
    rules = tuple(rules)
    terms = [term for rule in rules if list_kind(rule) for term in rule.any_of]
    own = list(dict.fromkeys(mask for term in terms if (mask := user_mask(term))))
    system = list(dict.fromkeys(entries((term,))[0] for term in terms if not user_mask(term)))
    if len(own) + len(system) > CAPABILITIES.acl_masks.value:
        notes.note(
            "acl-masks-exceeded",
            direction="input",
            requested=f"{len(own) + len(system)} masks: {'; '.join([*own, *system])}",
            applied=f"{CAPABILITIES.acl_masks.value} mask",
            variant="mixed" if own and system else "default" if own else "system",
        )
    elif terms and any(rule.any_of[0].dscp and list_kind(rule) is None for rule in rules):
        notes.note("acl-masks-unconfirmed", direction="input")


def note_switch_masks(request: DeviceRequest, plan: Plan, running: Plan | None, notes: Notes) -> None:
    """More user-defined masks on the switch than it has: ours, those of other policies, those of filters."""
    if running is None:
        return
    planned = {i.name for i in plan.interfaces}
    others = [i for i in running.interfaces if i.name not in planned]
    rules = [rule for i in (*plan.interfaces, *others) for rule in i.ingress.rules]
    masks = {user_mask(term) for rule in rules if list_kind(rule) for term in rule.any_of} - {""}
    used, most = len(masks) + len(running.filter_masks), CAPABILITIES.acl_masks_of_switch.value
    if masks and used > most and any(i.recognise for i in request.interfaces):
        notes.note(
            "acl-masks-exceeded",
            direction="input",
            requested=f"{used} masks: {'; '.join([*sorted(masks), *running.filter_masks])}",
            applied=f"{most} masks",
            variant="switch",
            most=most,
        )


def user_mask(term: Term) -> str:
    """Which header fields an entry compares; empty for the masks that the system has itself."""
    fields = []
    for name, prefix in (("source", term.source), ("destination", term.destination)):
        if prefix is not None:
            fields.append(f"{name} /{ip_network(prefix).prefixlen}")
    parts: list[tuple[str, object]] = [
        ("source port", term.source_ports),
        ("destination port", term.destination_ports),
        ("dscp", term.dscp),
        ("source MAC", term.source_mac),
        ("destination MAC", term.destination_mac),
    ]
    return " + ".join([*fields, *(name for name, value in parts if value)])


def written_mask(entry: str) -> str:
    """The mask of an entry as it is written, whether it permits or denies; empty for one of the system's, and for
    an entry whose addresses are none: the switch has no such entry."""
    words = entry.split()
    words = words[next((n for n, word in enumerate(words) if word in ("permit", "deny")), len(words) - 1) + 1 :]
    if words and not _begins_address(words[0]):
        del words[0]  # the protocol
    fields = []
    for side in ("source", "destination"):
        try:
            length = _take_address(words)
        except AddressValueError:
            return ""
        if length is not None:
            fields.append(f"{side} /{length}")
        if words and words[0] in _PORT_OPERATORS:
            fields.append(f"{side} port")
            del words[: 1 + _PORT_OPERATORS[words[0]]]
    return " + ".join([*fields, *(word for word in words if word in ("dscp", "precedence", "tos"))])


def _begins_address(word: str) -> bool:
    return word in ("any", "host") or word.count(".") == 3


def _take_address(words: list[str]) -> int | None:
    """How many bits an address at the front compares; None where it compares none.

    Raises:
        AddressValueError: its wildcard is none.
    """
    if not words or not _begins_address(words[0]):
        return None
    first = words.pop(0)
    if first == "any":
        return None
    if first == "host":
        del words[:1]
        return 32
    if words and words[0].count(".") == 3:
        return 32 - int(IPv4Address(words.pop(0))).bit_count()
    return 32
