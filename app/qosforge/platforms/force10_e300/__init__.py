"""Force10 E300 (FTOS): class maps on input, eight queues by whole percentages, a device-wide strict queue, WRED."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from qosforge.configtree import Grammar
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature
from qosforge.platforms.base import Block, DeviceFamily, Direction, LoweredDevice, QueueCount
from qosforge.platforms.force10_e300.blocks import blocks
from qosforge.platforms.force10_e300.capabilities import capabilities
from qosforge.platforms.force10_e300.counters import counter_commands, read_counters
from qosforge.platforms.force10_e300.grammar import GRAMMAR
from qosforge.platforms.force10_e300.inspection import COMMANDS, inspect
from qosforge.platforms.force10_e300.lower import lower
from qosforge.platforms.force10_e300.matching import count_conditions
from qosforge.platforms.force10_e300.parse import parse
from qosforge.platforms.force10_e300.port_counters import PORT_COUNTERS
from qosforge.platforms.inspection import Inspection
from qosforge.platforms.ios_secrets import IOS_FORMS
from qosforge.platforms.port_counters import PortCounterForm
from qosforge.platforms.profile import DeviceProfile, platform_profile
from qosforge.platforms.recognition import count_class
from qosforge.platforms.secret_forms import SecretForms


class Force10E300:
    """The platform's face."""

    id = "force10_e300"
    grammar: Grammar = GRAMMAR
    family = DeviceFamily(
        signs=r"(?:qos-policy-(?:input|output)|policy-map-(?:input|output)|wred-profile|class-map match-\w+ "
        r"\S+ cam-\S+)\b.*|.*\bservice-class\b.*|interface (?:Ten)?GigabitEthernet \d.*|.*FTOS.*|"
        r"service-queue \d.*|(?:strict-priority|scheduler) .*|dot1p-priority \d|"
        r"service-policy (?:in|out)put \S+ layer2",
        images=("6.5",),
        driver="force10",
        role=DeviceRole.CORE,
        states_image=True,
    )
    batfish_format: str | None = "force10"
    secrets: SecretForms = IOS_FORMS
    profile: DeviceProfile = platform_profile("force10_e300")
    counts: frozenset[Direction] = frozenset({"input", "output"})
    port_counters: PortCounterForm | None = PORT_COUNTERS
    features: frozenset[Feature] = frozenset(
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
    )

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
        del image  # the releases differ in how long names may be, not in how they read
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


PLATFORM = Force10E300()
