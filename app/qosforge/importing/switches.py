"""Observe switches: outputs have queues instead of classes, chosen by marks or input rules through maps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from qosforge.importing.observed import (
    NoteUnmappedAt,
    ObservedSide,
    has_input_config,
    join_ports,
    policy_name,
    rule_classes,
    trust_word,
    unqueued,
)
from qosforge.importing.to_intent import IntentData, NoteUnmapped, code_point, rate, red_of
from qosforge.intent.models import RESERVED_CLASS
from qosforge.plan.model import Discipline, InterfacePlan, Plan, Queue, Rule, Scheduler, System, Term, Trust
from qosforge.plan.request import Feature
from qosforge.platforms.base import platform
from qosforge.platforms.names import ONE_MARK_EACH, ONE_MATCH_EACH

_CONTROL = {"dscp": frozenset(range(48, 64)), "cos": frozenset({6, 7})}
"""Marks of network control, which devices serve without being asked."""


Reading = tuple[Literal["dscp", "cos", "both"], bool]
"""By which marks the queues of a device without rules are told, and whether those of network control count; by
``both`` a class is a CoS with the DSCPs that the maps give it."""
READINGS: tuple[Reading, ...] = (
    ("dscp", False), ("cos", False), ("cos", True), ("dscp", True), ("both", False), ("both", True),
)  # fmt: skip


_SELECTED = 8
"""The DSCPs whose upper three bits are a CoS."""
_MOST_WEIGHT = 1000
"""The largest weight of the language."""


@dataclass(frozen=True)
class _Served:
    """A class with the queue that its packets take; none where no map or rule tells."""

    words: IntentData
    queue: int | None


def is_switch(plan: Plan) -> bool:
    """Whether queues are chosen through the maps of a whole device, or on input."""
    system = plan.system
    return bool(system.cos_to_queue or system.dscp_to_queue or system.queue_on_input)


def list_readings(plan: Plan) -> tuple[Reading, ...]:
    """The ways to read a switch; one where the rules of its inputs tell the classes."""
    return READINGS[:1] if _rules(plan) else READINGS


def switch_sides(
    plan: Plan, changed: Sequence[str], usual: Mapping[str, InterfacePlan], reading: Reading, note: NoteUnmappedAt
) -> Iterator[ObservedSide]:
    """The configured sides of a switch. ``changed`` are fields of the system that are not as delivered, ``usual``
    the interfaces as a device has them where nobody asks for anything."""
    inputs = [side for entry in plan.interfaces if (side := _input(plan, entry, note)) is not None]
    rules = _rules(plan)
    words = tuple(rule_classes(rules, lambda _: lambda _: None))  # the inputs tell what has no word
    outputs = []
    shapes = Feature.SHAPE_PORT in platform(plan.platform).features
    for entry in plan.interfaces:
        scheduler = entry.egress.scheduler or plan.system.scheduler
        shape = _port_rate(entry, scheduler) if scheduler is not None else None
        shaped = shapes and shape is not None
        if scheduler is None or not (shaped or _scheduled(plan, entry, changed, usual.get(entry.name), inputs)):
            for what in _port_limits(entry):
                note(plan.device, entry.name, "output", None, what)
            continue
        seen = [*_marked(plan.system, rules, words)] or [*_by_maps(plan.system, reading)]
        classes = _classes(plan, seen, scheduler, entry)
        outputs.append(
            ObservedSide(
                plan.device,
                (entry.name,),
                "output",
                classes,
                policy_name(entry.egress.policy),
                shape=shape if shapes else None,
            )
        )
    yield from join_ports([*inputs, *outputs])


def _input(plan: Plan, entry: InterfacePlan, note: NoteUnmappedAt) -> ObservedSide | None:
    ingress = entry.ingress
    grouped = ingress.policy is not None and not ingress.rules and ingress.trust is Trust.KEEP
    if not (has_input_config(ingress) or grouped):
        return None

    def about(name: str | None) -> NoteUnmapped:
        return lambda what: note(plan.device, entry.name, "input", name, what)

    # Where other inputs mark, one that only chooses queues by marks trusts them.
    rules = (
        join_rules(ingress.rules)
        if _marks(ingress.rules) or not any(_marks(i.ingress.rules) for i in plan.interfaces)
        else ()
    )
    classes = tuple(s.words for s in _marked(plan.system, rules, tuple(rule_classes(rules, about))))
    trust = "cos" if grouped else trust_word(ingress.trust)
    return ObservedSide(
        plan.device,
        (entry.name,),
        "input",
        classes,
        policy_name(ingress.policy) if classes else None,
        None if classes else trust,
        boundary=bool(classes),
    )


def join_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules with the class-maps of one class together: they follow each other and do the same.

    Those that keep each the one DSCP that they look at are of a class without a mark.
    """
    found: list[Rule] = []
    alike = Counter(name for name, _ in {(_keeping(rule), rule.set_cos) for rule in rules})
    for rule in rules:
        part = ONE_MATCH_EACH.fullmatch(rule.name)
        whole = rule if part is None or rule.none_of else rule.model_copy(update={"name": part[1]})
        if (
            part is not None
            and part[2] == f"D{rule.set_dscp}"
            and rule.any_of == (Term(dscp=(rule.set_dscp or 0,)),)
        ):
            whole = whole.model_copy(update={"set_dscp": None, "set_cos": None})
        if (name := _keeping(rule)) is not None:
            called = name if alike[name] == 1 else f"{name}-c{rule.set_cos}"
            whole = rule.model_copy(update={"name": called, "set_dscp": None})
        if found and found[-1].model_copy(update={"any_of": ()}) == whole.model_copy(update={"any_of": ()}):
            both = found[-1].model_copy(update={"any_of": (*found[-1].any_of, *whole.any_of)})
            found[-1] = both
        else:
            found.append(whole)
    return tuple(found)


