"""What a router shows of its policies and interfaces: counters, queues, thresholds."""

from __future__ import annotations

from qoslab.boxes.ios import wred as ios_wred
from qoslab.boxes.ios.arguments import IF, dscp_value, interface_name
from qoslab.boxes.ios.attach import RESERVABLE, Attachments
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.booking import booked, inner_rate
from qoslab.boxes.ios.classes import class_names, match_mode, policies
from qoslab.boxes.ios.forwarding import Count, Forwarding, Path
from qoslab.boxes.ios.police import Policer
from qoslab.boxes.ios.queueing import default_queueing
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

_QUEUE_PACKETS = 64
_FIRST_CONVERSATION = 264  # with 256 dynamic queues the priority queue is number 264
_BAD = "% Invalid input detected at '^' marker.\n"


class Counters:
    """``show policy-map ...``, ``show class-map``, ``show interfaces``."""

    def __init__(self, box: IosBox, attachments: Attachments, forwarding: Forwarding) -> None:
        self._box = box
        self._attachments = attachments
        self._forwarding = forwarding

    def rows(self) -> list[Row]:
        """Privileged exec."""
        return [
            row(f"show policy-map interface [{IF}] [input|output]:direction", self._interface),
            row("show policy-map [WORD:name [class WORD:class]]", self._policies),
            row("show class-map [WORD:name]", self._classes),
            row("show {access-lists|ip access-lists} [WORD:name]", self._lists),
            row("show ppp multilink [interface LINE]", self._multilink),
        ]

    # -- attached policies -------------------------------------------------------------------------------
    def _interface(self, shell: Shell, match: Match) -> str:
        del shell
        chosen = self._box.interfaces()
        if "interface" in match:
            name = interface_name(match["interface"].replace(" ", ""))
            chosen = [held for held in chosen if held.key == f"interface {name}"]
            if not chosen:
                raise Refused(_BAD)
        directions = [match["direction"]] if "direction" in match else ["input", "output"]
        lines: list[str] = []
        for held in chosen:
            blocks = []
            for direction in directions:
                policy = self._attachments.policy_on(held, direction)
                if policy is not None:
                    path = (held.text.split()[1], direction)
                    blocks += ["", f"  Service-policy {direction}: {policy.text.split()[1]}"]
                    blocks += self._policy(policy, path, "    ", self._box.bandwidth(held))
            if blocks:
                lines += [f" {held.text.split()[1]}", *blocks]
        return "\n".join(lines)

    def _policy(self, policy: Section, path: Path, pad: str, base: int) -> list[str]:
        """A policy that divides ``base`` kb/s."""
        lines: list[str] = []
        conversation = _FIRST_CONVERSATION
        names = class_names(policy)
        for name in [*(one for one in names if one != "class-default"), "class-default"]:
            held = policy.get(f"class {name}") or Section(f"class {name}")
            mapped = self._box.running.get(f"class-map {name}")
            count = self._forwarding.count((*path, name))
            offered, dropped = count.rates(self._box.clock.seconds())
            lines += ["", f"{pad}Class-map: {name} ({match_mode(mapped)})"]
            lines.append(f"{pad}  {count.packets} packets, {count.bytes} bytes")
            lines.append(f"{pad}  5 minute offered rate {offered} bps, drop rate {dropped} bps")
            matches = [child.text.split(None, 1)[1] for child in mapped.starting("match ")] if mapped else ["any"]
            lines += [f"{pad}  Match: {text}" for text in matches]
            if path[1] == "output" and {"bandwidth", "priority", "shape"} & {line.key for line in held}:
                if "priority" not in held:
                    conversation += 1
                queue = _FIRST_CONVERSATION if "priority" in held else conversation
                lines += [pad + "  " + line for line in _queueing(held, count, base, queue)]
            lines += [pad + "  " + line for line in _wred(held, count)]
            lines += [pad + "  " + line for line in _policing(held, count)]
            lines += [pad + "  " + line for line in _setting(held, count)]
            child = self._attachments.child(held)
            if child is not None:
                lines += ["", f"{pad}  Service-policy : {child.text.split()[1]}"]
                inner = inner_rate(policy, held, base, hqf=self._attachments.hqf)
                lines += self._policy(child, (*path, name), pad + "    ", base if inner is None else inner)
        return lines

    # -- definitions -------------------------------------------------------------------------------------
    def _policies(self, shell: Shell, match: Match) -> str:
        del shell
        lines: list[str] = []
        for policy in policies(self._box):
            name = policy.text.split()[1]
            if match.get("name", name) != name:
                continue
            lines.append(f"  Policy Map {name}")
            for held in policy.starting("class "):
                if match.get("class", held.text.split()[1]) != held.text.split()[1]:
                    continue
                lines.append(f"    Class {held.text.split()[1]}")
                lines += [f"      {_definition(child)}" for child in held]
        if not lines and "name" in match:
            raise Refused(f"% policy map {match['name']} not configured")
        return "\n".join(lines)

    def _classes(self, shell: Shell, match: Match) -> str:
        del shell
        lines: list[str] = []
        for number, held in enumerate(self._box.running.starting("class-map "), start=1):
            name = held.text.split()[-1]
            if match.get("name", name) == name:
                lines.append(f" Class Map {match_mode(held)} {name} (id {number})")
                lines += [f"   Match   {child.text.split(None, 1)[1]} " for child in held.starting("match ")]
                lines.append("")
        if match.get("name", "class-default") == "class-default":
            lines += [" Class Map match-any class-default (id 0)", "   Match any ", ""]
        return "\n".join(lines)

    def _lists(self, shell: Shell, match: Match) -> str:
        del shell
        lists: dict[str, list[str]] = {}
        for line in self._box.running.starting("access-list "):
            words = line.text.split(None, 2)
            if not words[1].isdigit():
                continue  # a rate-limit list
            kind = "Standard" if int(words[1]) < 100 or 1300 <= int(words[1]) < 2000 else "Extended"
            if not words[2].startswith("remark"):
                lists.setdefault(f"{kind} IP access list {words[1]}", []).append(words[2])
        for held in self._box.running.starting("ip access-list "):
            _, _, kind, name = held.text.split()
            title = f"{kind.capitalize()} IP access list {name}"
            lists[title] = [child.text for child in held if not child.text.startswith("remark")]
        wanted = match.get("name")
        lines = []
        for title, entries in lists.items():
            if not wanted or title.endswith(f" {wanted}"):
                lines += [title, *(f"    {entry}" for entry in entries)]
        return "\n".join(lines)

    def _multilink(self, shell: Shell, match: Match) -> str:
        del shell, match
        lines: list[str] = []
        groups = ("ppp multilink group", "multilink-group")
        for bundle in self._box.running.starting("interface Multilink"):
            name = bundle.text.split()[1]
            number = name.removeprefix("Multilink")
            members = [
                held
                for held in self._box.interfaces()
                if any(held.value(key).split()[-1:] == [number] for key in groups)
                and not held.text.startswith("interface Multilink")
            ]
            delay = next((line.text.split() for line in bundle.starting("ppp multilink fragment")), [])
            milliseconds = next((int(word) for word in delay if word.isdigit()), 30)
            fragments = "ppp multilink interleave" in bundle or bool(delay)
            lines += [f"{name}, bundle name is {number}", f"  Member links: {len(members)} active"]
            for member in members:
                # Of the line's own bandwidth: OL-7433-09 p. 16-67 shows it of a bundle of three.
                size = self._box.bandwidth(member) * milliseconds // 8 if fragments else 1500
                told = f"since 00:00:01, {size} weight, {size} frag size"
                lines.append(f"    {member.text.split()[1]}, {told}")
        return "\n".join(lines)

    # -- interfaces --------------------------------------------------------------------------------------
    def interface_report(self, held: Section) -> str:
        """The block of ``show interfaces``."""
        name = held.text.split()[1]
        up = self._box.is_up(held)
        state = "administratively down" if "shutdown" in held else "up" if up else "down"
        kbps = self._box.bandwidth(held)
        if self._attachments.policy_on(held, "output") is not None:
            strategy = "Class-based queueing"
        else:
            strategy = default_queueing(self._box, held)
        percent = int(held.value("max-reserved-bandwidth", f"x {RESERVABLE}").split()[1])
        mtu = held.value("mtu", "mtu 1500").split()[1]
        return "\n".join(
            [
                f"{name} is {state}, line protocol is {'up' if up else 'down'}",
                f"  MTU {mtu} bytes, BW {kbps} Kbit, DLY 20000 usec, ",
                "     reliability 255/255, txload 1/255, rxload 1/255",
                f"  Encapsulation {_encapsulation(held, self._box.running.get(held.key.split('.')[0]) or held)}",
                *([f"  Full-duplex, {self._box.speed(held)}Mb/s, 100BaseTX/FX"] if "Ethernet" in name else []),
                f"  Queueing strategy: {strategy}",
                f"     Available Bandwidth {self._available(held, kbps * percent // 100)} kilobits/sec",
                *self._box.passed(held),
            ]
        )

    def _available(self, held: Section, room: int) -> int:
        policy = self._attachments.policy_on(held, "output")
        for line in policy if policy is not None else ():
            room -= booked(line, self._box.bandwidth(held)) or 0
        return room


