"""What a router holds, as the commands that would enter it: from what ``ip``, ``tc`` and ``nft`` show.

Each is written in one way, whatever units and defaults the programs print. What has no such form is kept as JSON
behind its command, so that nothing is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import Any

from napalm_linux_tc import filters, turns
from napalm_linux_tc.answers import interface_name, printable, read_json, read_list, understood, whole
from napalm_linux_tc.bands import BANDED, band_words, banded_class
from napalm_linux_tc.buckets import readable
from napalm_linux_tc.class_order import only_class, parents_first
from napalm_linux_tc.curves import shown_class
from napalm_linux_tc.fair import KIND as FAIR
from napalm_linux_tc.fair import shown_fair
from napalm_linux_tc.gred import shown_words
from napalm_linux_tc.red import MOST_WEIGHT, average_words, cell, denominator_of, red_words
from napalm_linux_tc.virtual_queues import HOLDER, INPUT, input_words, shown_filters

TABLE = "inet qosforge"
LINKS, QDISCS, RULES = "ip -j link show", "tc -d -j qdisc show", f"nft -j -nn list table {TABLE}"
CLASSES = "tc -d class show dev"
"""What a router is asked; the last one with an interface behind it."""
ROOTS = frozenset({"htb", "hfsc", "tbf", *BANDED})
"""Kinds of queues that are the root of a tree whose classes are asked for."""
_ETHERNET_MTU = 1500
_DEFAULT_HANDLE = "0:"
_CLASSFUL = frozenset({"htb", "hfsc", turns.KIND, *BANDED, "tbf", "qfq", "cbq"})
"""Kinds of queues whose classes are entered, or hold what is."""
_HOOK_PRIORITY = -150  # "mangle", nft(8)
_CLASS = re.compile(
    r"^class htb (?P<id>\S+) (?:root|parent (?P<parent>\S+))(?: leaf \S+)?"
    r"(?: prio (?P<prio>\d+))?(?: quantum (?P<quantum>\d+))? rate (?P<rate>\S+) ceil (?P<ceil>\S+)"
    r"(?: linklayer ethernet)?(?P<more>.*?) burst (?P<burst>[\d.]+[KM]?b)(?:/\d+)?(?: mpu 0b)?"
    r" cburst (?P<cburst>[\d.]+[KM]?b)(?:/\d+)?(?: mpu 0b)?(?: level \d+)?\s*$"
)
_SIZES = {"b": 1, "Kb": 1024, "Mb": 1024 * 1024}
_MOST = 2.0**64
_RATES = {"bit": 1, "Kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12}


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a router's programs show.

    Args:
        links: ``ip -j link show``.
        qdiscs: ``tc -d -j qdisc show``.
        classes: for each interface with a tree ``tc -d class show dev …``.
        rules: ``nft -j list table inet qosforge``; empty where there is no such table.
        outputs: for each interface that may have filters at its output, what `FILTERS` shows of it.
        inside: for queues and classes, by interface and number, what `filters.FILTERS` shows of each.
    """

    links: str
    qdiscs: str = "[]"
    classes: Mapping[str, str] = field(default_factory=dict)
    rules: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[tuple[str, str], str] = field(default_factory=dict)


def shown_lines(answers: Answers) -> tuple[str, ...]:
    """The commands that would enter what is shown.

    Raises:
        AnswerError: an answer is not what the program prints, a `ValueError`.
    """
    qdiscs_of = _by_interface(answers.qdiscs)
    with understood(LINKS):
        told = [link for link in read_list(answers.links, LINKS) if "LOOPBACK" not in link["flags"]]
        up = {interface_name(link["ifname"]): _link_words(link) for link in told}
        lines = [f"ip link set dev {dev} {up[dev]}" for dev in sorted(up)]
    for dev in sorted(up):
        inside = {
            parent: tuple(filters.shown_filters(dev, parent, answer))
            for (at, parent), answer in sorted(answers.inside.items())
            if at == dev
        }
        with understood(f"{CLASSES} {dev}"):
            held = turns.with_filters(qdiscs_of.get(dev, []), inside)
            lines += printable(tuple(_tree(dev, held, answers.classes.get(dev, ""))))
        for parent, told_of in inside.items():
            with understood(filters.FILTERS.format(dev=dev, parent=parent)):
                lines += printable(told_of)
        if any(qdisc["kind"] == INPUT for qdisc in qdiscs_of.get(dev, [])):
            lines += printable((input_words(dev),))
        lines += printable(tuple(shown_filters(dev, answers.outputs.get(dev, ""))))
    if answers.rules.strip():
        with understood(RULES):
            lines += printable(tuple(_rules(read_json(answers.rules, RULES)["nftables"])))
    return tuple(lines)


