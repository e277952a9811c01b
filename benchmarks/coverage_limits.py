"""Limits of quantiles, means, variation and loss: of single realisations, and of replications that begin empty."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_report import HARD, INDEPENDENT, LOSS, MEANS, QUEUES, Promise, Row
from benchmarks.coverage_trials import run_trials
from benchmarks.known_truth import (
    PS,
    QUANTILES,
    Draw,
    bimodal,
    deterministic,
    exact,
    exponential,
    lognormal,
    on_off,
    pareto,
    poisson,
    steps,
    warm,
    waves,
)
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from qosforge.deltaq.warm_up import START_DOMINATES, start_effect
from qosforge.tester.replications import MAX_START_EFFECT


def limits(pool: ProcessPoolExecutor, trials: int) -> Iterator[Row]:
    """Limits of quantiles, means and variation; of variation where the least delay is known."""
    draws: list[tuple[Promise, str, Draw, float | None]] = [
        (INDEPENDENT, "independent, exponential", exponential, 0.0),
        (INDEPENDENT, "independent, lognormal", lognormal, 0.0),
        (INDEPENDENT, "independent, bimodal", bimodal, 0.0),
        (INDEPENDENT, "independent, five delays alone", steps, PS),
        (INDEPENDENT, "independent, Pareto 1.5", pareto, PS),
        (QUEUES, "autoregressive 0.9", partial(waves, 0.9), None),
        *((QUEUES, f"M/M/1 at {load}", partial(poisson, load), 0.0) for load in (0.5, 0.8, 0.9)),
        (HARD, "M/M/1 at 0.95", partial(poisson, 0.95), 0.0),
        *((QUEUES, f"M/D/1 at {load}", partial(deterministic, load), PS) for load in (0.5, 0.8, 0.9)),
        (QUEUES, "on/off, geometric, 0.8", partial(on_off, 0.8), 0.0),
        (HARD, "on/off, Pareto 1.5, 0.8", partial(on_off, 0.8, heavy=True), 0.0),
    ]
    truths = list(pool.map(exact, [draw for _, _, draw, _ in draws]))
    for (promise, name, draw, least), (truth, mean) in zip(draws, truths, strict=True):
        for n, replications in ((1_500, 1), (12_000, 1), (48_000, 1), (12_000, 12), (48_000, 48), (48_000, 8)):
            begin = draw if replications > 1 else partial(warm, draw)
            case = (name, begin, least, truth, mean, n, replications)
            how = f"{n:,} packets" + (f" in {replications} replications" if replications > 1 else "")
            rows = partial(_rows_of_limits, promise, f"{name}, {how}")
            yield from run_trials(pool, partial(of_limits, case), rows, trials)


def replicated_sample(draw: Draw, generator: np.random.Generator, n: int, count: int) -> Sample:
    """Replications that begin empty, with a warm-up of an eighth of their length, longer where the start is
    felt."""
    length = n // count

    def parts(skipped: int) -> Sample:
        return Sample.of_delays(
            *(draw(generator, length + skipped)[skipped:] for _ in range(count)), independent=True
        )

    first = parts(length // 8)
    felt = start_effect(first)
    return parts(length // 8 + math.ceil(2 * felt * length)) if felt > MAX_START_EFFECT else first


def of_limits(
    case: tuple[str, Draw, float | None, NDArray[np.float64], float, int, int], seeds: range
) -> list[tuple[list[bool], list[bool], list[bool]]]:
    """Per trial and bound: whether the upper limit lies below the truth, the lower above it, and neither is
    known."""
    name, draw, least, truth, mean, n, replications = case
    variation = None if least is None else 1.0
    objective = Objective(delay={f"p{q * 100:g}": 1.0 for q in QUANTILES}, mean=1.0, variation=variation)
    true = [*(truth / 1e12), mean / 1e12, *([] if least is None else [(truth[-1] - least) / 1e12])]
    found = []
    for seed in seeds:
        generator = np.random.default_rng([seed, n, replications, crc32(name.encode())])
        sample = (
            Sample.of_delays(draw(generator, n))
            if replications == 1
            else replicated_sample(draw, generator, n, replications)
        )
        if replications > 1 and start_effect(sample) >= START_DOMINATES:
            nothing = [False] * len(true)
            found.append((nothing, nothing, [True] * len(nothing)))
            continue
        bounds = judge(objective, sample, evidence="emulated").bounds
        highs = [bound.high.number() or 0.0 for bound in bounds]
        lows = [bound.low.number() or 0.0 for bound in bounds]
        found.append(
            (
                [high < each * (1 - 1e-9) for high, each in zip(highs, true, strict=True)],
                [low > each * (1 + 1e-9) for low, each in zip(lows, true, strict=True)],
                [math.isinf(high) for high in highs],
            )
        )
    return found


def _rows_of_limits(promise: Promise, name: str, found: list[tuple[list[bool], ...]]) -> list[Row]:
    labels = [
        *((promise, f"p{quantile * 100:g}") for quantile in QUANTILES),
        (MEANS, "mean"),
        (promise, "variation"),
    ]
    rows = []
    for position, (of, label) in enumerate(labels[: len(found[0][0])]):
        wrong = tuple(float(np.mean([trial[side][position] for trial in found])) for side in (0, 1))
        unknown = float(np.mean([trial[2][position] for trial in found]))
        rows.append(Row(of, name, label, wrong, unknown, len(found)))
    return rows


def of_loss(case: tuple[float, int], seeds: range) -> list[tuple[bool, bool]]:
    """Per trial, whether the upper limit of loss lies below the truth, and the lower one above it.

    Packets are lost one by one, and that is known.
    """
    ratio, n = case
    found = []
    for seed in seeds:
        generator = np.random.default_rng([seed, n, round(ratio * 10**6)])
        delays = np.where(generator.random(n) < ratio, math.inf, generator.exponential(PS, n))
        (bound,) = judge(Objective(loss=0.5), Sample.of_delays(delays), evidence="emulated", episode=1).bounds
        low, high = bound.low.number() or 0.0, bound.high.number()
        found.append((high is not None and high < ratio, low > ratio))
    return found


def losses(pool: ProcessPoolExecutor, trials: int) -> Iterator[Row]:
    """Limits of loss of independent packets, from one in ten thousand to nearly all."""
    for ratio in (1e-4, 1e-3, 0.01, 0.1, 0.5, 0.99):
        for n in (1_000, 12_000, 100_000):
            rows = partial(_row_of_loss, f"independent, {n:,} packets", f"loss {ratio * 100:g} %")
            yield from run_trials(pool, partial(of_loss, (ratio, n)), rows, trials)


def _row_of_loss(name: str, what: str, found: list[tuple[bool, bool]]) -> list[Row]:
    wrong = tuple(float(np.mean([trial[side] for trial in found])) for side in (0, 1))
    return [Row(LOSS, name, what, wrong, 0.0, len(found))]
