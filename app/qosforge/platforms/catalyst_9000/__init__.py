"""Catalyst 9000 switches with UADP (IOS-XE): marks by input policies, eight queues a port by output policies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from qosforge.configtree import Grammar
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature
from qosforge.platforms.base import Block, DeviceFamily, Direction, LoweredDevice, QueueCount
from qosforge.platforms.catalyst_9000.blocks import blocks
from qosforge.platforms.catalyst_9000.capabilities import capabilities
from qosforge.platforms.catalyst_9000.counters import counter_commands, read_counters
from qosforge.platforms.catalyst_9000.grammar import GRAMMAR
from qosforge.platforms.catalyst_9000.lower import lower
from qosforge.platforms.catalyst_9000.parse import parse
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
        Feature.MARK_PRECEDENCE,
        Feature.POLICE_INPUT,
        Feature.SHAPE,
        Feature.SHAPE_PORT,
        Feature.STRICT,
        Feature.WEIGHT,
        Feature.BOUNDED,
        Feature.TRUST,
    }
)


class Catalyst9000:
    """The platform's face."""

    id = "catalyst_9000"
    grammar: Grammar = GRAMMAR
    family = DeviceFamily(
        signs=r"priority level .*|bandwidth remaining .*|queue-buffers ratio .*|queue-limit dscp .*|"
        r"random-detect dscp.*|.*\bsystem-cpp-.*|class class-default|service-policy output .*|[Vv]ersion 1[67]\..*|"
        r"interface (?:Two|Five|Ten|TwentyFive|Forty|Hundred)Gig\w+\d/\d/\d+|.*[Cc]9[2-5]00\w*\b.*",
        images=("17.12",),
        driver="ios",
        role=DeviceRole.ACCESS,
        states_image=True,
    )
    batfish_format: str | None = "cisco_ios"
    secrets: SecretForms = IOS_FORMS
    profile: DeviceProfile = platform_profile("catalyst_9000")
    counts: frozenset[Direction] = frozenset({"input", "output"})
    port_counters: PortCounterForm | None = IOS_PORT_COUNTERS
    features: frozenset[Feature] = FEATURES

    most_conditions: int = capabilities()["access_list_entries"]["value"]

    def count_conditions(self, request: DeviceRequest, class_request: ClassRequest) -> int:
        """See `qosforge.platforms.base.Platform`."""
        return count_class(class_request, partial(count_conditions, request))

    def lower(self, request: DeviceRequest, running: Plan | None) -> LoweredDevice:
        """See `qosforge.platforms.base.Platform`."""
        del running  # ports of the request are ours as a whole, whatever they hold
        return lower(request)

    def blocks(self, plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
        """See `qosforge.platforms.base.Platform`."""
        return blocks(plan, lowered, request)

    def parse(self, text: str, device: str, image: str) -> Plan:
        """See `qosforge.platforms.base.Platform`."""
        del image  # the releases differ in what they accept, not in how it reads
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


PLATFORM = Catalyst9000()
