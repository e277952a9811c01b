"""Queues of the twin's scenario, from a plan: limits, thresholds, drop profiles, policers."""

from __future__ import annotations

from typing import Any

from qosforge.plan.model import Queue, Red, RedProfile, TailThreshold
from qosforge.tester.scenario.rules import COLOURS, twin_policer

Json = dict[str, Any]

DEFAULT_LIMIT = 64
"""Packets of a queue whose length no plan states."""
_PS_PER_MS = 10**9


def twin_queue(queue: Queue, name: str, drain_bps: int = 0, conversations: int | None = None) -> Json:
    """One queue; ``drain_bps`` is its share of the rate, which times are taken of (0: the line's).

    ``conversations`` are what a queue that is fair among flows tells apart; the twin's usual number unless given.
    """
    limit = queue.limit_packets
    if limit is None and queue.limit_ms is None:
        limit = DEFAULT_LIMIT
    result: Json = {"name": name, "limit_packets": limit, "limit_bytes": queue.limit_bytes}
    if queue.limit_ms is not None:
        result["limit_ps"] = queue.limit_ms * _PS_PER_MS
    timed = queue.limit_ms is not None or (queue.red is not None and queue.red.unit == "ms")
    if timed and drain_bps:
        result["drain_bps"] = drain_bps
    if queue.red is not None:
        result["red"] = _red(queue.red)
    if thresholds := [each for t in queue.thresholds if (each := _threshold(queue, t)) is not None]:
        result["thresholds"] = thresholds
    if queue.police is not None:
        result["police"] = twin_policer(queue.police)
    if queue.fair:
        result["fair_queue"] = {} if conversations is None else {"dynamic_queues": conversations}
    return result


def _threshold(queue: Queue, threshold: TailThreshold) -> Json | None:
    """Weighted tail drop; none where nothing is dropped before the queue is full."""
    marks = [{field: list(values)} for field in ("dscp", "cos") if (values := getattr(threshold, field))]
    if not marks or threshold.percent >= 100:
        return None
    depth: Json = {}
    if queue.limit_packets is not None or queue.limit_bytes is None:
        # A queue always holds one.
        depth["packets"] = max(1, (queue.limit_packets or DEFAULT_LIMIT) * threshold.percent // 100)
    if queue.limit_bytes is not None:
        depth["bytes"] = queue.limit_bytes * threshold.percent // 100
    return {"match": {"any": marks}, **depth}


def _red(red: Red) -> Json:
    unit, factor = ("ps", _PS_PER_MS) if red.unit == "ms" else (red.unit, 1)

    def thresholds(profile: RedProfile) -> Json:
        # A profile that drops everything has 0 as its maximum; the least the twin takes is one.
        low, high = profile.minimum * factor, max(1, profile.maximum * factor)
        return {"min": low, "max": high, "mark_denominator": profile.denominator}

    result: Json = {"weight_exponent": red.weight_exponent, "unit": unit, "ecn": red.ecn, "profiles": []}
    for profile in red.profiles:
        wanted: Json = {}
        if profile.dscp:
            wanted["match_dscp"] = list(profile.dscp)
        elif profile.precedence:
            wanted["precedence"] = list(profile.precedence)
        elif profile.colour is not None:
            wanted["colour"] = [COLOURS[profile.colour]]
        if wanted:
            result["profiles"].append(wanted | thresholds(profile))
        else:
            result.setdefault("default", thresholds(profile))
    return result
