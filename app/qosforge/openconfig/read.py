"""Read an ``openconfig-qos`` document into a plan, with findings on unmapped fields."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from qosforge.errors import InputError, InputErrors, Place
from qosforge.findings import Finding
from qosforge.openconfig.document import JsonNode, leftovers
from qosforge.openconfig.read_queues import QueueName, read_groups, read_policies, read_profiles, read_queues
from qosforge.openconfig.read_terms import VERSIONS, OpenConfigClassifier, read_classifiers, rules_of
from qosforge.openconfig.unmapped_fields import UnmappedFields
from qosforge.openconfig.write import QOS
from qosforge.plan.early_drop import Red
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, Rule, Scheduler

PLATFORM = "openconfig"
"""Platform of a plan that comes from a document alone: the model does not say what device it is for."""
DEEPEST = 40
"""Levels that a document may have; the model has about twenty."""


@dataclass(frozen=True)
class ImportedPlan:
    """The plan of a document, and findings on the rest of it."""

    plan: Plan
    findings: tuple[Finding, ...]


def parse_document(text: str, file: str) -> dict[str, Any]:
    """The JSON text of a document.

    Raises:
        InputError: not JSON, not an object, nested too deep, or without QoS.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        place = Place(file=file, line=line)
        raise InputError(f"is not JSON: {error}", place, "give an RFC 7951 document") from None
    if not isinstance(document, dict) or not isinstance(document.get(QOS, document.get("qos")), dict):
        raise InputError(f"has no {QOS}", Place(file=file), "give a document of the model openconfig-qos")
    if _depth(document) > DEEPEST:
        raise InputError(
            f"is nested more than {DEEPEST} levels deep", Place(file=file), "give an RFC 7951 document"
        )
    return document


def _depth(value: Any) -> int:
    """Levels of a JSON value, counted without recursion."""
    level, depth = [value], 0
    while level:
        depth += 1
        inner = (v for v in level if isinstance(v, dict | list))
        level = [w for v in inner for w in (v.values() if isinstance(v, dict) else v)]
    return depth


def import_document(text: str, *, device: str, platform: str = PLATFORM, file: str = "document") -> ImportedPlan:
    """The plan of a document: exactly what `export_plan` would carry, and findings on what it would not.

    Raises:
        InputError, InputErrors: not a document of the model: leaves of a wrong type or out of range, references
            to what is not defined. All of them are told at once.
    """
    document = parse_document(text, file)
    name = QOS if QOS in document else "qos"
    top = JsonNode(file, f"/{name}", document[name])
    unmapped = UnmappedFields(device)
    reader = _Reader(top, unmapped)
    plan = Plan(device=device, platform=platform, interfaces=reader.interfaces())
    reader.unused()
    for path in leftovers(document, ""):
        unmapped.note(
            "openconfig-part-not-read",
            part=path,
        )
    if len(top.problems) == 1:
        raise top.problems[0]
    if top.problems:
        raise InputErrors(f"{len(top.problems)} problems", Place(file=file), errors=top.problems)
    return ImportedPlan(plan, unmapped.findings())


