"""Classifiers of a document: their terms, and the rules that the classifiers of an interface amount to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network

from qosforge.openconfig.document import JsonNode
from qosforge.openconfig.protocols import protocol_number
from qosforge.openconfig.terms import LAST_PROTOCOL
from qosforge.openconfig.write import DEFAULT, FAMILIES
from qosforge.plan.model import PortRange, Rule, Term

VERSIONS = {kind: version for version, kind in FAMILIES.items()}
_OWN_ID = re.compile(r"([0-9]{1,6})\.([0-9]{1,6})-(.*)", re.DOTALL)
_MAC = re.compile(r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}")
_ANYWHERE = {4: "0.0.0.0/0", 6: "::/0"}
LAST_PORT = 65535


@dataclass(frozen=True)
class ReadTerm:
    """One term: its id, its condition, and what happens to the packets."""

    id: str
    term: Term
    group: str | None
    set_dscp: int | None
    set_cos: int | None


@dataclass(frozen=True)
class OpenConfigClassifier:
    """Terms in order, of one IP version."""

    version: int
    terms: tuple[ReadTerm, ...]


def read_classifiers(qos: JsonNode) -> dict[str, OpenConfigClassifier]:
    """The classifiers of IPv4 and IPv6 packets by name; others stay in the document, unread."""
    found = {}
    for name, node in qos.child("classifiers").entries("classifier", "name"):
        config = node.child("config")
        version = next((v for kind, v in VERSIONS.items() if config.members.get("type") == kind), None)
        if version is None:
            continue
        config.text("type")
        terms = node.child("terms").entries("term", "id")
        found[name] = OpenConfigClassifier(version, tuple(_term(key, term, version) for key, term in terms))
    return found


def _term(key: str, node: JsonNode, version: int) -> ReadTerm:
    conditions, actions = node.child("conditions"), node.child("actions")
    header = conditions.child(f"ipv{version}").child("config")
    ports = conditions.child("transport").child("config")
    ethernet = conditions.child("l2").child("config")
    single = header.number("dscp", 63)
    dscp = header.numbers("dscp-set", 63)
    term = Term(
        dscp=dscp if single is None else tuple(sorted({single, *dscp})),
        protocol=_protocol(header),
        source=_prefix(header, "source-address", version),
        destination=_prefix(header, "destination-address", version),
        source_ports=_ports(ports, "source-port"),
        destination_ports=_ports(ports, "destination-port"),
        source_mac=_mac(ethernet, "source-mac"),
        destination_mac=_mac(ethernet, "destination-mac"),
    )
    remark = actions.child("remark").child("config")
    return ReadTerm(
        id=key,
        term=term,
        group=actions.child("config").text("target-group"),
        set_dscp=remark.number("set-dscp", 63),
        set_cos=remark.number("set-dot1p", 7),
    )


def _protocol(node: JsonNode) -> int | None:
    value = node.members.get("protocol")
    if not isinstance(value, str):
        return node.number("protocol", LAST_PROTOCOL)
    number = protocol_number(value)
    if number is None:
        node.wrong("protocol", f"{value[:60]!r} is no protocol of the model", "give its number")
    node.text("protocol")
    return number


def _prefix(node: JsonNode, name: str, version: int) -> str | None:
    value = node.text(name)
    if value is None:
        return None
    try:
        network = ip_network(value, strict=False)
    except ValueError:
        network = None
    if network is None or network.version != version:
        node.wrong(name, f"{value[:60]!r} is not an IPv{version} prefix")
        return None
    return str(network)


def _mac(node: JsonNode, name: str) -> str | None:
    value = node.text(name)
    if value is None:
        return None
    if _MAC.fullmatch(value) is None:
        node.wrong(name, f"{value[:60]!r} is not a MAC address", "write it like 00:1b:54:aa:bb:cc")
        return None
    digits = value.lower().replace(":", "")
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))


def _ports(node: JsonNode, name: str) -> tuple[PortRange, ...]:
    value = node.any(name)
    if value is None or value in ("ANY", "openconfig-packet-match-types:ANY"):
        return ()
    parts = value.split("..") if isinstance(value, str) else [value]
    ends = [node.as_number(name, part, LAST_PORT) for part in parts[:2]]
    if len(parts) > 2 or None in ends:
        return ()
    first, last = ends[0] or 0, ends[-1] or 0
    if first > last:
        node.wrong(name, f"the range {value!r} is turned round")
        return ()
    return (PortRange(first=first, last=last),)


def rules_of(
    classifiers: Mapping[int, OpenConfigClassifier], queues: Mapping[str, int | None], *, default: bool
) -> tuple[tuple[Rule, ...], int | None]:
    """Rules, and the default queue, of the classifiers that an interface has by IP version.

    ``queues`` gives the number of each forwarding group's queue. With ``default`` a term of that id that takes
    everything is the default queue rather than a rule.
    """
    lists = {version: list(c.terms) for version, c in classifiers.items()}
    chosen = None
    if (
        default
        and len(lists) == len(FAMILIES)
        and all(terms and _is_default(terms[-1]) for terms in lists.values())
    ):
        last = [terms[-1].group for terms in lists.values()]
        if last[0] == last[1]:
            chosen = queues.get(last[0] or "")
            lists = {version: terms[:-1] for version, terms in lists.items()}
    rules = []
    for (_, name), group in itertools.groupby(_merged(lists), key=_rule_key):
        terms = list(group)
        first = terms[0]
        rules.append(
            Rule(
                name=name,
                any_of=tuple(entry.term for entry in terms),
                set_dscp=first.set_dscp,
                set_cos=first.set_cos,
                queue=None if first.group is None else queues.get(first.group),
            )
        )
    return tuple(rules), chosen


def _is_default(entry: ReadTerm) -> bool:
    marks = (entry.set_dscp, entry.set_cos)
    return entry.id == DEFAULT and entry.term == Term() and marks == (None, None) and entry.group is not None


def _rule_key(entry: ReadTerm) -> tuple[object, str]:
    """What the terms of one rule have in common: our own ids say the rule, else group and marks do."""
    action = (entry.group, entry.set_dscp, entry.set_cos)
    own = _OWN_ID.fullmatch(entry.id)
    if own is not None:
        return (int(own[1]), action), own[3]
    if entry.group is None:
        return (entry.id, action), entry.id
    return action, entry.group


def _merged(lists: Mapping[int, list[ReadTerm]]) -> list[ReadTerm]:
    """Terms of both families as one list. A term of one family alone is bound to it by a prefix.

    Families keep their own order; terms of both are only joined where that is certain not to change it.
    """
    four, six = lists.get(4, []), lists.get(6, [])
    if four == six:
        return four
    ids = [[_place(entry) for entry in terms] for terms in (four, six)]
    if all(None not in side and side == sorted(side, key=lambda p: p or (0, 0)) for side in ids):
        both = {entry.id for entry in four if entry in six}
        shared = [entry for entry in four if entry.id in both]
        alone = [_bound(e, v) for v, terms in ((4, four), (6, six)) for e in terms if e.id not in both]
        return sorted([*shared, *alone], key=lambda e: _place(e) or (0, 0))
    return [*(_bound(entry, 4) for entry in four), *(_bound(entry, 6) for entry in six)]


def _place(entry: ReadTerm) -> tuple[int, int] | None:
    own = _OWN_ID.fullmatch(entry.id)
    return None if own is None else (int(own[1]), int(own[2]))


def _bound(entry: ReadTerm, version: int) -> ReadTerm:
    term = entry.term
    if term.source is None and term.destination is None:
        term = term.model_copy(update={"source": _ANYWHERE[version]})
    return ReadTerm(entry.id, term, entry.group, entry.set_dscp, entry.set_cos)
