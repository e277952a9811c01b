"""A router's data plane: classifies, polices and marks by the running configuration, and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from qoslab.boxes.ios.attach import Attachments
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.car import limited
from qoslab.boxes.ios.classes import class_names, in_class
from qoslab.boxes.ios.marking import marked
from qoslab.boxes.ios.police import Policer, remark
from qoslab.boxes.ios.queueing import default_queueing
from qoslab.config import Section
from qoslab.errors import BoxError
from qoslab.packets import Outcome, Packets

RATE_WINDOW = 300.0  # seconds over which "5 minute" rates are averaged


@dataclass
class Count:
    """Counters of one class of one attached policy."""

    packets: int = 0
    bytes: int = 0
    queued: int = 0
    queued_bytes: int = 0
    dropped: int = 0
    dropped_bytes: int = 0
    marked: int = 0
    exceeded: int = 0
    exceeded_bytes: int = 0
    by_dscp: dict[int, tuple[int, int]] = field(default_factory=dict)
    recent: list[tuple[float, int, int]] = field(default_factory=list)

    def offered(self, packets: Packets, now: float) -> None:
        """Packets matched the class."""
        size = packets.count * packets.bytes
        self.packets += packets.count
        self.bytes += size
        self.recent = [entry for entry in self.recent if entry[0] > now - RATE_WINDOW]
        self.recent.append((now, size, 0))

    def lost(self, packets: Packets, now: float) -> None:
        """The policer dropped packets."""
        self.dropped += packets.count
        self.dropped_bytes += packets.count * packets.bytes
        self.recent.append((now, 0, packets.count * packets.bytes))

    def waited(self, packets: Packets) -> None:
        """Packets went through the class's queue."""
        size = packets.count * packets.bytes
        self.queued += packets.count
        self.queued_bytes += size
        count, total = self.by_dscp.get(packets.dscp, (0, 0))
        self.by_dscp[packets.dscp] = (count + packets.count, total + size)

    def rates(self, now: float) -> tuple[int, int]:
        """Offered and drop rate in bit/s over the window."""
        live = [entry for entry in self.recent if entry[0] > now - RATE_WINDOW]
        return tuple(int(sum(entry[at] for entry in live) * 8 / RATE_WINDOW) for at in (1, 2))  # type: ignore[return-value]  # two of them


Path = tuple[str, ...]  # interface, direction, class, child class ...


@dataclass(frozen=True)
class Treated:
    """Part of a group after a policy: marks, class, queue, and whether it survived."""

    packets: Packets
    name: str
    queue: str
    dropped: bool


@dataclass(frozen=True)
class _Offer:
    """One offer: where it came in, over how long, and what each policer may still let through (bytes)."""

    into: str
    seconds: float
    budgets: dict[Path, float]


