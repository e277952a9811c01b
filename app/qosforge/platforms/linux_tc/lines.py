"""The lines of a Linux router: commands of tc and nft as they are entered and as its driver shows what it holds.

The queues of an interface are one tree, and what tells packets apart is one table of nft: each is entered anew as
a whole where anything of it changes, the table in one transaction. Rules have their place in their chain as a
comment, so that one in between changes those behind it.
"""

from __future__ import annotations

from typing import Any

from napalm_linux_tc.fair import FIXED
from napalm_linux_tc.schedulers import SCHEDULERS
from napalm_linux_tc.turns import PREFERENCE
from napalm_linux_tc.virtual_queues import MASK, PREFERENCES

from qosforge.commands import ArgumentType, Change, CommandTable, Line
from qosforge.platforms.linux_tc.numbering import ABOVE, BANDS, MAJOR, TURNS

TABLE_NAME = "inet qosforge"
INPUT, OUTPUT = "input", "output"

_UNITS = {"bit": 1, "kbit": 1_000, "mbit": 1_000_000, "gbit": 1_000_000_000, "tbit": 1_000_000_000_000}
_SIZES = {"b": 1, "kb": 1024, "mb": 1024 * 1024}


def _scaled(units: dict[str, int]) -> ArgumentType:
    def parse(word: str) -> int:
        digits = word.rstrip("abcdefghijklmnopqrstuvwxyz")
        return int(digits) * units[word[len(digits) :]]

    return ArgumentType(rf"\d{{1,13}}(?:{'|'.join(units)})", parse)


def _ports(word: str) -> str:
    first, _, last = word.partition("-")
    if not 0 <= int(first) <= int(last or first) <= 65535:
        raise ValueError(f"no ports: {word}")
    return word


def _unquoted(word: str) -> str:
    return word.strip('"')


_ARGUMENTS = {
    "HANDLE": ArgumentType(r"[0-9a-f]{1,4}:", str),
    "CLASSID": ArgumentType(r"[0-9a-f]{1,4}:[0-9a-f]{1,4}", str),
    "INSIDE": ArgumentType(r"[0-9a-f]{1,4}:(?:[0-9a-f]{1,4})?", str),
    "OUTER": ArgumentType(f"{ABOVE}:", str),
    "ABOVE": ArgumentType(f"{ABOVE}:1", str),
    "BANDS": ArgumentType(f"{BANDS}:", str),
    "BAND": ArgumentType(rf"{BANDS}:[0-9a-f]{{1,2}}", str),
    "TURNS": ArgumentType(f"{TURNS}:", str),
    "TURN": ArgumentType(rf"{TURNS}:[0-9a-f]{{1,4}}", str),
    "INNER": ArgumentType(f"{MAJOR}:", str),
    "HEX": ArgumentType(r"0x[0-9a-f]{1,8}", lambda word: int(word, 16)),
    "RATE": _scaled(_UNITS),
    "SIZE": _scaled(_SIZES),
    "MICROSECONDS": ArgumentType(r"\d{1,10}us", lambda word: int(word.removesuffix("us"))),
    "CHANCE": ArgumentType(r"0\.\d{1,12}|\d(?:\.\d{1,9})?e-0\d", str),
    "NUMBER": ArgumentType(r":[0-9a-f]", lambda word: int(word.removeprefix(":"), 16)),
    "TOS": ArgumentType(rf"0x[0-9a-f]{{1,2}}/{MASK}", lambda word: int(word.removesuffix(f"/{MASK}"), 16) >> 2),
    "NAME": ArgumentType(r'"[^"\s]+"', _unquoted),
    "PLACE": ArgumentType(r'"\d+"', lambda word: int(_unquoted(word))),
    "PORTS": ArgumentType(r"\d+(?:-\d+)?", _ports),
}


def _tree(**more: Any) -> Change:
    # Text has each class and queue behind what it is in, also in trees of others.
    return Change(group="tree {dev}", ordered=True, **{"reset": "tc qdisc del dev {dev} root", **more})


def _rules(**more: Any) -> Change:
    return Change(group="rules", reset=f"nft delete table {TABLE_NAME}", **more)


_ROOT, _CLASS, _QUEUE = "root", "class {id}", "queue in {parent}"
"""Places that hold one scheduler, class or queue each: the kernel refuses to add another one there."""
_CLEAR = "tc filter del dev {dev} egress pref {pref}"
_AVERAGE = (
    "limit SIZE:limit min SIZE:minimum max SIZE:maximum avpkt SIZE:packet burst <1-4294967295>:burst "
    "probability CHANCE:probability bandwidth RATE:bandwidth"
)
_BUCKETS = "rate RATE:rate ceil RATE:ceil burst SIZE:burst cburst SIZE:cburst"


