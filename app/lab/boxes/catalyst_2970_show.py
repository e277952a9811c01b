"""``show mls qos ...`` of the 2970."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from app.lab.boxes import catalyst_2970_queues as queues
from app.lab.boxes.catalyst_2970_plane import SwitchPlane
from app.lab.boxes.catalyst_maps import TableMap, eight_values
from app.lab.boxes.ios_arguments import IF, interface_name
from app.lab.boxes.ios_base import IosBox
from app.lab.boxes.ios_rows import row
from app.lab.config import Section
from app.lab.grammar import Match, Refused
from app.lab.shell import Row, Shell

_MAPS = "cos-dscp|dscp-cos|dscp-output-q|cos-output-q|dscp-input-q|cos-input-q|policed-dscp|ip-prec-dscp"


class SwitchShow:
    """The show commands."""

    def __init__(self, box: IosBox, plane: SwitchPlane) -> None:
        self._box = box
        self._plane = plane

    def rows(self) -> list[Row]:
        """Privileged exec."""
        return [
            row("show mls qos", lambda s, m: self._summary()),
            row(f"show mls qos interface [{IF}] [buffers|queueing|statistics|policers]:what", self._ports),
            row(f"show mls qos maps [{_MAPS}]:which", self._maps),
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
        ports = [port for port in self._box.interfaces() if "Vlan" not in port.text]
        if "interface" in match:
            name = interface_name(match["interface"].replace(" ", ""))
            ports = [port for port in ports if port.key == f"interface {name}"]
            if not ports:
                raise Refused("% Invalid input detected at '^' marker.\n")
        show: dict[str, Callable[[Section], str]] = {
            "": self._trust,
            "queueing": self._queueing,
            "statistics": self._statistics,
            "buffers": lambda port: f"The port is mapped to qset : {_queue_set(port)}\n",
            "policers": lambda port: f"policymap={port.value('service-policy input')[21:]}\n",
        }
        block = show[match.get("what")]
        return "\n".join(f"{port.text.split()[1]}\n{block(port)}" for port in ports)

    def _trust(self, port: Section) -> str:
        trust = port.value("mls qos trust").split()[3:]
        state = f"trust {trust[0]}" if trust else "not trusted"
        override = "ena" if "mls qos cos override" in port else "dis"
        cos = (port.value("mls qos cos") or "mls qos cos 0").split()[-1]
        policy = port.value("service-policy input").split()[2:]
        mutation = port.value("mls qos dscp-mutation")[21:] or "Default DSCP Mutation Map"
        lines = [f"Attached policy-map for Ingress: {policy[0]}"] if policy else []
        return "\n".join(
            [
                *lines,
                f"trust state: {state}",
                f"trust mode: {state}",
                "trust enabled flag: ena",
                f"COS override: {override}",
                f"default COS: {cos}",
                f"DSCP Mutation Map: {mutation}",
                f"Trust device: {'cisco-phone' if 'mls qos trust device' in port else 'none'}",
                "qos mode: port-based\n",
            ]
        )

    def _queueing(self, port: Section) -> str:
        limit = (port.value("srr-queue bandwidth limit") or "x 100").split()[-1]
        return (
            f"Egress Priority Queue : {'enabled' if 'priority-queue out' in port else 'disabled'}\n"
            f"Shaped queue weights (absolute) :  {' '.join(map(str, queues.shape(port)))}\n"
            f"Shared queue weights  :  {' '.join(map(str, queues.share(port)))}\n"
            f"The port bandwidth limit : {limit}  (Operational Bandwidth:{limit}.0)\n"
            f"The port is mapped to qset : {_queue_set(port)}\n"
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

    # -- maps --------------------------------------------------------------------------------------------
    def _maps(self, shell: Shell, match: Match) -> str:
        del shell
        running = self._box.running

        def eight(kind: str) -> list[str]:
            return [str(value) for value in eight_values(running, f"mls qos map {kind}", queues.COS_DSCP)]

        blocks: dict[str, Callable[[], list[str]]] = {
            "policed-dscp": lambda: _square("Policed-dscp map:", queues.POLICED, running, 2),
            "dscp-cos": lambda: _square("Dscp-cos map:", queues.DSCP_COS, running, 2),
            "cos-dscp": lambda: _line("Cos-dscp map:", "dscp", eight("cos-dscp")),
            "ip-prec-dscp": lambda: _line("IpPrecedence-dscp map:", "dscp", eight("ip-prec-dscp")),
            "dscp-output-q": lambda: _square("Dscp-outputq-threshold map:", queues.OUTPUT_DSCP, running, 5),
            "dscp-input-q": lambda: _square("Dscp-inputq-threshold map:", queues.INPUT_DSCP, running, 5),
            "cos-output-q": lambda: _line(
                "Cos-outputq-threshold map:", "queue-threshold", list(queues.OUTPUT_COS.read(running).values())
            ),
            "cos-input-q": lambda: _line(
                "Cos-inputq-threshold map:", "queue-threshold", list(queues.INPUT_COS.read(running).values())
            ),
        }
        chosen = [match["which"]] if "which" in match else list(blocks)
        return "\n".join("\n".join(blocks[name]()) for name in chosen)

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

        def pair(key: str, default: str) -> list[int]:
            return [int(word) for word in running.value(f"mls qos srr-queue input {key}", default).split()[-2:]]

        words = running.value("mls qos srr-queue input priority-queue", "x 2 bandwidth 10").split()
        priority = [int(words[-1]) if words[-3] == str(queue) else 0 for queue in (1, 2)]
        levels = [pair("threshold 1", "100 100"), pair("threshold 2", "100 100")]
        return "\n".join(
            [
                _columns("Queue     :", [1, 2]),
                "-" * 46,
                _columns("buffers   :", pair("buffers", "90 10")),
                _columns("bandwidth :", pair("bandwidth", "4 4")),
                _columns("priority  :", priority),
                _columns("threshold1:", [levels[0][0], levels[1][0]]),
                _columns("threshold2:", [levels[0][1], levels[1][1]]),
            ]
        )


def _queue_set(port: Section) -> str:
    return port.value("queue-set", "queue-set 1").split()[1]


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
    lines = [f"   {title}", "     d1 :d2" + "".join(f"{one:>{width + 1}}" for one in range(10))]
    lines.append("     " + "-" * (10 + 10 * (width + 1)))
    for ten in range(7):
        row_ = [held[10 * ten + one] for one in range(10) if 10 * ten + one < 64]
        shown = [_two_digits(value) for value in row_]
        lines.append(f"      {ten} :  " + "".join(f" {value:>{width}}" for value in shown))
    return lines


def _two_digits(value: str) -> str:
    return "-".join(f"{int(part):02}" for part in value.split("-"))


def _line(title: str, name: str, values: list[str]) -> list[str]:
    keys = "".join(f"{key:>4}" for key in range(8))
    shown = "".join(f"{value:>4}" for value in values)
    return [f"   {title}", f"{'cos':>17}: {keys}", " " * 14 + "-" * 36, f"{name:>17}: {shown}"]