def _link_words(link: Mapping[str, Any]) -> str:
    """Whether an interface is up, and its MTU (bytes) where packets are longer than those of Ethernet."""
    mtu = whole(link.get("mtu", _ETHERNET_MTU))
    return f"{f'mtu {mtu} ' if mtu > _ETHERNET_MTU else ''}{'up' if 'UP' in link['flags'] else 'down'}"


def trees(qdiscs: str) -> tuple[str, ...]:
    """The interfaces with classes, by what ``tc -d -j qdisc show`` says.

    Raises:
        AnswerError: that is not what the program prints, a `ValueError`.
    """
    roots = ((dev, qdisc) for dev, held in _by_interface(qdiscs).items() for qdisc in held if qdisc.get("root"))
    return tuple(dev for dev, root in roots if root["kind"] in ROOTS)


def filtered(qdiscs: str) -> tuple[str, ...]:
    """The interfaces that may have filters at their outputs, by what ``tc -d -j qdisc show`` says.

    Raises:
        AnswerError: that is not what the program prints, a `ValueError`.
    """
    held = _by_interface(qdiscs).items()
    return tuple(dev for dev, those in held if any(qdisc["kind"] == HOLDER for qdisc in those))


def kinds(qdiscs: str) -> frozenset[str]:
    """The schedulers in use, by what ``tc -d -j qdisc show`` says.

    Raises:
        AnswerError: that is not what the program prints, a `ValueError`.
    """
    return frozenset(qdisc["kind"] for held in _by_interface(qdiscs).values() for qdisc in held)


def _by_interface(qdiscs: str) -> dict[str, list[dict[str, Any]]]:
    """The queueing disciplines of each interface."""
    found: dict[str, list[dict[str, Any]]] = {}
    with understood(QDISCS):
        for qdisc in read_list(qdiscs or "[]", QDISCS):
            words = ("kind", "handle", *(("parent",) if "parent" in qdisc else ()))
            if not all(isinstance(qdisc[word], str) for word in words):
                raise TypeError
            found.setdefault(interface_name(qdisc["dev"]), []).append(qdisc)
    return found


def _tree(dev: str, qdiscs: list[dict[str, Any]], classes: str) -> Iterator[str]:
    named = [q for q in qdiscs if q["handle"] != _DEFAULT_HANDLE and q["kind"] not in {INPUT, HOLDER}]
    for root in (q for q in named if q.get("root")):
        yield f"tc qdisc replace dev {dev} root handle {root['handle']} {_queue(root)}"
    leaves = {q["parent"]: q for q in named if "parent" in q}
    rate = next((_tbf_rate(q) for q in named if q.get("root") and q["kind"] == "tbf"), 0)
    kinds_of = {q["handle"]: q["kind"] for q in named}
    told = [line for line in classes.splitlines() if line.strip() and not _is_inner(line, kinds_of)]
    for line in parents_first(told):
        if (band := banded_class(line)) is not None:
            if band in leaves:
                yield from _leaf(dev, leaves.pop(band), rate)
            continue
        if (turn := turns.shown_class(dev, line)) is not None:
            yield turn[1]
            if turn[0] in leaves:
                yield from _leaf(dev, leaves.pop(turn[0]), rate)
            continue
        if (shared := shown_class(dev, line)) is not None:
            yield shared[1]
            if shared[0] in leaves:
                yield from _leaf(dev, leaves.pop(shared[0]), _curve_rate(shared[1]))
            continue
        found = _CLASS.match(line)
        if found is None:
            yield f"tc class add dev {dev} {line.strip().removeprefix('class ')}"
            continue
        # What holds a tree of its own, and is the only class of its own, is served alone: its place among others
        # says nothing.
        holds = leaves.get(found["id"], {}).get("kind") in {"hfsc", turns.KIND, *BANDED}
        alone = holds and only_class(found["id"], told)
        own = int(_amount(found["rate"], _RATES))
        rate = own if alone else rate
        yield _class(dev, found, alone=alone)
        if found["id"] in leaves:
            yield from _leaf(dev, leaves.pop(found["id"]), own)
    for leaf in leaves.values():
        yield from _leaf(dev, leaf)


def _tbf_rate(qdisc: Mapping[str, Any]) -> int:
    """The rate of a token bucket (b/s); 0 where it is told in another form."""
    rate = qdisc.get("options", {}).get("rate")
    return 8 * rate if type(rate) is int and 0 < rate < _MOST else 0


