"""Catalyst 9000 switches with UADP (IOS-XE): marks by input policies, eight queues a port by output policies."""

from __future__ import annotations

from qosforge.inventory.models import DeviceRole
from qosforge.plan.request import Feature
from qosforge.platforms.base import DeviceFamily, Platform
from qosforge.platforms.catalyst_9000.blocks import blocks
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_9000.counters import counter_commands, read_counters
from qosforge.platforms.catalyst_9000.line_rules import LINE_RULES
from qosforge.platforms.catalyst_9000.lines import TABLE
from qosforge.platforms.catalyst_9000.lower import lower
from qosforge.platforms.catalyst_9000.names import OWN
from qosforge.platforms.catalyst_9000.parse import parse
from qosforge.platforms.ios_inspection import inspect, inspection_commands
from qosforge.platforms.ios_port_counters import IOS_PORT_COUNTERS
from qosforge.platforms.ios_secrets import IOS_FORMS
from qosforge.platforms.profile import platform_profile
from qosforge.platforms.recognition import class_counter

FEATURES = frozenset(
    {
        Feature.MATCH_PRECEDENCE,
        Feature.MATCH_FLOW,
        Feature.MATCH_IPV6,
        Feature.MATCH_QOS_GROUP,
        Feature.MARK_PRECEDENCE,
        Feature.MARK_QOS_GROUP,
        Feature.KEEP_MARK,
        Feature.BUFFERS,
        Feature.QUEUE_LIMIT_PERCENT,
        Feature.WRED_PERCENT,
        Feature.POLICE_INPUT,
        Feature.POLICE_REMARK,
        Feature.POLICE_TWO_BUCKETS,
        Feature.SHAPE,
        Feature.SHAPE_PERCENT,
        Feature.SHAPE_PORT,
        Feature.STRICT,
        Feature.WEIGHT,
        Feature.BOUNDED,
        Feature.TRUST,
        Feature.COS_TO_DSCP,
        Feature.TRUST_PHONE,
        Feature.REQUIRES_PHONE,
    }
)


PLATFORM = Platform(
    id="catalyst_9000",
    commands=TABLE,
    capabilities=CAPABILITIES,
    family=DeviceFamily(
        title="Cisco Catalyst 9000",
        signs=r"priority level .*|bandwidth remaining .*|queue-buffers ratio .*|queue-limit dscp .*|"
        r"random-detect dscp.*|.*\bsystem-cpp-.*|class class-default|service-policy output .*|[Vv]ersion 1[67]\..*|"
        r"interface (?:Two|Five|Ten|TwentyFive|Forty|Hundred)Gig\w+\d/\d/\d+|.*[Cc]9[2-5]00\w*\b.*",
        images=("17.12",),
        drivers=("ios", "ios_legacy"),
        role=DeviceRole.ACCESS,
        states_image=True,
        versions=r"1[67]\..*",
        objects=rf"(?:policy|class)-map (?!(?:match-\w+ )?{OWN}).+",
    ),
    batfish_format="cisco_ios",
    secrets=IOS_FORMS,
    profile=platform_profile("catalyst_9000"),
    counts=frozenset({"input", "output"}),
    port_counters=IOS_PORT_COUNTERS,
    line_rules=LINE_RULES,
    features=FEATURES,
    most_conditions=CAPABILITIES.access_list_entries.value,
    count_conditions=class_counter(),
    lower=lower,
    blocks=blocks,
    parse=parse,
    inspection_commands=inspection_commands,
    inspect=inspect,
    counter_commands=counter_commands,
    read_counters=read_counters,
)
