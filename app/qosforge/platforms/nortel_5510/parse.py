"""Read a running configuration of the 5510 into a plan, with the defaults that it does not print."""

from __future__ import annotations

import re
from functools import cached_property

from qosforge.configtree import ConfigLine
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, Rule, System, Term, Trust, UnknownLine
from qosforge.platforms.abbreviations import is_number, read_tree
from qosforge.platforms.nortel_5510.abbreviations import SYNTAX
from qosforge.platforms.nortel_5510.capabilities import (
    PORT,
    capabilities,
    factory_cos_to_dscp,
    factory_dscp_to_cos,
    factory_queue,
    port_count,
    queue_set_known,
    scheduler,
)
from qosforge.platforms.nortel_5510.filters import group_filters
from qosforge.platforms.nortel_5510.grammar import GRAMMAR
from qosforge.platforms.nortel_5510.metering import bucket_of
from qosforge.platforms.nortel_5510.read_filters import KEYS, FilterTable, Options, options_of

_TRUST = {"trusted": Trust.DSCP, "untrusted": Trust.NONE, "unrestricted": Trust.KEEP}
_MODEL = re.compile(r"^! *Model = .*?(\S+)\s*$", re.MULTILINE)
_HARMLESS = re.compile(r"qos agent (?:queue-set|buffer|nvram-delay|statistics-tracking|ubp disable)\b.*")