@dataclass
class _Reader:
    """The lists of a document, and which of their entries interfaces refer to."""

    qos: JsonNode
    unmapped: UnmappedFields
    queues: dict[str, QueueName] = field(init=False)
    groups: dict[str, int | None] = field(init=False)
    profiles: dict[str, Red | None] = field(init=False)
    classifiers: dict[str, OpenConfigClassifier] = field(init=False)
    policies: dict[str, Scheduler] = field(init=False)
    attached: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.queues = read_queues(self.qos, self.unmapped)
        self.groups = read_groups(self.qos, self.queues)
        self.profiles = read_profiles(self.qos, self.unmapped)
        self.classifiers = read_classifiers(self.qos)
        self.policies = read_policies(self.qos, self.queues, self.unmapped)
        for name, classifier in self.classifiers.items():
            for term in classifier.terms:
                if term.group is not None and term.group not in self.groups:
                    self.qos.wrong(
                        f"classifiers/classifier[{name}]/terms/term[{term.id}]",
                        f"there is no forwarding group {term.group!r}",
                        "define it under forwarding-groups",
                    )

    def interfaces(self) -> tuple[InterfacePlan, ...]:
        """The interfaces in the document's order, called as ``interface-ref`` calls them where it does."""
        rows = self.qos.child("interfaces").entries("interface", "interface-id")
        return tuple(self._interface(key, node) for key, node in rows)

    def _interface(self, key: str, node: JsonNode) -> InterfacePlan:
        name = node.child("interface-ref").child("config").text("interface") or key
        policy, rules, _ = self._classified(node.child("input"), default=False)
        return InterfacePlan(
            name=name,
            ingress=Ingress(policy=policy, rules=rules),
            egress=self._output(node.child("output")),
        )

    def _classified(self, side: JsonNode, *, default: bool) -> tuple[str | None, tuple[Rule, ...], int | None]:
        """Name, rules and default queue of the classifiers of one side."""
        chosen: dict[int, OpenConfigClassifier] = {}
        names = []
        for kind, row in side.child("classifiers").entries("classifier", "type"):
            version, config = VERSIONS.get(kind), row.child("config")
            if version is None:
                continue
            name = config.text("name")
            known = self.classifiers.get(name or "")
            if known is None or known.version != version:
                config.wrong("name", f"there is no {kind} classifier {name!r}", "define it under classifiers")
                continue
            self.attached.add(f"classifier {name}")
            names.append(str(name).removesuffix(f"-{kind.lower()}"))
            chosen[version] = known
        rules, queue = rules_of(chosen, self.groups, default=default)
        return (names[0] if names else None), rules, queue

    def _output(self, side: JsonNode) -> Egress:
        policy, rules, queue = self._classified(side, default=True)
        config = side.child("scheduler-policy").child("config")
        name = config.text("name")
        scheduler = None
        if name is not None:
            scheduler = self.policies.get(name)
            if scheduler is None:
                config.wrong("name", f"there is no scheduler policy {name!r} with queues", "define it")
            self.attached.add(f"scheduler policy {name}")
            policy = name
        profiles = self._managed(side)
        if scheduler is not None:
            for key in set(profiles) - {q.number for q in scheduler.queues}:
                side.wrong("queues", f"queue {key} has a drop profile and no scheduler", "schedule the queue")
            managed = tuple(q.model_copy(update={"red": profiles.get(q.number)}) for q in scheduler.queues)
            scheduler = scheduler.model_copy(update={"queues": managed})
        elif profiles:
            side.wrong("queues", "queues have drop profiles and no scheduler", "attach a scheduler policy")
        return Egress(policy=policy, rules=rules, default_queue=queue, scheduler=scheduler)

    def _managed(self, side: JsonNode) -> dict[int, Red]:
        """Drop profiles at an output by queue number."""
        found = {}
        for key, row in side.child("queues").entries("queue", "name"):
            config = row.child("config")
            name = config.text("queue-management-profile")
            if key not in self.queues:
                row.wrong("", f"there is no queue {key!r}", "define it under queues")
            elif name is not None and name not in self.profiles:
                config.wrong("queue-management-profile", f"there is no profile {name!r}", "define it")
            elif name is not None:
                self.attached.add(f"drop profile {name}")
                profile = self.profiles[name]
                if profile is not None:
                    found[self.queues[key].number] = profile
        return found

    def unused(self) -> None:
        """Note what is defined and stands at no interface."""
        defined: dict[str, Collection[str]] = {
            "classifier": self.classifiers,
            "scheduler policy": self.policies,
            "drop profile": self.profiles,
        }
        for kind, entries in defined.items():
            for name in entries:
                if f"{kind} {name}" not in self.attached:
                    self.unmapped.note(
                        "openconfig-not-attached",
                        kind=kind,
                        name=name,
                    )
