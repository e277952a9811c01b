"""Catalyst 2950 and 2955 switches: four queues, strict or WRR for the whole switch, class-maps in EI images."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from qosforge.configtree import Grammar
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature
from qosforge.platforms.base import Block, DeviceFamily, Direction, LoweredDevice, QueueCount
from qosforge.platforms.catalyst_2950.blocks import blocks
from qosforge.platforms.catalyst_2950.capabilities import capabilities
from qosforge.platforms.catalyst_2950.counters import counter_commands, read_counters
from qosforge.platforms.catalyst_2950.grammar import GRAMMAR
from qosforge.platforms.catalyst_2950.lower import lower
from qosforge.platforms.catalyst_2950.parse import parse
from qosforge.platforms.catalyst_2950.recognise import count_entries
from qosforge.platforms.inspection import Inspection
from qosforge.platforms.ios_inspection import inspect, inspection_commands
from qosforge.platforms.ios_port_counters import IOS_PORT_COUNTERS
from qosforge.platforms.ios_secrets import IOS_FORMS
from qosforge.platforms.port_counters import PortCounterForm
from qosforge.platforms.profile import DeviceProfile, platform_profile
from qosforge.platforms.recognition import count_class
from qosforge.platforms.secret_forms import SecretForms

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
        Feature.TRUST_PHONE,
    }
)


class Catalyst2950:
    """The platform's face."""

    id = "catalyst_2950"
    grammar: Grammar = GRAMMAR
    family = DeviceFamily(
        signs=r"wrr-queue\b.*|mls qos map (?:cos-dscp|dscp-cos) .*|(?:.*[^\w])?[Cc](?:WS-C)?295[05]\b.*",
        images=("12.1EA-EI", "12.1EA-SI"),
        driver="ios_legacy",
        role=DeviceRole.ACCESS,
    )
    batfish_format: str | None = "cisco_ios"
    secrets: SecretForms = IOS_FORMS
    profile: DeviceProfile = platform_profile("catalyst_2950")
    counts: frozenset[Direction] = frozenset()
    port_counters: PortCounterForm | None = IOS_PORT_COUNTERS
    features: frozenset[Feature] = FEATURES

    most_conditions: int = capabilities()["access_list_entries"]["value"]

    def count_conditions(self, request: DeviceRequest, class_request: ClassRequest) -> int:
        """See `qosforge.platforms.base.Platform`."""
        return count_class(class_request, partial(count_entries, request))

    def lower(self, request: DeviceRequest, running: Plan | None) -> LoweredDevice:
        """See `qosforge.platforms.base.Platform`."""
        return lower(request, running)

    def blocks(self, plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return blocks(plan, lowered, request)

    def parse(self, text: str, device: str, image: str) -> Plan:
        """See `qosforge.platforms.base.Platform`."""
        del image  # what an SI image lacks, its configuration does not print either
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


PLATFORM = Catalyst2950()