def _keeping(rule: Rule) -> str | None:
    """The name of the class of a rule that keeps the one DSCP that it looks at; None where it is another one."""
    name = ONE_MARK_EACH.fullmatch(rule.name)
    keeps = rule.set_dscp is not None and rule.any_of == (Term(dscp=(rule.set_dscp,)),) and not rule.none_of
    return name[1] if name is not None and keeps and rule.set_cos is not None else None


def _marks(rules: Sequence[Rule]) -> bool:
    """Whether any rule does more than choose a queue."""
    return any(r.set_dscp is not None or r.set_cos is not None or r.police is not None for r in rules)


def _rules(plan: Plan) -> tuple[Rule, ...]:
    """The rules of the inputs that mark, of all inputs where none does; of several of one name the first."""
    sides = [entry.ingress.rules for entry in plan.interfaces if entry.ingress.rules]
    marking = [rules for rules in sides if _marks(rules)]
    found: dict[str, Rule] = {}
    for rules in marking or sides:
        for rule in join_rules(rules):
            found.setdefault(rule.name, rule)
    return tuple(found.values())


def _marked(system: System, rules: Sequence[Rule], classes: Sequence[IntentData]) -> Iterator[_Served]:
    """The classes of rules with the CoS that follows from their DSCP, and the queue they take."""
    for rule, said in zip(rules, classes, strict=True):
        words, cos = said, rule.set_cos
        if cos is None and rule.set_dscp is not None and system.dscp_to_cos is not None:
            cos = system.dscp_to_cos[rule.set_dscp]
        if words["name"] == RESERVED_CLASS and not rule.set_dscp:
            words = {key: value for key, value in said.items() if key != "mark"}
        elif "mark" in words and cos is not None:
            words = {**said, "mark": {**said["mark"], "cos": cos}}
        yield _Served(words, _queue_of(system, rule, cos))


