"""The 2950's data plane: trust, policies, maps and queues.

What an input neither trusts nor classifies gets the port's CoS, and keeps its DSCP: an untrusted port "assigns a
CoS value of 0 to all incoming packets without modifying the packets" (configuration guide 78-11380-10, p. 30-25),
and what no class takes has no QoS processing (78-14982-01, p. 26-5).
"""

from __future__ import annotations

from collections.abc import Sequence

from qoslab.boxes.catalyst.base import CatalystSwitch
from qoslab.boxes.catalyst.maps import eight_values
from qoslab.boxes.catalyst.policies import SwitchPolicies, written_dscp
from qoslab.boxes.catalyst.policing import meter, policed, split_by_policer
from qoslab.boxes.catalyst.trust import DEVICE, OVERRIDE, default_cos, trusted
from qoslab.boxes.catalyst_2950 import queues
from qoslab.boxes.ios.arguments import dscp_value
from qoslab.config import Section
from qoslab.packets import Outcome, Packets


class SwitchPlane:
    """Classifies and queues by the running configuration."""

    def __init__(self, box: CatalystSwitch, policies: SwitchPolicies) -> None:
        self._box = box
        self._policies = policies

    @property
    def _running(self) -> Section:
        return self._box.running

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Switch packets. ``queue`` is ``queue N``; ``egress_class`` says how that queue is served."""
        ingress, egress = self._box.port_up(into), self._box.port_up(out)
        budgets: dict[str, float] = {}
        outcomes = []
        for at, group in enumerate(packets):
            name, parts = self._ingress(ingress, group, seconds, budgets)
            outcomes += [self._send(part, name, egress, at, alive=alive) for part, alive in parts]
        return outcomes

    def _send(self, part: Packets, name: str, egress: Section, at: int, *, alive: bool) -> Outcome:
        if not alive:
            return Outcome(
                part.dscp, part.cos, name, part.count, part.dscp, part.cos, "", "", 0, at, part.count
            )  # fmt: skip
        queue = int(queues.WRR_COS.read(self._running)[part.cos])
        cos = part.cos if "switchport mode trunk" in egress.value("switchport mode") else 0
        return Outcome(
            part.dscp, part.cos, name, 0, part.dscp, cos, self._service(queue), f"queue {queue}", 0, at, part.count
        )  # fmt: skip

    def _service(self, queue: int) -> str:
        weights = queues.weights(self._running)
        if not weights:
            return "strict"
        if queue == 4 and weights[3] == "0" and not self._box.faults.ignore_priority:
            return "expedite"
        return f"weight {weights[queue - 1]}"

    def _cos_of(self, dscp: int) -> int:
        # DSCPs outside the thirteen supported ones have CoS 0 (command reference OL-10102-01, p. 2-215).
        return int(queues.DSCP_COS.read(self._running).get(dscp, "0"))

    def _ingress(
        self, port: Section, packets: Packets, seconds: float, budgets: dict[str, float]
    ) -> tuple[str, list[tuple[Packets, bool]]]:
        policy = self._policies.policy_on(port)
        if policy is None:
            return "", [(self._trusted(port, packets), True)]
        held = self._policies.classify(policy, packets, port.text.split()[1])
        if held is None:
            return "", [(packets.marked(cos=default_cos(port)), True)]
        marked = packets.marked(dscp=written_dscp(held))
        marked = marked.marked(cos=self._cos_of(marked.dscp))
        name = held.text.split()[1]
        good, exceed = split_by_policer(policed(self._running, held), packets, seconds, budgets, meter(held))
        parts = [(marked.kept(good), True)] if good else []
        if packets.count > good:
            down = marked.kept(packets.count - good)
            if exceed.startswith("dscp"):
                down = down.marked(dscp=dscp_value(exceed.split()[1]))
                down = down.marked(cos=self._cos_of(down.dscp))
            parts.append((down, exceed != "drop"))
        return name, parts

    def _trusted(self, port: Section, packets: Packets) -> Packets:
        default = default_cos(port)
        # No phone is ever seen here, so a port that trusts one stays untrusted.
        trust = [] if DEVICE in port else trusted(port)
        table = eight_values(self._running, "mls qos map cos-dscp", queues.COS_DSCP)
        if OVERRIDE in port:
            return packets.marked(cos=default, dscp=table[default])
        if not trust:
            return packets.marked(cos=default)
        if trust[0] == "dscp":
            return packets.marked(cos=self._cos_of(packets.dscp))
        cos = packets.cos if packets.tagged else default
        return packets.marked(cos=cos, dscp=None if "pass-through" in trust else table[cos])
