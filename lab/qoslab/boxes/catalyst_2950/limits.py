"""What the hardware behind a 2950's port can hold of a policy. The texts of the refusals are unconfirmed.

Rates, bursts and numbers of policers: command reference OL-10102-01 and configuration guide 78-11380-10. Masks:
configuration guide 78-11380-12, p. 28-5 and 29-6: the lists of a policy compare by one user-defined mask or by one
system-defined mask; a switch has four user-defined masks, which security and QoS do not share. Ports: a mask and a
value tell one port; "no port range" is among the family's restrictions (ccexpert.us, classification and marking on
Catalyst 2950 switches).
"""

from __future__ import annotations

from collections.abc import Iterator

from qoslab.boxes.catalyst.policies import ATTACHED
from qoslab.boxes.catalyst.policing import policed, policer_count
from qoslab.boxes.ios import acl as ios_acl
from qoslab.boxes.ios.classes import class_names
from qoslab.config import Section
from qoslab.grammar import Refused
from qoslab.patterns import ArgumentType

_MEGABIT = 1_000_000
_SMALL_BURSTS = (4096, 8192, 16384, 32768, 65536)
_USER_MASKS = 4  # on the whole switch
_BURSTS = (*_SMALL_BURSTS, 131072, 262144, 524288)

ARGUMENTS = {"BURST": ArgumentType("BURST", lambda token: token if token in map(str, _BURSTS) else None)}
"""A burst in bytes that some port can hold."""
_RANGES = frozenset({"range", "gt", "lt", "neq"})
_COMPARED = {
    **dict.fromkeys(("eq", "neq", "gt", "lt", "range"), "port"),
    "dscp": "dscp",
}
_UNFILTERED = frozenset({"precedence", "tos", "fragments", "established"})
_FILTER = "ip access-group in"
_SYSTEM = ("ip", "tcp", "udp")  # with "any any" these need no mask of the user's


def check(running: Section, port: Section, policy: Section) -> None:
    """Refuse a policy that the port, or the switch as a whole, cannot hold."""
    fast = "FastEthernet" in port.text
    if policer_count(policy) > (6 if fast else 60):
        raise Refused(f"%Error: too many policers in policy map {policy.text.split()[1]} for this interface")
    for held in policy.starting("class "):
        limit = policed(running, held)
        if limit is None:
            continue
        step = _MEGABIT if fast else 8 * _MEGABIT
        high = 100 * _MEGABIT if fast else 1016 * _MEGABIT
        if limit[0] % step or limit[0] > high or limit[1] not in (_SMALL_BURSTS if fast else _BURSTS):
            raise Refused(f"%Error: policer of class {held.text.split()[1]} not supported on this interface")
    for name, entry in _entries(running, policy):
        if entry[0] == "deny":
            raise Refused(f"%Error: deny entries are not supported in QoS access list {name}")
        if not _RANGES.isdisjoint(entry):
            raise Refused(f"%Error: port ranges are not supported in QoS access list {name}")
        if _unknown_parameter(entry[1:]):
            raise Refused(f"%Error: an entry of QoS access list {name} is not supported on this interface")
    _check_masks(running, policy)


def _unknown_parameter(words: list[str]) -> bool:
    """Whether an entry asks for what physical interfaces do not filter by (guide OL-10101-02, table 28-3)."""
    known = words[0] in (*_SYSTEM, "mac") or _is_address(words[0])
    return not known or not _UNFILTERED.isdisjoint(words)


def _check_masks(running: Section, policy: Section) -> None:
    own = {_mask(entry[1:]) for _, entry in _entries(running, policy)}
    if len(own) > 1:
        raise Refused(f"%Error: the access lists of policy map {policy.text.split()[1]} need more than one mask")
    ports = running.starting("interface ")
    names = {port.value(ATTACHED).split()[2] for port in ports if ATTACHED in port}
    attached = [running.get(f"policy-map {name}") for name in names]
    masks = own | {_mask(e[1:]) for held in attached if held is not None for _, e in _entries(running, held)}
    if len(_users(masks)) + len(_users(_security_masks(running, ports))) > _USER_MASKS:
        raise Refused(f"%Error: no mask left on this switch for policy map {policy.text.split()[1]}")


def _users(masks: set[str]) -> list[str]:
    return [mask for mask in masks if not mask.startswith("system ")]


def _security_masks(running: Section, ports: list[Section]) -> set[str]:
    """The masks of the lists that filter packets on physical ports."""
    names = {port.value(_FILTER).split()[2] for port in ports if _FILTER in port and port.mode == "if"}
    return {_mask(entry[1:]) for name in names for entry in _list_entries(running, name)}


def _entries(running: Section, policy: Section) -> Iterator[tuple[str, list[str]]]:
    """The entries of the lists of a policy's classes, each with the name of its list."""
    for class_name in class_names(policy):
        mapped = running.get(f"class-map {class_name}")
        for line in mapped.starting("match access-group") if mapped is not None else ():
            name = line.text.split()[-1]
            yield from ((name, entry) for entry in _list_entries(running, name))


def _list_entries(running: Section, name: str) -> Iterator[list[str]]:
    try:
        yield from ios_acl.AccessList(running, name).entries
    except KeyError:
        layer2 = running.get(f"mac access-list extended {name}")
        for child in layer2 if layer2 is not None else ():
            yield [child.text.split()[0], "mac", *child.text.split()[1:]]


def _mask(words: list[str]) -> str:
    """Which header fields an entry compares, and with which wildcards; values do not count.

    The masks that the system has itself are told apart by their protocol.
    """
    if words[0] in _SYSTEM and words[1:] == ["any", "any"]:
        return f"system {words[0]}"
    layer2 = words[0] == "mac"
    fields = ["mac" if layer2 else "ip"]
    rest = list(words[1:]) if layer2 or not _is_address(words[0]) else list(words)
    while rest:
        word = rest.pop(0)
        if word == "host":
            rest.pop(0)
            fields.append("0.0.0.0")  # noqa: S104  # a wildcard, not an address
        elif word == "any":
            fields.append(word)
        elif _is_address(word):
            fields.append(rest.pop(0) if rest and _is_address(rest[0]) else "0.0.0.0")  # noqa: S104
        elif layer2:
            fields.append("type")
        elif word in _COMPARED:
            fields.append(_COMPARED[word])
    return " ".join(fields)


def _is_address(word: str) -> bool:
    return word in {"any", "host"} or word.count(".") == 3
