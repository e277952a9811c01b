"""Rules of the twin's scenario that choose the egress queue of a packet."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from qosforge.plan.model import Egress, Plan, Rule, Scheduler
from qosforge.tester.scenario.rules import output_marks, over, twin_match, twin_policer
from qosforge.tester.scenario.schedulers import leaf_queues
from qosforge.twin.filters import MarkSpec, MatchSpec
from qosforge.twin.scenario import EgressOtherwise, EgressRule

_UNMARKED = MarkSpec()


def queue_rules(plan: Plan, egress: Egress, scheduler: Scheduler) -> tuple[list[EgressRule], EgressOtherwise]:
    """Rules in order and what holds otherwise: by the egress policy, a choice made on input, or the device's maps.

    Queues are numbered in the order of `leaf_paths`.
    """
    system = plan.system
    if egress.rules or any(queue.child for queue in scheduler.queues):
        rules, default = _policy(egress, scheduler, 0)
        return rules, EgressOtherwise(queue=default)
    positions = {queue.number: position for position, queue in enumerate(scheduler.queues)}
    default = positions.get(egress.default_queue, 0) if egress.default_queue is not None else 0
    rules = []
    if system.queue_on_input:
        rules = [EgressRule(match=MatchSpec(group=(n,)), queue=position) for n, position in positions.items()]
    elif system.dscp_to_queue:
        rules = _by_map(lambda values: MatchSpec(dscp=values), system.dscp_to_queue, positions)
    elif system.cos_to_queue:
        rules = _by_map(lambda values: MatchSpec(cos=values), system.cos_to_queue, positions)
    return rules, EgressOtherwise(queue=default)


def _policy(egress: Egress, scheduler: Scheduler, first: int) -> tuple[list[EgressRule], int]:
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
    rules: list[EgressRule] = []
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


def _rule_into(rule: Rule, queue: int) -> EgressRule:
    marks = output_marks(rule)
    return EgressRule(
        match=twin_match(rule),
        queue=queue,
        set=None if marks == _UNMARKED else marks,
        police=None if rule.police is None else twin_policer(rule.police),
    )


def _both(rule: Rule, within: EgressRule) -> EgressRule:
    """A rule of a class's own policy: it holds for packets of the class, with whose marks it begins."""
    match = MatchSpec(any=(twin_match(rule),), not_=MatchSpec(not_=within.match))
    marks = over(output_marks(rule), within.set or _UNMARKED)
    return replace(within, match=match, set=None if marks == _UNMARKED else marks)


def _by_map(
    match: Callable[[tuple[int, ...]], MatchSpec], table: tuple[int, ...], positions: dict[int, int]
) -> list[EgressRule]:
    by_queue: dict[int, list[int]] = {}
    for value, queue in enumerate(table):
        by_queue.setdefault(queue, []).append(value)
    return [
        EgressRule(match=match(tuple(values)), queue=positions[queue])
        for queue, values in sorted(by_queue.items())
        if queue in positions
    ]
