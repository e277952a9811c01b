"""The 2970's data plane: trust, policies, maps, queues, and the counters of ``show mls qos interface``.

By which map packets of a port that trusts their CoS find their queue, two sources do not say alike. The
classification flowchart of the guides (3560 78-16156-01, figure 28-3; 3750-X OL-21521-01, figure 39-3) makes a DSCP
of the CoS, and the QoS label of that DSCP: the DSCP map. A design guide for campuses enters the CoS map for ports
that trust the CoS. The switch does as the flowchart says; with the feature ``cos_label``, as the other guide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from qoslab.boxes.catalyst.base import CatalystSwitch
from qoslab.boxes.catalyst.maps import eight_values
from qoslab.boxes.catalyst.policies import SwitchPolicies, written_dscp
from qoslab.boxes.catalyst.policing import meter, policed, split_by_policer
from qoslab.boxes.catalyst.trust import DEVICE, OVERRIDE, default_cos, trusted
from qoslab.boxes.catalyst_2970 import maps, queues
from qoslab.config import Section
from qoslab.packets import Outcome, Packets

VLAN_BASED = "mls qos vlan-based"


@dataclass
class PortCount:
    """Counters of one port: packets by DSCP and CoS in and out, by (queue, threshold), by policer result."""

    dscp_in: Counter[int] = field(default_factory=Counter)
    dscp_out: Counter[int] = field(default_factory=Counter)
    cos_in: Counter[int] = field(default_factory=Counter)
    cos_out: Counter[int] = field(default_factory=Counter)
    enqueued: Counter[tuple[int, int]] = field(default_factory=Counter)
    in_profile: int = 0
    out_of_profile: int = 0


@dataclass(frozen=True)
class _Classified:
    packets: Packets  # with the internal DSCP and CoS
    by_cos: bool  # the CoS is what the port trusts
    name: str
    alive: bool


class SwitchPlane:
    """Classifies and queues by the running configuration."""

    def __init__(self, box: CatalystSwitch, policies: SwitchPolicies) -> None:
        self._box = box
        self._policies = policies
        self.counts: dict[str, PortCount] = {}

    def count(self, port: str) -> PortCount:
        """The counters of a port."""
        return self.counts.setdefault(port, PortCount())

    @property
    def _running(self) -> Section:
        return self._box.running

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Switch packets. ``queue`` is ``queue Q threshold T``; ``egress_class`` says how Q is served."""
        ingress, egress = self._box.port_up(into), self._box.port_up(out)
        budgets: dict[str, float] = {}
        outcomes: list[Outcome] = []
        for at, group in enumerate(packets):
            counter = self.count(ingress.text.split()[1])
            counter.dscp_in[group.dscp] += group.count
            counter.cos_in[group.cos] += group.count if group.tagged else 0
            parts = self._classify(ingress, group, seconds, budgets)
            outcomes += [self._send(part, group, egress, at) for part in parts]
        return outcomes

    def _send(self, part: _Classified, arrived: Packets, egress: Section, at: int) -> Outcome:
        inside = part.packets
        if not part.alive:
            return Outcome(
                inside.dscp, inside.cos, part.name, inside.count, inside.dscp, inside.cos, "", "", 0, at,
                inside.count,
            )  # fmt: skip
        trunk = "trunk" in egress.value("switchport mode")
        if "mls qos" not in self._running:
            cos = arrived.cos if trunk else 0
            return Outcome(
                arrived.dscp, arrived.cos, "", 0, arrived.dscp, cos, "", "fifo", 0, at, inside.count
            )  # fmt: skip
        by_cos = part.by_cos and self._box.feature("cos_label", False)
        table = queues.OUTPUT_COS if by_cos else queues.OUTPUT_DSCP
        place = table.read(self._running)[inside.cos if by_cos else inside.dscp]
        queue, threshold = map(int, place.split("-"))
        # With rewriting off the mark inside the switch decides, and the packet keeps its own.
        dscp = arrived.dscp if "mls qos rewrite ip dscp" in self._running else inside.dscp
        cos = int(maps.DSCP_COS.read(self._running)[inside.dscp])
        counter = self.count(egress.text.split()[1])
        counter.dscp_out[dscp] += inside.count
        counter.enqueued[queue, threshold] += inside.count
        if trunk:
            counter.cos_out[cos] += inside.count
        return Outcome(
            inside.dscp, inside.cos, part.name, 0, dscp, cos if trunk else 0, self._service(egress, queue),
            f"queue {queue} threshold {threshold}", 0, at, inside.count,
        )  # fmt: skip

    def _service(self, egress: Section, queue: int) -> str:
        expedite = "priority-queue out" in egress and not self._box.faults.ignore_priority
        if expedite and queue == 1:
            return "expedite"
        shaped = queues.shape(egress)[queue - 1]
        return f"shaped {shaped}" if shaped else f"shared {queues.share(egress)[queue - 1]}"

    # -- ingress -----------------------------------------------------------------------------------------
    def _classify(
        self, port: Section, packets: Packets, seconds: float, budgets: dict[str, float]
    ) -> list[_Classified]:
        if "mls qos" not in self._running:
            return [_Classified(packets, by_cos=False, name="", alive=True)]
        policy = self._policy(port, packets)
        if policy is None:
            marked, by_cos = self._trusted(port, packets)
            return [_Classified(marked, by_cos, "", alive=True)]
        name = port.text.split()[1]
        held = self._policies.classify(policy, packets, name)
        if held is None:  # what no class takes leaves with both marks zero
            return [_Classified(packets.marked(dscp=0, cos=0), by_cos=False, name="class-default", alive=True)]
        by_cos = False
        dscp = written_dscp(held)
        if dscp is not None:
            marked = self._internal(packets, dscp)
        elif "trust" in held:
            marked, by_cos = self._by_trust(held.value("trust").split()[1], port, packets)
        else:
            marked = self._internal(packets, 0)
        child = self._policies.nested(held)
        polices = held if child is None else self._policies.classify(child, packets, name)
        limit = None if polices is None else policed(self._running, polices)
        key = "" if polices is None else meter(polices)
        good, exceed = split_by_policer(limit, packets, seconds, budgets, key)
        counter = self.count(name)
        if limit is not None:
            counter.in_profile += good
            counter.out_of_profile += packets.count - good
        class_name = held.text.split()[1]
        parts = [_Classified(marked.kept(good), by_cos, class_name, alive=True)] if good else []
        if packets.count > good:
            down = marked.kept(packets.count - good)
            if exceed != "drop":
                down = self._internal(down, int(maps.POLICED.read(self._running)[down.dscp]))
            parts.append(_Classified(down, by_cos=False, name=class_name, alive=exceed != "drop"))
        return parts

    def _policy(self, port: Section, packets: Packets) -> Section | None:
        """The policy that classifies on a port: its own, or that of the packets' VLAN."""
        if VLAN_BASED not in port:
            return self._policies.policy_on(port)
        own = int(port.value("switchport access vlan", "1").split()[-1])
        vlan = self._running.get(f"interface Vlan{packets.vlan or own}")
        return None if vlan is None else self._policies.policy_on(vlan)

    def _internal(self, packets: Packets, dscp: int) -> Packets:
        return packets.marked(dscp=dscp, cos=int(maps.DSCP_COS.read(self._running)[dscp]))

    def _trusted(self, port: Section, packets: Packets) -> tuple[Packets, bool]:
        default = default_cos(port)
        if OVERRIDE in port:
            table = eight_values(self._running, "mls qos map cos-dscp", maps.COS_DSCP)
            return packets.marked(dscp=table[default], cos=default), True
        trust = trusted(port)
        # Trusting a phone needs one on the port, and the lab has none.
        if not trust or DEVICE in port:
            return packets.marked(dscp=0, cos=0), False
        return self._by_trust(trust[0], port, packets)

    def _by_trust(self, what: str, port: Section, packets: Packets) -> tuple[Packets, bool]:
        if what == "cos":
            cos = packets.cos if packets.tagged else default_cos(port)
            table = eight_values(self._running, "mls qos map cos-dscp", maps.COS_DSCP)
            return packets.marked(dscp=table[cos], cos=cos), True
        if what == "ip-precedence":
            table = eight_values(self._running, "mls qos map ip-prec-dscp", maps.COS_DSCP)
            return self._internal(packets, table[packets.dscp >> 3]), False
        dscp = packets.dscp
        mutated = port.value("mls qos dscp-mutation").split()[3:]
        if mutated:
            dscp = int(maps.mutation(mutated[0]).read(self._running)[dscp])
        return self._internal(packets, dscp), False
