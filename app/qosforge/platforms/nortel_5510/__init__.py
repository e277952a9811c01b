"""Nortel BayStack 5510 and ERS 5500: one predefined queue set for the switch, filters and trust by port group."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from qosforge.configtree import Grammar
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature
from qosforge.platforms.base import Block, DeviceFamily, Direction, LoweredDevice, QueueCount
from qosforge.platforms.inspection import Inspection
from qosforge.platforms.nortel_5510.blocks import blocks
from qosforge.platforms.nortel_5510.capabilities import capabilities
from qosforge.platforms.nortel_5510.counters import counter_commands, read_counters
from qosforge.platforms.nortel_5510.grammar import GRAMMAR
from qosforge.platforms.nortel_5510.inspection import COMMANDS, inspect
from qosforge.platforms.nortel_5510.lower import lower
from qosforge.platforms.nortel_5510.parse import parse
from qosforge.platforms.nortel_5510.recognise import count_filters
from qosforge.platforms.nortel_5510.secrets import FORMS
from qosforge.platforms.port_counters import PortCounterForm
from qosforge.platforms.profile import DeviceProfile, platform_profile
from qosforge.platforms.recognition import count_class
from qosforge.platforms.secret_forms import SecretForms


class Nortel5510:
    """The platform's face."""

    id = "nortel_5510"
    grammar: Grammar = GRAMMAR
    family = DeviceFamily(
        signs=r"qos (?:agent|if-group|if-assign|ip-element|l2-element|classifier|meter|action|policy|acl|ip-acl|"
        r"l2-acl|queue-set)\b.*|vlan (?:members|ports|configcontrol)\b.*|.*ASCII Configuration Generator.*",
        images=("5.1",),
        driver="ers",
        role=DeviceRole.ACCESS,
    )
    batfish_format: str | None = None
    secrets: SecretForms = FORMS
    profile: DeviceProfile = platform_profile("nortel_5510")
    counts: frozenset[Direction] = frozenset({"input"})
    port_counters: PortCounterForm | None = None  # of its answer no record is known
    features: frozenset[Feature] = frozenset(
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
        }
    )

    most_conditions: int = capabilities()["filter_limits"]["value"]["classifiers"]

    def count_conditions(self, request: DeviceRequest, class_request: ClassRequest) -> int:
        """See `qosforge.platforms.base.Platform`."""
        return count_class(class_request, partial(count_filters, request))

    def lower(self, request: DeviceRequest, running: Plan | None) -> LoweredDevice:
        """See `qosforge.platforms.base.Platform`."""
        return lower(request, running)

    def blocks(self, plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return blocks(plan, lowered, request)

    def parse(self, text: str, device: str, image: str) -> Plan:
        """See `qosforge.platforms.base.Platform`."""
        del image  # the releases differ in what they print, and both forms are read
        return parse(text, device)

    def inspection_commands(self, driver: str) -> tuple[str, ...]:
        """See `qosforge.platforms.base.Platform`."""
        del driver
        return COMMANDS

    def inspect(self, answers: Mapping[str, str], running: str, driver: str) -> Inspection:
        """See `qosforge.platforms.base.Platform`."""
        del running, driver
        return inspect(answers, self.id)

    def counter_commands(self, plan: Plan) -> tuple[str, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return counter_commands(plan)

    def read_counters(self, answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return read_counters(answers, plan)


PLATFORM = Nortel5510()
