"""The QoS lines of FTOS: what they are read as, what they refer to and how they are taken back."""

from __future__ import annotations

from qosforge.commands import ArgumentType, Change, CommandTable, Line
from qosforge.intent.scope import OWN_PREFIX
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES
from qosforge.platforms.mac_addresses import dotted

_RATE = "{{<1-10000>:{0}mbps|kbps <1-10000000>:{0}kbps}} [<0-1000000>:{0}burst_kb]"
METER = f"{_RATE.format('')} [peak {_RATE.format('peak_')}]"
"""A policer or a meter: Mb/s or kb/s, and KB."""
_SHAPE = _RATE.format("")

_ADDRESS = "{{any|host ADDRESS:{0}|PREFIX:{0}|ADDRESS:{0} WILDCARD:{0}_wildcard}}"
_END = (
    f"{_ADDRESS} [{{{{eq <0-65535>:{{0}}_port|range <0-65535>:{{0}}_first <0-65535>:{{0}}_last|"
    "gt <0-65534>:{0}_above|lt <1-65535>:{0}_below}}]"
)
_MAC_END = "{{any|host MAC:{0}}}"
_TAIL = "[count [byte|bytes]] [log] [order <0-254>:order]"
STANDARD_ENTRY = f"permit:standard {_ADDRESS.format('source')} {_TAIL}"
IP_ENTRY = (
    f"permit {{ip|icmp|tcp|udp|<0-255>}}:protocol {_END.format('source')} {_END.format('destination')} "
    f"[dscp <0-63>:dscp] {_TAIL}"
)
MAC_ENTRY = f"permit {_MAC_END.format('source')} {_MAC_END.format('destination')} {_TAIL}"

_OBJECTS = "class-map|qos-policy-(?:input|output)|policy-map-(?:input|output)|wred-profile"
_PORT_LINES = r"service-(?:policy|class|queue)|dot1p-priority|rate (?:police|limit|shape)|dcb-\w+|pfc"
"""What looks like QoS at the top and at a port, whether the table has it or not."""

_ARGUMENTS = {
    "ADDRESS": ArgumentType(r"\d+\.\d+\.\d+\.\d+", str),
    "PREFIX": ArgumentType(r"\d+\.\d+\.\d+\.\d+/\d+", str),
    "WILDCARD": ArgumentType(r"/?\d+[.\d]*", str),
    "MAC": ArgumentType(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}", dotted),
    "MARKS": ArgumentType(r"[0-9]+(?:,[0-9]+)*", str),
    "PORT": ArgumentType(r"\d+/\d+", str),
}


_NOT_OURS = "dcb-map|dcb-input|dcb-output|dcb-buffer-threshold|priority-group"


def _entries(mode: str, entry: str) -> tuple[Line, ...]:
    """What stands in a list. What looks at what terms do not have is read as ``rest``."""
    numbered = Change(key="{seq}", negate="no seq {seq}", negate_before_change=True)
    return (
        Line("ace", f"seq <1-4294967290>:seq {entry}", mode, change=numbered),
        Line("ace", entry, mode, change=Change()),
        Line("ace", "seq WORD:seq {permit|deny} REST:rest", mode, change=numbered),
        Line("ace", "{permit|deny} REST:rest", mode, change=Change()),
        Line("remark", "{remark|description} REST", mode),
        Line("remark", "seq WORD remark REST", mode),
    )


def _access_list(layer: str) -> Line:
    # The device takes no rule twice, whatever its number.
    change = Change(
        defines=f"{layer} acl {{name}}",
        matches=True,
        owned=True,
        remove_first=True,
        only={"name": rf"{OWN_PREFIX}\S*"},
    )
    return Line(f"{layer} acl", f"{layer} access-list extended WORD:name", opens=f"{layer} acl", change=change)


def _match(layer: str, mark: str) -> tuple[Line, ...]:
    return (
        Line(
            "match-acl",
            f"match {layer}:layer access-group WORD:name",
            "class-map",
            change=Change(refers=(f"{layer} acl {{name}}",)),
            also=(f"match {layer} access-group WORD:name REST",),
        ),
        Line("match-vlan", f"match {layer} vlan <1-4094>:vlan", "class-map", change=Change()),
        Line("match-mark", f"match {layer} {mark}", "class-map", change=Change()),
    )


def _object(line: str, command: str, *, layer: str = "") -> Line:
    return Line(
        line, f"{command} WORD:name {layer}", opens=line, change=Change(defines=f"{line} {{name}}", owned=True)
    )


def _service(line: str, mode: str, pattern: str, *refers: str) -> Line:
    change = Change(key="{queue}", refers=refers, negate="no service-queue {queue}")
    return Line(line, f"service-queue <0-7>:queue {pattern}", mode, change=change)


def _setting(line: str, pattern: str, mode: str, *, key: str = "") -> Line:
    """A line of which a mode has one for each ``key``; its command alone takes it back."""
    command = pattern.split(" ", 2 if pattern.startswith("set ") else 1)
    words = " ".join(command[:-1])
    return Line(line, pattern, mode, change=Change(key=key, negate=f"no {words}"), also=(f"{words} REST",))


