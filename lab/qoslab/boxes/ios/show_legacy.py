"""What a router shows of the tools outside the modular command line: CAR, WFQ, PQ, CQ, WRED and shaping.

The layout of ``show queueing`` and ``show interfaces rate-limit`` is unconfirmed.
"""

from __future__ import annotations

import re

from qoslab.boxes.ios import wred as ios_wred
from qoslab.boxes.ios.arguments import IF, interface_name
from qoslab.boxes.ios.attach import DEFAULT_CIR
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.forwarding import Forwarding
from qoslab.boxes.ios.queueing import default_queueing
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

_BAD = "% Invalid input detected at '^' marker.\n"
_FAIR = (64, 256, 0)  # discard threshold, dynamic and reservable queues of plain WFQ
_DEFAULT_BC = 7000  # bits, Frame Relay
_INTERVAL_MS = 25  # of generic traffic shaping where no burst is given (unconfirmed)
_HEAD = (
    "Interface   {name}\n"
    "       Access Target    Byte   Sustain   Excess    Interval  Increment Adapt\n"
    "VC     List   Rate      Limit  bits/int  bits/int  (ms)      (bytes)   Active"
)


class LegacyShows:
    """``show queueing``, ``show interfaces X rate-limit``, ``show traffic-shape``."""

    def __init__(self, box: IosBox, forwarding: Forwarding) -> None:
        self._box = box
        self._forwarding = forwarding

    def rows(self) -> list[Row]:
        """Privileged exec."""
        return [
            row("show queueing [fair|priority|custom|random-detect]:which", self._queueing),
            row(f"show interfaces [{IF}] rate-limit", self._rate_limits),
            row(f"show traffic-shape [{IF}]", self._shaping),
        ]

    def _chosen(self, match: Match) -> list[Section]:
        held = self._box.interfaces()
        if "interface" not in match:
            return held
        name = interface_name(match["interface"].replace(" ", ""))
        found = [one for one in held if one.key == f"interface {name}"]
        if not found:
            raise Refused(_BAD)
        return found

    # -- queueing ----------------------------------------------------------------------------------------
    def _queueing(self, shell: Shell, match: Match) -> str:
        del shell
        blocks = {
            "fair": self._fair,
            "priority": lambda: self._lists("priority-list"),
            "custom": lambda: self._lists("queue-list"),
            "random-detect": self._random_detect,
        }
        wanted = [match["which"]] if "which" in match else list(blocks)
        titles = {"fair": "fair queue", "priority": "priority queue", "custom": "custom queue"}
        lines: list[str] = []
        for which in wanted:
            lines += [f"Current {titles.get(which, which)} configuration:", "", *blocks[which](), ""]
        return "\n".join(lines)

    def _fair(self) -> list[str]:
        lines = [
            "  Interface           Discard    Dynamic  Reserved",
            "                      threshold  queues   queues",
        ]
        for held in self._box.interfaces():
            if default_queueing(self._box, held) == "weighted fair" and "service-policy output" not in held:
                given = [int(word) for word in held.value("fair-queue").split()[1:]]
                threshold, dynamic, reserved = (*given, *_FAIR[len(given) :])
                lines.append(f"  {held.text.split()[1]:<20}{threshold:<11}{dynamic:<9}{reserved}")
        return lines

    def _lists(self, kind: str) -> list[str]:
        lines = ["List   Queue  Args"]
        for line in self._box.running.starting(f"{kind} "):
            number, *entry = line.text.split()[1:]
            at = next((place for place, word in enumerate(entry) if word in _LEVELS or word.isdigit()), 0)
            queue = entry.pop(at)
            lines.append(f"{number:<7}{queue:<7}{' '.join(entry)}")
        return lines

    def _random_detect(self) -> list[str]:
        lines: list[str] = []
        for held in self._box.interfaces():
            if "random-detect" not in held:
                continue
            weight = held.value("random-detect weight", f"x {ios_wred.WEIGHT}").split()[-1]
            lines += [f"  {held.text.split()[1]}", f"    Exp-weight-constant: {weight} (1/{2 ** int(weight)})"]
            lines += ["    Class    Minimum   Maximum   Mark", "             threshold threshold probability"]
            lines += [
                f"    {name:<9}{low:<10}{high:<10}1/{mark}" for name, low, high, mark in ios_wred.thresholds(held)
            ]
        return lines

    # -- committed access rate ---------------------------------------------------------------------------
    def _rate_limits(self, shell: Shell, match: Match) -> str:
        del shell
        lines: list[str] = []
        for held in self._chosen(match):
            name = held.text.split()[1]
            blocks: list[str] = []
            for direction in ("input", "output"):
                limits = held.starting(f"rate-limit {direction} ")
                blocks += [f"  {direction.capitalize()}"] if limits else []
                for limit in limits:
                    blocks += self._rate_limit(name, limit.text)
            lines += [f"{name} ", *blocks] if blocks else []
        return "\n".join(lines)

    def _rate_limit(self, interface: str, line: str) -> list[str]:
        found = re.fullmatch(r"rate-limit \w+ (.*?)(\d+) (\d+) (\d+) conform-action (.+) exceed-action (.+)", line)
        assert found is not None, line
        what, rate, normal, most, conform, exceed = found.groups()
        count = self._forwarding.limit(interface, line)
        return [
            f"    matches: {what.strip() or 'all traffic'}",
            f"      params:  {rate} bps, {normal} limit, {most} extended limit",
            f"      conformed {count.packets} packets, {count.bytes} bytes; action: {conform}",
            f"      exceeded {count.exceeded} packets, {count.exceeded_bytes} bytes; action: {exceed}",
        ]

    # -- shaping -----------------------------------------------------------------------------------------
    def _shaping(self, shell: Shell, match: Match) -> str:
        del shell
        blocks: list[str] = []
        for held in self._chosen(match):
            lines = [*self._generic(held), *self._circuits(held)]
            if lines:
                blocks += ["", _HEAD.format(name=held.text.split()[1]), *lines]
        return "\n".join(blocks)

    @staticmethod
    def _generic(held: Section) -> list[str]:
        lines = []
        for line in [*held.starting("traffic-shape rate "), *held.starting("traffic-shape group ")]:
            words = line.text.split()[2:]
            access = words.pop(0) if "group" in line.text else ""
            rate = int(words[0])
            bc = int(words[1]) if len(words) > 1 else rate * _INTERVAL_MS // 1000
            be = int(words[2]) if len(words) > 2 else bc
            lines.append(_shape_line("-", access, rate, bc, be))
        return lines

    def _circuits(self, held: Section) -> list[str]:
        """Circuits of Frame Relay traffic shaping, by the map class they use."""
        main = self._box.running.get(held.key.split(".")[0]) or held
        if "frame-relay traffic-shaping" not in main:
            return []
        lines = []
        for circuit in held.starting("frame-relay interface-dlci "):
            named = circuit.value("class") or held.value("frame-relay class", "x ").replace("frame-relay ", "")
            mapped = self._box.running.get(f"map-class frame-relay {named.partition(' ')[2]}") or Section("")
            rate, bc, be = (
                int((mapped.value(f"frame-relay {key} out") or mapped.value(f"frame-relay {key}") or f"x {usual}")
                    .split()[-1])
                for key, usual in (("cir", DEFAULT_CIR), ("bc", _DEFAULT_BC), ("be", 0))
            )  # fmt: skip
            lines.append(_shape_line(circuit.text.split()[2], "", rate, bc, be))
        return lines


_LEVELS = {"high", "medium", "normal", "low"}


def _shape_line(circuit: str, access: str, rate: int, bc: int, be: int) -> str:
    """Byte limit is Bc + Be in bytes, the interval Bc over the rate, the increment Bc in bytes."""
    interval = bc * 1000 // rate
    return f"{circuit:<7}{access:<7}{rate:<10}{(bc + be) // 8:<7}{bc:<10}{be:<10}{interval:<10}{bc // 8:<10}-"
