"""Packets that a queue drops before it is full: early detection, and thresholds by mark."""

from __future__ import annotations

from typing import Literal

from qosforge.plan.base import PlanModel

DropPrecedence = Literal["low", "medium", "high"]


class RedProfile(PlanModel):
    """One drop profile: thresholds in the unit of its `Red`, probability ``1/denominator`` at the upper threshold.

    ``colour`` is the drop precedence it is for, where the device tells packets by that.
    """

    dscp: tuple[int, ...] = ()
    precedence: tuple[int, ...] = ()
    colour: DropPrecedence | None = None
    minimum: int
    maximum: int
    denominator: int = 10


class Red(PlanModel):
    """Random early detection of a queue.

    ``stated`` are the marks whose curves are entered although they may be the device's own: what those are is not
    known of every release, and a device does not print them. ``even``: drops keep even distances (section 7 of
    Floyd and Jacobson, 1993). ``idle_decay``: the average falls while nothing waits.
    """

    by_dscp: bool = False
    weight_exponent: int = 9
    unit: Literal["packets", "bytes", "ms", "us", "percent"] = "packets"
    profiles: tuple[RedProfile, ...] = ()
    ecn: bool = False
    stated: tuple[int, ...] = ()
    even: bool = False
    idle_decay: bool = True


class TailThreshold(PlanModel):
    """Weighted tail drop: packets with these marks are dropped once the queue holds ``percent`` of its buffer."""

    dscp: tuple[int, ...] = ()
    cos: tuple[int, ...] = ()
    percent: int