TABLE = CommandTable(
    _access_list("ip"),
    _access_list("mac"),
    Line(
        "ip acl",
        "ip access-list standard WORD:name",
        opens="ip standard",
        change=Change(defines="ip acl {name}"),
    ),
    *_entries("ip acl", IP_ENTRY),
    *_entries("ip standard", STANDARD_ENTRY),
    *_entries("mac acl", MAC_ENTRY),
    Line(
        "class-map",
        "class-map {match-any|match-all}:mode WORD:name [layer2]",
        opens="class-map",
        change=Change(
            key="{name}",
            defines="class-map {name}",
            matches=True,
            owned=True,
            ordered=True,
        ),
        also=("class-map WORD:name [layer2]",),
    ),
    *_match("ip", "{dscp MARKS:dscp*8|precedence MARKS:precedence*8}"),
    *_match("mac", "dot1p MARKS:cos*8"),
    Line("match", "", "class-map", change=Change(), also=("match REST",)),
    _object("input-policy", "qos-policy-input", layer="[layer2]"),
    _setting("set-dscp", "set ip-dscp <0-63>:set_dscp", "input-policy", key="ip-dscp"),
    _setting("set-cos", "set mac-dot1p <0-7>:set_cos", "input-policy", key="mac-dot1p"),
    _setting("police", f"rate-police {METER}", "input-policy"),
    # OS9 has two words; an E-Series takes one, so that this is only read.
    Line("police", f"rate police {METER}", "input-policy"),
    Line("wred-profile", "wred-profile WORD:name", opens="wred-profile", change=Change(defines="wred {name}")),
    _setting("threshold", "threshold min <0-1000000>:minimum max <0-1000000>:maximum", "wred-profile"),
    _object("output-policy", "qos-policy-output"),
    _setting("percentage", "bandwidth-percentage <0-100>:percent", "output-policy"),
    Line(
        "wred",
        "wred {green|yellow}:colour WORD:name",
        "output-policy",
        change=Change(key="{colour}", refers=("wred {name}",), negate="no wred {colour}"),
    ),
    _setting("limit", f"rate-limit {METER}", "output-policy", key="rate-limit"),
    _setting("shape", f"rate-shape {_SHAPE}", "output-policy", key="rate-shape"),
    Line("shape", f"rate shape {_SHAPE}", "output-policy"),
    _object("input-map", "policy-map-input", layer="[layer2]"),
    _service(
        "service",
        "input-map",
        "class-map WORD:name qos-policy WORD:policy [layer2]",
        "class-map {name}",
        "input-policy {policy}",
    ),
    _service("service-unmarked", "input-map", "class-map WORD:name [layer2]", "class-map {name}"),
    Line(
        "service-other",
        "",
        "input-map",
        change=Change(key="{queue}", refers=("input-policy {policy}",), negate="no service-queue {queue}"),
        also=("service-queue <0-7>:queue qos-policy WORD:policy",),
    ),
    Line(
        "trust",
        "trust {diffserv|dot1p}:what [fallback]:fallback",
        "input-map",
        change=Change(key="", negate="no trust {what}"),
        also=("trust WORD:what REST",),
    ),
    *(
        Line(
            "aggregate",
            "",
            f"{side}-map",
            change=Change(key="", refers=(f"{side}-policy {{policy}}",), negate="no policy-aggregate"),
            also=("policy-aggregate WORD:policy",),
        )
        for side in ("input", "output")
    ),
    _object("output-map", "policy-map-output"),
    _service("service", "output-map", "qos-policy WORD:policy", "output-policy {policy}"),
    Line(
        "strict",
        "strict-priority unicast <0-7>:queue",
        change=Change(key="", negate="no strict-priority unicast"),
        also=("strict-priority unicast REST",),
    ),
    Line(
        "port",
        "interface {GigabitEthernet|TenGigabitEthernet}:family PORT:number",
        opens="interface",
        change=Change(),
    ),
    Line("other-interface", "interface REST", opens="interface", change=Change()),
    Line(
        "service-policy",
        "service-policy {input|output}:direction WORD:name [layer2]:layer",
        "interface",
        change=Change(key="{direction}", refers=("{direction}-map {name}",), attaches="{direction}"),
    ),
    Line("port-cos", "dot1p-priority <0-7>:cos", "interface"),
    Line(
        "port-meter",
        f"rate {{police|limit}}:kind {METER} [vlan <1-4094>:vlan]",
        "interface",
        also=("rate {police|limit|shape} REST",),
    ),
    Line("port-shape", f"rate shape {_SHAPE}", "interface"),
    Line("class-of-service", "", "interface", also=("service-class dynamic dot1p",)),
    # Data center bridging of OS9, and policies of its bandwidth groups: every line below is named.
    Line("bridging", "", opens="bridging", also=(f"{{{_NOT_OURS}}} REST", "qos-policy-output WORD ets")),
    Line("switchport", "switchport", "interface"),
    Line("text", "description REST", "interface"),
    Line("text", "shutdown", "interface"),
    shared={
        "": rf"(?:no )?(?:{_OBJECTS}|{_PORT_LINES}|rate-(?:police|limit|shape)|strict-priority|dcb|queue|trust|"
        r"match|bandwidth-\w+|set (?:ip-dscp|mac-dot1p)|policy-aggregate)\b.*",
        "interface": rf"(?:no )?(?:{_PORT_LINES})\b.*",
        # What is not understood of a list matters only if a class looks at the list.
        **dict.fromkeys(("ip acl", "ip standard", "mac acl"), "(?!)"),
    },
    arguments=_ARGUMENTS,
    predefined={"wred": "|".join(CAPABILITIES.wred_profiles.profiles)},
    families=("GigabitEthernet", "TenGigabitEthernet", "Port-channel", "Vlan", "ManagementEthernet", "Loopback"),
    spaced=True,
)
"""The lines, in the order in which their rules are tried."""
