"""Write a plan as an ``openconfig-qos`` document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from qosforge.findings import Finding
from qosforge.intent.applications import Application
from qosforge.openconfig.names import AssignedNames, queue_key
from qosforge.openconfig.protocols import protocol_leaf
from qosforge.openconfig.restrict import restrict
from qosforge.openconfig.scheduling import drop_percent
from qosforge.openconfig.terms import family, mac_leaf
from qosforge.plan.early_drop import Red
from qosforge.plan.model import Egress, InterfacePlan, Plan, PortRange, Queue, Rule, Scheduler, ShareUnit, Term

Json = dict[str, Any]

QOS = "openconfig-qos:qos"
DEFAULT = "default"
"""Id of the term, and wish for the group's name, of what no rule of an output matches."""
FAMILIES = {4: "IPV4", 6: "IPV6"}
CAP_LEAVES = {
    ShareUnit.KBPS: "cir",
    ShareUnit.PERCENT: "cir-pct",
    ShareUnit.REMAINING_PERCENT: "cir-pct-remaining",
}


@dataclass(frozen=True)
class ExportedPlan:
    """A document, the part of the plan that it carries, and findings on the rest."""

    document: Json
    plan: Plan
    findings: tuple[Finding, ...]


def export_plan(plan: Plan, applications: Mapping[str, Application]) -> ExportedPlan:
    """The document of a plan; ``applications`` gives the ports of applications the device recognises itself.

    Raises:
        InputError: a queue's number does not fit into the model.
    """
    restricted = restrict(plan, applications)
    return ExportedPlan(_Writer(restricted.plan).document(), restricted.plan, restricted.findings)


@dataclass
class _Writer:
    """Collects the lists of a document; every entry stands once, under its key."""

    plan: Plan
    queues: dict[str, Json] = field(default_factory=dict)
    groups: dict[str, Json] = field(default_factory=dict)
    classifiers: dict[str, Json] = field(default_factory=dict)
    policies: dict[str, Json] = field(default_factory=dict)
    profiles: dict[str, Json] = field(default_factory=dict)
    named: AssignedNames = field(default_factory=AssignedNames)

    def document(self) -> Json:
        interfaces = [self._interface(entry) for entry in self.plan.interfaces]
        lists = {
            "queues": ("queue", list(self.queues.values())),
            "forwarding-groups": ("forwarding-group", list(self.groups.values())),
            "classifiers": ("classifier", list(self.classifiers.values())),
            "scheduler-policies": ("scheduler-policy", list(self.policies.values())),
            "queue-management-profiles": ("queue-management-profile", list(self.profiles.values())),
            "interfaces": ("interface", interfaces),
        }
        return {QOS: {container: {name: rows} for container, (name, rows) in lists.items() if rows}}

    def _interface(self, entry: InterfacePlan) -> Json:
        result: Json = {
            "interface-id": entry.name,
            "config": {"interface-id": entry.name},
            "interface-ref": {"config": {"interface": entry.name}},
        }
        if entry.ingress.rules:
            result["input"] = self._classified(entry.ingress.policy or "", entry.ingress.rules, None, None)
        output = self._output(entry.egress)
        if output:
            result["output"] = output
        return result

    def _output(self, egress: Egress) -> Json:
        name, scheduler = egress.policy or "", egress.scheduler
        result = self._classified(name, egress.rules, egress.default_queue, scheduler)
        if scheduler is not None:
            if name not in self.policies:
                self.policies[name] = {
                    "name": name,
                    "config": {"name": name},
                    "schedulers": self._served(scheduler),
                }
            result["scheduler-policy"] = {"config": {"name": name}}
            result["queues"] = {"queue": [self._attached(queue) for queue in scheduler.queues]}
        return result

    def _classified(
        self, policy: str, rules: tuple[Rule, ...], default: int | None, scheduler: Scheduler | None
    ) -> Json:
        """Classifiers of both families as an interface names them; none for a family that no term speaks of."""
        rows = []
        for version, kind in FAMILIES.items():
            terms = [self._term(*row, scheduler) for row in _numbered(rules) if family(row[2]) in (None, version)]
            if default is not None:
                terms.append(self._term(DEFAULT, Rule(name=DEFAULT, queue=default), Term(), scheduler))
            if not terms:
                continue
            name = f"{policy}-{kind.lower()}"
            self.classifiers[name] = {
                "name": name,
                "config": {"name": name, "type": kind},
                "terms": {"term": [_conditions(term, kind.lower()) for term in terms]},
            }
            rows.append({"type": kind, "config": {"type": kind, "name": name}})
        return {"classifiers": {"classifier": rows}} if rows else {}

    def _term(self, key: str, rule: Rule, term: Term, scheduler: Scheduler | None) -> Json:
        result: Json = {"id": key, "config": {"id": key}, "conditions": term}
        actions: Json = {}
        if rule.queue is not None:
            actions["config"] = {"target-group": self._group(rule.name, self._queue_for(rule.queue, scheduler))}
        marks = {"set-dscp": rule.set_dscp, "set-dot1p": rule.set_cos}
        if set_marks := {leaf: value for leaf, value in marks.items() if value is not None}:
            actions["remark"] = {"config": set_marks}
        if actions:
            result["actions"] = actions
        return result

    def _group(self, wished: str, queue: str) -> str:
        name = self.named.name(wished, (wished, queue))
        self.groups.setdefault(name, {"name": name, "config": {"name": name, "output-queue": queue}})
        return name

    def _queue_for(self, number: int, scheduler: Scheduler | None) -> str:
        """The queue of this number: the output's own, else that of the whole plan where it is one."""
        every = [e.egress.scheduler for e in self.plan.interfaces if e.egress.scheduler]
        for known in ([scheduler] if scheduler else [], every):
            names = {q.name for s in known for q in s.queues if q.number == number}
            if len(names) == 1:
                return self._queue(number, names.pop())
        return self._queue(number, None)

    def _queue(self, number: int, name: str | None) -> str:
        key = queue_key(number, name)
        self.queues.setdefault(key, {"name": key, "config": {"name": key, "queue-id": number}})
        return key

    def _served(self, scheduler: Scheduler) -> Json:
        """Strict queues one after the other, then a round of all others by weight."""
        rows: list[Json] = []
        for queue in scheduler.queues:
            if queue.priority:
                row = {"sequence": len(rows), "config": {"sequence": len(rows), "priority": "STRICT"}}
                rows.append(row | {"inputs": {"input": [self._input(queue)]}} | _cap(queue))
                if queue.capped:
                    rows[-1]["config"]["type"] = "openconfig-qos-types:ONE_RATE_TWO_COLOR"
        weighted = [self._input(queue) for queue in scheduler.queues if not queue.priority]
        if weighted:
            sequence = len(rows)
            rows.append({"sequence": sequence, "config": {"sequence": sequence}, "inputs": {"input": weighted}})
        return {"scheduler": rows}

    def _input(self, queue: Queue) -> Json:
        key = self._queue(queue.number, queue.name)
        config: Json = {"id": key, "input-type": "QUEUE", "queue": key}
        if not queue.priority and queue.share is not None:
            config["weight"] = str(queue.share.value)  # RFC 7951 writes 64 bits as text
        return {"id": key, "config": config}

    def _attached(self, queue: Queue) -> Json:
        key = self._queue(queue.number, queue.name)
        config = {"name": key}
        if queue.red is not None:
            config["queue-management-profile"] = self._profile(queue.red)
        return {"name": key, "config": config}

    def _profile(self, red: Red) -> str:
        (profile,) = red.profiles
        percent = drop_percent(profile.denominator)
        ecn = "-ecn" if red.ecn else ""
        name = f"wred-{profile.minimum}-{profile.maximum}-{percent}-{red.weight_exponent}{ecn}"
        config = {
            "min-threshold": str(profile.minimum),
            "max-threshold": str(profile.maximum),
            "max-drop-probability-percent": percent,
            "weight": red.weight_exponent,
            "drop": True,
        }
        if red.ecn:
            config["enable-ecn"] = True
        self.profiles[name] = {"name": name, "config": {"name": name}, "wred": {"uniform": {"config": config}}}
        return name


