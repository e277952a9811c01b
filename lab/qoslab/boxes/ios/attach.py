"""``service-policy``: what can be attached to what, and how much bandwidth may be booked there.

A policy is attached to an interface, to an ATM circuit, to a Frame Relay map class (and with it to every
circuit that uses the class), or to the control plane.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.booking import booked, default_books, inner_rate
from qoslab.boxes.ios.marking import IMPOSITION
from qoslab.boxes.ios.police import rates_refused
from qoslab.boxes.ios.rows import row, setting
from qoslab.boxes.ios.train import HQF
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

_QUEUED = frozenset({"bandwidth", "priority", "fair-queue", "queue-limit", "random-detect"})
QUEUEING = _QUEUED | {"shape"}
_RANK = 75
_NHRP = ("ip nhrp", "nhrp")
_GROUP = "map group WORD"
RESERVABLE = 75  # percent, unless max-reserved-bandwidth says otherwise
RESERVABLE_HQF = 99  # percent, where class-default has no bandwidth of its own
DEFAULT_CIR = 56000  # bit/s of a Frame Relay circuit


@dataclass(frozen=True)
class Place:
    """Where a policy can stand: ``section`` holds the line; ``name`` is how the box calls the place.

    ``base`` is the bandwidth (kb/s) that shares refer to, ``free`` what of it may be booked. A place without
    an ``interface`` sends nothing itself.
    """

    section: Section
    interface: Section | None
    name: str
    base: int
    free: int


class Attachments:
    """Policies and where they are."""

    def __init__(self, box: IosBox) -> None:
        self._box = box

    def rows(self) -> list[Row]:
        """Interface, circuit and map-class mode."""
        return [
            row(
                "service-policy {input|output}:direction WORD:name",
                self._attach,
                "service-policy {input|output}:direction [WORD:name]",
            ),
            *(row(f"{words} {_GROUP} service-policy output WORD:name", self._group, True) for words in _NHRP),
            *(setting(f"{words} group WORD", key=f"{words} group", rank=32) for words in _NHRP),
        ]

    def map_class_rows(self) -> list[Row]:
        """In a map class the direction may be left out."""
        return [
            row(
                "service-policy [input|output]:direction WORD:name",
                self._attach,
                "service-policy [input|output]:direction [WORD:name]",
            )
        ]

    # -- places ------------------------------------------------------------------------------------------
    def places(self) -> Iterator[Place]:
        """Every place of the box, in printing order."""
        for interface in self._box.interfaces():
            yield from self._of_interface(interface)
        used = {key for held in self._box.interfaces() for key, _ in self._map_classes(held)}
        for held in self._box.running.starting("map-class frame-relay "):
            if held.key not in used:
                yield Place(held, None, held.text, 0, 0)
        control = self._box.running.get("control-plane")
        if control is not None:
            yield Place(control, None, "Control Plane", 0, 0)

    def _of_interface(self, interface: Section) -> Iterator[Place]:
        name = interface.text.split()[1]
        base = self._box.bandwidth(interface)
        share = self._share(interface)
        yield Place(interface, interface, name, base, self._bookable(base, share))
        for circuit in interface.starting("pvc "):
            rate = circuit_rate(circuit) or base
            title = f"{name} VC {circuit.text.split()[-1]}"
            yield Place(circuit, interface, title, rate, self._bookable(rate, share))
        for key, title in self._map_classes(interface):
            held = self._box.running.get(key)
            if held is not None:
                rate = guaranteed_rate(held)
                yield Place(held, interface, f"{name}{title}", rate, self._bookable(rate, RESERVABLE))

    def _share(self, interface: Section) -> int:
        """The reservable percent: of the interface itself, else of the one it is a part of."""
        main = self._box.running.get(interface.key.split(".")[0])
        held = interface.value("max-reserved-bandwidth") or (main or interface).value("max-reserved-bandwidth")
        return int(held.split()[1]) if held else RESERVABLE

    def _map_classes(self, interface: Section) -> Iterator[tuple[str, str]]:
        """The map classes an interface and its circuits use: (key, circuit's name)."""
        used = interface.value("frame-relay class").split()
        if used:
            yield f"map-class frame-relay {used[2]}", ""
        for circuit in interface.starting("frame-relay interface-dlci "):
            named = circuit.value("class").split()
            if named:
                yield f"map-class frame-relay {named[1]}", f" DLCI {circuit.text.split()[2]}"

    def _bookable(self, base: int, share: int) -> int:
        """HQF books everything; before it the reservable part counts."""
        return base if self.hqf else base * share // 100

    @property
    def hqf(self) -> bool:
        """The hierarchical queueing framework: no 75 % rule, queueing in every class."""
        return self._box.feature("hqf", default=self._box.train.since(HQF))

    def _group(self, shell: Shell, match: Match) -> None:
        """The policy of the tunnels of a group (Per-Tunnel QoS for DMVPN); that it has to exist is unconfirmed."""
        key = match.text.split(" service-policy ")[0]
        if match.undone:
            shell.section.remove(key)
            return
        if not shell.loading and f"policy-map {match['name']}" not in self._box.running:
            raise Refused(refusals.unknown_policy(match["name"]))
        shell.store(Section(match.text, key=key, rank=32))

    def grouped(self, policy: str) -> bool:
        """Whether tunnels of a group have a policy."""
        lines = (line.text for held in self._box.interfaces() for line in held)
        return any("nhrp map group " in text and text.endswith(f" output {policy}") for text in lines)

    # -- questions ---------------------------------------------------------------------------------------
    def attached(self, policy: str) -> list[tuple[Place, str]]:
        """Where a policy itself is attached: (place, direction)."""
        return [
            (place, direction)
            for place in self.places()
            for direction in ("input", "output")
            if place.section.value(f"service-policy {direction}").split()[2:] == [policy]
        ]

    def policy_on(self, interface: Section, direction: str) -> Section | None:
        """The policy of an interface (or of its first circuit that has one) in a direction."""
        for place in self._of_interface(interface):
            words = place.section.value(f"service-policy {direction}").split()
            if len(words) == 3:
                return self._box.running.get(f"policy-map {words[2]}")
        return None

    def child(self, held: Section) -> Section | None:
        """The policy inside a class."""
        name = held.value("service-policy").partition(" ")[2]
        return self._box.running.get(f"policy-map {name}") if name else None

    def parents(self, policy: Section) -> list[Section]:
        """The policies that hold a policy in one of their classes."""
        above = self._box.running.starting("policy-map ")
        return [one for one in above if any(self.child(held) is policy for held in one.starting("class "))]

    def trouble_of(self, policy: Section) -> str:
        """What the box says when a place that has the policy cannot take it as it is now ("" if all can)."""
        for place, direction in self.attached(policy.text.split()[1]):
            trouble = self.trouble(place, policy, direction)
            if trouble:
                return trouble
        return next(filter(None, (self.trouble_of(parent) for parent in self.parents(policy))), "")

    def trouble_at(self, section: Section) -> str:
        """The same for one circuit or map class whose rate changed."""
        for place in self.places():
            words = place.section.value("service-policy output").split()
            if place.section is section and len(words) == 3:
                policy = self._box.running.get(f"policy-map {words[2]}")
                trouble = self.trouble(place, policy, "output") if policy is not None else ""
                if trouble:
                    return trouble
        return ""

    # -- attaching ---------------------------------------------------------------------------------------
    def _attach(self, shell: Shell, match: Match) -> None:
        section, direction = shell.section, match.get("direction", "output")
        key = f"service-policy {direction}"
        present = section.value(key).split()[2:]
        if match.undone:
            if "name" in match and present and [match["name"]] != present:
                raise Refused(f"% policy map {match['name']} is not attached")
            section.remove(key)
            return
        name = match["name"]
        policy = self._box.running.get(f"policy-map {name}")
        if policy is None:
            raise Refused(refusals.unknown_policy(name))
        if present == [name]:
            return
        if present:
            raise Refused(refusals.already_attached(present[0]))
        for place in [place for place in self.places() if place.section is section]:
            trouble = self.trouble(place, policy, direction)
            if trouble:
                self._leave_fair_queue(section, trouble)
                raise Refused(trouble)
        shell.store(Section(f"{key} {name}", key=key, rank=_RANK, order=(direction == "output",)))

    def _leave_fair_queue(self, section: Section, trouble: str) -> None:
        """Published side effect of 12.4(9)T1: an overbooked attachment on Ethernet leaves a line behind."""
        affected = self._box.train.number == (12, 4) and "Ethernet" in section.text
        if affected and "requested bandwidth" in trouble:
            section.put(Section("fair-queue 64 256 256", key="fair-queue", rank=72))

    def trouble(self, place: Place, policy: Section, direction: str) -> str:
        """Why a place cannot have a policy ("" when it can).

        Cisco tech note 4800: IOS looks whether the router runs CEF before it attaches a policy with a ``set``.
        """
        if place.interface is not None and rates_refused(policy, place.base):
            return refusals.PERCENTAGE
        lines = [line for held in self._classes(policy) for line in held]
        forwarding = self._box.running.value("ip cef").startswith("ip cef")
        if not forwarding and any(line.text.startswith("set ") for line in lines):
            return refusals.CEF_FIRST
        if direction == "input" or place.section.key == "control-plane":
            return self._input_trouble(policy)
        if any(line.key == "set cos" for line in lines) and not self._tagged(place):
            return refusals.SET_COS
        if any(line.key == IMPOSITION for line in lines):
            return refusals.IMPOSITION
        if not self._queues(policy):
            return ""
        for held in policy.starting("class "):
            child = self.child(held)
            if child is not None and self._queues(child) and "shape" not in held:
                return refusals.HIERARCHY
        section = place.section
        flat = any(
            _QUEUED & {line.key for line in held} for held in policy.starting("class ") if "shape" not in held
        )
        if section.mode == "subif" and flat:
            return refusals.SUBINTERFACE
        for other in ("priority-group", "custom-queue-list", "random-detect"):
            if other in section:
                return refusals.in_the_way(other)
        if section.value("fair-queue").startswith("fair-queue "):
            return refusals.in_the_way("fair-queue")
        if place.interface is None:
            return ""  # nothing uses the map class yet
        return self._overbooked(policy, place.name, place.base, place.free)

    def _input_trouble(self, policy: Section) -> str:
        """What works in output policies only."""
        if self._queues(policy):
            return refusals.OUTPUT_ONLY
        keys = {line.key for held in self._classes(policy) for line in held}
        if "set cos" in keys:
            return refusals.SET_COS
        return refusals.COMPRESSION_OUTPUT if "compression header ip" in keys else ""

    def _classes(self, policy: Section) -> Iterator[Section]:
        """The classes of a policy and of those inside it."""
        for held in policy.starting("class "):
            yield held
            child = self.child(held)
            if child is not None:
                yield from self._classes(child)

    def _queues(self, policy: Section) -> bool:
        """True when a policy, or one inside it, schedules."""
        return any(QUEUEING & {line.key for line in held} for held in self._classes(policy))

    @staticmethod
    def _tagged(place: Place) -> bool:
        """True when frames that leave here, or on a subinterface of this port, can carry an 802.1p priority."""
        if place.section.mode != "subif":
            return place.interface is place.section and "Ethernet" in place.name
        return place.section.value("encapsulation").startswith(("encapsulation dot1Q", "encapsulation isl"))

    def _overbooked(self, policy: Section, name: str, base: int, free: int) -> str:
        """The bandwidth rule: what is booked must fit into the reservable part; a child's into the shape.

        HQF keeps 1 % for a class-default without a bandwidth of its own, at an interface and in a nested policy
        ("QoS: Hierarchical Queueing Framework", 12.4(20)T: behavioral changes, policy map and interface bandwidth).
        """
        if self.hqf and not default_books(policy, base):
            free = min(free, base * RESERVABLE_HQF // 100)
        for held in policy.starting("class "):
            asked = booked(held, base)
            if asked is not None:
                if asked > free:
                    words = (held.value("priority") or held.value("bandwidth")).split()
                    percent = "percent" in words
                    wanted = f"{words[words.index('percent') + 1]}%" if percent else f"{asked} (kbps)"
                    left = f"{free * 100 // base}%" if percent else f"{free} (kbps)"
                    return refusals.no_room(name, held.text.split()[1], wanted, left)
                free -= asked
            child, rate = self.child(held), inner_rate(policy, held, base, hqf=self.hqf)
            if child is not None and rate is not None:
                trouble = self._overbooked(child, name, rate, rate)
                if trouble:
                    return trouble
        return ""


def circuit_rate(circuit: Section) -> int | None:
    """The sustained rate (kb/s) of an ATM circuit; None where the service category has none."""
    words = circuit.value("service category").split()
    if words[:1] == ["vbr-nrt"]:
        return int(words[2])
    return int(words[1]) if len(words) > 1 else None


def guaranteed_rate(held: Section) -> int:
    """What a Frame Relay map class guarantees (kb/s): ``mincir``, else half the CIR."""
    minimum = held.value("frame-relay mincir out") or held.value("frame-relay mincir")
    if minimum:
        return int(minimum.split()[-1]) // 1000
    cir = held.value("frame-relay cir out") or held.value("frame-relay cir") or f"x {DEFAULT_CIR}"
    return int(cir.split()[-1]) // 2000
