"""Distribution functions of delay beside their tails, with the objective drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qosforge.deltaq.distribution import MASS_TOLERANCE, DeltaQ
from qosforge.deltaq.objective import DEFAULT_CONFIDENCE, Objective, quantile_of
from qosforge.plots.curve import LEAST_MS, PS_PER_MS, Curve, names, percent
from qosforge.plots.element import embeddable
from qosforge.plots.hover_data import hover_data
from qosforge.plots.panel import CdfPanel, Edges


@dataclass(frozen=True, slots=True)
class CdfPlot:
    """Two ``<svg>`` elements, what arrived and what is late or lost, and as JSON what a script reads off them."""

    svgs: tuple[str, str]
    hover_data: str


def delta_q_cdf(
    curves: Sequence[Curve],
    objective: Objective | None = None,
    *,
    title: str,
    confidence: float = DEFAULT_CONFIDENCE,
) -> CdfPlot:
    """Draw distribution functions of delay and their tails, with the objective drawn in.

    First the part of packets that arrives within a delay; a curve that stops below 1 has lost the rest. Then the
    part that is later or lost, on a logarithmic scale, where the bounds of an objective stand apart. No curve
    may enter the hatched regions. A diamond marks the bound on variation, counted from the smallest delay of
    the last curve. Bands are pointwise at ``confidence``.

    Raises ``ValueError`` without curves.
    """
    if not curves:
        raise ValueError("a plot needs at least one curve")
    edges = _edges(curves, objective)
    body, tail = (CdfPanel(curves, objective, edges, late) for late in (False, True))
    return CdfPlot(
        (
            embeddable(body.draw(confidence), f"{title}: arrived in time", _figures(curves, objective)),
            embeddable(tail.draw(confidence), f"{title}: late or lost", _against(curves, objective)),
        ),
        hover_data(curves, (body.hover_axes, tail.hover_axes)),
    )


def _edges(curves: Sequence[Curve], objective: Objective | None) -> Edges:
    """All that is drawn, with a margin; below, the decade of the smallest share that can show."""
    ends = [
        float(delays[end]) / PS_PER_MS
        for curve in curves
        if (delays := curve.distribution.delays_ps).size
        for end in (0, -1)
    ]
    shares = [_least_share(curve.distribution) for curve in curves]
    if objective is not None:
        ends += [seconds * 1e3 for seconds in objective.delay.values()]
        ends += [objective.variation * 1e3] if objective.variation is not None else []
        shares += [1 - quantile_of(label) for label in objective.delay]
        shares += [objective.loss] if objective.loss is not None else []
        shares += [1 - objective.variation_quantile] if objective.variation is not None else []
    ends = [max(end, LEAST_MS) for end in ends] or [1.0]
    floor = float(10 ** np.floor(np.log10(max(1e-6, min([*shares, 0.1]) * 0.9))))
    return Edges(min(ends) / 1.4, max(ends) * 1.8, floor)


def _least_share(distribution: DeltaQ) -> float:
    """Where a tail ends: what was lost, else the last step before nothing is left."""
    return distribution.loss if distribution.loss > MASS_TOLERANCE else float(distribution.masses[-1])


def _figures(curves: Sequence[Curve], objective: Objective | None) -> str:
    """Say in words what the curves show, and what was asked of them."""
    parts = []
    for curve in curves:
        figures = []
        for label in ("p50", "p95", "p99"):
            delay = curve.distribution.quantile_ps(quantile_of(label))
            figures.append(f"{label} never" if np.isinf(delay) else f"{label} {_ms(delay / PS_PER_MS)} ms")
        parts.append(f"{curve.label} {curve.when}: {', '.join(figures)}, loss {curve.distribution.loss:.2%}.")
    if objective is not None:
        bounds = [f"{label} at most {seconds * 1e3:g} ms" for label, seconds in objective.delay.items()]
        bounds += [f"mean at most {objective.mean * 1e3:g} ms"] if objective.mean else []
        bounds += [f"jitter at most {objective.variation * 1e3:g} ms"] if objective.variation else []
        bounds += [f"loss at most {objective.loss * 100:.3g} %"] if objective.loss else []
        parts.append(f"Asked: {', '.join(bounds)}.")
    return " ".join(parts)


def _ms(delay: float) -> str:
    return f"{delay:.3g}" if delay < 999.5 else f"{delay:,.0f}"


def _against(curves: Sequence[Curve], objective: Objective | None) -> str:
    """Say in words which part of each curve lies beyond the bounds that its tail is drawn with."""
    beyond = [
        (f"later than {seconds * 1e3:g} ms or lost", seconds * 1e3, 1 - quantile_of(label))
        for label, seconds in (objective.delay if objective else {}).items()
    ]
    if objective is not None and objective.loss is not None:
        beyond.append(("lost", float("inf"), objective.loss))
    parts = [
        f"{what}, at most {percent(most)} % asked: "
        + ", ".join(
            f"{name} {percent(1 - curve.distribution.cdf(delay * PS_PER_MS))} %"
            for name, curve in zip(names(curves), curves, strict=True)
        )
        + "."
        for what, delay, most in beyond
    ]
    return " ".join(part[0].upper() + part[1:] for part in parts) or "The same curves from the other side."
