"""The QoS lines of a 2970: what they are read as, what they refer to and how they are taken back."""

from __future__ import annotations

from qosforge.commands import ELSEWHERE, Change, CommandTable, Line
from qosforge.platforms.ios_switch.lines import (
    ARGUMENTS,
    CLASSIFIERS,
    FAMILIES,
    MAPS,
    flatten_classes,
    ports,
    setting,
    table,
)
from qosforge.platforms.mqc.lines import LIST_MODES, templates

_INPUT, _SET = "mls qos srr-queue input", "mls qos queue-set output"
_PORT = "mls qos|srr-queue|wrr-queue|rcv-queue|priority-queue|queue-set|service-policy|auto qos|switchport priority"
_QOS = rf"(?:no )?(?:{_PORT})\b.*"


def _input(what: str, values: str, *, key: str = "") -> Line:
    """A setting of the ingress queues; ``what`` may hold the queue's number."""
    return Line(
        f"input-{what.split(maxsplit=1)[0]}",
        f"{_INPUT} {what} {values}",
        change=Change(key=key or what, negate=f"no {_INPUT} {key or what}"),
        also=(f"{_INPUT} {what} REST",),
        no=f"{_INPUT} {what} [REST]",
    )


def _queue_set(what: str, values: str, key: str) -> Line:
    command = f"mls qos queue-set [output] <1-2>:set {what}"
    return Line(
        f"queue-set-{what.split(maxsplit=1)[0]}",
        f"{command} {values}",
        change=Change(key=f"{{set}} {key}", defines="queue-set {set}", negate=f"no {_SET} {{set}} {key}"),
        also=(f"{command} REST",),
        no=f"{command} [REST]",
    )


def _marks(line: str, command: str, queues: int, marks: str) -> Line:
    return table(line, command, f"queue <1-{queues}>:queue [threshold <1-3>:threshold] {marks}:marks*64")


def _on_port(line: str, command: str, values: str = "") -> Line:
    return setting(line, f"{command} {values}", "interface", no=command)


TABLE = CommandTable(
    *CLASSIFIERS,
    *MAPS,
    table("policed-dscp", "mls qos map policed-dscp", "DSCP:dscp*64 to <0-63>:policed"),
    _input("bandwidth", "<1-100>:weights*=2"),
    _input("buffers", "<0-100>:buffers*=2"),
    _input("threshold <1-2>:queue", "<1-100>:thresholds*=2", key="threshold {queue}"),
    Line(
        "input-priority",
        f"{_INPUT} priority-queue <1-2>:queue bandwidth <0-40>:percent",
        change=Change(key="priority", negate=f"no {_INPUT} priority-queue {{queue}}", negate_before_change=True),
        also=(f"{_INPUT} priority-queue <1-2>:queue REST",),
        no=f"{_INPUT} priority-queue <1-2>:queue [REST]",
    ),
    _marks("input-cos", f"{_INPUT} cos-map", 2, "<0-7>"),
    _marks("input-dscp", f"{_INPUT} dscp-map", 2, "DSCP"),
    _marks("output-cos", "mls qos srr-queue output cos-map", 4, "<0-7>"),
    _marks("output-dscp", "mls qos srr-queue output dscp-map", 4, "DSCP"),
    _queue_set("buffers", "<0-100>:buffers*=4", "buffers"),
    _queue_set(
        "threshold <1-4>:queue",
        # 3200 per cent from 12.2(25)SEE1 (Catalyst 3750 command reference).
        "<1-3200>:first <1-3200>:second <1-100>:reserved <1-3200>:most",
        "threshold {queue}",
    ),
    Line("mls-qos", "mls qos", change=Change(defines="mls qos"), no="mls qos"),
    _on_port("share", "srr-queue bandwidth share", "<1-255>:share*=4"),
    _on_port("shape", "srr-queue bandwidth shape", "<0-65535>:shape*=4"),
    _on_port("limit", "srr-queue bandwidth limit", "<10-90>:limit"),
    Line(
        "queue-set",
        "queue-set <1-2>:set",
        "interface",
        change=Change(key="queue-set", refers=("queue-set {set}",), negate="no queue-set"),
        no="queue-set [<1-2>:set]",
    ),
    _on_port("expedite", "priority-queue out"),
    Line(
        "dscp-mutation",
        mode="interface",
        # Taken off with its name alone (3750-X reference OL-29704-01, p. 2-400), which only the device knows.
        change=Change(key="dscp-mutation", negate="no mls qos dscp-mutation {map}", gives_way_to="trust"),
        also=("mls qos dscp-mutation WORD:map",),
        no="mls qos dscp-mutation WORD:map",
    ),
    # A policy on a port marks only while QoS is on; without it the marks of hosts would pass.
    *ports("mls qos"),
    *templates(),
    # The policy of the VLAN is in force, and neither policy nor trust of the port.
    Line("vlan-based", mode="interface", change=Change(standing=True, side="input"), also=("mls qos vlan-based",)),
    # Templates of interfaces have lines of ports.
    shared={"": _QOS, "interface": _QOS, ELSEWHERE: _QOS, **LIST_MODES},
    arguments=ARGUMENTS,
    predefined={"queue-set": "[12]"},
    families=FAMILIES,
    normalize=flatten_classes,
)
"""The lines, in the order in which their rules are tried."""
