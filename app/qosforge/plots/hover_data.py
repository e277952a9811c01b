"""Hover data of a ΔQ plot: the axes and the curves that a page's script shows under the pointer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from qosforge.plots.curve import Curve, names, steps


@dataclass(frozen=True, slots=True)
class HoverAxes:
    """The axes of one picture in its own coordinates: ``x`` and ``y`` of the ends that ``delay_ms`` and ``share``
    name. Delay is logarithmic; ``late`` says that shares are too, and of what is later or lost.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    delay_ms: tuple[float, float]
    share: tuple[float, float]
    late: bool


def hover_data(curves: Sequence[Curve], panels: Sequence[HoverAxes]) -> str:
    """As JSON: the axes of every picture in order, and of every curve its name, delays in ms and shares arrived."""
    curve_data = []
    for name, curve in zip(names(curves), curves, strict=True):
        delays, shares = steps(curve.distribution)
        curve_data.append(
            {
                "name": name,
                "delays": [float(f"{delay:.5g}") for delay in delays],
                "shares": [round(float(share), 6) for share in shares],
            }
        )
    axes = [{"x": one.x, "y": one.y, "delay": one.delay_ms, "share": one.share, "late": one.late} for one in panels]
    return json.dumps({"panels": axes, "curves": curve_data}, separators=(",", ":"))
