"""What a script reads off a drawn ΔQ plot: where its axes stand, and the steps of its curves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from qosforge.plots.curve import Curve, names, steps


@dataclass(frozen=True, slots=True)
class Sight:
    """The axes of one picture in its own coordinates: ``x`` and ``y`` of the ends that ``delay_ms`` and ``share``
    name. Delay is logarithmic; ``late`` says that shares are too, and of what is later or lost.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    delay_ms: tuple[float, float]
    share: tuple[float, float]
    late: bool


def readings(curves: Sequence[Curve], sights: Sequence[Sight]) -> str:
    """As JSON: the axes of every picture in order, and of every curve its name, delays in ms and shares arrived."""
    told = []
    for name, curve in zip(names(curves), curves, strict=True):
        delays, shares = steps(curve.distribution)
        told.append(
            {
                "name": name,
                "delays": [float(f"{delay:.5g}") for delay in delays],
                "shares": [round(float(share), 6) for share in shares],
            }
        )
    axes = [
        {"x": sight.x, "y": sight.y, "delay": sight.delay_ms, "share": sight.share, "late": sight.late}
        for sight in sights
    ]
    return json.dumps({"panels": axes, "curves": told}, separators=(",", ":"))