def _end(side: str, field: str) -> str:
    return f"[{{ip s_addr WORD:{field}|ip6 s_addr WORD:{field}}}]".replace("s_addr", f"{side}addr")


_MATCH = (
    "[iifname NAME:from] "
    f"{_end('s', 'source')} {_end('d', 'destination')} "
    "[{ip|ip6}:family dscp <0-63>:dscp] [meta l4proto <0-255>:protocol] "
    "[{tcp|udp}:source_transport sport PORTS:source_ports] [{tcp|udp}:transport dport PORTS:destination_ports]"
)


def _rule(line: str, pattern: str, *refers: str) -> Line:
    change = _rules(refers=("chain {chain}", *refers))
    return Line(line, f"nft add rule {TABLE_NAME} WORD:chain {pattern} comment PLACE:place", change=change)


TABLE = CommandTable(
    Line("scheduler", f"modprobe {{{'|'.join(f'sch_{name}' for name in SCHEDULERS)}}}:module"),
    Line("link", "ip link set dev WORD:dev [mtu <1-4294967295>:mtu] {up|down}"),
    Line(
        "holder",
        "tc qdisc replace dev WORD:dev root handle HANDLE:handle tbf rate RATE:rate burst SIZE:burst "
        "limit SIZE:limit",
        change=_tree(defines="class {dev} {handle}1", place=_ROOT),
    ),
    Line(
        "tree",
        "tc qdisc replace dev WORD:dev root handle HANDLE:handle htb default HEX:default r2q <1-4294967295>",
        change=_tree(defines="class {dev} {handle}", place=_ROOT),
    ),
    Line("foreign", change=_tree(place=_ROOT), also=("tc qdisc replace dev WORD:dev root REST",)),
    Line(
        "above",
        f"tc class add dev WORD:dev parent OUTER:handle classid CLASSID:id htb {_BUCKETS}",
        change=_tree(defines="class {dev} {id}", refers=("class {dev} {handle}",), place=_CLASS),
    ),
    Line(
        "ets",
        "tc qdisc add dev WORD:dev parent ABOVE:parent handle BANDS:handle ets strict <0-16>:strict "
        "[quanta <1-4294967295>*16:quanta] priomap <0-15>*=16:priomap",
        change=_tree(refers=("class {dev} {parent}",), defines="class {dev} {handle}", place=_QUEUE),
    ),
    Line(
        "prio",
        "tc qdisc add dev WORD:dev parent ABOVE:parent handle BANDS:handle prio bands <2-16>:bands "
        "priomap <0-15>*=16:priomap",
        change=_tree(refers=("class {dev} {parent}",), defines="class {dev} {handle}", place=_QUEUE),
    ),
    Line(
        "inner",
        "tc qdisc add dev WORD:dev parent BAND:parent handle INNER:handle htb default HEX:default "
        "r2q <1-4294967295>",
        change=_tree(refers=("class {dev} {parent}",), defines="class {dev} {handle}", place=_QUEUE),
    ),
    Line(
        "turns",
        "tc qdisc add dev WORD:dev parent CLASSID:parent handle TURNS:handle drr",
        change=_tree(refers=("class {dev} {parent}",), defines="class {dev} {handle}", place=_QUEUE),
    ),
    Line(
        "turn",
        "tc class add dev WORD:dev parent TURNS:handle classid TURN:id drr quantum SIZE:quantum",
        change=_tree(refers=("class {dev} {handle}",), defines="class {dev} {id}", place=_CLASS),
    ),
    Line(
        "untold",
        f"tc filter add dev WORD:dev parent TURNS protocol all pref <{PREFERENCE}-{PREFERENCE}> handle HEX "
        "matchall classid TURN:id",
        change=_tree(refers=("class {dev} {id}",)),
    ),
    Line(
        "whole",
        f"tc class add dev WORD:dev parent HANDLE:handle classid CLASSID:id htb {_BUCKETS}",
        change=_tree(defines="class {dev} {id}", refers=("class {dev} {handle}",), place=_CLASS),
    ),
    Line(
        "class",
        f"tc class add dev WORD:dev parent CLASSID:parent classid CLASSID:id htb prio <0-7>:prio {_BUCKETS} "
        "quantum <1-4294967295>:quantum",
        change=_tree(defines="class {dev} {id}", refers=("class {dev} {parent}",), place=_CLASS),
    ),
    Line(
        "sharing",
        "tc qdisc add dev WORD:dev parent CLASSID:parent handle HANDLE:handle hfsc default HEX:default",
        change=_tree(refers=("class {dev} {parent}",), defines="class {dev} {handle}", place=_QUEUE),
    ),
    Line(
        "shared",
        "tc class add dev WORD:dev parent INSIDE:parent classid CLASSID:id hfsc "
        "[rt m1 RATE:burst_rate d MICROSECONDS:burst_us m2 RATE:guaranteed] ls m2 RATE:share [ul m2 RATE:ceil]",
        change=_tree(refers=("class {dev} {parent}",), defines="class {dev} {id}", place=_CLASS),
    ),
    Line(
        "queue",
        "tc qdisc add dev WORD:dev parent CLASSID:parent handle HANDLE:handle {pfifo|bfifo}:kind "
        "limit <1-4294967295>:limit",
        change=_tree(refers=("class {dev} {parent}",), place=_QUEUE),
    ),
    Line(
        "fair",
        "tc qdisc add dev WORD:dev parent CLASSID:parent handle HANDLE:handle fq_codel limit <1-4294967295>:limit "
        f"flows <1-65536>:flows {FIXED}",
        change=_tree(refers=("class {dev} {parent}",), place=_QUEUE),
    ),
    Line(
        "red",
        f"tc qdisc add dev WORD:dev parent CLASSID:parent handle HANDLE:handle red {_AVERAGE} [{{ecn}}:ecn]",
        change=_tree(refers=("class {dev} {parent}",), place=_QUEUE),
    ),
    Line(
        "gred",
        "tc qdisc add dev WORD:dev parent CLASSID:parent handle HANDLE:handle gred setup DPs <2-16>:numbers "
        "default <1-15>:default grio limit SIZE:limit",
        change=_tree(refers=("class {dev} {parent}",), defines="queue {dev} {handle}", place=_QUEUE),
    ),
    Line(
        "virtual",
        f"tc qdisc change dev WORD:dev parent CLASSID:parent handle HANDLE:handle gred {_AVERAGE} "
        "DP <1-15>:number prio <1-1> [{ecn}:ecn]",
        change=_tree(refers=("queue {dev} {handle}",)),
    ),
    Line("input", "tc qdisc replace dev WORD:dev ingress"),
    Line("filters", "tc qdisc replace dev WORD:dev clsact", change=_tree(reset="", defines="filters {dev}")),
    Line(
        "direct",
        f"tc filter replace dev WORD:dev egress protocol {{ip|ipv6}}:protocol "
        f"pref {{{'|'.join(map(str, PREFERENCES.values()))}}}:pref handle HEX flower ip_tos TOS:dscp "
        "classid NUMBER:number",
        change=_tree(reset=_CLEAR, refers=("filters {dev}",)),
    ),
    Line(
        "other-class",
        change=_tree(place=_CLASS),
        also=(
            "tc class add dev WORD:dev parent WORD classid WORD:id REST",
            "tc class add dev WORD:dev WORD WORD:id REST",
        ),
    ),
    Line("other-queue", change=_tree(place=_QUEUE), also=("tc qdisc add dev WORD:dev parent WORD:parent REST",)),
    Line(
        "other-filter",
        change=_tree(reset=_CLEAR),
        also=("tc filter add dev WORD:dev egress pref WORD:pref REST",),
    ),
    Line("inner-filter", change=_tree(), also=("tc filter add dev WORD:dev parent WORD REST",)),
    Line("filter-elsewhere", change=_tree(reset=""), also=("tc filter add dev WORD:dev REST",)),
    Line("no-tree", "tc qdisc del dev WORD:dev root", change=_tree()),
    Line("table", f"nft add table {TABLE_NAME}", change=_rules()),
    Line(
        "hook",
        f"nft add chain {TABLE_NAME} {{{INPUT}|{OUTPUT}}}:side REST:hook",
        change=_rules(defines="chain {side}"),
    ),
    Line("chain", f"nft add chain {TABLE_NAME} WORD:chain", change=_rules(defines="chain {chain}")),
    _rule("side", "{iifname|oifname} NAME:dev jump WORD:target", "chain {target}"),
    _rule("match", f"{_MATCH} goto WORD:target", "chain {target}"),
    _rule("counter", "counter"),
    _rule("police", "limit rate over <1-4294967295>:rate bytes/second burst <1-4294967295>:burst bytes drop"),
    _rule("mark", "{ip|ip6}:family dscp set <0-63>:dscp"),
    _rule("choose", "meta priority set CLASSID:id"),
    Line("no-table", f"nft delete table {TABLE_NAME}", change=_rules()),
    Line("rule", change=_rules(), also=(f"nft add rule {TABLE_NAME} REST",)),
    shared={"": r"(?:tc|nft) .*"},
    arguments=_ARGUMENTS,
    predefined={"class": rf"\S+ {BANDS}:[0-9a-f]{{1,2}}"},  # ets and prio make the classes of their bands
)
"""The lines; those of a tree are entered as text has them, rules in this order."""
