"""Nortel BayStack 5510 and ERS 5500: one predefined queue set for the switch, filters and trust by port group."""

from __future__ import annotations

from qosforge.inventory.models import DeviceRole
from qosforge.plan.request import Feature
from qosforge.platforms.base import DeviceFamily, Platform
from qosforge.platforms.nortel_5510.blocks import blocks
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES, queue_sets
from qosforge.platforms.nortel_5510.counters import counter_commands, read_counters
from qosforge.platforms.nortel_5510.inspection import COMMANDS, inspect
from qosforge.platforms.nortel_5510.line_rules import LINE_RULES
from qosforge.platforms.nortel_5510.lines import TABLE
from qosforge.platforms.nortel_5510.lower import lower
from qosforge.platforms.nortel_5510.parse import beside_plan, parse
from qosforge.platforms.nortel_5510.recognise import count_filters
from qosforge.platforms.nortel_5510.secrets import FORMS
from qosforge.platforms.profile import platform_profile
from qosforge.platforms.recognition import class_counter

PLATFORM = Platform(
    id="nortel_5510",
    commands=TABLE,
    capabilities=CAPABILITIES,
    family=DeviceFamily(
        title="Nortel BayStack 5510",
        signs=r"(?:(?:no|default) )?qos (?:agent|if-group|if-assign|if-shaper|ip-element|l2-element|classifier|"
        r"meter|action|policy|acl|ip-acl|l2-acl|queue-set)\b.*|vlan (?:members|ports|configcontrol)\b.*|"
        r".*ASCII Configuration Generator.*|! *Model = (?:Ethernet Routing Switch|BayStack) .*",
        images=("5.1",),
        drivers=("ers",),
        role=DeviceRole.ACCESS,
        without_policy=("", *(f"qos agent queue-set {number}\n" for number in queue_sets())),
    ),
    batfish_format=None,
    secrets=FORMS,
    profile=platform_profile("nortel_5510"),
    counts=frozenset({"input"}),
    port_counters=None,  # of its answer no record is known
    compile_weight=2.8,
    line_rules=LINE_RULES,
    features=frozenset(
        {
            Feature.MATCH_PRECEDENCE,
            Feature.MATCH_FLOW,
            Feature.MATCH_IPV6,
            Feature.MATCH_VLAN,
            Feature.MATCH_MAC,
            Feature.MARK_PRECEDENCE,
            Feature.MARK_DROP_PRECEDENCE,
            Feature.POLICE_INPUT,
            Feature.POLICE_REMARK,
            Feature.SHAPE_PORT,
            Feature.STRICT,
            Feature.WEIGHT,
            Feature.TRUST,
            Feature.COS_TO_DSCP,
        }
    ),
    most_conditions=CAPABILITIES.filter_limits.value.classifiers,
    count_conditions=class_counter(count_filters),
    lower=lower,
    blocks=blocks,
    parse=parse,
    beside_plan=beside_plan,
    inspection_commands=lambda _driver: COMMANDS,
    inspect=lambda answers, _running, _driver: inspect(answers, "nortel_5510"),
    counter_commands=counter_commands,
    read_counters=read_counters,
)