def _numbered(rules: tuple[Rule, ...]) -> Iterator[tuple[str, Rule, Term]]:
    """Every alternative of every rule with the term's id: place of the rule, of the alternative, and the name."""
    for place, rule in enumerate(rules, start=1):
        for alternative, term in enumerate(rule.any_of, start=1):
            yield f"{place}.{alternative}-{rule.name}", rule, term


def _cap(queue: Queue) -> Json:
    if not queue.capped or queue.share is None:
        return {}
    unit, value = queue.share.unit, queue.share.value
    rate: Json = {CAP_LEAVES[unit]: str(value * 1000) if unit is ShareUnit.KBPS else value}
    if queue.burst is not None:
        rate["bc"] = queue.burst
    return {
        "one-rate-two-color": {
            "config": rate | {"queuing-behavior": "POLICE"},
            "exceed-action": {"config": {"drop": True}},
        }
    }


def _conditions(row: Json, kind: str) -> Json:
    """A row with its plan term told as conditions of one family."""
    term: Term = row["conditions"]
    header: Json = {}
    if term.source is not None:
        header["source-address"] = term.source
    if term.destination is not None:
        header["destination-address"] = term.destination
    if term.dscp:
        header["dscp-set"] = list(term.dscp)
    if term.protocol is not None:
        header["protocol"] = protocol_leaf(term.protocol)
    sides = {"source-port": term.source_ports, "destination-port": term.destination_ports}
    ports = {leaf: _range(ranges[0]) for leaf, ranges in sides.items() if ranges}
    macs = {"source-mac": term.source_mac, "destination-mac": term.destination_mac}
    ethernet = {leaf: mac_leaf(mac) for leaf, mac in macs.items() if mac is not None}
    told = {"l2": ethernet, kind: header, "transport": ports}
    conditions = {name: {"config": leaves} for name, leaves in told.items() if leaves}
    rest = {key: value for key, value in row.items() if key != "conditions"}
    return rest | ({"conditions": conditions} if conditions else {})


def _range(ports: PortRange) -> int | str:
    return ports.first if ports.first == ports.last else f"{ports.first}..{ports.last}"