class Forwarding:
    """The data plane of one box."""

    def __init__(self, box: IosBox, attachments: Attachments) -> None:
        self._box = box
        self._attachments = attachments
        self.counts: dict[Path, Count] = {}
        self._limits: dict[tuple[str, str], Count] = {}

    def clear(self) -> None:
        """Every counter back to zero."""
        self.counts = {}
        self._limits = {}

    def limit(self, interface: str, line: str) -> Count:
        """The counters of a ``rate-limit`` line: what conformed (``packets``) and what exceeded."""
        return self._limits.setdefault((interface, line), Count())

    def count(self, path: Path) -> Count:
        """The counters of a class; zero when nothing was offered yet."""
        return self.counts.setdefault(path, Count())

    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Carry packets from one interface to another. Raises BoxError for unknown or shut interfaces."""
        ingress, egress = self._up(into), self._up(out)
        offer = _Offer(self._full(into), seconds, {})
        outcomes: list[Outcome] = []
        for at, group in enumerate(packets):
            arrived = group if _tagged(ingress) else replace(group, cos=0, tagged=False)
            for first in self._policy(ingress, "input", arrived, offer):
                base = Outcome(
                    first.packets.dscp, first.packets.cos, first.name, 0,
                    first.packets.dscp, 0, "", "", 0, at, first.packets.count,
                )  # fmt: skip
                if first.dropped:
                    outcomes.append(replace(base, dropped_in=first.packets.count))
                    continue
                # A router takes the frame off: the mark of layer 2 ends here.
                routed = replace(first.packets, cos=0, tagged=_tagged(egress))
                for second in self._policy(egress, "output", routed, offer):
                    left = second.packets
                    outcomes.append(
                        replace(
                            base,
                            dscp_out=left.dscp,
                            cos_out=left.cos if _tagged(egress) else 0,
                            egress_class=second.name,
                            queue=second.queue,
                            dropped_out=left.count if second.dropped else 0,
                            count=left.count,
                        )
                    )
        return outcomes

    def _up(self, name: str) -> Section:
        held = self._box.interface(name)
        if "shutdown" in held:
            raise BoxError(f"{self._box.spec.name}: interface {name} is shut down")
        return held

    def _policy(self, interface: Section, direction: str, packets: Packets, offer: _Offer) -> list[Treated]:
        name = interface.text.split()[1]

        def conforming(line: str, rate: int, burst: int, part: Packets) -> int:
            good = part.count
            if part.bytes and offer.seconds > 0:
                left = offer.budgets.setdefault((name, line), burst + rate * offer.seconds / 8)
                good = min(part.count, int(left // part.bytes))
                offer.budgets[(name, line)] = left - good * part.bytes
            count = self.limit(name, line)
            count.packets += good
            count.bytes += good * part.bytes
            count.exceeded += part.count - good
            count.exceeded_bytes += (part.count - good) * part.bytes
            return good

        treated: list[Treated] = []
        policy = self._attachments.policy_on(interface, direction)
        for part in limited(self._box, interface, direction, packets, conforming):
            if part.dropped:
                treated.append(Treated(part.packets, "", "", dropped=True))
            elif policy is None:
                queue = default_queueing(self._box, interface) if direction == "output" else ""
                treated.append(Treated(part.packets, "", queue, dropped=False))
            else:
                treated += self._classes(policy, (name, direction), part.packets, offer)
        return treated

    def _full(self, name: str) -> str:
        return self._box.interface(name).text.split()[1]

    def _classes(self, policy: Section, path: Path, packets: Packets, offer: _Offer) -> list[Treated]:
        names = [name for name in class_names(policy) if name != "class-default"]
        name = next((one for one in names if in_class(self._box, one, packets, offer.into)), "class-default")
        here = (*path, name)
        now = self._box.clock.seconds()
        count = self.count(here)
        count.offered(packets, now)
        held = policy.get(f"class {name}")
        if held is None:
            count.waited(packets)
            return [Treated(packets, name, "default" if path[1] == "output" else "", dropped=False)]
        treated: list[Treated] = []
        for part, alive in self._police(held, here, packets, offer):
            if not alive:
                count.lost(part, now)
                treated.append(Treated(part, name, "", dropped=True))
                continue
            written = marked(self._box, held, part)
            count.marked += part.count if written != part else 0
            child = self._attachments.child(held)
            if child is not None:
                below = self._classes(child, here, written, offer)
                treated += [replace(one, name=f"{name}/{one.name}") for one in below]
                continue
            queue = self._queue(held, name) if path[1] == "output" else ""
            if queue == "priority" or "priority" not in held:
                count.waited(part)
            treated.append(Treated(written, name, queue, dropped=False))
        return treated

    def _queue(self, held: Section, name: str) -> str:
        if "priority" in held:
            return "default" if self._box.faults.ignore_priority else "priority"
        if "bandwidth" in held or "shape" in held:
            return f"class {name}"
        return "fair-queue" if "fair-queue" in held else "default"

    def _police(self, held: Section, path: Path, packets: Packets, offer: _Offer) -> list[tuple[Packets, bool]]:
        line = held.get("police")
        if line is None:
            return [(packets, True)]
        policer = Policer.read(line)
        kbps = self._box.bandwidth(self._box.interface(path[0]))
        size = packets.bytes
        conforming = packets.count
        violating = 0
        if offer.seconds > 0 and size:
            left = offer.budgets.setdefault(path, policer.allowance(offer.seconds, kbps))
            conforming = min(packets.count, int(left // size))
            offer.budgets[path] = left - conforming * size
            more = offer.budgets.setdefault((*path, "excess"), policer.excess_allowance(offer.seconds, kbps))
            exceeding = min(packets.count - conforming, int(more // size))
            offer.budgets[(*path, "excess")] = more - exceeding * size
            violating = packets.count - conforming - exceeding
        exceed = policer.actions.get("exceed", "drop")
        parts = []
        for number, action in (
            (conforming, policer.actions.get("conform", "transmit")),
            (packets.count - conforming - violating, exceed),
            (violating, policer.actions.get("violate", exceed)),
        ):
            if number:
                mark = remark(action)
                part = packets.kept(number)
                parts.append((part if mark is None else part.marked(dscp=mark), action != "drop"))
        exceeded = packets.count - conforming
        count = self.count(path)
        count.exceeded += exceeded
        count.exceeded_bytes += exceeded * size
        return parts


def _tagged(interface: Section) -> bool:
    return interface.value("encapsulation").startswith(("encapsulation dot1Q", "encapsulation isl"))
