"""The lines of the modular QoS command line (MQC): access lists, class-maps, policy-maps, and what classes do.

A platform's table has those groups of rows that its devices have. ``since`` gives the release that brought a
feature of the platform's capability data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from qosforge.commands import ELSEWHERE, ArgumentType, Change, Line
from qosforge.intent.scope import OWN_PREFIX

ACL_PREFIX = f"{OWN_PREFIX}-"
"""Begins the names of the access lists that are ours, and the remarks of numbered ones."""
CLASS_DEFAULT = "class-default"
"""What devices call the class of everything else."""

PROTOCOLS = {
    "tcp": 6, "udp": 17, "icmp": 1, "igmp": 2, "ipinip": 4, "gre": 47, "esp": 50, "ahp": 51, "eigrp": 88,
    "ospf": 89, "pim": 103,
}  # fmt: skip
IPV6_PROTOCOLS = {"icmp": 58, "tcp": 6, "udp": 17, "ahp": 51, "esp": 50, "pcp": 108, "sctp": 132}
"""The protocols that access lists of IPv6 have by name."""
TCP_PORTS = {
    "ftp-data": 20, "ftp": 21, "telnet": 23, "smtp": 25, "domain": 53, "www": 80, "pop3": 110, "nntp": 119,
    "bgp": 179,
}  # fmt: skip
UDP_PORTS = {
    "domain": 53, "bootps": 67, "bootpc": 68, "tftp": 69, "ntp": 123, "snmp": 161, "snmptrap": 162, "syslog": 514,
}  # fmt: skip

Since = Callable[[str], str]

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_ADDRESS_6 = r"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*"
_PORTS = {**UDP_PORTS, **TCP_PORTS}
_VERSIONS = ("ip", "ipv6")


def unknown_release(feature: str) -> str:
    """Says of every feature that no release is known to have brought it."""
    del feature
    return ""


def _protocols(names: Mapping[str, int]) -> ArgumentType:
    """A protocol as its number; a version of IP stays a word."""

    def parse(word: str) -> int | str:
        return word if word in _VERSIONS else names[word] if word in names else int(word)

    return ArgumentType(f"(?:{'|'.join((*_VERSIONS, *names))}|{_OCTET})", parse)


def _port(word: str) -> int:
    port = _PORTS[word] if word in _PORTS else int(word)
    if port > 65535:
        raise ValueError(f"no port: {word}")
    return port


ARGUMENTS = {
    "ADDRESS": ArgumentType(rf"{_OCTET}(?:\.{_OCTET}){{3}}", str),
    "ADDRESS6": ArgumentType(_ADDRESS_6, str),
    "PREFIX6": ArgumentType(f"{_ADDRESS_6}(?:/[0-9]{{1,3}})?", str),
    "PROTOCOL": _protocols(PROTOCOLS),
    "PROTOCOL6": _protocols(IPV6_PROTOCOLS),
    "L4_PORT": ArgumentType(f"(?:{'|'.join(_PORTS)}|[0-9]{{1,5}})", _port),
    "MAC": ArgumentType(r"[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}", str.lower),
    "CLASS_DEFAULT": ArgumentType(CLASS_DEFAULT, str),
}
"""The typed arguments of these rows."""

# -- access lists --------------------------------------------------------------------------------------------
_LOG = "[log|log-input]"
_STANDARD = f"{{permit|deny}}:action {{any|host ADDRESS:source|ADDRESS:source [ADDRESS:source_wildcard]}} {_LOG}"
_SIDE = "{{any|host ADDRESS:{0}|ADDRESS:{0} ADDRESS:{0}_wildcard}}"
_SIDE_6 = "{{any|host ADDRESS6:{0}|PREFIX6:{0}}}"
_MARK = "[dscp DSCP:dscp|precedence PRECEDENCE:precedence]"
_FLOW_PORTS = (
    "[eq L4_PORT:{0}_port|range L4_PORT:{0}_first L4_PORT:{0}_last|gt L4_PORT:{0}_above|lt L4_PORT:{0}_below]"
)


def _entry(protocol: str, side: str) -> str:
    sides = (f"{side} {_FLOW_PORTS}".format(name) for name in ("source", "destination"))
    return f"{{permit|deny}}:action {protocol}:protocol {' '.join(sides)} {_MARK} {_LOG}"


_EXTENDED, _IPV6 = _entry("PROTOCOL", _SIDE), f"{_entry('PROTOCOL6', _SIDE_6)} [sequence <1-4294967294>]"


def _entries(mode: str, sequence: str, entry: str, change: Change | None) -> Iterator[Line]:
    """What stands in a list. What looks at what terms do not have is read as ``rest``."""
    for start in ("", sequence):
        yield Line("ace", f"{start} {entry}", mode, change=change, abbreviated=False)
        yield Line("ace", f"{start} {{permit|deny|evaluate|dynamic}} REST:rest", mode, change=change)
        yield Line("ace", f"{start} remark REST:remark", mode)


LIST_MODES = dict.fromkeys(("access-list", "standard-list", "ipv6-access-list"), "(?!)")
"""The modes of lists, where lines that are not understood matter only if a class looks at the list."""


def access_lists(since: Since = unknown_release, *, own_numbers: Iterable[int] = ()) -> Iterator[Line]:
    """Named and numbered access lists, which keep the order of their entries.

    ``own_numbers`` are those that lists of ours are given; of others nothing is changed.
    """
    named = Change(defines="acl {name}", matches=True, owned=True, ordered=True, only={"name": rf"{ACL_PREFIX}\S*"})
    numbered = Change(
        defines="acl {number}",
        matches=True,
        group="access-list {number}",
        reset="no access-list {number}",
        only={"number": "|".join(map(str, own_numbers)) or "(?!)"},
    )
    yield Line("standard-list", "ip access-list standard WORD:name", opens="standard-list", defines="acl {name}")
    yield from _entries("standard-list", "<1-4294967294>", _STANDARD, None)
    yield Line("access-list", "ip access-list extended WORD:name", opens="access-list", change=named)
    yield from _entries("access-list", "<1-4294967294>", _EXTENDED, Change())
    yield Line(
        "ipv6-access-list",
        "ipv6 access-list WORD:name",
        opens="ipv6-access-list",
        change=named,
        since=since("match_ipv6"),
    )
    yield from _entries("ipv6-access-list", "sequence <1-4294967294>", _IPV6, Change())
    for numbers, entry in (
        ("<1-99>", _STANDARD),
        ("<100-199>", _EXTENDED),
        ("<1300-1999>", _STANDARD),
        ("<2000-2699>", _EXTENDED),
        ("<1-2699>", "remark REST:remark"),
        ("<1-2699>", "REST:rest"),
    ):
        pattern, short = f"access-list {numbers}:number {entry}", "REST" in entry
        yield Line("numbered-list", pattern, change=numbered, abbreviated=short)


# -- class-maps and policy-maps ------------------------------------------------------------------------------
def class_maps(
    since: Since = unknown_release,
    *,
    names: str = r"\S+",
    applications: Iterable[tuple[str, Iterable[str]]] = (),
    labels: bool = False,
) -> Iterator[Line]:
    """Class-maps; ``names`` are those that are not the device's own, ``applications`` releases with the names of
    applications that they brought, ``labels`` where the labels of MPLS are looked at.
    """
    yield Line(
        "class-map",
        "class-map [match-all|match-any]:mode WORD:name",
        opens="class-map",
        change=Change(
            key="{name}",
            defines="class-map {name}",
            matches=True,
            negate="no class-map {name}",
            owned=True,
            ordered=True,
            only={"name": names},
        ),
        since=since("policies"),
    )
    listed = Change(refers=("acl {name}",))
    yield Line("match-acl", "match [not]:negated access-group name WORD:name", "class-map", change=listed)
    yield Line("match-acl", "match [not]:negated access-group WORD:name", "class-map", change=listed)
    inner = Change(refers=("class-map {name}",))
    yield Line("match-class", "match [not]:negated class-map WORD:name", "class-map", change=inner)
    for release, words in applications:
        pattern = f"match [not]:negated protocol {{{'|'.join(words)}}}:application"
        yield Line("match", pattern, "class-map", change=Change(), since=release)
    for pattern, feature in (
        ("any", ""),
        ("ip:ipv4 dscp DSCP:dscp*8", "match_marks"),
        ("dscp DSCP:dscp*8", "match_both_versions"),
        ("ip:ipv4 precedence PRECEDENCE:precedence*8", "match_marks"),
        ("precedence PRECEDENCE:precedence*8", "match_both_versions"),
        ("cos <0-7>:cos*8", "match_cos"),
        ("source-address mac MAC:source_mac", "match_mac"),
        ("destination-address mac MAC:destination_mac", "match_mac"),
        ("input-interface WORD:input_interface", ""),
        ("qos-group <0-99>:qos_group", "qos_group"),
        *([("mpls experimental topmost <0-7>:mpls_experimental*8", "mpls_experimental")] if labels else []),
        ("protocol {rtp REST}:application", "nbar_rtp"),
        ("protocol REST:application", "nbar"),
    ):
        line = f"match [not]:negated {pattern}"
        yield Line("match", line, "class-map", change=Change(), since=since(feature))
    yield Line("match", "", "class-map", change=Change(), also=("match REST",))
    yield Line("text", "description REST", "class-map")


def policy_maps(since: Since = unknown_release, *, names: str = r"\S+") -> Iterator[Line]:
    """Policy-maps and their classes; ``names`` are those that are not the device's own."""
    body = Change(defines="policy-map {name}", owned=True, ordered=True, remove_first=True, only={"name": names})
    rest = Change(implied=True, owned=True, remove_first=True)
    named = Change(refers=("class-map {name}",), owned=True, remove_first=True)
    yield Line("policy-map", "policy-map WORD:name", opens="policy-map", change=body, since=since("policies"))
    yield Line("class", "class CLASS_DEFAULT:name", "policy-map", opens="class", change=rest)
    yield Line("class", "class WORD:name", "policy-map", opens="class", change=named)