def _queue_of(system: System, rule: Rule, cos: int | None) -> int | None:
    if rule.queue is not None:
        return rule.queue
    dscp = rule.set_dscp
    if dscp is None:
        dscp = next((d for term in rule.any_of for d in term.dscp), None)
    if system.dscp_to_queue is not None and dscp is not None:
        return system.dscp_to_queue[dscp]
    if cos is None and dscp is not None:
        cos = system.dscp_to_cos[dscp] if system.dscp_to_cos else dscp >> 3
    if system.cos_to_queue is not None and cos is not None:
        return system.cos_to_queue[cos]
    return None


def _scheduled(
    plan: Plan,
    entry: InterfacePlan,
    changed: Sequence[str],
    usual: InterfacePlan | None,
    inputs: Sequence[ObservedSide],
) -> bool:
    """Whether an output is served otherwise than as delivered; a scheduler of the device is where inputs are."""
    if entry.egress.policy is not None:
        return True
    own = entry.egress.scheduler
    if own is not None:
        plain = own.discipline in (Discipline.FIFO, Discipline.FLOW_WFQ)
        return not plain and (usual is None or entry.egress != usual.egress)
    if not {"scheduler", "cos_to_queue", "dscp_to_queue", "queue_set"} & set(changed):
        return False
    named = {port for side in inputs for port in side.ports}
    return entry.name in named if named else usual is not None


