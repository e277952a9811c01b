"""Catalyst 2950 and 2955 switches: four queues, strict or WRR for the whole switch, class-maps in EI images."""

from __future__ import annotations

from qosforge.inventory.models import DeviceRole
from qosforge.plan.request import Feature
from qosforge.platforms.base import DeviceFamily, Platform
from qosforge.platforms.catalyst_2950.blocks import blocks
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_2950.line_rules import LINE_RULES
from qosforge.platforms.catalyst_2950.lines import TABLE
from qosforge.platforms.catalyst_2950.lower import lower
from qosforge.platforms.catalyst_2950.parse import parse
from qosforge.platforms.catalyst_2950.recognise import count_entries
from qosforge.platforms.ios_inspection import inspect, inspection_commands
from qosforge.platforms.ios_port_counters import IOS_PORT_COUNTERS
from qosforge.platforms.ios_secrets import IOS_FORMS
from qosforge.platforms.profile import platform_profile
from qosforge.platforms.recognition import class_counter

FEATURES = frozenset(
    {
        Feature.MATCH_PRECEDENCE,
        Feature.MATCH_FLOW,
        Feature.MATCH_MAC,
        Feature.MARK_PRECEDENCE,
        Feature.POLICE_INPUT,
        Feature.POLICE_REMARK,
        Feature.STRICT,
        Feature.WEIGHT,
        Feature.TRUST,
        Feature.COS_TO_DSCP,
        Feature.TRUST_PHONE,
    }
)


PLATFORM = Platform(
    id="catalyst_2950",
    commands=TABLE,
    capabilities=CAPABILITIES,
    family=DeviceFamily(
        title="Cisco Catalyst 2950",
        signs=r"wrr-queue\b.*|mls qos map (?:cos-dscp|dscp-cos) .*|(?:.*[^\w])?[Cc](?:WS-C)?295[05]\b.*",
        images=("12.1EA-EI", "12.1EA-SI"),
        drivers=("ios_legacy", "ios"),
        role=DeviceRole.ACCESS,
        objects="(?:policy|class)-map .+",
    ),
    batfish_format="cisco_ios",
    secrets=IOS_FORMS,
    profile=platform_profile("catalyst_2950"),
    counts=frozenset(),
    port_counters=IOS_PORT_COUNTERS,
    compile_weight=1.3,
    line_rules=LINE_RULES,
    features=FEATURES,
    most_conditions=CAPABILITIES.access_list_entries.value,
    count_conditions=class_counter(count_entries),
    lower=lower,
    blocks=blocks,
    parse=parse,
    inspection_commands=inspection_commands,
    inspect=inspect,
)
