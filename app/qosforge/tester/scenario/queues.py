"""Queues of the twin's scenario, from a plan: limits, thresholds, drop profiles, policers."""

from __future__ import annotations

from qosforge.plan.early_drop import Red, RedProfile, TailThreshold
from qosforge.plan.model import Queue
from qosforge.tester.scenario.rules import COLOURS, twin_policer
from qosforge.twin.filters import Colour, MatchSpec
from qosforge.twin.scenario import FlowOrderSpec, QueueSpec, RedProfileSpec, RedSpec, RedUnit, ThresholdSpec

DEFAULT_LIMIT = 64
"""Packets of a queue whose length no plan states."""
PORT_BUFFERS = 8 * DEFAULT_LIMIT
"""Packets that a port is taken to hold where queues have parts of its buffers: eight queues of the usual length."""
_PS_PER_MS = 10**9
_PS = {"ms": _PS_PER_MS, "us": 10**6}
_RED_UNITS: dict[str, RedUnit] = {"packets": "packets", "bytes": "bytes", "percent": "percent"}
"""Units that the twin has, too; all others are times."""


def twin_queue(queue: Queue, name: str, drain_bps: int = 0, conversations: int | None = None) -> QueueSpec:
    """One queue; ``drain_bps`` is its share of the rate, which times are taken of (0: the line's).

    ``conversations`` are what a queue that is fair among flows tells apart; the twin's usual number unless given.
    """
    limit = queue.limit_packets
    if limit is None and queue.limit_ms is None:
        limit = _usual_limit(queue)
    timed = queue.limit_ms is not None or (queue.red is not None and queue.red.unit in _PS)
    fair = None
    if queue.fair:
        told = queue.flows or conversations
        fair = FlowOrderSpec() if told is None else FlowOrderSpec(dynamic_queues=told)
    return QueueSpec(
        name=name,
        limit_packets=limit,
        limit_bytes=queue.limit_bytes,
        limit_ps=None if queue.limit_ms is None else queue.limit_ms * _PS_PER_MS,
        drain_bps=drain_bps if timed and drain_bps else None,
        red=None if queue.red is None else _red(queue.red),
        thresholds=tuple(each for t in queue.thresholds if (each := _threshold(queue, t)) is not None),
        police=None if queue.police is None else twin_policer(queue.police),
        fair_queue=fair,
    )


def _usual_limit(queue: Queue) -> int:
    """Packets of a queue that states no length: its part of the port's buffers, where it has one."""
    return DEFAULT_LIMIT if queue.buffer_percent is None else max(1, queue.buffer_percent * PORT_BUFFERS // 100)


def _threshold(queue: Queue, threshold: TailThreshold) -> ThresholdSpec | None:
    """Weighted tail drop; none where nothing is dropped before the queue is full."""
    marks = (
        *([MatchSpec(dscp=threshold.dscp)] if threshold.dscp else ()),
        *([MatchSpec(cos=threshold.cos)] if threshold.cos else ()),
    )
    if not marks or threshold.percent >= 100:
        return None
    packets, in_bytes = None, None
    if queue.limit_packets is not None or queue.limit_bytes is None:
        # A queue always holds one.
        packets = max(1, (queue.limit_packets or _usual_limit(queue)) * threshold.percent // 100)
    if queue.limit_bytes is not None:
        in_bytes = queue.limit_bytes * threshold.percent // 100
    return ThresholdSpec(match=MatchSpec(any=marks), packets=packets, bytes=in_bytes)


def _red(red: Red) -> RedSpec:
    profiles: list[RedProfileSpec] = []
    default = None
    for profile in red.profiles:
        if profile.dscp:
            profiles.append(_profile(red, profile, match_dscp=profile.dscp))
        elif profile.precedence:
            profiles.append(_profile(red, profile, precedence=profile.precedence))
        elif profile.colour is not None:
            profiles.append(_profile(red, profile, colour=(COLOURS[profile.colour],)))
        elif default is None:
            default = _profile(red, profile)
    return RedSpec(
        weight_exponent=red.weight_exponent,
        unit=_RED_UNITS.get(red.unit, "ps"),
        ecn=red.ecn,
        spacing="uniform" if red.even else "independent",
        idle_decay=red.idle_decay,
        profiles=tuple(profiles),
        default=default,
    )


def _profile(
    red: Red,
    profile: RedProfile,
    *,
    match_dscp: tuple[int, ...] | None = None,
    precedence: tuple[int, ...] | None = None,
    colour: tuple[Colour, ...] | None = None,
) -> RedProfileSpec:
    factor = _PS.get(red.unit, 1)
    return RedProfileSpec(
        match_dscp=match_dscp,
        precedence=precedence,
        colour=colour,
        min=profile.minimum * factor,
        # A profile that drops everything has 0 as its maximum; the least the twin takes is one.
        max=max(1, profile.maximum * factor),
        mark_denominator=profile.denominator,
    )