def attached(mode: str) -> Line:
    """A policy at an interface, or at a circuit on one."""
    change = Change(
        key="{direction}", refers=("policy-map {name}",), negate_before_change=True, attaches="{direction}"
    )
    return Line("service-policy", "service-policy {input|output}:direction WORD:name", mode, change=change)


def nested(mode: str = "class") -> Line:
    """A policy inside a class."""
    change = Change(key="child", refers=("policy-map {name}",), negate_before_change=True)
    return Line("child", "service-policy [output] WORD:name", mode, change=change)


def templates() -> Iterator[Line]:
    """Templates of interfaces: what one says is said at each port that has it as its source."""
    heading = Change(defines="template {name}", standing=True)
    yield Line("template", "template WORD:name", opens=ELSEWHERE, change=heading)
    change = Change(refers=("template {name}",), standing=True)
    yield Line("source-template", "source template WORD:name", "interface", change=change)


# -- what classes do -----------------------------------------------------------------------------------------
_BURST = "[<1-2000000>:burst]"


def _priority(pattern: str, since: str, *, booked: str = "") -> Line:
    # One class has a level: it is given up before another one takes it.
    unit = "level {level}" if ":level" in pattern else ""
    change = Change(key="priority", negate="no priority", booked=booked, unit=unit)
    return Line("priority", pattern, "class", change=change, since=since)


