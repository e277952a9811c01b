"""Linux routers: queues in trees of HTB (tc), classes told and marked by nftables."""

from __future__ import annotations

from napalm_linux_tc.schedulers import SCHEDULERS

from qosforge.inventory.models import DeviceRole
from qosforge.plan.request import Feature
from qosforge.platforms.base import DeviceFamily, Platform
from qosforge.platforms.linux_tc.blocks import blocks
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES
from qosforge.platforms.linux_tc.counters import counter_commands, read_counters
from qosforge.platforms.linux_tc.inspection import inspect, inspection_commands
from qosforge.platforms.linux_tc.lines import TABLE
from qosforge.platforms.linux_tc.lower import lower
from qosforge.platforms.linux_tc.parse import parse
from qosforge.platforms.profile import platform_profile
from qosforge.platforms.recognition import class_counter
from qosforge.platforms.secret_forms import SecretForms

FEATURES = frozenset(
    {
        Feature.MATCH_PRECEDENCE,
        Feature.MATCH_FLOW,
        Feature.MATCH_IPV6,
        Feature.MATCH_INPUT_INTERFACE,
        Feature.MARK_PRECEDENCE,
        Feature.KEEP_MARK,
        Feature.FAIR_QUEUE,
        Feature.QUEUE_LIMIT,
        Feature.QUEUE_LIMIT_BYTES,
        Feature.POLICE_INPUT,
        Feature.POLICE_OUTPUT,
        Feature.SHAPE,
        Feature.SHAPE_PERCENT,
        Feature.SHAPE_PORT,
        Feature.STRICT,
        Feature.PRIORITY_BURST,
        Feature.WEIGHT,
        Feature.BOUNDED,
        Feature.CHILDREN,
        Feature.WRED_PROFILES,
        Feature.WRED_WEIGHT,
        Feature.ECN,
    }
)

PLATFORM = Platform(
    id="linux_tc",
    commands=TABLE,
    capabilities=CAPABILITIES,
    family=DeviceFamily(
        title="Linux router (tc, nftables)",
        signs=r"tc (?:qdisc|class) .*|nft add .*",
        images=("6.1",),
        drivers=("linux_tc",),
        role=DeviceRole.EDGE,
        switches=False,
    ),
    secrets=SecretForms(()),
    profile=platform_profile("linux_tc"),
    counts=frozenset({"input", "output"}),
    features=FEATURES,
    device_features=frozenset(SCHEDULERS),
    most_conditions=CAPABILITIES.rules_of_class.value,
    count_conditions=class_counter(),
    lower=lower,
    blocks=blocks,
    parse=parse,
    inspection_commands=inspection_commands,
    inspect=inspect,
    counter_commands=counter_commands,
    read_counters=read_counters,
)
