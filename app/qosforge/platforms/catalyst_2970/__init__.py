"""Catalyst 2970 switches: SRR with four queues a port, one of them served first if asked, WTD, input policies."""

from __future__ import annotations

from qosforge.inventory.models import DeviceRole
from qosforge.plan.request import Feature
from qosforge.platforms.base import DeviceFamily, Platform
from qosforge.platforms.catalyst_2970.blocks import blocks
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_2970.counters import counter_commands, read_counters
from qosforge.platforms.catalyst_2970.line_rules import LINE_RULES
from qosforge.platforms.catalyst_2970.lines import TABLE
from qosforge.platforms.catalyst_2970.lower import lower
from qosforge.platforms.catalyst_2970.parse import beside_plan, parse
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
        Feature.QUEUE_LIMIT,
        Feature.QUEUE_LIMIT_BYTES,
        Feature.POLICE_INPUT,
        Feature.POLICE_REMARK,
        Feature.SHAPE,
        Feature.SHAPE_PERCENT,
        Feature.SHAPE_PORT,
        Feature.STRICT,
        Feature.WEIGHT,
        Feature.WRED_PROFILES,
        Feature.BOUNDED,
        Feature.TRUST,
        Feature.COS_TO_DSCP,
        Feature.TRUST_PHONE,
    }
)


PLATFORM = Platform(
    id="catalyst_2970",
    commands=TABLE,
    capabilities=CAPABILITIES,
    family=DeviceFamily(
        title="Cisco Catalyst 2970",
        signs=r".*\bsrr-queue\b.*|.*\bqueue-set\b.*|mls qos (?:queue-set|srr-queue)\b.*|priority-queue out|mls qos|"
        r"(?:.*[^\w])?[Cc](?:isco )?(?:WS-C)?(?:2970|3560|3750)\b.*",
        images=("12.2",),
        drivers=("ios_legacy", "ios"),
        role=DeviceRole.ACCESS,
        delivered=("", "mls qos\n"),
        objects="(?:policy|class)-map .+",
    ),
    batfish_format="cisco_ios",
    secrets=IOS_FORMS,
    profile=platform_profile("catalyst_2970"),
    counts=frozenset({"output"}),
    port_counters=IOS_PORT_COUNTERS,
    compile_weight=1.7,
    line_rules=LINE_RULES,
    features=FEATURES,
    most_conditions=CAPABILITIES.access_list_entries.value,
    count_conditions=class_counter(),
    lower=lower,
    blocks=blocks,
    parse=parse,
    beside_plan=beside_plan,
    inspection_commands=inspection_commands,
    inspect=inspect,
    counter_commands=counter_commands,
    read_counters=read_counters,
)