def _bandwidth(unit: str, amount: str, since: str) -> Line:
    booked = f"{{{amount.rpartition(':')[2]}}}"
    change = Change(key="bandwidth", negate="no bandwidth", booked=booked, unit=f"in {unit}")
    return Line("bandwidth", f"bandwidth {unit} {amount}", "class", change=change, since=since)


def guarantees(since: Since = unknown_release) -> Iterator[Line]:
    """Priority, with its levels and caps, and bandwidth in each unit."""
    yield _priority("priority", since("hqf"))
    yield _priority(f"priority percent <1-100>:percent {_BURST}", since("percent"), booked="{percent}")
    yield _priority(f"priority <0-100000000>:kbps {_BURST}", since("priority"), booked="{kbps}")
    level = "priority level <1-2>:level"
    yield _priority(level, since("priority_levels"))
    yield _priority(f"{level} percent <1-100>:percent {_BURST}", since("priority_levels"), booked="{percent}")
    yield _priority(f"{level} <0-100000000>:kbps {_BURST}", since("priority_levels"), booked="{kbps}")
    yield one("priority", "", key="priority", negate="no priority", also=("priority REST",))
    yield _bandwidth("percent", "<1-100>:percent", since("percent"))
    yield _bandwidth("remaining percent", "<1-100>:remaining_percent", since("remaining_percent"))
    yield _bandwidth("remaining ratio", "<1-65536>:ratio", since("remaining_ratio"))
    yield _bandwidth("", "<0-100000000>:kbps", "")


def one(
    line: str, pattern: str, *, key: str, negate: str, since: str = "", also: tuple[str, ...] = (), opens: str = ""
) -> Line:
    """A line of which a class has one for each ``key``."""
    change = Change(key=key, negate=negate)
    return Line(line, pattern, "class", opens=opens, change=change, also=also, since=since)


