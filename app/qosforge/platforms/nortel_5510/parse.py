"""Read a running configuration of the 5510 into a plan, with the defaults that it does not print."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import chain

from qosforge.commands import ReadLine
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, Rule, System, Term, Trust
from qosforge.plan.unknown_line import UnknownLine
from qosforge.platforms.base import BesidePlan
from qosforge.platforms.nortel_5510.capabilities import (
    CAPABILITIES,
    PORT,
    factory_dscp_to_cos,
    factory_queue,
    scheduler,
)
from qosforge.platforms.nortel_5510.filters import group_filters
from qosforge.platforms.nortel_5510.lines import KINDS, TABLE
from qosforge.platforms.nortel_5510.policing import bucket_of
from qosforge.platforms.nortel_5510.read_filters import FilterTable, is_held

_TRUST = {"trusted": Trust.DSCP, "untrusted": Trust.NONE, "unrestricted": Trust.KEEP}
_MODEL = re.compile(r"^! *Model = .*?(\S+)\s*$", re.MULTILINE)


class _Reader:
    """One reading: the objects found so far, and what was not understood."""

    def __init__(self, text: str) -> None:
        self.reading = TABLE.read(text)
        model = _MODEL.search(text)
        self.port_count = CAPABILITIES.ports.value.get(model[1] if model else "", CAPABILITIES.ports.otherwise)
        self.names: list[str] = []
        self.shaped: dict[str, Egress] = {}
        self._of_group: dict[str, Ingress] = {}
        self.groups = {CAPABILITIES.default_group.value: Trust.NONE}
        self.assigned: dict[str, str] = {}
        self.objects: dict[str, dict[str, ReadLine]] = {kind: {} for kind in KINDS}
        self.queue_set = CAPABILITIES.factory_queue_set.value
        self.to_cos = list(factory_dscp_to_cos())
        self.dropped_first: set[int] = set()
        self.to_dscp = list(CAPABILITIES.factory_cos_to_dscp.value)
        self.queue_of: dict[tuple[int, int], int] = {}

    def plan(self, device: str) -> Plan:
        for entry in self.reading.entries:
            self._take(entry)
        for entry in self.reading.all("if-assign"):
            if entry.name not in self.groups:
                self.reading.miss(entry)
        listed = [str(n) for n in range(1, self.port_count + 1)]
        self.names = list(dict.fromkeys((*listed, *self.assigned, *self.shaped)))
        interfaces = tuple(self._interface(name) for name in self.names)
        for group in {*self.groups} - {i.ingress.policy for i in interfaces}:
            self._ingress(group, "")  # what is not understood of groups that no port is in
        known = self.queue_set in CAPABILITIES.queue_sets.value
        queues = [self.queue_of.get((self.queue_set, cos)) for cos in range(8)]
        system = System(
            queue_set=self.queue_set,
            scheduler=scheduler(self.queue_set) if known else None,
            cos_to_queue=tuple(q or factory_queue(self.queue_set, cos) for cos, q in enumerate(queues))
            if known
            else None,
            cos_to_dscp=tuple(self.to_dscp),
            dscp_to_cos=tuple(self.to_cos),
            dropped_first=tuple(sorted(self.dropped_first)) or None,
        )
        return Plan(
            device=device,
            platform="nortel_5510",
            system=system,
            interfaces=interfaces,
            unknown=self.reading.unknown,
        )

    def _interface(self, name: str) -> InterfacePlan:
        group = self.assigned.get(name, CAPABILITIES.default_group.value)
        if ("port", name) in self._policies:
            ingress = self._ingress(group, name)
        else:
            if group not in self._of_group:
                self._of_group[group] = self._ingress(group, "")
            ingress = self._of_group[group]
        return InterfacePlan(name=name, ingress=ingress, egress=self.shaped.get(name, Egress()))

    def _take(self, entry: ReadLine) -> None:
        match entry.id:
            case "if-group":
                self.groups[entry.name] = _TRUST[entry["trust"]]
            case "if-assign":
                self.assigned |= dict.fromkeys(self._ports(entry), entry.name)
            case "egressmap":
                self.to_cos[entry["dscp"]] = entry["cos"]
                change = self.dropped_first.add if entry["drop"] == "high-drop" else self.dropped_first.discard
                change(entry["dscp"])
            case "ingressmap":
                self.to_dscp[entry["cos"]] = entry["dscp"]
            case "queue":
                self.queue_of[entry["set"], entry["cos"]] = entry["queue"]
            case "queue-set":
                self.queue_set = entry["set"]
            case "interface":
                for shaper in entry.below:
                    self._shape(shaper)
            case kind if kind in KINDS:
                if is_held(entry):
                    self.objects[kind][str(entry["number"])] = entry
                else:
                    self.reading.miss(entry)

    def _shape(self, shaper: ReadLine) -> None:
        if "rate" not in shaper or "burst_rate" not in shaper:
            self.reading.miss(shaper)
            return
        bucket = bucket_of(shaper["rate"], shaper["burst_rate"], shaper.get("duration"))
        shaped = Egress(shape_rate=shaper["rate"] * 1000, shape_burst=bucket)
        self.shaped |= dict.fromkeys(self._ports(shaper), shaped)

    def _ports(self, line: ReadLine) -> tuple[str, ...]:
        """The ports that a line is for: one, or all of the switch; a line for anything else is told."""
        if line["port"].lower() == "all":
            return tuple(str(number) for number in range(1, self.port_count + 1))
        if PORT.fullmatch(line["port"]):
            return (line["port"],)
        self.reading.miss(line)
        return ()

    def unused(self) -> tuple[UnknownLine, ...]:
        """Lines of groups without ports, of policies on none, and of all that only these refer to, or nothing."""
        groups = {self.assigned.get(name, CAPABILITIES.default_group.value) for name in self.names}
        ports = (("if-group", group) for group in groups), (("port", name) for name in self.names)
        policies = [policy for key in chain(*ports) for policy in self._policies.get(key, ())]
        used = {id(entry) for policy in policies for entry in (policy, *self._table.referred(policy))}
        held = (entry for objects in self.objects.values() for entry in objects.values())
        idle = [entry for entry in held if id(entry) not in used]
        idle += [entry for entry in self.reading.all("if-group") if entry.name not in groups]
        lines = sorted((entry.line for entry in idle), key=lambda line: line.number)
        return tuple(UnknownLine(line=line.number, text=line.text) for line in lines)

    # -- filters -------------------------------------------------------------------------------------
    @cached_property
    def _table(self) -> FilterTable:
        return FilterTable(self.objects)

    @cached_property
    def _policies(self) -> dict[tuple[str, str], list[ReadLine]]:
        """The policies in force by their port group or port; others are told."""
        held: dict[tuple[str, str], list[ReadLine]] = {}
        groups = {*self.groups, *self.assigned.values()}
        for policy in self.objects["policy"].values():
            group, port = policy.get("group"), policy.get("port", "")
            key = ("if-group", group) if group in groups and group else ("port", port)
            if key[0] == "port" and (port not in self.names or not port):
                self.reading.miss(policy)
            elif policy.get("state") != "disable":
                held.setdefault(key, []).append(policy)
        return held

    def _ingress(self, group: str, port: str) -> Ingress:
        """The rules of a port: those of its group and its own, the highest precedence first."""
        found: list[tuple[Rule, Term]] = []
        policies = [*self._policies.get(("if-group", group), ()), *self._policies.get(("port", port), ())]
        for policy in sorted(policies, key=lambda policy: -policy.get("precedence", 0)):
            alternatives = self._table.alternatives(policy)
            if alternatives is None:
                self.reading.miss(policy)
            else:
                found.extend(alternatives)
        return Ingress(policy=group, trust=self.groups.get(group, Trust.KEEP), rules=group_filters(found))


def beside_plan(text: str) -> tuple[BesidePlan, ...]:
    """Lines of a running configuration that are about nothing that a port does."""
    reader = _Reader(text)
    known = {line.line for line in reader.plan("device").unknown}
    return tuple(BesidePlan("unattached", line) for line in reader.unused() if line.line not in known)


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan a running configuration amounts to; what is not understood is kept in ``unknown``."""
    del image  # the releases differ in what they accept, not in how it reads
    return _Reader(text).plan(device)