def _is_inner(line: str, kinds_of: Mapping[str, str]) -> bool:
    """Whether a line is of a class that a queue has of itself: one, or one for each flow that it holds now.

    ``kinds_of`` has the kinds of the queues by their handles.
    """
    if found := re.match(r"class hfsc ([0-9a-f]+:) root\s*$", line):
        return kinds_of.get(found[1]) == "hfsc"
    found = re.match(r"class (\S+) [0-9a-f]+:[0-9a-f]* parent ([0-9a-f]+:)", line)
    return found is not None and found[1] not in _CLASSFUL and kinds_of.get(found[2]) == found[1]


def _curve_rate(command: str) -> int:
    """The share of a class of ``hfsc`` (b/s), by the command that enters it."""
    words = command.split()
    return int(_amount(words[words.index("ls") + 2].replace("k", "K"), _RATES))


def _class(dev: str, found: re.Match[str], *, alone: bool = False) -> str:
    parent = found["parent"] or found["id"].split(":")[0] + ":"
    words = [f"tc class add dev {dev} parent {parent} classid {found['id']} htb"]
    if found["prio"] is not None and not alone:
        words.append(f"prio {found['prio']}")
    words.append(f"rate {found['rate'].lower()} ceil {found['ceil'].lower()}")
    words.append(f"burst {_bucket(found['burst'], found['rate'])}")
    words.append(f"cburst {_bucket(found['cburst'], found['ceil'])}")
    if found["prio"] is not None and found["quantum"] is not None and not alone:
        words.append(f"quantum {found['quantum']}")
    if more := found["more"].strip():
        words.append(more)
    return " ".join(words)


def _bucket(size: str, rate: str) -> str:
    """A bucket that ``tc`` shows, of a rate as it shows that, as it is entered to become the same."""
    return f"{readable(_amount(size, _SIZES), _amount(rate, _RATES))}b"


def _amount(words: str, units: Mapping[str, int]) -> float:
    digits = words.rstrip("KMGTbit")
    amount = float(digits) * units[words[len(digits) :]]
    if amount >= _MOST:
        raise ValueError("more than 64 bits")
    return amount


def _leaf(dev: str, leaf: Mapping[str, Any], rate: int = 0) -> Iterator[str]:
    """A queue; ``rate`` (b/s) is that of the class that it is in, 0 where none is known."""
    where = f"dev {dev} parent {leaf['parent']} handle {leaf['handle']}"
    with understood(QDISCS):
        whole_, *virtual = (shown_words(leaf["options"], rate) if rate and leaf["kind"] == "gred" else ()) or (
            _queue(leaf, rate),
        )
    yield f"tc qdisc add {where} {whole_}"
    yield from (f"tc qdisc change {where} {words}" for words in virtual)


def _queue(qdisc: Mapping[str, Any], rate: int = 0) -> str:
    """The words of a queue of any kind; what is wrong with its options is so in the answer that lists queues."""
    with understood(QDISCS):
        options = qdisc.get("options", {})
        if qdisc["kind"] == "htb":
            return f"htb default 0x{int(str(options.get('default', '0')), 16):x} r2q {whole(options['r2q'])}"
        return _other(qdisc["kind"], options, rate)


def _other(kind: str, options: Mapping[str, Any], rate: int) -> str:
    if kind in {"pfifo", "bfifo"} and set(options) == {"limit"}:
        return f"{kind} limit {options['limit']}"
    if kind == "hfsc" and (found := re.fullmatch(r"default ([0-9a-f]{1,4})", str(options.get("said")))):
        return f"hfsc default 0x{found[1]}"
    if kind in BANDED and (words := band_words(kind, options)):
        return words
    if kind == turns.KIND and not options:
        return kind
    if kind == "tbf" and (words := _tbf(options)):
        return words
    if kind == FAIR and (words := shown_fair(options)):
        return words
    if kind == "red" and rate and set(options) == _RED and (words := _red(options, rate)):
        return words
    return f"{kind} {json.dumps(options, separators=(',', ':'), sort_keys=True)}"


def _tbf(options: Mapping[str, Any]) -> str:
    """A token bucket that holds a rate, and no queue of its own that is told; "" for any other one."""
    if set(options) != _TBF or options["mpu"] != 0 or options["linklayer"] != "ethernet":
        return ""
    rate, limit = 8 * whole(options["rate"]), whole(options["limit"])
    size = options["burst"]
    bucket = whole(size) if type(size) is int else _amount(size.removesuffix("/1"), _SIZES)
    burst = readable(bucket, rate)
    return f"tbf rate {_shown_rate(rate)} burst {burst}b limit {limit}b"