def _encapsulation(held: Section, main: Section) -> str:
    """As ``show interfaces`` words it; HDLC is what a serial line has by itself, PPP what a bundle has."""
    name = held.text.split()[1]
    usual = "ppp" if name.startswith("Multilink") else "hdlc"
    words = (held.value("encapsulation") or main.value("encapsulation", f"encapsulation {usual}")).split()[1:]
    if words[0] == "dot1Q":
        return f"802.1Q Virtual LAN, Vlan ID  {words[1]}., loopback not set"
    if name.startswith("ATM"):
        return "ATM, loopback not set"
    if name.startswith("Loopback"):
        return "LOOPBACK, loopback not set"
    if not name.startswith(("Serial", "Multilink", "Dialer", "Virtual-Template", "BRI")):
        return "ARPA, loopback not set"
    ppp = "PPP, LCP Open, multilink Open" if "ppp multilink" in held else "PPP, LCP Open"
    forms = {"hdlc": "HDLC, loopback not set", "frame-relay": "FRAME-RELAY, loopback not set", "ppp": ppp}
    return forms[words[0]]


def _definition(line: Section) -> str:
    """One action as ``show policy-map`` words it."""
    words = line.text.split()
    if line.key == "bandwidth":
        unit = " ".join([*words[1:-1], ""]).replace("percent ", "") if len(words) > 2 else ""
        measure = "(%)" if "percent" in words else "" if "ratio" in words else "(kbps)"
        return f"Bandwidth {unit}{words[-1]} {measure} Max Threshold {_QUEUE_PACKETS} (packets)".replace("  ", " ")
    if line.key == "priority" and _given(words):
        given = _given(words)
        measure = "(%)" if given[0] == "percent" else "(kbps)"
        return f"Strict Priority\n      Bandwidth {given[1] if given[0] == 'percent' else given[0]} {measure}"
    return line.text.strip()


