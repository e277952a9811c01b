"""The QoS lines of the 5510: what they are read as, what they refer to and how they are taken back.

Every line is one setting; those of ports stand in the one mode of interfaces. Filters (elements, classifiers,
blocks, actions, meters, policies) refer to each other by number and cannot be changed while referred to, so ours,
which have numbers of their own range, are one table that is taken back and entered as a whole.

``qos agent`` is read and never changed: another queue set holds after a reset of the whole switch, and is nothing
that a change of the running configuration makes or takes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ipaddress import ip_network

from qosforge.commands import ArgumentType, Change, CommandTable, Line
from qosforge.configtree import ConfigLine, Tree
from qosforge.platforms.mac_addresses import dotted
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES

_RATE, _BURST = "<0-100000000>", "<0-4294967296>"
_WHOLE = r"[Ff]{2}(?:[:-]?[Ff]{2}){5}"


def _prefix(text: str) -> str:
    ip_network(text, strict=False)
    return text


_ARGUMENTS = {
    "PREFIX": ArgumentType(r"[0-9A-Fa-f:.]+(?:/\d+)?", _prefix),
    "MAC": ArgumentType(r"[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){4}", dotted),
    "WHOLE": ArgumentType(_WHOLE, str),
}


def _ends(what: str, value: str) -> str:
    """An option of the source and of the destination."""
    return "|".join(f"{side}-{what} {value}:{side}_{what.replace('-', '_')}" for side in ("src", "dst"))


def _action(side: str) -> str:
    """An action by its number or its name."""
    return f"{side}-profile-action <0-99999>:{side}side|{side}-profile-action-name WORD:{side}side_name"


# The words that may follow the number of an object, in any order; what is not here is not understood.
_OPTIONS = {
    "ip-element": "name WORD|addr-type {ipv4|ipv6}:version|ds-field <0-63>:dscp|"
    "{protocol|next-header} <0-255>:protocol|"
    f"{_ends('ip', 'PREFIX')}|{_ends('port-min', '<0-65535>')}|{_ends('port-max', '<0-65535>')}",
    "l2-element": "name WORD|vlan-min <0-4094>:vlan_min|vlan-max <0-4094>:vlan_max|vlan-tag ignore|"
    f"priority {{all|<0-7>:cos}}|{_ends('mac', 'MAC')}|{_ends('mac-mask', 'WHOLE')}",
    "classifier": "set-id WORD:set|name WORD:name|element-type {ip|l2}:kind|element-id WORD:element",
    "action": "name WORD:name|drop-action {enable|disable|deferred-pass}:drop|update-dscp <0-63>:set_dscp|"
    "update-1p <0-7>:set_cos|set-drop-prec {high-drop|low-drop}:drop_precedence",
    "meter": f"name WORD:name|committed-rate {_RATE}:rate|max-burst-rate {_BURST}:burst_rate|"
    f"max-burst-duration {_BURST}:duration|{_action('in')}|{_action('out')}",
    "classifier-block": "block-number WORD:block|name WORD:name|set-id WORD:set|set-name WORD:set_name|"
    "in-profile-action <0-99999>:inside|meter WORD:meter",
    "policy": "name WORD:name|if-group WORD:group|port WORD:port|clfr-type WORD:type|clfr-id WORD:classifier|"
    f"clfr-name WORD:classifier_name|{_action('in')}|meter WORD:meter|meter-name WORD:meter_name|"
    "precedence <0-65535>:precedence|track-statistics WORD",
}
KINDS = tuple(_OPTIONS)
"""The kinds of objects that filters are made of."""
_OURS = {"number": r"50\d\d\d"}


def _object(kind: str) -> Iterator[Line]:
    """The lines of one kind of filter: ours, which are one table, and those of others."""
    heading, options = f"qos {kind} <1-99999>:number", f"{{{_OPTIONS[kind]}}}*20"
    negate = f"no qos {kind} {{number}}"
    if kind == "policy":
        heading += " [enable|disable]:state"
        ours = f"{heading} [name WORD:name] if-group WORD:group {options}"
        attached = Change(
            group="filters",
            refers=("if-group {group}",),
            negate=negate,
            attaches="if-group {group}",
            side="input",
            only=_OURS,
        )
        yield Line(kind, ours, change=attached)
        # Others' policies are in force where their group's ports are, also where plans have no place for them.
        for where, refers in (("if-group WORD:group", ("if-group {group}",)), ("port WORD:port", ())):
            place = where.replace("WORD:", "{") + "}"
            theirs = f"{heading} [name WORD:name] {where}"
            yield Line(
                kind,
                f"{theirs} {options}",
                change=Change(negate=negate, refers=refers, attaches=place, side="input"),
                also=(f"{theirs} REST",),
            )
    else:
        yield Line(kind, f"{heading} {options}", change=Change(group="filters", negate=negate, only=_OURS))
    yield Line(kind, f"{heading} {options}", change=Change(negate=negate), also=(f"qos {kind} WORD:number REST",))


_PORTS = re.compile(r"interface (?:fast)?ethernet all", re.IGNORECASE)
_ONE_PORT = re.compile(r"(qos (?:if-assign|if-shaper|acl-assign) port )(\S+)( .+)")
_MAP_ROW = re.compile(
    r"(?P<map>qos (?:egressmap|ingressmap)) (?:name \S+ )?(?P<row>(?:ds|1p) (?P<old>\d+) .+?)"
    r"(?: ds-new (?P<new>\d+))?"
)


def _one_form(tree: Tree) -> Tree:
    """Each line in one form whatever the device or a person wrote; lists of ports are one line for each port.

    The mode of interfaces is always there: what the device prints of it in several places is one block, the last.
    """
    lines: list[ConfigLine] = []
    ports: list[ConfigLine] = []
    number = 0
    for line in tree:
        if _PORTS.fullmatch(line.text):
            number = number or line.number
            ports.extend(ConfigLine(s, c.children, c.number) for c in line.children for s in _spelt(c.text))
        else:
            lines.extend(ConfigLine(spelt, line.children, line.number) for spelt in _spelt(line.text))
    return (*lines, ConfigLine("interface FastEthernet ALL", tuple(ports), number))


def _spelt(text: str) -> Iterator[str]:
    if text.startswith("qos "):
        text = text.replace('"', "")
    if match := _ONE_PORT.fullmatch(text):
        yield from (f"{match[1]}{port}{match[3]}" for port in ports(match[2]))
    elif match := _MAP_ROW.fullmatch(text):
        # Rows have names of their own, and the DSCP they send is nearly always the one that came.
        kept = "" if match["new"] in (None, match["old"]) else f" ds-new {match['new']}"
        yield f"{match['map']} {match['row']}{kept}"
    else:
        yield text


def ports(text: str) -> tuple[str, ...]:
    """The ports of a list such as ``1-4,7`` or ``1/1-1/4,2/5``; what is no list stands for itself."""
    found: list[str] = []
    for part in text.split(","):
        match = re.fullmatch(r"(?:(?P<unit>\d)/)?(?P<low>[0-9]{1,3})(?:-(?:\d/)?(?P<high>[0-9]{1,3}))?", part)
        if match is None:
            return (text,)
        unit = f"{match['unit']}/" if match["unit"] else ""
        low, high = int(match["low"]), int(match["high"] or match["low"])
        found.extend(f"{unit}{port}" for port in range(low, high + 1))
    return tuple(found)


def port_list(names: Iterable[str]) -> str:
    """Ports in the order of the switch as one list, such as ``1-4, 7``: those beside each other are a range."""
    result: list[list[str]] = []
    for name in names:
        unit, _, number = name.rpartition("/")
        before = result[-1][-1].rpartition("/") if result else None
        if before is not None and before[0] == unit and int(before[2]) + 1 == int(number):
            result[-1].append(name)
        else:
            result.append([name])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in result)


TABLE = CommandTable(
    Line(
        "if-group",
        "qos if-group name WORD:name class {trusted|untrusted|unrestricted}:trust",
        change=Change(key="{name}", defines="if-group {name}", negate="no qos if-group name {name}"),
        also=("qos if-group name WORD:name class WORD",),
    ),
    Line(
        "if-assign",
        "qos if-assign port WORD:port name WORD:name",
        change=Change(
            key="{port}",
            refers=("if-group {name}",),
            negate="no qos if-assign port {port}",
            attaches="port {port}",
            side="input",
        ),
    ),
    *(line for kind in _OPTIONS for line in _object(kind)),
    # Access lists are policies of their ports, which plans have no place for.
    Line(
        "acl-assign",
        change=Change(attaches="port {port}", side="input"),
        also=("qos acl-assign port WORD:port REST",),
    ),
    Line(
        "egressmap",
        "qos egressmap ds <0-63>:dscp 1p <0-7>:cos dp {high-drop|low-drop}:drop",
        change=Change(key="{dscp}", group="egressmap", reset="default qos egressmap"),
        also=("qos egressmap ds WORD:dscp REST",),
    ),
    Line(
        "ingressmap",
        "qos ingressmap 1p <0-7>:cos ds <0-63>:dscp",
        change=Change(key="{cos}", group="ingressmap", reset="default qos ingressmap"),
        also=("qos ingressmap 1p WORD:cos REST",),
    ),
    Line(
        "queue",
        "qos queue-set-assignment queue-set <1-8>:set 1p <0-7>:cos queue <1-8>:queue",
        change=Change(key="{set} {cos}", negate="default qos queue-set-assignment queue-set {set} 1p {cos}"),
    ),
    Line("queue-set", "qos agent queue-set <1-8>:set"),
    # What else the agent has, like memory of queues beyond the usual, is named.
    Line("agent", "qos agent {buffer large|nvram-delay REST|statistics-tracking REST|ubp disable}"),
    Line("interface", "interface FastEthernet ALL", opens="interface", change=Change()),
    Line(
        "shaper",
        "qos if-shaper port WORD:port {name WORD|shape-rate <0-10230000>:rate|"
        f"max-burst-rate {_BURST}:burst_rate|max-burst-duration {_BURST}:duration}}*4",
        "interface",
        change=Change(key="{port}", negate="no qos if-shaper port {port}"),
        also=("qos if-shaper port WORD:port REST",),
    ),
    shared=dict.fromkeys(("", "interface"), "(?:(?:no|default) )?qos .*"),
    arguments=_ARGUMENTS,
    predefined={"if-group": re.escape(CAPABILITIES.default_group.value)},
    nested=False,
    # One column is kept for the cursor; 132 columns are the widest screen (unwrapping rules of ACLI terminals).
    widths=(79, 80, 131, 132),
    broken="qos ",
    leave="exit",
    ignored=r"end|exit|enable|configure terminal",
    flat_blocks=r"(?:interface|router) .+",
    normalize=_one_form,
)
"""The lines, in the order in which their rules are tried."""
