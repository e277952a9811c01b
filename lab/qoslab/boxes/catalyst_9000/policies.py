"""Class maps and policies of a Catalyst 9000: marking ones on either side, queueing ones on output."""

from __future__ import annotations

from qoslab.boxes.catalyst_9000 import policing, queueing
from qoslab.boxes.catalyst_9000.policing import SwitchPolicers
from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.classes import POLICY_RANK, ClassMaps, class_names, in_class, policies
from qoslab.boxes.ios.marking import Marking
from qoslab.boxes.ios.rows import leaving, row, setting
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.packets import Packets
from qoslab.shell import Reply, Row, Run, Shell

_MATCHES = (
    "access-group {<1-2699>|name WORD}",
    "cos <0-7>*8",
    "dscp DSCP*8",
    "precedence PREC*8",
    "qos-group <0-99>",
    "protocol APP",
)
_AT_OUTPUT = ("dscp", "cos", "qos-group")
"""What the classes of a queueing policy can match (K: the box refuses lists there)."""
_MARKS = ("dscp", "precedence", "cos", "qos-group")
_ATTACHED = "service-policy"
TRUST_DEVICE = "trust device"
INPUT_QUEUEING = "Queueing policy is not supported in input direction"


class SwitchPolicies:
    """Rows of class-map, policy-map and policy-class mode, and the attachment to ports."""

    def __init__(self, box: IosBox) -> None:
        self._box = box
        self._policers = SwitchPolicers(box)

    def global_rows(self) -> list[Row]:
        """``class-map`` and ``policy-map``."""
        return [
            *ClassMaps(self._box).global_rows(),
            row("policy-map WORD:name", self._policy_map, True),
        ]

    def attach_rows(self) -> list[Row]:
        """``service-policy`` of a port and of the control plane."""
        pattern = "service-policy {input|output}:direction"
        return [row(f"{pattern} WORD:name", self._attach, f"{pattern} [WORD:name]")]

    def trust_rows(self) -> list[Row]:
        """``trust device`` of a port (running configurations of AutoQoS; genieparser's ``show interfaces``)."""
        return [setting(f"{TRUST_DEVICE} {{cisco-phone|cts|ip-camera|media-player}}", key=TRUST_DEVICE, rank=71)]

    def tables(self) -> dict[str, list[Row]]:
        """The submodes."""
        marks = [one for one in Marking(self._box).rows() if one.pattern.split()[1] in _MARKS]
        inside = [
            *queueing.rows(),
            *self._policers.rows(),
            *marks,
            row("service-policy WORD:name", self._child, "service-policy [WORD]"),
        ]
        return {
            "cmap": [
                *leaving(),
                setting("description LINE", rank=0),
                *(row(f"match {kind}", self._checked(_match), True) for kind in _MATCHES),
            ],
            "pmap": [
                *leaving(),
                setting("description LINE", rank=0),
                row("class WORD:name", self._checked(self._class), True),
            ],
            "pmap-c": [*leaving(), *map(self._live, inside)],
            "police": [self._live(one) for one in self._policers.submode_rows()],
        }

    # -- questions ---------------------------------------------------------------------------------------
    def policy_on(self, place: Section, direction: str) -> Section | None:
        """The policy of a port in a direction."""
        words = place.value(f"{_ATTACHED} {direction}").split()
        return self._box.running.get(f"policy-map {words[2]}") if words else None

    def child(self, held: Section) -> Section | None:
        """The policy inside a class."""
        words = held.value(_ATTACHED).split()
        return self._box.running.get(f"policy-map {words[1]}") if words else None

    def classify(self, policy: Section, packets: Packets, into: str) -> str:
        """The class of a policy that takes the packets."""
        named = (name for name in class_names(policy) if name != "class-default")
        return next((name for name in named if in_class(self._box, name, packets, into)), "class-default")

    def _places(self) -> list[tuple[Section, str, Section]]:
        """Every attached policy with its port and direction."""
        control = self._box.running.get("control-plane")
        sections = [*self._box.interfaces(), *([control] if control is not None else [])]
        return [
            (section, direction, policy)
            for section in sections
            for direction in ("input", "output")
            if (policy := self.policy_on(section, direction)) is not None
        ]

    def _trouble(self, policy: Section, direction: str) -> str:
        """Why a port cannot have a policy ("" when it can)."""
        inside = [child for held in policy.starting("class ") if (child := self.child(held)) is not None]
        # Before 3.6.1, whose configurations say 15.2 (Cisco document 200729, whose log line this is).
        if not self._box.train.since("15.2") and any(not len(held) for held in policy.starting("class ")):
            return "Empty class unsupported"
        if refused := next(filter(None, map(policing.trouble, (policy, *inside))), ""):
            return refused
        if direction == "input":
            return INPUT_QUEUEING if any(map(queueing.queues, (policy, *inside))) else ""
        for one in (policy, *inside):
            if trouble := queueing.policy_trouble(one):
                return trouble
            if queueing.queues(one):
                for name in class_names(one):
                    held = self._box.running.get(f"class-map {name}")
                    for line in held.starting("match ") if held is not None else []:
                        if line.text.split()[1] not in _AT_OUTPUT:
                            return f"% {line.text} is not supported in a queueing policy"  # unconfirmed wording
        return ""

    def _troubles(self) -> list[str]:
        return [self._trouble(policy, direction) for _, direction, policy in self._places()]

    def _live(self, one: Row) -> Row:
        return row(one.pattern, self._checked(one.run), one.no)

    def _checked(self, run: Run) -> Run:
        """An edit of what is attached is live: what a port cannot have leaves the section as it was."""

        def edit(shell: Shell, match: Match) -> Reply | str | None:
            held, levels = shell.section, list(shell.levels)
            before, troubles = held.copy(), self._troubles()
            answer = run(shell, match)
            now = self._troubles()
            if any(now) and now != troubles:
                held.replace_with(before)
                shell.levels = levels
                raise Refused(next(filter(None, now)))
            return answer

        return edit

    # -- policies ----------------------------------------------------------------------------------------
    def _policy_map(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"policy-map {name}"
        held = shell.section.get(key)
        if match.undone:
            above = (child for policy in policies(self._box) for child in map(self.child, policy))
            used = any(policy is held for _, _, policy in self._places()) or any(one is held for one in above)
            if held is not None and used:
                raise Refused(refusals.policy_in_use(name))
            shell.section.remove(key)
            return
        shell.enter("pmap", held or shell.store(Section(key, rank=POLICY_RANK, mode="pmap")))

    def _class(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"class {name}"
        if match.undone:
            shell.section.remove(key)
            return
        if name != "class-default" and f"class-map {name}" not in self._box.running:
            raise Refused(refusals.unknown_class(name))
        held = shell.section.get(key)
        if held is None:
            rank = 99 if name == "class-default" else 50
            held = shell.store(Section(key, rank=rank, mode="pmap-c"))
        shell.enter("pmap-c", held)

    def _child(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            section.remove(_ATTACHED)
            return
        name = match["name"]
        child, own = self._box.running.get(f"policy-map {name}"), section.parent
        if child is None and not shell.loading:
            raise Refused(refusals.unknown_policy(name))
        above = (inner for policy in policies(self._box) for inner in map(self.child, policy))
        deeper = child is not None and any(self.child(held) is not None for held in child)
        if child is own or deeper or any(inner is own for inner in above):
            raise Refused(refusals.DEPTH)  # two levels
        if "shape" not in section:
            raise Refused(refusals.HIERARCHY)  # K
        # The box prints it one blank further in than its neighbours.
        shell.store(Section(f" {_ATTACHED} {name}", key=_ATTACHED, rank=90))

    def _attach(self, shell: Shell, match: Match) -> None:
        section, key = shell.section, f"{_ATTACHED} {match['direction']}"
        present = section.value(key).split()[2:]
        if match.undone:
            if "name" in match and present and [match["name"]] != present:
                raise Refused(f"% policy map {match['name']} is not attached")
            if section.text == "control-plane" and present:  # always there; the wording is unconfirmed
                raise Refused(f"% policy map {present[0]} cannot be detached from the control plane")
            section.remove(key)
            return
        name = match["name"]
        policy = self._box.running.get(f"policy-map {name}")
        if policy is None:
            raise Refused(refusals.unknown_policy(name))
        if present and present != [name]:
            raise Refused(refusals.already_attached(present[0]))
        if trouble := self._trouble(policy, match["direction"]):
            raise Refused(trouble)
        shell.store(Section(f"{key} {name}", key=key, rank=75, order=(match["direction"] == "output",)))


def _match(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(match.text)
    else:
        shell.store(Section(match.text, rank=10))
