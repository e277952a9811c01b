"""The QoS lines of Catalyst 9000 switches: those of the MQC, with queues that are sized in per cent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qosforge.commands import ELSEWHERE, ArgumentType, Change, CommandTable, Line
from qosforge.platforms.catalyst_9000.names import OWN
from qosforge.platforms.mqc import lines as mqc
from qosforge.platforms.mqc.tables import table_maps

_PORT = (
    "(?:(?:Fast|Gigabit|TwoGigabit|FiveGigabit|TenGigabit|FortyGigabit)Ethernet|(?:TwentyFive|Hundred)GigE)"
    "[0-9][0-9/]*"
)
PORT = re.compile(f"interface ({_PORT})")
"""Heading of a physical port: QoS is configured there, members of an EtherChannel among them."""
_OTHERS = rf"(?!{OWN})\S+"
_PLACE = Change(key="{name}", owned=True, standing=True)


def _queues() -> Iterator[Line]:
    """Buffers of queues, tail drop and early detection, in per cent of a queue's size."""
    marks = "dscp {values DSCP:dscp*8|DSCP:dscp} percent"
    # The parts of all classes make up 100 % at most: one goes before another grows.
    buffers = Change(key="buffers", negate="no queue-buffers", negate_before_change=True)
    yield Line("buffers", "queue-buffers ratio <0-100>:percent", "class", change=buffers)
    yield Line("tail", f"queue-limit {marks} <0-100>:percent", "class", change=Change(), also=("queue-limit REST",))
    yield mqc.one("red", "random-detect dscp-based", key="red", negate="no random-detect dscp-based")
    yield Line(
        "red-row",
        f"random-detect {marks} <0-100>:minimum <0-100>:maximum",
        "class",
        change=Change(),
        also=("random-detect REST",),
    )
    # The cap of a priority level, in the other way to say it.
    capped = Change(negate="no police", remove_first=True)
    yield Line("police", "police rate percent <1-100>:cap_percent", "class", opens="police", change=capped)


TABLE = CommandTable(
    # What the device itself has to protect its processor is none of ours.
    Line("own", "{class-map [match-all|match-any]|policy-map} OWN", opens="own"),
    *table_maps(),
    *mqc.access_lists(),
    *mqc.class_maps(names=_OTHERS),
    *mqc.policy_maps(names=_OTHERS),
    Line("text", "description REST", "policy-map"),
    *mqc.guarantees(),
    *_queues(),
    *mqc.marks(),
    *mqc.policers(tables=True),
    *mqc.shapers(opens="shape", percentages=True),
    # The device prints it one blank further in than the shape before it.
    *(mqc.nested(mode) for mode in ("shape", "class")),
    Line("port", "interface PORT:name", opens="interface", change=_PLACE),
    Line("other-interface", "interface REST:name", opens="interface", change=_PLACE),
    mqc.attached("interface"),
    *mqc.templates(),
    Line(
        "trust-device",
        "trust device cisco-phone",
        "interface",
        change=Change(key="trust-device", side="input"),
        also=("trust device WORD",),
    ),
    # A macro: what it entered stands beside it.
    Line("auto-qos", "auto qos REST", "interface"),
    Line("text", "{description|switchport} [REST]", "interface"),
    # Switches with a Q200 queue by traffic classes, in policies of their own type: plans have no place for these.
    Line("queueing", "{class-map|policy-map} type queueing REST", opens="queueing"),
    Line("queueing-class", "class WORD:name", "queueing", opens="queueing-class"),
    Line("other", "{class-map|policy-map} type OTHER_TYPE REST", opens="other"),
    shared={
        "": r"qos .+",
        # Policies of type control are those of 802.1X.
        "interface": r"(?:no )?(?:service-policy(?! type control)|qos|trust device|auto qos)\b.*",
        # Wireless networks, templates of interfaces and the control plane have policies, too.
        ELSEWHERE: rf"(?:no )?service-policy (?:client )?(?:input|output) (?!{OWN}).+",
        **dict.fromkeys(("own", "other"), "(?!)"),
        **mqc.LIST_MODES,
    },
    arguments={
        **mqc.ARGUMENTS,
        "OWN": ArgumentType(rf"{OWN}\S+", str),
        "OTHER_TYPE": ArgumentType(r"(?!queueing\b)\S+", str),
        "PORT": ArgumentType(_PORT, str),
    },
    families=(
        "FastEthernet", "GigabitEthernet", "TwoGigabitEthernet", "FiveGigabitEthernet", "TenGigabitEthernet",
        "TwentyFiveGigE", "FortyGigabitEthernet", "HundredGigE", "Port-channel", "Vlan", "Loopback",
    ),
)  # fmt: skip
"""The lines, in the order in which their rules are tried."""
