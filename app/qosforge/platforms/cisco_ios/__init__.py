"""Cisco IOS routers (2600 class): MQC with LLQ, CBWFQ and WRED, cRTP, multilink PPP with interleaving."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.configtree import Grammar
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature
from qosforge.platforms.base import Block, DeviceFamily, Direction, LoweredDevice, QueueCount
from qosforge.platforms.cisco_ios.blocks import blocks
from qosforge.platforms.cisco_ios.capabilities import capabilities
from qosforge.platforms.cisco_ios.counters import counter_commands, read_counters
from qosforge.platforms.cisco_ios.grammar import GRAMMAR
from qosforge.platforms.cisco_ios.lower import lower
from qosforge.platforms.cisco_ios.matching import count_conditions
from qosforge.platforms.cisco_ios.parse import parse
from qosforge.platforms.inspection import Inspection
from qosforge.platforms.ios_inspection import inspect, inspection_commands
from qosforge.platforms.ios_port_counters import IOS_PORT_COUNTERS
from qosforge.platforms.ios_secrets import IOS_FORMS
from qosforge.platforms.port_counters import PortCounterForm
from qosforge.platforms.profile import DeviceProfile, platform_profile
from qosforge.platforms.secret_forms import SecretForms

FEATURES = frozenset(
    {
        Feature.MATCH_PRECEDENCE,
        Feature.MATCH_FLOW,
        Feature.MATCH_MAC,
        Feature.MATCH_INPUT_INTERFACE,
        Feature.MATCH_NONE,
        Feature.MARK_PRECEDENCE,
        Feature.QUEUE_LIMIT,
        Feature.QUEUE_LIMIT_BYTES,
        Feature.QUEUE_LIMIT_TIME,
        Feature.POLICE_INPUT,
        Feature.POLICE_OUTPUT,
        Feature.POLICE_TWO_BUCKETS,
        Feature.POLICE_REMARK,
        Feature.POLICE_CONFORM,
        Feature.SHAPE,
        Feature.SHAPE_PORT,
        Feature.STRICT,
        Feature.PRIORITY_BURST,
        Feature.WEIGHT,
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
    }
)


class CiscoIos:
    """The platform's face."""

    id = "cisco_ios"
    grammar: Grammar = GRAMMAR
    family = DeviceFamily(
        signs=r"interface (?:Serial|ATM|Multilink|Dialer|Tunnel|Virtual-Template|Ethernet)\S.*|rate-limit .*|"
        r"bandwidth .*|random-detect.*|fair-queue.*|priority .*|shape .*|ip cef.*|service-policy output .*|pvc .*|"
        r"map-class .*|ppp multilink.*|ip rtp .*|router .*|class class-default",
        images=("12.4", "12.2", "15.1", "12.1", "12.0", "12.0(7)T"),
        driver="ios_legacy",
        role=DeviceRole.EDGE,
        switches=False,
        states_image=True,
    )
    batfish_format: str | None = "cisco_ios"
    secrets: SecretForms = IOS_FORMS
    profile: DeviceProfile = platform_profile("cisco_ios")
    counts: frozenset[Direction] = frozenset({"input", "output"})
    port_counters: PortCounterForm | None = IOS_PORT_COUNTERS
    features: frozenset[Feature] = FEATURES

    most_conditions: int = capabilities()["access_list_entries"]["value"]

    def count_conditions(self, request: DeviceRequest, class_request: ClassRequest) -> int:
        """See `qosforge.platforms.base.Platform`."""
        return count_conditions(request, class_request)

    def lower(self, request: DeviceRequest, running: Plan | None) -> LoweredDevice:
        """See `qosforge.platforms.base.Platform`."""
        return lower(request, running)

    def blocks(self, plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return blocks(plan, lowered, request)

    def parse(self, text: str, device: str, image: str) -> Plan:
        """See `qosforge.platforms.base.Platform`."""
        del image  # the trains differ in what they accept, not in how it reads
        return parse(text, device)

    def inspection_commands(self, driver: str) -> tuple[str, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return inspection_commands(driver)

    def inspect(self, answers: Mapping[str, str], running: str, driver: str) -> Inspection:
        """See `qosforge.platforms.base.Platform`."""
        return inspect(answers, running, driver)

    def counter_commands(self, plan: Plan) -> tuple[str, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return counter_commands(plan)

    def read_counters(self, answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return read_counters(answers, plan)


PLATFORM = CiscoIos()
