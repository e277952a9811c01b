"""Catalyst 2970 switches: SRR with four queues a port, one of them served first if asked, WTD, input policies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from app.configtree import Grammar
from app.inventory.models import Role
from app.plan.model import Plan
from app.plan.request import ClassRequest, DeviceRequest, Feature
from app.platforms.base import Block, Boxes, Direction, Lowered, QueueCount
from app.platforms.catalyst_2970.blocks import blocks
from app.platforms.catalyst_2970.capabilities import capabilities
from app.platforms.catalyst_2970.counters import counter_commands, read_counters
from app.platforms.catalyst_2970.grammar import GRAMMAR
from app.platforms.catalyst_2970.lower import lower
from app.platforms.catalyst_2970.parse import parse
from app.platforms.inspection import Inspection
from app.platforms.ios_inspection import inspect, inspection_commands
from app.platforms.ios_port_counters import IOS_PORT_COUNTERS
from app.platforms.ios_secrets import IOS_FORMS
from app.platforms.port_counters import PortCounterForm
from app.platforms.profile import DeviceProfile, platform_profile
from app.platforms.recognition import count_class, count_conditions
from app.platforms.secret_forms import SecretForms

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
    boxes = Boxes(
        signs=r".*\bsrr-queue\b.*|.*\bqueue-set\b.*|mls qos (?:queue-set|srr-queue)\b.*|priority-queue out|"
        r"(?:.*[^\w])?[Cc](?:isco )?(?:WS-C)?(?:2970|3560|3750)\b.*",
        images=("12.2",),
        driver="ios_legacy",
        role=Role.ACCESS,
    )
    batfish_format: str | None = "cisco_ios"
    secrets: SecretForms = IOS_FORMS
    profile: DeviceProfile = platform_profile("catalyst_2970")
    counts: frozenset[Direction] = frozenset({"output"})
    port_counters: PortCounterForm | None = IOS_PORT_COUNTERS
    features: frozenset[Feature] = FEATURES

    most_conditions: int = capabilities()["access_list_entries"]["value"]

    def count_conditions(self, request: DeviceRequest, wanted: ClassRequest) -> int:
        """See `app.platforms.base.Platform`."""
        return count_class(wanted, partial(count_conditions, request))

    def lower(self, request: DeviceRequest, running: Plan | None) -> Lowered:
        """See `app.platforms.base.Platform`."""
        return lower(request, running)

    def blocks(self, plan: Plan, lowered: Lowered, request: DeviceRequest) -> tuple[Block, ...]:
        """See `app.platforms.base.Platform`."""
        return blocks(plan, lowered, request)

    def parse(self, text: str, device: str, image: str) -> Plan:
        """See `app.platforms.base.Platform`."""
        del image  # the trains differ in what they accept, not in how it reads
        return parse(text, device)

    def inspection_commands(self, driver: str) -> tuple[str, ...]:
        """See `app.platforms.base.Platform`."""
        return inspection_commands(driver)

    def inspect(self, answers: Mapping[str, str], running: str, driver: str) -> Inspection:
        """See `app.platforms.base.Platform`."""
        return inspect(answers, running, driver)

    def counter_commands(self, plan: Plan) -> tuple[str, ...]:
        """See `app.platforms.base.Platform`."""
        return counter_commands(plan)

    def read_counters(self, answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
        """See `app.platforms.base.Platform`."""
        return read_counters(answers, plan)


PLATFORM = Catalyst2970()
