"""``show mls qos ...`` of the 2970."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from qoslab.boxes.catalyst.base import CatalystSwitch
from qoslab.boxes.catalyst.maps import TableMap, eight_lines, eight_values
from qoslab.boxes.catalyst.policies import ATTACHED
from qoslab.boxes.catalyst.policing import AGGREGATE, policing_classes
from qoslab.boxes.catalyst.trust import DEVICE, OVERRIDE, default_cos, trusted
from qoslab.boxes.catalyst_2970 import maps, queues
from qoslab.boxes.catalyst_2970.plane import VLAN_BASED, SwitchPlane
from qoslab.boxes.ios.arguments import IF
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Shell

_MAPS = "cos-dscp|dscp-cos|dscp-output-q|cos-output-q|dscp-input-q|cos-input-q|policed-dscp|ip-prec-dscp"


class SwitchShow:
    """The show commands."""

    def __init__(self, box: CatalystSwitch, plane: SwitchPlane) -> None:
        self._box = box
        self._plane = plane

    def rows(self) -> list[Row]:
        """Privileged exec."""
        return [
            row("show mls qos", lambda s, m: self._summary()),
            row(f"show mls qos interface [{IF}] [buffers|queueing|statistics|policers]:what", self._ports),
            row(f"show mls qos maps [{_MAPS}]:which", self._maps),
            row("show mls qos maps dscp-mutation [WORD:name]", self._mutations),
            row("show mls qos aggregate-policer [WORD:name]", self._aggregates),
            row("show mls qos queue-set [<1-2>:set]", self._queue_sets),
            row("show mls qos input-queue", lambda s, m: self._input_queue()),
        ]

    def _summary(self) -> str:
        on = "enabled" if "mls qos" in self._box.running else "disabled"
        rewrite = "disabled" if "mls qos rewrite ip dscp" in self._box.running else "enabled"
        return f"QoS is {on}\nQoS ip packet dscp rewrite is {rewrite}\n"

    # -- ports -------------------------------------------------------------------------------------------
    def _ports(self, shell: Shell, match: Match) -> str:
        del shell
        ports = self._box.physical_ports(match)
        show: dict[str, Callable[[Section], str]] = {
            "": self._trust,
            "queueing": self._queueing,
            "statistics": self._statistics,
            "buffers": lambda port: f"The port is mapped to qset : {queues.queue_set(port)}\n",
            "policers": self._policers,
        }
        block = show[match.get("what")]
        return "\n".join(f"{port.text.split()[1]}\n{block(port)}" for port in ports)

    def _trust(self, port: Section) -> str:
        trust = trusted(port)
        state = f"trust {trust[0]}" if trust else "not trusted"
        override = "ena" if OVERRIDE in port else "dis"
        policy = port.value(ATTACHED).split()[2:]
        mutation = port.value("mls qos dscp-mutation")[22:] or "Default DSCP Mutation Map"
        lines = [f"Attached policy-map for Ingress: {policy[0]}"] if policy else []
        return "\n".join(
            [
                *lines,
                f"trust state: {state}",
                f"trust mode: {state}",
                "trust enabled flag: ena",
                f"COS override: {override}",
                f"default COS: {default_cos(port)}",
                f"DSCP Mutation Map: {mutation}",
                f"Trust device: {'cisco-phone' if DEVICE in port else 'none'}",
                f"qos mode: {'vlan' if VLAN_BASED in port else 'port'}-based\n",
            ]
        )

    def _queueing(self, port: Section) -> str:
        limit = (port.value("srr-queue bandwidth limit") or "x 100").split()[-1]
        return (
            f"Egress Priority Queue : {'enabled' if 'priority-queue out' in port else 'disabled'}\n"
            f"Shaped queue weights (absolute) :  {' '.join(map(str, queues.shape(port)))}\n"
            f"Shared queue weights  :  {' '.join(map(str, queues.share(port)))}\n"
            f"The port bandwidth limit : {limit}  (Operational Bandwidth:{limit}.0)\n"
            f"The port is mapped to qset : {queues.queue_set(port)}\n"
        )

    def _statistics(self, port: Section) -> str:
        count = self._plane.count(port.text.split()[1])
        lines = [""]
        for title, table, size in (
            ("dscp: incoming", count.dscp_in, 64),
            ("dscp: outgoing", count.dscp_out, 64),
            ("cos: incoming", count.cos_in, 8),
            ("cos: outgoing", count.cos_out, 8),
        ):
            lines += [f"  {title}  ", "-------------------------------", "", *_rows(table, size)]
        for title in ("enqueued", "dropped"):
            lines += [f"  output queues {title}: ", " queue:    threshold1   threshold2   threshold3"]
            lines.append("-----------------------------------------------")
            for queue in range(4):
                values = [count.enqueued[queue + 1, level] if title == "enqueued" else 0 for level in (1, 2, 3)]
                lines.append(f" queue {queue}: " + " ".join(f"{value:>12}" for value in values))
            lines.append("")
        return "\n".join(
            [*lines, f"Policer: Inprofile: {count.in_profile:>12} OutofProfile: {count.out_of_profile:>12}", ""]
        )

    def _policers(self, port: Section) -> str:
        name = port.value(ATTACHED).removeprefix(f"{ATTACHED} ")
        lines = [f"policymap={name}"]
        for held in policing_classes(self._box.running.get(f"policy-map {name}")):
            kind = "Aggregate" if held.value("police").startswith("police aggregate") else "Single"
            lines.append(f"type={kind} class={held.text.split()[1]} {held.value('police')}")
        return "\n".join([*lines, ""])

    def _aggregates(self, shell: Shell, match: Match) -> str:
        del shell
        held = [line.text.split()[3:] for line in self._box.running.starting(f"{AGGREGATE} ")]
        shown = [words for words in held if match.get("name", words[0]) == words[0]]
        return "\n".join(f"aggregate-policer {' '.join(words)}" for words in shown)

    # -- maps --------------------------------------------------------------------------------------------
    def _maps(self, shell: Shell, match: Match) -> str:
        del shell
        running = self._box.running

        def eight(title: str, key: str, kind: str) -> list[str]:
            return eight_lines(title, key, eight_values(running, f"mls qos map {kind}", maps.COS_DSCP))

        blocks: dict[str, Callable[[], list[str]]] = {
            "policed-dscp": lambda: _square("Policed-dscp map:", maps.POLICED, running, 2),
            "dscp-cos": lambda: _square("Dscp-cos map:", maps.DSCP_COS, running, 2),
            "cos-dscp": lambda: eight("Cos-dscp map:", "cos", "cos-dscp"),
            "ip-prec-dscp": lambda: eight("IpPrecedence-dscp map:", "ipprec", "ip-prec-dscp"),
            "dscp-output-q": lambda: _square("Dscp-outputq-threshold map:", queues.OUTPUT_DSCP, running, 5),
            "dscp-input-q": lambda: _square("Dscp-inputq-threshold map:", queues.INPUT_DSCP, running, 5),
            "cos-output-q": lambda: _by_cos("Cos-outputq-threshold map:", queues.OUTPUT_COS.read(running).values()),
            "cos-input-q": lambda: _by_cos("Cos-inputq-threshold map:", queues.INPUT_COS.read(running).values()),
        }
        chosen = [match["which"]] if "which" in match else list(blocks)
        return "\n".join("\n".join(blocks[name]()) for name in chosen)

    def _mutations(self, shell: Shell, match: Match) -> str:
        del shell
        running = self._box.running
        lines: list[str] = []
        for name in maps.mutation_names(running):
            if match.get("name", name) == name:
                lines += [f"   {name}:", *_square("Dscp-dscp mutation map:", maps.mutation(name), running, 2)]
        return "\n".join(lines)

    def _queue_sets(self, shell: Shell, match: Match) -> str:
        del shell
        lines: list[str] = []
        for number in [match.number("set")] if "set" in match else [1, 2]:
            table = [queues.thresholds(self._box.running, number, queue) for queue in (1, 2, 3, 4)]
            lines += [f"Queueset: {number}", _columns("Queue     :", [1, 2, 3, 4]), "-" * 43]
            lines.append(_columns("buffers   :", queues.buffers(self._box.running, number)))
            for at, title in enumerate(("threshold1:", "threshold2:", "reserved  :", "maximum   :")):
                lines.append(_columns(title, [values[at] for values in table]))
        return "\n".join(lines)

    def _input_queue(self) -> str:
        running = self._box.running
        levels = [queues.input_pair(running, f"threshold {queue}") for queue in (1, 2)]
        return "\n".join(
            [
                _columns("Queue     :", [1, 2]),
                "-" * 46,
                _columns("buffers   :", queues.input_pair(running, "buffers")),
                _columns("bandwidth :", queues.input_pair(running, "bandwidth")),
                _columns("priority  :", queues.input_priority(running)),
                _columns("threshold1:", [levels[0][0], levels[1][0]]),
                _columns("threshold2:", [levels[0][1], levels[1][1]]),
            ]
        )


def _columns(title: str, values: list[int]) -> str:
    return title + "".join(f"{value:>8}" for value in values)


def _rows(table: Counter[int], size: int) -> list[str]:
    lines = []
    for low in range(0, size, 5):
        values = [table[value] for value in range(low, min(low + 5, size))]
        lines.append(f" {low:>2} - {low + 4:>2} : " + " ".join(f"{value:>12}" for value in values) + "  ")
    return lines


def _square(title: str, table: TableMap, running: Section, width: int) -> list[str]:
    """A table over DSCPs: tens down, ones across."""
    held = table.read(running)
    head = " " * (2 + width // 2) + (" " * width).join(str(one) for one in range(10))
    lines = [f"   {title}", f"     d1 :d2{head} ", "     " + "-" * (10 * (width + 1))]
    for ten in range(7):
        shown = [_two_digits(held[10 * ten + one]) for one in range(10) if 10 * ten + one < 64]
        lines.append(f"      {ten} :    {' '.join(shown)} ")
    return lines


def _two_digits(value: str) -> str:
    return "-".join(f"{int(part):02}" for part in value.split("-"))


def _by_cos(title: str, values: Iterable[str]) -> list[str]:
    """The queue and threshold of every CoS."""
    head = "".join(f" {key:^3}" for key in range(8))
    shown = "".join(f" {value:^3}" for value in values)
    return [f"   {title}", f"{'cos':>17}:{head} ", " " * 14 + "-" * 36, f"{'queue-threshold':>17}:{shown} "]
