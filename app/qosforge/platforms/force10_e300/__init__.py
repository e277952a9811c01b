"""Force10 E300 (FTOS): class maps on input, eight queues by whole percentages, a device-wide strict queue, WRED."""

from __future__ import annotations

from qosforge.inventory.models import DeviceRole
from qosforge.plan.request import Feature
from qosforge.platforms.base import DeviceFamily, Platform
from qosforge.platforms.force10_e300.blocks import blocks
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES
from qosforge.platforms.force10_e300.counters import counter_commands, read_counters
from qosforge.platforms.force10_e300.inspection import COMMANDS, inspect
from qosforge.platforms.force10_e300.line_rules import LINE_RULES
from qosforge.platforms.force10_e300.lines import TABLE
from qosforge.platforms.force10_e300.lower import lower
from qosforge.platforms.force10_e300.matching import count_conditions
from qosforge.platforms.force10_e300.parse import parse
from qosforge.platforms.force10_e300.port_counters import PORT_COUNTERS
from qosforge.platforms.ios_secrets import IOS_FORMS
from qosforge.platforms.profile import platform_profile
from qosforge.platforms.recognition import class_counter

PLATFORM = Platform(
    id="force10_e300",
    commands=TABLE,
    capabilities=CAPABILITIES,
    family=DeviceFamily(
        title="Force10 E300",
        signs=r"(?:qos-policy-(?:input|output)|policy-map-(?:input|output)|wred-profile|class-map match-\w+ "
        r"\S+ cam-\S+)\b.*|.*\bservice-class\b.*|interface (?:Ten)?GigabitEthernet \d.*|.*FTOS.*|"
        r"service-queue \d.*|(?:strict-priority|scheduler) .*|dot1p-priority \d|"
        r"service-policy (?:in|out)put \S+ layer2",
        images=("7.4.1.0",),
        drivers=("force10",),
        role=DeviceRole.CORE,
        states_image=True,
        objects=r"(?:policy-map-(?:in|out)put|class-map|qos-policy-\w+|wred-profile) .+",
    ),
    batfish_format="force10",
    secrets=IOS_FORMS,
    profile=platform_profile("force10_e300"),
    counts=frozenset({"input", "output"}),
    port_counters=PORT_COUNTERS,
    compile_weight=2.4,
    line_rules=LINE_RULES,
    features=frozenset(
        {
            Feature.MATCH_PRECEDENCE,
            Feature.MATCH_FLOW,
            Feature.MATCH_VLAN,
            Feature.MATCH_MAC,
            Feature.MARK_PRECEDENCE,
            Feature.POLICE_INPUT,
            Feature.POLICE_OUTPUT,
            Feature.POLICE_TWO_BUCKETS,
            Feature.SHAPE,
            Feature.STRICT,
            Feature.WEIGHT,
            Feature.WRED_PROFILES,
            Feature.TRUST,
        }
    ),
    most_conditions=CAPABILITIES.access_list_entries.value,
    count_conditions=class_counter(count_conditions),
    lower=lower,
    blocks=blocks,
    parse=parse,
    inspection_commands=lambda _driver: COMMANDS,
    inspect=lambda answers, _running, _driver: inspect(answers, "force10_e300"),
    counter_commands=counter_commands,
    read_counters=read_counters,
)