def _given(words: list[str]) -> list[str]:
    """What follows ``priority`` and its level: the rate and the burst (nothing for a bare priority)."""
    return words[3:] if words[1:2] == ["level"] else words[1:]


def _queueing(held: Section, count: Count, base: int, conversation: int) -> list[str]:
    lines = ["Queueing"]
    words = (held.value("priority") or held.value("bandwidth")).split()
    matched = f"  (pkts matched/bytes matched) {count.queued}/{count.queued_bytes}"
    if words and words[0] == "priority":
        given = _given(words)
        percent = given[:1] == ["percent"]
        kbps = booked(held, base)
        lines += ["  Strict Priority", f"  Output Queue: Conversation {conversation} "]
        lines += [f"  Bandwidth {given[1]} (%)"] if percent else []
        if kbps is not None:
            bursts = given[2:] if percent else given[1:]
            burst = int(bursts[0]) if bursts else kbps * 25  # 200 ms at the rate
            lines.append(f"  Bandwidth {kbps} (kbps) Burst {burst} (Bytes)")
        return [*lines, matched, f"  (total drops/bytes drops) {count.dropped}/{count.dropped_bytes}"]
    limit, unit = [*held.value("queue-limit", f"x {_QUEUE_PACKETS}").split()[1:], "packets"][:2]
    room = "" if "random-detect" in held else f"Max Threshold {limit} ({unit})"
    lines.append(f"  Output Queue: Conversation {conversation} ")
    if words and words[1] == "remaining":
        share = f"{words[3]} (%)" if words[2] == "percent" else f"ratio {words[3]} "
        lines.append(f"  Bandwidth remaining {share}{room}")
    elif words and words[1] == "percent":
        lines += [f"  Bandwidth {words[2]} (%)", f"  Bandwidth {booked(held, base)} (kbps){room}"]
    elif words:
        lines.append(f"  Bandwidth {words[1]} (kbps){room}")
    if "shape" in held:
        lines.append(f"  Traffic Shaping: {held.value('shape').split(None, 1)[1]}")
    return [*lines, matched, f"  (depth/total drops/no-buffer drops) 0/{count.dropped}/0"]


