"""Counters of policies: ``show qos statistics``. The device counts no egress queues.

A policy counts on all ports of its group together, and every policy that matches a packet counts it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from qosforge.plan.model import Plan, Rule
from qosforge.platforms.base import QueueCount
from qosforge.platforms.nortel_5510.filters import number_filters

_ROW = re.compile(r"(?P<policy>\d+) .*?(?P<within>\d+) +(?P<beyond>\d+)")


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """One command for every policy of ours."""
    return tuple(_command(policy) for policy, _ in _policies(plan))


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """Packets per rule: those of its policies, one per term, added up.

    Raises:
        ValueError: an answer has no row for its policy.
    """
    totals: Counter[str] = Counter()
    for policy, name in _policies(plan):
        rows = [match for line in answers[_command(policy)].splitlines() if (match := _ROW.fullmatch(line.strip()))]
        counted = next((row for row in rows if int(row["policy"]) == policy), None)
        if counted is None:
            raise ValueError(f"no statistics of policy {policy}")
        totals[name] += int(counted["within"]) + int(counted["beyond"])
    return tuple(QueueCount("", "input", name, packets, overlapping=True) for name, packets in totals.items())


def _command(policy: int) -> str:
    return f"show qos statistics {policy}"


def _policies(plan: Plan) -> Iterator[tuple[int, str]]:
    """Numbers of our policies, each with the name of its rule; all host ports have the same rules.

    A policy over a block of several rules counts them together: rules that have a part in one are not told.
    """
    host: tuple[Rule, ...] = next((i.ingress.rules for i in plan.interfaces if i.ingress.rules), ())
    policies = number_filters(host).policies
    rules = {policy.number: {entry.rule for entry in policy.filters} for policy in policies}
    mixed = {name for names in rules.values() if len(names) > 1 for name in names}
    for number, names in rules.items():
        for name in names - mixed:
            yield number, name
