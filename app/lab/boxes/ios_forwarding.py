"""A router's data plane: classifies, polices and marks by the running configuration, and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.lab.boxes.ios_arguments import dscp_value
from app.lab.boxes.ios_attach import Attachments
from app.lab.boxes.ios_base import IosBox
from app.lab.boxes.ios_classes import class_names, in_class
from app.lab.boxes.ios_links import default_queueing
from app.lab.boxes.ios_police import Policer, remark
from app.lab.config import Section
from app.lab.errors import BoxError
from app.lab.packets import Outcome, Packets

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

    def clear(self) -> None:
        """Every counter back to zero."""
        self.counts = {}

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
        policy = self._attachments.policy_on(interface, direction)
        if policy is None:
            queue = default_queueing(self._box, interface) if direction == "output" else ""
            return [Treated(packets, "", queue, dropped=False)]
        path = (interface.text.split()[1], direction)
        return self._classes(policy, path, packets, offer)

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
            marked = _marks(held, part)
            count.marked += part.count if marked != part else 0
            child = self._box.running.get(f"policy-map {held.value('service-policy').partition(' ')[2]}")
            if child is not None:
                below = self._classes(child, here, marked, offer)
                treated += [replace(one, name=f"{name}/{one.name}") for one in below]
                continue
            queue = self._queue(held, name) if path[1] == "output" else ""
            if queue == "priority" or "priority" not in held:
                count.waited(part)
            treated.append(Treated(marked, name, queue, dropped=False))
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
        if offer.seconds > 0 and size:
            left = offer.budgets.setdefault(path, policer.allowance(offer.seconds, kbps))
            conforming = min(packets.count, int(left // size))
            offer.budgets[path] = left - conforming * size
        parts = []
        for number, action in (
            (conforming, policer.actions.get("conform", "transmit")),
            (packets.count - conforming, policer.actions.get("exceed", "drop")),
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


def _marks(held: Section, packets: Packets) -> Packets:
    """What the ``set`` lines of a class write."""
    dscp: int | None = None
    if "set dscp" in held:
        dscp = dscp_value(held.value("set dscp").split()[-1])
    elif "set precedence" in held:
        dscp = 8 * int(held.value("set precedence").split()[-1])
    cos = int(held.value("set cos").split()[-1]) if "set cos" in held else None
    return packets.marked(dscp=dscp, cos=cos)