def marks(since: Since = unknown_release, *, labels: bool = False) -> Iterator[Line]:
    """What is written into packets, into those with ``labels`` of MPLS too."""
    for pattern, feature in (
        ("ip dscp:field DSCP:set_dscp", "marking"),
        ("dscp:field DSCP:set_dscp", "marking_both_versions"),
        ("ip precedence:field PRECEDENCE:set_precedence", "marking"),
        ("precedence:field PRECEDENCE:set_precedence", "marking_both_versions"),
        ("cos:field <0-7>:set_cos", "marking"),
        ("qos-group:field <0-99>:set_qos_group", "qos_group"),
        *(
            (f"{{mpls experimental {which}}}:field <0-7>:set_mpls_{which}", "mpls_experimental")
            for which in (("imposition", "topmost") if labels else ())
        ),
    ):
        yield Line("set", f"set {pattern}", "class", change=Change(key="{field}"), since=since(feature))
    yield Line("set", "", "class", change=Change(key="{field}"), also=("set [ip] WORD:field REST",))


_BITS = "[<1-154400000>:shape_burst_bits [<0-154400000>:shape_excess_bits]]"
_TIMES = "[<1-2000>:shape_burst_ms [ms] [<1-2000>:shape_excess_ms [ms]]]"


def shapers(
    since: Since = unknown_release, *, opens: str = "", bursts: bool = False, percentages: bool = False
) -> Iterator[Line]:
    """Shapers; ``opens`` where the device prints what is inside the class below them.

    ``bursts`` where they may be stated (in bits, of ``percentages`` in ms).
    """
    if percentages:
        yield one(
            "shape",
            f"shape average:kind percent <1-100>:shape_percent {_TIMES if bursts else ''}",
            key="shape",
            negate="no shape {kind}",
            since=since("police_percent"),
            opens=opens,
        )
    yield one(
        "shape",
        f"shape average:kind <1-100000000000>:shape_rate {_BITS if bursts else ''}",
        key="shape",
        negate="no shape {kind}",
        since=since("shape"),
        also=("shape {average|peak}:kind REST",),
        opens=opens,
    )
    yield one(
        "shape-option", "", key="{what}", negate="no shape {what}", also=("shape {adaptive|max-buffers}:what REST",)
    )


_PERCENTAGES = (
    "cir percent <1-100>:percent [bc <1-2000>:burst_ms [ms]] [pir percent <1-100>:peak_percent]"
    " [be <1-2000>:excess_burst_ms [ms]]"
)
OUTCOMES = ("conform", "exceed", "violate")
"""What a policer tells of a packet."""


def _action(outcome: str, *, tables: bool = False) -> str:
    by_table = f"set-dscp-transmit dscp table WORD:{outcome}_table|" if tables else ""
    return (
        f"{outcome}-action {{transmit|drop|{by_table}set-dscp-transmit DSCP:{outcome}_dscp|"
        f"set-prec-transmit PRECEDENCE:{outcome}_precedence|set-cos-transmit <0-7>:{outcome}_cos}}:{outcome}"
    )


def policers(since: Since = unknown_release, *, percentages: bool = False, tables: bool = False) -> Iterator[Line]:
    """Policers with their actions: behind them, or below them, one a line.

    ``percentages`` where rates may be given as such, ``tables`` where an action may name a table-map.
    """
    # Entered anew, a policer forgets its actions: another rate is another policer. One outcome may have several
    # actions, each entered beside the others, and a new one does not replace them: those that go, go first.
    change = Change(negate="no police", remove_first=True)
    rate, burst = "<1-1000000000000>", "<1-1000000000000>"
    actions = " ".join(f"[{_action(outcome, tables=tables)}]" for outcome in OUTCOMES)
    for buckets, feature in (
        (f"cir {rate}:rate [bc {burst}:burst] [pir {rate}:peak] [be {burst}:excess]", "police_actions_below"),
        (f"{rate}:rate [{burst}:burst [{burst}:extended]]", "police"),
        *([(_PERCENTAGES, "police_percent")] if percentages else []),
    ):
        yield Line(
            "police",
            f"police {buckets} {actions}",
            "class",
            opens="police",
            change=change,
            since=since(feature),
            abbreviated=False,
        )
    yield Line("police", "", "class", opens="police", change=change, also=("police REST",))
    for outcome in OUTCOMES:
        if tables:
            by_table = f"{outcome}-action set-dscp-transmit:{outcome} dscp table WORD:{outcome}_table"
            named = Change(refers=(f"table-map {{{outcome}_table}}",))
            yield Line("action", by_table, "police", change=named)
        yield Line("action", _action(outcome), "police", change=Change())
        yield Line("action", f"{outcome}-action REST:rest", "police", change=Change())
