"""The QoS lines of a 2950: what they are read as, what they refer to and how they are taken back."""

from __future__ import annotations

from qosforge.commands import CommandTable, Line
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
from qosforge.platforms.mqc.lines import LIST_MODES

_PORT = "mls qos|(?:wrr|rcv|srr|priority)-queue|service-policy|auto qos|switchport priority|rate-limit"
_QOS = rf"(?:no )?(?:{_PORT})\b.*"

TABLE = CommandTable(
    *CLASSIFIERS,
    *MAPS,
    setting("wrr-bandwidth", "wrr-queue bandwidth <0-255>:weights*=4", no="wrr-queue bandwidth"),
    table("wrr-cos-map", "wrr-queue cos-map", "<1-4>:queue <0-7>:cos*8"),
    *ports(),
    Line("filter", "ip access-group WORD:name in", "interface"),
    shared={"": _QOS, "interface": _QOS, **LIST_MODES},
    arguments=ARGUMENTS,
    families=FAMILIES,
    normalize=flatten_classes,
)
"""The lines, in the order in which their rules are tried."""