def _classes(
    plan: Plan, served: Sequence[_Served], scheduler: Scheduler, entry: InterfacePlan
) -> tuple[IntentData, ...]:
    """The classes that a port serves, ``default`` last."""
    named = [s for s in served if s.words["name"] != RESERVED_CLASS]
    rest = next((s for s in served if s.words["name"] == RESERVED_CLASS), None)
    if rest is None or rest.queue is None:
        rest = _Served(rest.words if rest else {"name": RESERVED_CLASS}, _rest(plan.system))
    queues = {queue.number: queue for queue in scheduler.queues}
    together = Counter(s.queue for s in (*named, rest))
    common = math.lcm(*(count for queue, count in together.items() if queue in queues))
    strict = scheduler.discipline is Discipline.STRICT
    rows = [(s, queues.get(s.queue or 0) if s.queue is not None else None) for s in (*named, rest)]
    weights = {
        s.words["name"]: queue.share.value * common // together[s.queue]
        for s, queue in rows
        if queue is not None and queue.share is not None and not queue.priority
    }
    weighs = Feature.WEIGHT in platform(plan.platform).features
    whole = sum(weights.values())
    divisor = math.gcd(*weights.values()) or 1
    largest = max(max(weights.values(), default=0) // divisor, _MOST_WEIGHT)
    classes = []
    for s, queue in rows:
        name = s.words["name"]
        treatment: IntentData = {}
        if queue is not None and (queue.priority or strict):
            treatment = {} if name == RESERVED_CLASS else {"priority": True}
        elif name in weights:
            share = max(1, weights[name] // divisor * _MOST_WEIGHT // largest)
            treatment = {
                "bandwidth": {"weight": share}
                if weighs
                else {"remaining_percent": max(1, round(100 * weights[name] / whole))}
            }
        if queue is not None:
            treatment |= _more(queue, entry)
        words = {key: value for key, value in s.words.items() if key != "treatment"}
        classes.append({**words, "treatment": treatment} if treatment else words)
    return tuple(classes)


def _more(queue: Queue, entry: InterfacePlan) -> IntentData:
    words: IntentData = {}
    plain = unqueued(queue)
    if plain.red is not None:
        words["wred"] = red_of(plain.red) or True
    if plain.shape_weight and entry.bandwidth_kbps:
        words["shape"] = {"rate": rate(entry.bandwidth_kbps * 1000 // plain.shape_weight)}
    return words


def _rest(system: System) -> int | None:
    """The queue of unmarked packets."""
    if system.dscp_to_queue is not None:
        return system.dscp_to_queue[0]
    return system.cos_to_queue[0] if system.cos_to_queue is not None else None


def _by_maps(system: System, reading: Reading) -> Iterator[_Served]:
    """Classes of a device that only trusts marks: one for each queue, of the marks that take it; the first serves
    the highest marks.
    """
    kind, control = reading
    if kind == "both":
        yield from _by_cos(system, control=control)
        return
    table = (_dscp_to_queue(system) if kind == "dscp" else system.cos_to_queue) or ()
    rest = _rest(system)
    by_queue: dict[int, list[int]] = {}
    for mark in reversed(range(len(table))):
        if table[mark] != rest and (control or mark not in _CONTROL[kind]):
            by_queue.setdefault(table[mark], []).append(mark)
    for queue, marks in by_queue.items():
        values = [code_point(d) for d in sorted(marks)] if kind == "dscp" else sorted(marks)
        words: IntentData = {"name": f"queue-{queue}", "match": {"any": [{kind: values}]}}
        if kind == "dscp" and system.dscp_to_queue is None and system.dscp_to_cos is not None:
            # The device takes the queue by the CoS that it gives to the DSCP.
            given = {system.dscp_to_cos[dscp] for dscp in marks}
            words |= {"mark": {"cos": given.pop()}} if len(given) == 1 else {}
        yield _Served(words, queue)


def _dscp_to_queue(system: System) -> tuple[int, ...] | None:
    """The queue of each DSCP, where the device has no such map of itself through the CoS that it gives it."""
    if system.dscp_to_queue is not None or system.dscp_to_cos is None or system.cos_to_queue is None:
        return system.dscp_to_queue
    return tuple(system.cos_to_queue[cos] for cos in system.dscp_to_cos)


def _by_cos(system: System, *, control: bool) -> Iterator[_Served]:
    """A class for each CoS that has a queue or DSCPs of its own."""
    to_dscp, to_cos, to_queue = system.cos_to_dscp, system.dscp_to_cos, system.cos_to_queue
    if to_dscp is None or to_cos is None or to_queue is None:
        return
    for cos in reversed(range(1, len(to_queue))):
        own = [dscp for dscp, other in enumerate(to_cos) if other == cos and dscp >> 3 != cos]
        given = to_dscp[cos] != cos << 3
        if (own or given or to_queue[cos] != to_queue[0]) and (control or cos not in _CONTROL["cos"]):
            selected = [dscp for dscp in range(cos << 3, (cos << 3) + 8) if to_cos[dscp] == cos]
            # Where not all that the CoS stands for have it, those that do are the class's.
            dscps = sorted({*own, to_dscp[cos], *(selected if len(selected) < _SELECTED else ())})
            words: IntentData = {"name": f"cos-{cos}", "match": {"any": [{"dscp": [code_point(d) for d in dscps]}]}}
            yield _Served({**words, "mark": {"dscp": code_point(to_dscp[cos]), "cos": cos}}, to_queue[cos])


def _port_rate(entry: InterfacePlan, scheduler: Scheduler) -> int | None:
    """What a port sends at most, in bits per second, where the device limits it."""
    if entry.egress.shape_rate is not None:
        return entry.egress.shape_rate
    if scheduler.limit_percent is None or entry.bandwidth_kbps is None:
        return None
    return entry.bandwidth_kbps * 10 * scheduler.limit_percent


def _port_limits(entry: InterfacePlan) -> Iterator[str]:
    """What limits a port's output as a whole, in words."""
    if entry.egress.policers:
        yield "a meter of the whole port"
    if entry.egress.shape_rate is not None:
        yield "a shaper of the whole port"


def with_rates(plan: Plan, rates: Mapping[str, int]) -> Plan:
    """A plan whose interfaces have the rates (bits per second) of the inventory where the device states none."""
    return plan.model_copy(
        update={
            "interfaces": tuple(
                entry
                if entry.bandwidth_kbps is not None or entry.name not in rates
                else entry.model_copy(update={"bandwidth_kbps": rates[entry.name] // 1000})
                for entry in plan.interfaces
            )
        }
    )
