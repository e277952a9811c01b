"""``service-policy`` on interfaces: what can be attached, and how much bandwidth may be booked."""

from __future__ import annotations

from app.lab.boxes import ios_refusals as refusals
from app.lab.boxes.ios_base import IosBox
from app.lab.boxes.ios_rows import row
from app.lab.config import Section
from app.lab.grammar import Match, Refused
from app.lab.shell import Row, Shell

_QUEUEING = {"bandwidth", "priority", "fair-queue", "queue-limit", "random-detect", "shape"}
_RANK = 75
RESERVABLE = 75  # percent, unless max-reserved-bandwidth says otherwise


class Attachments:
    """Policies on interfaces. ``queueing`` boxes schedule by policy, others only classify and police."""

    def __init__(self, box: IosBox, *, queueing: bool = True) -> None:
        self._box = box
        self._queueing = queueing

    def rows(self) -> list[Row]:
        """Interface mode."""
        directions = "{input|output}" if self._queueing else "{input}"
        return [
            row(
                f"service-policy {directions}:direction WORD:name",
                self._attach,
                f"service-policy {directions}:direction [WORD:name]",
            )
        ]

    def of(self, policy: str) -> list[tuple[Section, str]]:
        """Where a policy is attached: (interface, direction)."""
        return [
            (interface, direction)
            for interface in self._box.interfaces()
            for direction in ("input", "output")
            if interface.value(f"service-policy {direction}").split()[2:] == [policy]
        ]

    def policy_on(self, interface: Section, direction: str) -> Section | None:
        """The policy of an interface in a direction."""
        words = interface.value(f"service-policy {direction}").split()
        return self._box.running.get(f"policy-map {words[2]}") if len(words) == 3 else None

    def overbooked(self, policy: Section | None) -> str:
        """What the box says when an interface that has the policy cannot carry it ("" if all can)."""
        if policy is None:
            return ""
        for interface, direction in self.of(policy.text.split()[1]):
            trouble = self._trouble(interface, policy) if direction == "output" else ""
            if trouble:
                return trouble
        return ""

    def _attach(self, shell: Shell, match: Match) -> None:
        interface, direction = shell.section, match["direction"]
        key = f"service-policy {direction}"
        present = interface.value(key).split()[2:]
        if match.undone:
            if "name" in match and present and [match["name"]] != present:
                raise Refused(f"% policy map {match['name']} is not attached")
            interface.remove(key)
            return
        name = match["name"]
        policy = self._box.running.get(f"policy-map {name}")
        if policy is None:
            raise Refused(refusals.unknown_policy(name))
        if present == [name]:
            return
        if present:
            raise Refused(refusals.already_attached(present[0]))
        queueing = self._queues(policy)
        if queueing and direction == "input":
            raise Refused(refusals.OUTPUT_ONLY)
        if queueing:
            self._check_queueing(interface, policy)
        shell.store(Section(f"{key} {name}", key=key, rank=_RANK, order=(direction,)))

    def _queues(self, policy: Section) -> bool:
        """True when a policy, or one inside it, schedules."""
        children = (self._box.running.get(f"policy-map {held.value('service-policy')[15:]}") for held in policy)
        return any(_QUEUEING & {line.key for line in held} for held in policy) or any(
            self._queues(child) for child in children if child is not None
        )

    def _check_queueing(self, interface: Section, policy: Section) -> None:
        for held in policy:
            child = self._box.running.get(f"policy-map {held.value('service-policy')[15:]}")
            if child is not None and self._queues(child) and "shape" not in held:
                raise Refused(refusals.HIERARCHY)
        flat = any({"bandwidth", "priority", "fair-queue"} & {line.key for line in held} for held in policy)
        if interface.mode == "subif" and flat:
            raise Refused(refusals.SUBINTERFACE)
        for other in ("priority-group", "custom-queue-list", "random-detect"):
            if other in interface:
                raise Refused(refusals.deconfigure(other, "CBWFQ").replace("class", "interface"))
        trouble = self._trouble(interface, policy)
        if trouble:
            name = interface.text.split()[1]
            if self._box.version == "12.4" and "Ethernet" in name:
                # Published side effect of 12.4(9)T1: the refused attachment leaves this line behind.
                interface.put(Section("fair-queue 64 256 256", key="fair-queue", rank=72))
            raise Refused(trouble)

    def _trouble(self, interface: Section, policy: Section) -> str:
        """The bandwidth rule: what is booked must fit into the reservable part of the interface."""
        hqf = self._box.feature("hqf", default=False)
        share = 100 if hqf else int(interface.value("max-reserved-bandwidth", f"x {RESERVABLE}").split()[1])
        base = self._box.bandwidth(interface)
        free = base * share // 100
        for held in policy:
            line = held.value("priority") or held.value("bandwidth")
            words = line.split()
            if len(words) < 2 or words[1] == "remaining":
                continue
            percent = words[1] == "percent"
            wanted = base * int(words[2]) // 100 if percent else int(words[1])
            if wanted > free:
                name = interface.text.split()[1]
                asked = f"{words[2]}%" if percent else f"{wanted} (kbps)"
                left = f"{free * 100 // base}%" if percent else f"{free} (kbps)"
                return refusals.no_room(name, held.text.split()[1], asked, left)
            free -= wanted
        return ""
