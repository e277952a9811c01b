"""Read a Catalyst 9000's running configuration into a plan, with the defaults that it does not print."""

from __future__ import annotations

from qosforge.commands import ReadLine
from qosforge.plan.model import Discipline, Egress, Ingress, InterfacePlan, Plan, Queue, Scheduler, Trust
from qosforge.platforms.catalyst_9000.drops import QueueLines
from qosforge.platforms.catalyst_9000.lines import TABLE
from qosforge.platforms.mqc.access_lists import AccessLists
from qosforge.platforms.mqc.classes import read_class_maps
from qosforge.platforms.mqc.policies import PolicyReader

BEST_EFFORT = Egress(default_queue=0, scheduler=Scheduler(discipline=Discipline.FIFO, queues=(Queue(number=0),)))
"""A port without an output policy: what its two own queues do beyond that is not known."""


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    del image  # the releases differ in what they accept, not in how it reads
    reading = TABLE.read(text)
    lists = AccessLists(reading)
    # A priority that names no level is of the first one.
    class_maps = read_class_maps(reading, lists, tells_versions=True)
    policies = PolicyReader(reading, class_maps, QueueLines, polices_output=False, level=1)
    interfaces = tuple(_interface(port, policies) for port in reading.all("port"))
    policies.read_unattached()
    for entry in reading.all("queueing"):
        reading.miss(entry)
        for line in entry.below:
            reading.miss(line, entry.line.text)
    for entry in reading.all("other-interface"):
        for line in entry.below:
            if line.id == "service-policy":
                reading.miss(line, entry.line.text)
    return Plan(
        device=device,
        platform="catalyst_9000",
        interfaces=interfaces,
        unknown=reading.unknown,
        foreign_lists=lists.foreign_numbers,
    )


def _interface(port: ReadLine, policies: PolicyReader) -> InterfacePlan:
    ingress, egress = Ingress(), BEST_EFFORT
    trust = Trust.KEEP
    for line in port.below:
        match line.id, line.get("direction"):
            case "service-policy", "input" if policies.does_nothing(line):
                # Such as a table-map that copies: what the device does without a policy.
                ingress = Ingress(policy=line.name)
            case "service-policy", "input":
                ingress = policies.input(line)
            case "service-policy", _:
                egress = policies.output(line)
            case "trust-device", _:
                trust = Trust.PHONE
    return InterfacePlan(name=port.name, ingress=ingress.model_copy(update={"trust": trust}), egress=egress)
