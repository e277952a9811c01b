"""Means over independent runs of one scenario, with what is not known about them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import qosforge_twin
from scipy import stats

from .scenarios import one_port

BIT_RATE = 1_000_000_000
CONFIDENCE = 0.95


def interval(values: Sequence[float], controls: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Mean of independent values where their controls are 0, and half the width of Student's interval about it.

    The controls' expectation is 0: regression on them takes out what they explain (Lavenberg and Welch 1981).
    """
    design = np.column_stack([np.ones(len(values)), controls])
    solution, _, _, _ = np.linalg.lstsq(design, np.asarray(values), rcond=None)
    freedom = len(values) - design.shape[1]
    variance = np.sum((np.asarray(values) - design @ solution) ** 2) / freedom
    error = np.sqrt(variance * np.linalg.inv(design.T @ design)[0, 0])
    return float(solution[0]), float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * error)


def replicate(
    port: dict[str, Any],
    flows: list[dict[str, Any]],
    packets: float,
    packet_ps: float,
    observe: Callable[[dict[str, Any]], Sequence[float]],
    *,
    runs: int = 32,
) -> list[tuple[float, float]]:
    """Interval of each value that `observe` takes from a result.

    Each of the `runs` has a seed of its own, carries about `packets`, one in `packet_ps`, and is measured after a
    twentieth of them: batch means without what one batch leaves to the next. The controls are the loads that
    the random sources happened to offer beyond what they are asked for.
    """
    duration = round(packets * packet_ps)
    scenario = one_port(port, flows, rate_bps=BIT_RATE) | {"duration_ps": duration, "warmup_ps": duration // 20}
    texts = qosforge_twin.run_many([json.dumps(scenario)] * runs, list(range(runs)))
    results = [json.loads(text) for text in texts]
    asked = [flow["source"]["rate_bps"] for flow in flows]
    controls = [
        [flow["offered_by_layer_bps"]["ip"] / rate - 1 for flow, rate in zip(result["flows"], asked, strict=True)]
        for result in results
    ]
    return [interval(values, controls) for values in zip(*map(observe, results), strict=True)]
