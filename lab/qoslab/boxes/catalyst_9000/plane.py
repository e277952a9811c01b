"""The data plane of a Catalyst 9000: marks are kept unless a policy says otherwise, queues go by the marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from qoslab.boxes.catalyst.base import CatalystSwitch
from qoslab.boxes.catalyst_9000.policies import TRUST_DEVICE, SwitchPolicies
from qoslab.boxes.catalyst_9000.policing import sent
from qoslab.boxes.catalyst_9000.queueing import priority_level
from qoslab.boxes.ios.marking import marked
from qoslab.boxes.ios.police import Policer
from qoslab.config import Section
from qoslab.metering import Metering
from qoslab.packets import Outcome, Packets

Path = tuple[str, ...]
"""Interface, direction, class, class inside it."""
_LEAST_BURST = 1500
_BURST_SECONDS = 0.2  # what a priority level without a burst may send at once (K)


@dataclass
class Count:
    """Counters of one class of one attached policy."""

    packets: int = 0
    sent_bytes: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class _Treated:
    packets: Packets
    name: str
    queue: str
    dropped: bool


class SwitchPlane:
    """Classifies, polices, marks and queues by the running configuration."""

    def __init__(self, box: CatalystSwitch, policies: SwitchPolicies) -> None:
        self._box = box
        self._policies = policies
        self._counts: dict[Path, Count] = {}

    def count(self, path: Path) -> Count:
        """The counters of a class; zero when nothing was offered yet."""
        return self._counts.setdefault(path, Count())

    def clear(self) -> None:
        """Every counter back to zero."""
        self._counts = {}

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Switch packets; ``queue`` is the priority level or the class whose queue they wait in."""
        ingress, egress = self._box.port_up(into), self._box.port_up(out)
        meters = Metering(seconds) if seconds > 0 else None
        trunk = "trunk" in egress.value("switchport mode")
        outcomes = []
        for at, offered in enumerate(packets):
            # A port that looks for a device trusts no mark without it (guides on AutoQoS): the lab has none.
            group = offered.marked(dscp=0, cos=0) if TRUST_DEVICE in ingress else offered
            for first in self._side(ingress, "input", group, meters):
                came = first.packets
                base = Outcome(
                    came.dscp, came.cos, first.name, 0, came.dscp, 0, "", "", 0, at, came.count
                )  # fmt: skip
                if first.dropped:
                    outcomes.append(replace(base, dropped_in=came.count))
                    continue
                for second in self._side(egress, "output", came, meters):
                    left = second.packets
                    outcomes.append(
                        replace(
                            base,
                            dscp_out=left.dscp,
                            cos_out=left.cos if trunk else 0,
                            egress_class=second.name,
                            queue=second.queue,
                            dropped_out=left.count if second.dropped else 0,
                            count=left.count,
                        )
                    )
        return outcomes

    def _side(self, port: Section, direction: str, packets: Packets, meters: Metering | None) -> list[_Treated]:
        name = port.text.split()[1]
        policy = self._policies.policy_on(port, direction)
        if policy is None:
            return [_Treated(packets, "", "default" if direction == "output" else "", dropped=False)]
        return self._classes(policy, (name, direction), packets, meters, self._box.bandwidth(port) * 1000)

    def _classes(
        self, policy: Section, path: Path, packets: Packets, meters: Metering | None, rate: int
    ) -> list[_Treated]:
        name = self._policies.classify(policy, packets, path[0])
        here = (*path, name)
        count = self.count(here)
        count.packets += packets.count
        held = policy.get(f"class {name}") or Section(f"class {name}")
        treated = []
        for part, action in self._police(held, here, packets, meters, rate):
            if action == "drop":
                count.dropped += part.count
                treated.append(_Treated(part, name, "", dropped=True))
                continue
            # Tables of AutoQoS list the marks that its classes set: what exceeds is marked first, then marked down.
            written = sent(self._box, action, marked(self._box, held, part))
            child = self._policies.child(held)
            if child is not None:
                below = self._classes(child, here, written, meters, _shaped(held, rate))
                treated += [replace(one, name=f"{name}/{one.name}") for one in below]
                continue
            count.sent_bytes += part.count * part.bytes
            treated.append(_Treated(written, name, self._queue(held, name, path[1]), dropped=False))
        return treated

    def _queue(self, held: Section, name: str, direction: str) -> str:
        if direction == "input":
            return ""
        if "priority" in held and not self._box.faults.ignore_priority:
            return f"priority level {priority_level(held.value('priority'))}"
        return f"class {name}"

    def _police(
        self, held: Section, path: Path, packets: Packets, meters: Metering | None, rate: int
    ) -> Iterator[tuple[Packets, str]]:
        """Parts of a group, and what happens to each: to what conforms, and to what does not."""
        limit, peak, excess, actions = _cap(held, rate), 0, 0, dict[str, str]()
        line = held.get("police")
        if line is not None:
            policer = Policer.read(line)
            actions, peak = policer.actions, policer.peak or rate * policer.peak_percent // 100
            excess = policer.excess or peak * policer.excess_ms // 8000
            if policer.rate is not None or policer.percent is not None:
                cir = policer.rate if policer.rate is not None else rate * (policer.percent or 0) // 100
                limit = (cir, policer.burst or int(cir / 8 * (policer.burst_ms / 1000 or _BURST_SECONDS)))
        within = packets.count
        if peak and meters is not None:
            # RFC 2698: what the peak bucket does not hold violates, whatever the committed one has.
            within = meters.conforming((*path, "peak"), peak, excess or _LEAST_BURST, packets)
            if packets.count > within:
                yield packets.kept(packets.count - within), actions.get("violate", "drop")
            packets = packets.kept(within)
        good = within
        if limit is not None and meters is not None:
            good = meters.conforming(path, limit[0], limit[1], packets)
        if good:
            yield packets.kept(good), actions.get("conform", "transmit")
        if packets.count > good:
            yield packets.kept(packets.count - good), actions.get("exceed", "drop")


def _cap(held: Section, rate: int) -> tuple[int, int] | None:
    """Rate (bit/s) and burst (bytes) that a priority level is policed to; None where it is not."""
    words = held.value("priority").split()[3:]
    if not words:
        return None
    cap = rate * int(words[1]) // 100 if words[0] == "percent" else int(words[0]) * 1000
    stated = words[2:] if words[0] == "percent" else words[1:]
    return cap, int(stated[0]) if stated else int(cap / 8 * _BURST_SECONDS)


def _shaped(held: Section, rate: int) -> int:
    words = held.value("shape").split()
    if not words:
        return rate
    return rate * int(words[3]) // 100 if words[2] == "percent" else int(words[2])