def _wred(held: Section, count: Count) -> list[str]:
    if "random-detect" not in held:
        return []
    weight = held.value("random-detect weight", f"x {ios_wred.WEIGHT}").split()[-1]
    lines = [
        f"   exponential weight: {weight}",
        "   mean queue depth: 0",
        "   class     Transmitted       Random drop      Tail drop     Minimum Maximum Mark",
        "           pkts/bytes        pkts/bytes       pkts/bytes    thresh  thresh  prob",
    ]
    by_dscp = ios_wred.based_on(held) == "dscp"
    for name, low, high, mark in ios_wred.thresholds(held):
        value = dscp_value(name)
        taken = [pair for dscp, pair in count.by_dscp.items() if (dscp if by_dscp else dscp >> 3) == value]
        sent = f"{sum(pair[0] for pair in taken)}/{sum(pair[1] for pair in taken)}"
        lines.append(f"   {name:<8}{sent:>12}{'0/0':>18}{'0/0':>17}{low:>10}{high:>9}  1/{mark}")
    return lines


def _policing(held: Section, count: Count) -> list[str]:
    line = held.get("police")
    if line is None:
        return []
    policer = Policer.read(line)
    rate = f"cir {policer.rate} bps" if policer.rate is not None else f"cir {policer.percent} %"
    if policer.rate is None and policer.percent is None:
        rate = line.text.removeprefix("police ")
    conformed, size = count.packets - count.exceeded, count.bytes - count.exceeded_bytes
    return [
        "police:",
        f"    {rate}, bc {policer.burst} bytes",
        f"  conformed {conformed} packets, {size} bytes; actions:",
        f"    {policer.actions.get('conform', 'transmit')} ",
        f"  exceeded {count.exceeded} packets, {count.exceeded_bytes} bytes; actions:",
        f"    {policer.actions.get('exceed', 'drop')} ",
    ]


def _setting(held: Section, count: Count) -> list[str]:
    sets = held.starting("set ")
    if not sets:
        return []
    lines = ["QoS Set"]
    for one in sets:
        lines += [f"  {one.text.split(None, 1)[1]}", f"    Packets marked {count.marked}"]
    return lines
