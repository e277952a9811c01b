"""Read a 2970's running configuration into a plan, with the defaults that it does not print."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.commands import Entry
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, System, Trust
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_2970.levels import QueueBuffers, depths
from qosforge.platforms.catalyst_2970.lines import TABLE
from qosforge.platforms.catalyst_2970.read_queues import SwitchQueues
from qosforge.platforms.catalyst_2970.scheduling import (
    best_effort,
    default_share,
    shaped_round_robin,
)
from qosforge.platforms.ios_switch.reader import SwitchReader


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``.

    While QoS is off the device changes no mark and has one queue: its maps do nothing, and the plan has none.
    """
    del image  # the trains differ in what they accept, not in how it reads
    # What a class says nothing of gets DSCP 0: a policy stands for the trust of its port.
    reader = SwitchReader(TABLE, text, unmarked=0)
    switched_on = any(reader.settings("mls-qos"))
    queues = SwitchQueues(reader.reading)
    held = {number: depths(queues.queue_set(number), queues.maps) for number in (1, 2)}
    interfaces = tuple(_interface(reader, held, port, switched_on=switched_on) for port in reader.ports())
    maps = queues.maps
    system = System(
        cos_to_dscp=tuple(reader.cos_to_dscp),
        dscp_to_cos=tuple(reader.dscp_to_cos),
        cos_to_queue=tuple(queue for queue, _ in maps.cos),
        dscp_to_queue=tuple(queue for queue, _ in maps.dscp),
        policed_dscp=tuple(reader.policed_dscp),
        input_queues=queues.input_queues,
    )
    reader.read_unattached()
    return Plan(
        device=device,
        platform="catalyst_2970",
        system=system if switched_on else System(),
        interfaces=interfaces,
        unknown=reader.reading.unknown,
    )


def _interface(
    reader: SwitchReader, buffers: Mapping[int, tuple[QueueBuffers, ...]], port: Entry, *, switched_on: bool
) -> InterfacePlan:
    """``buffers`` are the depths of the queues in each queue set."""
    ingress = reader.ingress(port)
    said = {name: value for line in port.below if not line.negated for name, value in line.values.items()}
    limit = said.get("limit")
    if not switched_on:
        # What else the port holds waits for QoS to be switched on; only the marks are left alone until then.
        waiting = Ingress(policy=ingress.policy, trust=Trust.KEEP, port_cos=ingress.port_cos)
        return InterfacePlan(name=port.name, ingress=waiting, egress=Egress(scheduler=best_effort(limit)))
    scheduler = shaped_round_robin(
        said.get("share", default_share()),
        said.get("shape", CAPABILITIES.shape_default.value),
        expedite=any(line.id == "expedite" and not line.negated for line in port.below),
        limit=limit,
        depths=buffers[said.get("set", 1)],
    )
    return InterfacePlan(name=port.name, ingress=ingress, egress=Egress(scheduler=scheduler))
