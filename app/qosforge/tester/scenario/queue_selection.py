"""Rules of the twin's scenario that choose the egress queue of a packet."""

from __future__ import annotations

from typing import Any

from qosforge.plan.model import Egress, Plan, Rule, Scheduler
from qosforge.tester.scenario.rules import output_marks, twin_match, twin_policer
from qosforge.tester.scenario.schedulers import leaf_queues

Json = dict[str, Any]


def queue_rules(plan: Plan, egress: Egress, scheduler: Scheduler) -> tuple[list[Json], Json]:
    """Rules in order and what holds otherwise: by the egress policy, a choice made on input, or the device's maps.

    Queues are numbered in the order of `leaf_paths`.
    """
    system = plan.system
    if egress.rules or any(queue.child for queue in scheduler.queues):
        rules, default = _policy(egress, scheduler, 0)
        return rules, {"queue": default}
    positions = {queue.number: position for position, queue in enumerate(scheduler.queues)}
    default = positions.get(egress.default_queue, 0) if egress.default_queue is not None else 0
    rules = []
    if system.queue_on_input:
        rules = [{"match": {"group": [n]}, "queue": position} for n, position in positions.items()]
    elif system.dscp_to_queue:
        rules = _by_map("dscp", system.dscp_to_queue, positions)
    elif system.cos_to_queue:
        rules = _by_map("cos", system.cos_to_queue, positions)
    return rules, {"queue": default}


def _policy(egress: Egress, scheduler: Scheduler, first: int) -> tuple[list[Json], int]:
    """Rules of a policy whose first innermost queue is ``first``, and the queue of what none of them takes."""
    firsts: dict[int, int] = {}
    for queue in scheduler.queues:
        firsts[queue.number] = first
        child = queue.child.scheduler if queue.child else None
        first += len(leaf_queues(child)) if child and child.queues else 1
    children = {
        queue.number: _policy(queue.child, queue.child.scheduler, firsts[queue.number])
        for queue in scheduler.queues
        if queue.child and queue.child.scheduler and queue.child.scheduler.queues
    }
    rules: list[Json] = []
    for rule in egress.rules:
        if rule.queue is None or not rule.any_of:
            continue
        inside, rest = children.get(rule.queue, ([], firsts[rule.queue]))
        rules += [_both(rule, within) for within in inside]
        rules.append(_rule_into(rule, rest))
    usual = egress.default_queue if egress.default_queue in firsts else next(iter(firsts), None)
    if usual is None:
        return rules, 0
    inside, rest = children.get(usual, ([], firsts[usual]))
    return [*rules, *inside], rest


def _rule_into(rule: Rule, queue: int) -> Json:
    chosen: Json = {"match": twin_match(rule), "queue": queue}
    if marks := output_marks(rule):
        chosen["set"] = marks
    return chosen if rule.police is None else chosen | {"police": twin_policer(rule.police)}


def _both(rule: Rule, within: Json) -> Json:
    """A rule of a class's own policy: it holds for packets of the class, with whose marks it begins."""
    chosen = within | {"match": {"any": [twin_match(rule)], "not": {"not": within["match"]}}}
    marks = output_marks(rule) | within.get("set", {})
    return chosen | {"set": marks} if marks else chosen


def _by_map(field: str, table: tuple[int, ...], positions: dict[int, int]) -> list[Json]:
    by_queue: dict[int, list[int]] = {}
    for value, queue in enumerate(table):
        by_queue.setdefault(queue, []).append(value)
    return [
        {"match": {field: values}, "queue": positions[queue]}
        for queue, values in sorted(by_queue.items())
        if queue in positions
    ]
