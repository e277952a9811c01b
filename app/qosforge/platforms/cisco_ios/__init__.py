"""Cisco IOS routers (2600 class): MQC with LLQ, CBWFQ and WRED, cRTP, multilink PPP with interleaving."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.inventory.models import DeviceRole
from qosforge.plan.request import Feature
from qosforge.platforms.base import DeviceFamily, Platform
from qosforge.platforms.cisco_ios.blocks import blocks
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, default_bandwidth
from qosforge.platforms.cisco_ios.counters import counter_commands, read_counters
from qosforge.platforms.cisco_ios.line_rules import LINE_RULES
from qosforge.platforms.cisco_ios.lines import TABLE
from qosforge.platforms.cisco_ios.lower import lower
from qosforge.platforms.cisco_ios.matching import count_conditions
from qosforge.platforms.cisco_ios.parse import parse
from qosforge.platforms.ios_inspection import inspect, inspection_commands
from qosforge.platforms.ios_port_counters import IOS_PORT_COUNTERS
from qosforge.platforms.ios_secrets import IOS_FORMS
from qosforge.platforms.profile import platform_profile


def _emulated_start(ports: Mapping[str, int]) -> str:
    """Marking takes CEF; a rate that the interface does not know by itself is its ``bandwidth``."""
    lines = ["ip cef"]
    for port, kbps in ports.items():
        lines.append(f"interface {port}")
        if kbps != default_bandwidth(port):
            lines.append(f" bandwidth {kbps}")
        lines.append(" no ip address")
    return "\n".join([*lines, ""])


FEATURES = frozenset(
    {
        Feature.MATCH_PRECEDENCE,
        Feature.MATCH_FLOW,
        Feature.MATCH_MAC,
        Feature.MATCH_INPUT_INTERFACE,
        Feature.MATCH_MPLS,
        Feature.MATCH_QOS_GROUP,
        Feature.MATCH_NONE,
        Feature.MARK_OUTPUT,
        Feature.MARK_PRECEDENCE,
        Feature.MARK_MPLS,
        Feature.MARK_QOS_GROUP,
        Feature.KEEP_MARK,
        Feature.QUEUE_LIMIT,
        Feature.QUEUE_LIMIT_BYTES,
        Feature.QUEUE_LIMIT_TIME,
        Feature.POLICE_INPUT,
        Feature.POLICE_OUTPUT,
        Feature.POLICE_PERCENT,
        Feature.POLICE_TWO_BUCKETS,
        Feature.POLICE_REMARK,
        Feature.POLICE_CONFORM,
        Feature.SHAPE,
        Feature.SHAPE_BURST,
        Feature.SHAPE_PERCENT,
        Feature.SHAPE_PORT,
        Feature.STRICT,
        Feature.PRIORITY_BURST,
        Feature.WEIGHT,
        Feature.FAIR_QUEUE,
        Feature.WRED_PROFILES,
        Feature.WRED_WEIGHT,
        Feature.ECN,
        Feature.BOUNDED,
        Feature.CHILDREN,
        Feature.MATCH_IPV6,
        Feature.TRANSMIT_RING,
        Feature.HEADER_COMPRESSION,
        Feature.FRAGMENTS,
        Feature.TRUST,
        Feature.TUNNELS,
        Feature.COS_TO_DSCP,
    }
)


PLATFORM = Platform(
    id="cisco_ios",
    commands=TABLE,
    capabilities=CAPABILITIES,
    family=DeviceFamily(
        title="Cisco IOS",
        signs=r"interface (?:Serial|ATM|Multilink|Dialer|Tunnel|Virtual-Template|Ethernet)\S.*|rate-limit .*|"
        r"bandwidth .*|random-detect.*|fair-queue.*|priority .*|shape .*|ip cef.*|service-policy output .*|pvc .*|"
        r"map-class .*|ppp multilink.*|ip rtp .*|router .*|class class-default",
        images=("12.4", "12.2", "15.1", "12.1", "12.0", "12.0(7)T"),
        drivers=("ios_legacy", "ios"),
        role=DeviceRole.EDGE,
        switches=False,
        states_image=True,
        versions=r"1[0-5]\..*",
        objects="(?:policy-map|class-map|map-class frame-relay) .+",
        emulated_start=_emulated_start,
    ),
    batfish_format="cisco_ios",
    secrets=IOS_FORMS,
    profile=platform_profile("cisco_ios"),
    counts=frozenset({"input", "output"}),
    port_counters=IOS_PORT_COUNTERS,
    line_rules=LINE_RULES,
    features=FEATURES,
    most_conditions=CAPABILITIES.access_list_entries.value,
    count_conditions=count_conditions,
    lower=lower,
    blocks=blocks,
    parse=parse,
    inspection_commands=inspection_commands,
    inspect=inspect,
    counter_commands=counter_commands,
    read_counters=read_counters,
)
