"""``show policy-map interface`` of a Catalyst 9000; the layout follows published outputs of the family."""

from __future__ import annotations

from qoslab.boxes.catalyst.base import CatalystSwitch
from qoslab.boxes.catalyst_9000.plane import Path, SwitchPlane
from qoslab.boxes.catalyst_9000.policies import SwitchPolicies
from qoslab.boxes.catalyst_9000.queueing import priority_level, queues
from qoslab.boxes.ios.arguments import IF, dscp_value
from qoslab.boxes.ios.classes import class_names, match_mode
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Shell


class PolicyShow:
    """Counters of the attached policies."""

    def __init__(self, box: CatalystSwitch, policies: SwitchPolicies, plane: SwitchPlane) -> None:
        self._box = box
        self._policies = policies
        self._plane = plane

    def rows(self) -> list[Row]:
        """Privileged exec."""
        return [row(f"show policy-map interface [{IF}] [input|output]:direction", self._interfaces)]

    def _interfaces(self, shell: Shell, match: Match) -> str:
        del shell
        directions = [match["direction"]] if "direction" in match else ["input", "output"]
        lines: list[str] = []
        for port in self._box.physical_ports(match):
            name = port.text.split()[1]
            blocks: list[str] = []
            for direction in directions:
                policy = self._policies.policy_on(port, direction)
                if policy is not None:
                    blocks += ["", f"  Service-policy {direction}: {policy.text.split()[1]}"]
                    blocks += self._policy(policy, (name, direction), "    ")
            if blocks:
                lines += [f" {name}", *blocks, ""]
        return "\n".join(lines)

    def _policy(self, policy: Section, path: Path, pad: str) -> list[str]:
        lines: list[str] = []
        for held in policy.starting("class "):
            if "priority" in held:
                count = self._plane.count((*path, held.text.split()[1]))
                lines += ["", f"{pad}queue stats for all priority classes:", f"{pad}  Queueing"]
                lines.append(f"{pad}  priority level {priority_level(held.value('priority'))}")
                lines += ["", f"{pad}  (total drops) {count.dropped}", f"{pad}  (bytes output) {count.sent_bytes}"]
        for name in [*(one for one in class_names(policy) if one != "class-default"), "class-default"]:
            held = policy.get(f"class {name}") or Section(f"class {name}")
            lines += self._class(held, (*path, name), pad, queued=path[1] == "output" and queues(policy))
            child = self._policies.child(held)
            if child is not None:
                lines += ["", f"{pad}  Service-policy : {child.text.split()[1]}"]
                lines += self._policy(child, (*path, name), pad + "    ")
        return lines

    def _class(self, held: Section, path: Path, pad: str, *, queued: bool) -> list[str]:
        name = path[-1]
        mapped = self._box.running.get(f"class-map {name}")
        count = self._plane.count(path)
        lines = ["", f"{pad}Class-map: {name} ({match_mode(mapped)})", f"{pad}  {count.packets} packets"]
        matches = [_match(line) for line in mapped.starting("match ")] if mapped is not None else ["any"]
        lines += [f"{pad}  Match: {text}" for text in matches]
        if "priority" in held:
            lines += [f"{pad}  Priority: Strict,", "", f"{pad}  Priority Level: "]
            lines[-1] += priority_level(held.value("priority"))
        elif queued:
            lines += [f"{pad}  Queueing", "", f"{pad}  (total drops) {count.dropped}"]
            lines.append(f"{pad}  (bytes output) {count.sent_bytes}")
            lines += [f"{pad}  {line.text.strip()}" for line in held if line.key in {"bandwidth", "queue-buffers"}]
        elif "police" in held:
            lines += [f"{pad}  police:", f"{pad}      (total drops) {count.dropped}"]
        return lines


def _match(line: Section) -> str:
    words = line.text.split()[1:]
    if words[0] == "dscp":
        return " ".join(["dscp", *(f"{value} ({dscp_value(value)})" for value in words[1:])])
    return " ".join(words)
