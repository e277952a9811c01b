"""Verdicts that are false: beside the bound over all looks, of many bounds together, where loss comes in bursts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_report import BURSTS, DECISIONS, TOGETHER, Row
from benchmarks.coverage_trials import row_of_outcomes, run_trials
from benchmarks.known_truth import PS, QUANTILES, Draw, exact, exponential, poisson
from qosforge.deltaq.error_spending import LOOKS
from qosforge.deltaq.objective import Objective, ObjectiveVerdict
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge, judge_together
from qosforge.deltaq.warm_up import START_DOMINATES, start_effect
from qosforge.tester.replications import REPLICATIONS

CLASSES = 12


def of_decisions(case: tuple[str, Draw, float, float, float], seeds: range) -> list[str]:
    """Outcomes over all looks where the true quantile is ``factor`` times over the bound."""
    name, draw, quantile, true_ps, factor = case
    objective = Objective(delay={f"p{quantile * 100:g}": true_ps * factor / 1e12})
    found = []
    for seed in seeds:
        generator = np.random.default_rng([seed, crc32(f"{name} {quantile} {factor}".encode())])
        parts: list[NDArray[np.float64]] = []
        outcome, length = "inconclusive", 1_500
        for look in range(1, LOOKS + 1):
            while len(parts) < REPLICATIONS[look - 1]:
                parts.append(draw(generator, length + length // 4)[length // 4 :])
            sample = Sample.of_delays(*parts, independent=True)
            if start_effect(sample) >= START_DOMINATES:
                parts, length = [], 2 * length
                continue
            verdict: ObjectiveVerdict = judge(objective, sample, evidence="emulated", look=look, looks=LOOKS)
            outcome = verdict.outcome
            if outcome != "inconclusive":
                break
        found.append(outcome)
    return found


def decisions(pool: ProcessPoolExecutor, trials: int) -> Iterator[Row]:
    """Verdicts that are false, and those that stay open, where the truth lies 3 or 10 % beside the bound."""
    draws: list[tuple[str, Draw]] = [
        ("independent", exponential),
        *((f"M/M/1 at {load}", partial(poisson, load)) for load in (0.5, 0.8, 0.9, 0.95)),
    ]
    for name, draw in draws:
        truth, _ = exact(draw)
        for quantile, true in zip(QUANTILES[1:], truth[1:], strict=True):
            for factor, false in ((0.97, "met"), (1.03, "broken"), (0.9, "met"), (1.1, "broken")):
                what = f"p{quantile * 100:g}, bound at {factor:g} of the truth: false {false}"
                work = partial(of_decisions, (name, draw, quantile, float(true), factor))
                yield from run_trials(pool, work, partial(row_of_outcomes, DECISIONS, name, what, false), trials)


def of_family(bounds: dict[str, float], seeds: range) -> list[str]:
    """What becomes of a run of `CLASSES` classes, each of independent packets and exactly at its bounds."""
    objective = Objective(delay=bounds)
    found = []
    for seed in seeds:
        generator = np.random.default_rng([seed, CLASSES])
        samples = [Sample.of_delays(exponential(generator, 12_000)) for _ in range(CLASSES)]
        verdicts = judge_together([judge(objective, sample, evidence="emulated", episode=1) for sample in samples])
        outcomes = {verdict.outcome for verdict in verdicts}
        found.append("broken" if "broken" in outcomes else "met" if outcomes == {"met"} else "inconclusive")
    return found


def families(pool: ProcessPoolExecutor, trials: int) -> Iterator[Row]:
    """A run of many classes and bounds, all exactly at what is asked: neither verdict may be frequent."""
    bounds = {f"p{q * 100:g}": -math.log(1 - q) * PS / 1e12 for q in QUANTILES[:3]}
    name = f"{CLASSES} classes with {len(bounds)} bounds each, independent"
    for false in ("broken", "met"):
        rows = partial(row_of_outcomes, TOGETHER, name, f"all exactly at their bounds: {false}", false)
        yield from run_trials(pool, partial(of_family, bounds), rows, trials)


def of_bursts(case: tuple[Objective, float, int, float, int, int], seeds: range) -> list[str]:
    """Outcomes over all looks, of replications or of one realisation, where the part ``ratio`` of the packets is
    ``late`` in bursts of ``length``."""
    objective, ratio, length, late, n, replications = case
    found = []
    for seed in seeds:
        generator = np.random.default_rng([seed, length, replications])
        parts: list[NDArray[np.float64]] = []
        outcome, looks = "inconclusive", 1 if replications == 1 else LOOKS
        for look in range(1, looks + 1):
            while len(parts) < replications * 2 ** (look - 1):
                size = n // replications
                # A burst may have begun before what is measured.
                begins = generator.random(size + length) < ratio / length
                struck = np.convolve(begins, np.ones(length))[length : length + size] > 0
                parts.append(np.where(struck, late, generator.exponential(PS, size)))
            sample = Sample.of_delays(*parts, independent=replications > 1)
            outcome = judge(objective, sample, evidence="emulated", look=look, looks=looks).outcome
            if outcome != "inconclusive":
                break
        found.append(outcome)
    return found


def bursts(pool: ProcessPoolExecutor, trials: int) -> Iterator[Row]:
    """False ``met`` where loss and lateness come in bursts that delay does not show."""
    kinds = (
        (Objective(loss=0.001), 0.002, math.inf, (1, 5, 20, 100, 500), "loss 0.2 %, bound 0.1 %"),
        (Objective(delay={"p99": 0.05}), 0.02, 100 * PS, (1, 20, 250, 1_000), "2 % late, bound on p99"),
    )
    for objective, ratio, late, lengths, what in kinds:
        for n, replications in ((12_000, 1), (12_000, 8), (48_000, 32)):
            for length in lengths:
                how = "1 realisation" if replications == 1 else f"{replications} replications and more"
                name = f"bursts of {length}, {n:,} packets in {how}"
                work = partial(of_bursts, (objective, ratio, length, late, n, replications))
                rows = partial(row_of_outcomes, BURSTS, name, f"{what}: false met", "met")
                yield from run_trials(pool, work, rows, trials)