class _Reader:
    """One reading: the objects found so far, and what was not understood."""

    def __init__(self, text: str) -> None:
        self.tree = read_tree(text, GRAMMAR, SYNTAX)
        model = _MODEL.search(text)
        self.port_count = port_count(model[1] if model else "")
        self.unknown: dict[UnknownLine, None] = {}
        self.names: list[str] = []
        self.shaped: dict[str, Egress] = {}
        self._of_group: dict[str, Ingress] = {}
        self.groups = {capabilities()["default_group"]["value"]: Trust.NONE}
        self.assigned: dict[str, str] = {}
        self.objects: dict[str, dict[str, tuple[ConfigLine, Options]]] = {kind: {} for kind in KEYS}
        self.queue_set: int = capabilities()["factory_queue_set"]["value"]
        self.to_cos = list(factory_dscp_to_cos())
        self.to_dscp = list(factory_cos_to_dscp())
        self.queue_of: dict[tuple[int, int], int] = {}

    def plan(self, device: str) -> Plan:
        for line in self.tree:
            self._line(line)
        listed = [str(n) for n in range(1, self.port_count + 1)]
        self.names = list(
            dict.fromkeys((*listed, *(p for p in (*self.assigned, *self.shaped) if PORT.fullmatch(p))))
        )
        interfaces = tuple(self._interface(name) for name in self.names)
        for group in {*self.groups} - {i.ingress.policy for i in interfaces}:
            self._ingress(group, "")  # what is not understood of groups that no port is in
        known = queue_set_known(self.queue_set)
        queues = [self.queue_of.get((self.queue_set, cos)) for cos in range(8)]
        system = System(
            queue_set=self.queue_set,
            scheduler=scheduler(self.queue_set) if known else None,
            cos_to_queue=tuple(q or factory_queue(self.queue_set, cos) for cos, q in enumerate(queues))
            if known
            else None,
            cos_to_dscp=tuple(self.to_dscp),
            dscp_to_cos=tuple(self.to_cos),
        )
        unknown = tuple(sorted(self.unknown, key=lambda u: u.line))
        return Plan(device=device, platform="nortel_5510", system=system, interfaces=interfaces, unknown=unknown)

    def _interface(self, name: str) -> InterfacePlan:
        fallback: str = capabilities()["default_group"]["value"]
        group = self.assigned.get(name, fallback)
        if ("port", name) in self._policies:
            ingress = self._ingress(group, name)
        else:
            if group not in self._of_group:
                self._of_group[group] = self._ingress(group, "")
            ingress = self._of_group[group]
        return InterfacePlan(name=name, ingress=ingress, egress=self.shaped.get(name, Egress()))

    def _miss(self, line: ConfigLine) -> None:
        self.unknown[UnknownLine(line=line.number, text=line.text)] = None

    def _below(self, line: ConfigLine) -> None:
        """A line of the interfaces' mode."""
        options = dict(zip(line.text.split()[2::2], line.text.split()[3::2], strict=False))
        rates = [options.get(key, "") for key in ("shape-rate", "max-burst-rate")]
        duration = options.get("max-burst-duration")
        shaper = line.text.startswith("qos if-shaper port ") and {"port", "shape-rate"} <= set(options)
        if not shaper or not all(is_number(r) for r in (*rates, duration or "0")):
            self._miss(line)
            return
        rate, burst_rate = map(int, rates)
        bucket = bucket_of(rate, burst_rate, int(duration) if duration else None)
        self.shaped[options["port"]] = Egress(shape_rate=rate * 1000, shape_burst=bucket)

    def _line(self, line: ConfigLine) -> None:
        for below in line.children:
            if below.text.startswith("qos "):
                self._below(below)
        match line.text.split():
            case ["qos", "if-group", "name", name, "class", kind] if kind in _TRUST:
                self.groups[name] = _TRUST[kind]
            case ["qos", "if-assign", "port", port, "name", name]:
                self.assigned[port] = name
            case ["qos", kind, number, *words] if kind in KEYS and is_number(number):
                options = options_of(kind, words)
                if options is None:
                    self._miss(line)
                else:
                    self.objects[kind][number] = (line, options)
            case ["qos", "egressmap", "ds", dscp, "1p", cos, "dp", _] if is_number(dscp, 0, 63) and is_number(
                cos, 0, 7
            ):
                self.to_cos[int(dscp)] = int(cos)
            case ["qos", "ingressmap", "1p", cos, "ds", dscp] if is_number(cos, 0, 7) and is_number(dscp, 0, 63):
                self.to_dscp[int(cos)] = int(dscp)
            case ["qos", "queue-set-assignment", "queue-set", queue_set, "1p", cos, "queue", queue] if (
                is_number(queue_set, 1, 8) and is_number(cos, 0, 7) and is_number(queue, 1, 8)
            ):
                self.queue_of[int(queue_set), int(cos)] = int(queue)
            case ["qos", "agent", "queue-set", number] if is_number(number, 1, 8):
                self.queue_set = int(number)
            case ["qos", *_] if not _HARMLESS.fullmatch(line.text):
                self._miss(line)

    # -- filters -------------------------------------------------------------------------------------
    @cached_property
    def _table(self) -> FilterTable:
        return FilterTable({kind: {n: o for n, (_, o) in held.items()} for kind, held in self.objects.items()})

    @cached_property
    def _policies(self) -> dict[tuple[str, str], list[tuple[ConfigLine, Options]]]:
        """The policies in force by their port group or port; others are told."""
        held: dict[tuple[str, str], list[tuple[ConfigLine, Options]]] = {}
        groups = {*self.groups, *self.assigned.values()}
        for line, options in self.objects["policy"].values():
            group, port = options.get("if-group"), options.get("port", "")
            key = ("if-group", group) if group in groups and group else ("port", port)
            if key[0] == "port" and (port not in self.names or not port):
                self._miss(line)
            elif "disable" not in options:
                held.setdefault(key, []).append((line, options))
        return held

    def _ingress(self, group: str, port: str) -> Ingress:
        """The rules of a port: those of its group and its own, the highest precedence first."""
        found: list[tuple[Rule, Term]] = []
        policies = [*self._policies.get(("if-group", group), ()), *self._policies.get(("port", port), ())]
        for line, options in sorted(policies, key=lambda p: -int(p[1].get("precedence", "0"))):
            alternatives = self._table.alternatives(options)
            if alternatives is None:
                self._miss(line)
            else:
                found.extend(alternatives)
        return Ingress(policy=group, trust=self.groups.get(group, Trust.KEEP), rules=group_filters(found))


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    del image  # the releases differ in what they accept, not in how it reads
    return _Reader(text).plan(device)