def _shown_rate(rate: int) -> str:
    """A rate (b/s) in the greatest unit that it is a multiple of, as ``tc`` shows those of classes."""
    return next(f"{rate // size}{unit.lower()}" for unit, size in reversed(_RATES.items()) if rate % size == 0)


_TBF = {"rate", "burst", "mpu", "limit", "linklayer"}


def _red(options: Mapping[str, Any], rate: int) -> str:
    """A queue that drops at random as the words of its class's rate; "" where it was entered with others."""
    if any(options[flag] for flag in ("harddrop", "adaptive", "nodrop")):
        return ""
    minimum, maximum, weight = (whole(options[name]) for name in ("min", "max", "ewma"))
    average = (
        average_words(minimum, maximum, weight) if 0 < minimum < maximum and 0 < weight <= MOST_WEIGHT else None
    )
    denominator = denominator_of(float(options["probability"]))
    if average is None or denominator is None or cell(weight, average[0], rate) != options["Scell_log"]:
        return ""
    return red_words(
        limit=whole(options["limit"]),
        minimum=minimum,
        maximum=maximum,
        weight=weight,
        denominator=denominator,
        ecn=options["ecn"] is True,
        rate=rate,
    )


_RED = {"limit", "min", "max", "ecn", "harddrop", "adaptive", "nodrop", "ewma", "probability", "Scell_log"}


def _rules(entries: list[dict[str, Any]]) -> Iterator[str]:
    if not any("table" in entry for entry in entries):
        return
    yield f"nft add table {TABLE}"
    chains = [entry["chain"] for entry in entries if "chain" in entry]
    for chain in sorted(chains, key=lambda c: "hook" not in c):
        if "hook" not in chain:
            yield f"nft add chain {TABLE} {chain['name']}"
            continue
        priority = "mangle" if chain["prio"] == _HOOK_PRIORITY else chain["prio"]
        hook = f"type {chain['type']} hook {chain['hook']} priority {priority} ; policy {chain['policy']} ;"
        yield f"nft add chain {TABLE} {chain['name']} {{ {hook} }}"
    for rule in (entry["rule"] for entry in entries if "rule" in entry):
        words = [_statement(one) for one in rule["expr"]]
        words += [f'comment "{rule["comment"]}"'] if "comment" in rule else []
        yield f"nft add rule {TABLE} {rule['chain']} {' '.join(words)}"
    for entry in entries:
        if not entry.keys() & {"metainfo", "table", "chain", "rule"}:
            yield f"nft add {json.dumps(entry, separators=(',', ':'), sort_keys=True)}"


def _statement(one: Mapping[str, Any]) -> str:
    (kind, value), *_ = one.items()
    match kind, value:
        case "match", {"op": "==", "left": left, "right": right} if (what := _field(left)) and (
            is_ := _value(right)
        ):
            name = f'"{is_}"' if what in {"iifname", "oifname"} else is_
            return f"{what} {name}"
        case "mangle", {"key": key, "value": int() | str() as written} if what := _field(key):
            return f"{what} set {written}"
        case (("jump" | "goto"), {"target": target}):
            return f"{kind} {target}"
        case "counter", _:
            return "counter"
        case "limit", {"rate": rate, "per": "second", "inv": True, "rate_unit": unit, "burst": burst}:
            size = whole(burst) * _BYTES[value["burst_unit"]]
            return f"limit rate over {whole(rate) * _BYTES[unit]} bytes/second burst {size} bytes"
        case (("drop" | "accept" | "return"), None):
            return kind
    return json.dumps(one, separators=(",", ":"), sort_keys=True)


_BYTES = {"bytes": 1, "kbytes": 1024, "mbytes": 1024 * 1024}


def _field(key: Mapping[str, Any]) -> str:
    match key:
        case {"meta": {"key": ("iifname" | "oifname") as name}}:
            return str(name)
        case {"meta": {"key": name}}:
            return f"meta {name}"
        case {"payload": {"protocol": protocol, "field": name}}:
            return f"{protocol} {name}"
    return ""


def _value(right: object) -> str:
    match right:
        case bool():
            return ""
        case int() | str():
            return _address(str(right))
        case {"prefix": {"addr": str() as address, "len": length}}:
            return f"{_address(address)}/{length}"
        case {"range": [first, last]}:
            return f"{first}-{last}"
    return ""


def _address(words: str) -> str:
    """An address of IPv6 in one form (RFC 5952): nft writes the last bits of some as an address of IPv4."""
    try:
        return str(IPv6Address(words)) if ":" in words else words
    except ValueError:
        return words
