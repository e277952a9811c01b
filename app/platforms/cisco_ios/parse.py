"""Read an IOS running configuration into a plan, with the defaults that IOS does not print."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.configtree import Line, Tree
from app.dscp import parse_dscp
from app.plan.model import (
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    Policer,
    Queue,
    Red,
    RedProfile,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
    UnknownLine,
)
from app.platforms.cisco_ios.capabilities import capabilities, default_bandwidth, default_red
from app.platforms.cisco_ios.classes import ClassReader, Matched
from app.platforms.cisco_ios.grammar import CLASS_DEFAULT, GRAMMAR
from app.platforms.cisco_ios.handwriting import DIALECT, astray
from app.platforms.cisco_ios.lower import default_egress
from app.platforms.cisco_ios.policing import read_policer
from app.platforms.handwriting import is_number, read_tree, verbatim

_QOS_ON_INTERFACE = re.compile(
    r"(?:service-policy|fair-queue|random-detect|rate-limit|traffic-shape|priority-group|custom-queue-list|"
    r"ip rtp|tx-ring-limit|max-reserved-bandwidth|ppp multilink|ip mtu)\b.*"
)


class _Reader:
    """One reading: the class- and policy-maps found so far, and what was not understood."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.unknown: list[UnknownLine] = []
        self.class_maps: dict[str, Matched] = {}
        self.policies: dict[str, Line] = {}

    def plan(self, device: str, platform: str) -> Plan:
        classes = ClassReader(self.tree, self._miss)
        for line in self.tree:
            if match := re.fullmatch(r"class-map (?:match-(all|any) )?(\S+)", line.text):
                self.class_maps[match[2]] = classes.read(line, match[1] or "all")
            elif match := re.fullmatch(r"policy-map (\S+)", line.text):
                self.policies[match[1]] = line
        interfaces = [
            self._interface(line, match[1])
            for line in self.tree
            if (match := re.fullmatch(r"interface (\S+)(?: \S+)?", line.text))
        ]
        self._read_unattached()
        self.unknown.extend(astray(self.tree))
        return Plan(
            device=device,
            platform=platform,
            interfaces=tuple(interfaces),
            unknown=tuple(dict.fromkeys(self.unknown)),
        )

    def _read_unattached(self) -> None:
        """Keep what is understood on neither side: a policy may be attached to no interface."""
        known = self.unknown
        for name, policy in self.policies.items():
            sides: list[dict[UnknownLine, None]] = []
            for read in (self._input_policy, self._output_policy):
                self.unknown = []
                read(policy, name)
                sides.append(dict.fromkeys(self.unknown))
            known.extend(line for line in sides[0] if line in sides[1])
        self.unknown = known

    def _miss(self, line: Line, context: str) -> None:
        self.unknown.append(UnknownLine(line=line.number, text=line.text, context=context))

    def _interface(self, interface: Line, name: str) -> InterfacePlan:
        bandwidth = default_bandwidth(name)
        ingress, egress = Ingress(), None
        efficiency: dict[str, object] = {}
        flow_wfq = True
        for line in interface.children:
            match line.text.split():
                case ["bandwidth", kbps] if is_number(kbps):
                    bandwidth = int(kbps)
                case ["service-policy", "input", policy]:
                    ingress = self._input_policy(line, policy)
                case ["service-policy", "output", policy]:
                    egress = self._output_policy(line, policy)
                case ["no", "fair-queue"]:
                    flow_wfq = False
                case ["ip", "rtp", "header-compression", *_]:
                    efficiency["header_compression"] = True
                case ["ppp", "multilink"]:
                    efficiency["multilink"] = True
                case ["ppp", "multilink", "interleave"]:
                    efficiency["interleave"] = True
                case ["ppp", "multilink", "fragment", "delay", ms] | [
                    "ppp",
                    "multilink",
                    "fragment-delay",
                    ms,
                ] if is_number(ms):
                    efficiency["fragment_delay_ms"] = int(ms)
                case ["ppp", "multilink", "group", _]:
                    pass
                case ["ip", "mtu", size] if is_number(size):
                    efficiency["ip_mtu"] = int(size)
                case _ if _QOS_ON_INTERFACE.fullmatch(line.text):
                    self._miss(line, interface.text)
        if efficiency.get("interleave"):
            efficiency.setdefault("fragment_delay_ms", capabilities()["fragment_delay_ms"]["interleaved"])
        delay = efficiency.get("fragment_delay_ms")
        if isinstance(delay, int) and bandwidth is not None:
            efficiency["fragment_bytes"] = bandwidth * delay // 8
        if egress is None:
            egress = default_egress(name, bandwidth if flow_wfq else 10**9)
        return InterfacePlan(
            name=name,
            bandwidth_kbps=bandwidth,
            ingress=ingress,
            egress=egress,
            efficiency=Efficiency.model_validate(efficiency),
        )

    def _classes(self, line: Line, policy: str) -> Iterator[tuple[Line, str]]:
        body = self.policies.get(policy)
        if body is None:
            self._miss(line, "")
            return
        for entry in body.children:
            match entry.text.split():
                case ["class", name]:
                    yield entry, name
                case _:
                    self._miss(entry, body.text)

    def _input_policy(self, attach: Line, policy: str) -> Ingress:
        rules = []
        for entry, name in self._classes(attach, policy):
            values: dict[str, int] = {}
            police: Policer | None = None
            for action in entry.children:
                match action.text.split():
                    case ["set", "dscp", value] | ["set", "ip", "dscp", value] if _is_dscp(value):
                        values["set_dscp"] = parse_dscp(value)
                    case ["set", "cos", value] if is_number(value, 0, 7):
                        values["set_cos"] = int(value)
                    case ["police", *_] if policer := read_policer(action):
                        police = policer
                    case _:
                        self._miss(action, entry.text)
            taken = Matched((Term(),)) if name == CLASS_DEFAULT else self.class_maps.get(name, Matched())
            rules.append(Rule(name=name, any_of=taken.any_of, none_of=taken.none_of, police=police, **values))
        return Ingress(policy=policy, rules=tuple(rules))

    def _output_policy(self, attach: Line, policy: str) -> Egress:
        rules: list[Rule] = []
        queues: list[Queue] = []
        default: Queue | None = None
        for entry, name in self._classes(attach, policy):
            if name == CLASS_DEFAULT:
                default, police = self._queue(entry, name, 0)
                if police is not None:
                    self._miss(entry, policy)  # a rule chooses a queue; what no rule takes has none to police it
                continue
            taken = self.class_maps.get(name, Matched())
            queue, police = self._queue(entry, name, len(queues))
            rules.append(
                Rule(name=name, any_of=taken.any_of, none_of=taken.none_of, police=police, queue=queue.number)
            )
            queues.append(queue)
        limit = capabilities()["class_queue_limit"]["value"]
        last = default or Queue(number=0, name=CLASS_DEFAULT, limit_packets=limit)
        queues.append(last.model_copy(update={"number": len(queues)}))
        return Egress(
            policy=policy,
            rules=tuple(rules),
            default_queue=len(queues) - 1,
            scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(queues)),
        )

    def _queue(self, entry: Line, name: str, number: int) -> tuple[Queue, Policer | None]:
        police: Policer | None = None
        values: dict[str, object] = {"limit_packets": capabilities()["class_queue_limit"]["value"]}
        for action in entry.children:
            match action.text.split():
                case ["priority", *rest]:
                    values |= {"priority": True, "capped": True, "share": _share(rest)}
                case ["bandwidth", *rest]:
                    values["share"] = _share(rest)
                case ["police", *_] if policer := read_policer(action):
                    police = policer
                case ["shape", "average", rate] if is_number(rate):
                    values["shape_rate"] = int(rate)
                case ["queue-limit", count, *_] if is_number(count):
                    values["limit_packets"] = int(count)
                case ["fair-queue", *_]:
                    values["fair"] = True
                case ["random-detect"]:
                    values["red"] = default_red()
                case ["random-detect", "precedence", precedence, low, high, *rest] if all(
                    is_number(word) for word in (precedence, low, high, *rest)
                ):
                    values["red"] = _row(values.get("red"), int(precedence), int(low), int(high), rest)
                case _:
                    self._miss(action, entry.text)
        return Queue.model_validate({"number": number, "name": name, **values}), police


def _is_dscp(value: str) -> bool:
    try:
        parse_dscp(value)
    except ValueError:
        return False
    return True


def _share(words: list[str]) -> Share | None:
    match words:
        case ["percent", value, *_] if is_number(value):
            return Share(unit=ShareUnit.PERCENT, value=int(value))
        case ["remaining", "percent", value] if is_number(value):
            return Share(unit=ShareUnit.REMAINING_PERCENT, value=int(value))
        case [value, *_] if is_number(value):
            return Share(unit=ShareUnit.KBPS, value=int(value))
    return None


def _row(red: object, precedence: int, low: int, high: int, rest: list[str]) -> Red:
    """The default profiles with one precedence's row replaced."""
    base = red if isinstance(red, Red) else default_red()
    denominator = int(rest[0]) if rest else 10
    row = RedProfile(precedence=(precedence,), minimum=low, maximum=high, denominator=denominator)
    rows = tuple(row if p.precedence == (precedence,) else p for p in base.profiles)
    return base.model_copy(update={"profiles": rows})


def parse(text: str, device: str, platform: str = "cisco_ios") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    return verbatim(_Reader(read_tree(text, GRAMMAR, DIALECT)).plan(device, platform), text)
