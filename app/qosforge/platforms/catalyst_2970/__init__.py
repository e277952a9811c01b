"""Catalyst 2970 switches: SRR with four queues a port, one of them served first if asked, WTD, input policies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from qosforge.configtree import Grammar
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature
from qosforge.platforms.base import Block, DeviceFamily, Direction, LoweredDevice, QueueCount
from qosforge.platforms.catalyst_2970.blocks import blocks
from qosforge.platforms.catalyst_2970.capabilities import capabilities
from qosforge.platforms.catalyst_2970.counters import counter_commands, read_counters
from qosforge.platforms.catalyst_2970.grammar import GRAMMAR
from qosforge.platforms.catalyst_2970.lower import lower
from qosforge.platforms.catalyst_2970.parse import parse
from qosforge.platforms.inspection import Inspection
from qosforge.platforms.ios_inspection import inspect, inspection_commands
from qosforge.platforms.ios_port_counters import IOS_PORT_COUNTERS
from qosforge.platforms.ios_secrets import IOS_FORMS
from qosforge.platforms.port_counters import PortCounterForm
from qosforge.platforms.profile import DeviceProfile, platform_profile
from qosforge.platforms.recognition import count_class, count_conditions
from qosforge.platforms.secret_forms import SecretForms

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
        Feature.SHAPE_PORT,
        Feature.STRICT,
        Feature.WEIGHT,
        Feature.WRED_PROFILES,
        Feature.BOUNDED,
        Feature.TRUST,
        Feature.TRUST_PHONE,
    }
)


class Catalyst2970:
    """The platform's face."""

    id = "catalyst_2970"
    grammar: Grammar = GRAMMAR
    family = DeviceFamily(
        signs=r".*\bsrr-queue\b.*|.*\bqueue-set\b.*|mls qos (?:queue-set|srr-queue)\b.*|priority-queue out|"
        r"(?:.*[^\w])?[Cc](?:isco )?(?:WS-C)?(?:2970|3560|3750)\b.*",
        images=("12.2",),
        driver="ios_legacy",
        role=DeviceRole.ACCESS,
    )
    batfish_format: str | None = "cisco_ios"
    secrets: SecretForms = IOS_FORMS
    profile: DeviceProfile = platform_profile("catalyst_2970")
    counts: frozenset[Direction] = frozenset({"output"})
    port_counters: PortCounterForm | None = IOS_PORT_COUNTERS
    features: frozenset[Feature] = FEATURES

    most_conditions: int = capabilities()["access_list_entries"]["value"]

    def count_conditions(self, request: DeviceRequest, class_request: ClassRequest) -> int:
        """See `qosforge.platforms.base.Platform`."""
        return count_class(class_request, partial(count_conditions, request))

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


PLATFORM = Catalyst2970()
