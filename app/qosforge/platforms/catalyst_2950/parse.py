"""Read a 2950's running configuration into a plan, with the defaults that it does not print."""

from __future__ import annotations

from qosforge.plan.model import InterfacePlan, Plan, System
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES, DSCP_TO_COS
from qosforge.platforms.catalyst_2950.lines import TABLE
from qosforge.platforms.catalyst_2950.masks import written_mask
from qosforge.platforms.catalyst_2950.scheduling import round_robin, strict_priority
from qosforge.platforms.ios_switch.reader import SwitchReader


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    del image  # what an SI image lacks, its configuration does not print either
    reader = SwitchReader(TABLE, text, dscp_to_cos=DSCP_TO_COS)
    queues = list(CAPABILITIES.cos_to_queue.value)
    for entry in reader.settings("wrr-cos-map"):
        for cos in entry["cos"]:
            queues[cos] = entry["queue"]
    scheduler = strict_priority()
    for entry in reader.reading.all("wrr-bandwidth"):
        scheduler = strict_priority() if entry.negated else round_robin(list(entry["weights"]))
    interfaces = tuple(InterfacePlan(name=port.name, ingress=reader.ingress(port)) for port in reader.ports())
    filters = {written_mask(entry) for port in reader.ports() for entry in reader.filter_entries(port)}
    reader.read_unattached()
    return Plan(
        device=device,
        platform="catalyst_2950",
        system=System(
            cos_to_dscp=tuple(reader.cos_to_dscp),
            dscp_to_cos=tuple(reader.dscp_to_cos),
            cos_to_queue=tuple(queues),
            scheduler=scheduler,
            untrusted_keeps_dscp=CAPABILITIES.untrusted_keeps_dscp.value,
        ),
        interfaces=interfaces,
        unknown=reader.reading.unknown,
        auto_qos=reader.auto_qos(),
        flow_control=reader.flow_control(),
        filter_masks=tuple(sorted(filters - {""})),
    )
