"""Read an IOS running configuration into a plan, with the defaults that IOS does not print."""

from __future__ import annotations

from qosforge.commands import ReadLine
from qosforge.plan.model import Efficiency, Ingress, InterfacePlan, InterfacePolicer, Plan, System, TunnelGroup
from qosforge.plan.percentages import default_burst, resolved
from qosforge.platforms.cisco_ios.applications import read_protocol
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, default_bandwidth
from qosforge.platforms.cisco_ios.car import read_rate_limit
from qosforge.platforms.cisco_ios.circuits import CircuitReader, ietf_circuits
from qosforge.platforms.cisco_ios.encryption import encrypting_interfaces
from qosforge.platforms.cisco_ios.lines import TABLE
from qosforge.platforms.cisco_ios.lower import default_egress
from qosforge.platforms.cisco_ios.trains import divides_guarantees
from qosforge.platforms.cisco_ios.wred import QueueLines
from qosforge.platforms.mqc.access_lists import AccessLists
from qosforge.platforms.mqc.classes import read_class_maps
from qosforge.platforms.mqc.policies import PolicyReader


class _Reader:
    """One reading: the access lists, policies and circuits of a configuration."""

    def __init__(self, text: str, image: str) -> None:
        self.reading = TABLE.read(text)
        self.lists = AccessLists(self.reading)
        self.circuits = CircuitReader(self.reading)
        class_maps = read_class_maps(self.reading, self.lists, read_protocol, tells_versions=True)
        self.policies = PolicyReader(
            self.reading,
            class_maps,
            QueueLines,
            default_burst=default_burst,
            divides_guarantees=divides_guarantees(image),
        )

    def plan(self, device: str) -> Plan:
        found = tuple(self.reading.all("interface"))
        interfaces = tuple(map(self._interface, found))
        self.circuits.read_unused()
        self.policies.read_unattached()
        ids = {line.id for entry in self.reading.entries for line in (entry, *entry.below)}
        inside = sorted(entry.name for entry in found if any(line.id == "pre-classify" for line in entry.below))
        return Plan(
            device=device,
            platform="cisco_ios",
            system=System(
                express_forwarding="express-forwarding" in ids,
                ipv6="ipv6" in ids,
                encrypting=encrypting_interfaces(self.reading, found),
                ietf_circuits=ietf_circuits(found),
                inside_tunnels=tuple(inside),
            ),
            interfaces=interfaces,
            unknown=self.reading.unknown,
            foreign_lists=self.lists.foreign_numbers,
        )

    def _interface(self, interface: ReadLine) -> InterfacePlan:
        bandwidth = default_bandwidth(interface.name)
        ingress, egress = Ingress(), None
        efficiency: dict[str, object] = {}
        flow_wfq = True
        reservable: int | None = None
        ring: int | None = None
        policers: dict[str, list[InterfacePolicer]] = {"input": [], "output": []}
        groups: list[TunnelGroup] = []
        circuit, carried = self.circuits.read(interface)
        for line in (*interface.below, *carried):
            match line.id:
                case "bandwidth":
                    bandwidth = line["kbps"]
                case "reservable":
                    reservable = line["percent"]
                case "service-policy" if line.get("direction") == "input":
                    ingress = self.policies.input(line)
                case "service-policy":
                    egress = self.policies.output(line)
                case "group-policy":
                    groups.append(TunnelGroup(group=line["group"], egress=self.policies.output(line)))
                case "flow-queueing":
                    flow_wfq = False
                case "ring" | "pvc-ring":
                    ring = line["packets"]
                case "rate-limit" | "rate-limit-list":
                    if found := read_rate_limit(line, self.lists, self.reading, interface.line.text):
                        policers[line["side"]].append(found)
                case "crtp":
                    efficiency["header_compression"] = True
                case "multilink" | "multilink-option":
                    efficiency[line.get("option", "multilink")] = True
                case "fragment" | "ip-mtu":
                    efficiency |= line.values
                case "frame-relay-fragment" | "map-class-value":
                    efficiency |= {"frame_relay_fragment": line["fragment"], "fragment_bytes": line["fragment"]}
        if circuit is not None and circuit.sustained is not None:
            bandwidth = circuit.sustained // 1000
        if efficiency.get("interleave"):
            efficiency.setdefault("fragment_delay_ms", CAPABILITIES.fragment_delay_ms.interleaved)
        delay = efficiency.get("fragment_delay_ms")
        if isinstance(delay, int) and bandwidth is not None:
            efficiency["fragment_bytes"] = bandwidth * delay // 8
        if egress is None:
            egress = default_egress(interface.name, bandwidth if flow_wfq else 10**9)
        plan = InterfacePlan(
            name=interface.name,
            bandwidth_kbps=bandwidth,
            reservable_percent=reservable,
            circuit=circuit,
            ingress=ingress.model_copy(update={"policers": tuple(policers["input"])}),
            egress=egress.model_copy(update={"policers": tuple(policers["output"]), "transmit_ring": ring}),
            efficiency=Efficiency.model_validate(efficiency),
            groups=tuple(groups),
        )
        return plan if bandwidth is None else resolved(plan, bandwidth * 1000)


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``.

    The releases differ in what they accept, and in what a policy inside a class divides.
    """
    return _Reader(text, image).plan(device)
