"""How often limits and verdicts are wrong: replications against known truth, written as docs/coverage.md.

``python -m benchmarks.coverage [TRIALS]``. A limit at 95 % may miss in 5 % of all trials, plus two standard errors
for luck; a row that misses more often is measured again with other draws. Ends with 1 where any still does.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from app.compiler.compile import compile_intent
from app.deltaq.error_spending import LOOKS
from app.deltaq.objective import Objective, Verdict
from app.deltaq.sample import Sample
from app.deltaq.verdict import judge
from app.deltaq.warm_up import STILL_FELT, start_felt
from app.intent.loader import load_intent
from app.intent.models import Verify
from app.inventory.loader import load_network
from app.prediction.holding import would_hold
from app.resources import root
from app.tester.judging import path_delay_of
from app.tester.measurement import Measurement, class_sample
from app.tester.replications import MOST_FELT, REPLICATIONS
from app.tester.twin import TwinTester
from benchmarks.coverage_report import (
    BURSTS,
    DECISIONS,
    HARD,
    INDEPENDENT,
    MEANS,
    POLICIES,
    POWER,
    QUEUES,
    Promise,
    Row,
    write,
)
from benchmarks.known_truth import (
    PS,
    QUANTILES,
    Draw,
    deterministic,
    exact,
    exponential,
    lognormal,
    on_off,
    pareto,
    poisson,
    warm,
    waves,
)

TRIALS = 200
SEEDS = 60
AGAIN = 5
"""How many times as often a row is measured again that misses, with other draws: of many, some do by luck."""


def replicated(draw: Draw, generator: np.random.Generator, n: int, count: int) -> Sample:
    """Replications that begin empty, with a warm-up of an eighth of their length, longer where the start is
    felt."""
    length = n // count

    def parts(skipped: int) -> Sample:
        return Sample.of_delays(
            *(draw(generator, length + skipped)[skipped:] for _ in range(count)), independent=True
        )

    first = parts(length // 8)
    felt = start_felt(first)
    return parts(length // 8 + math.ceil(2 * felt * length)) if felt > MOST_FELT else first


def of_limits(
    case: tuple[str, Draw, NDArray[np.float64], float, int, int], seeds: range
) -> list[tuple[list[bool], list[bool], list[bool]]]:
    """Per trial and bound: whether the upper limit lies below the truth, the lower above it, and neither is
    known."""
    name, draw, truth, mean, n, replications = case
    objective = Objective(delay={f"p{q * 100:g}": 1.0 for q in QUANTILES}, mean=1.0)
    found = []
    for seed in seeds:
        generator = np.random.default_rng([seed, n, replications, crc32(name.encode())])
        sample = (
            Sample.of_delays(draw(generator, n))
            if replications == 1
            else replicated(draw, generator, n, replications)
        )
        if replications > 1 and start_felt(sample) >= STILL_FELT:
            nothing = [False] * (len(QUANTILES) + 1)
            found.append((nothing, nothing, [True] * len(nothing)))
            continue
        bounds = judge(objective, sample, evidence="emulated").bounds
        highs = [bound.high.number() or 0.0 for bound in bounds]
        lows = [bound.low.number() or 0.0 for bound in bounds]
        true = [*(truth / 1e12), mean / 1e12]
        found.append(
            (
                [high < each * (1 - 1e-9) for high, each in zip(highs, true, strict=True)],
                [low > each * (1 + 1e-9) for low, each in zip(lows, true, strict=True)],
                [math.isinf(high) for high in highs],
            )
        )
    return found


def limits(pool: ProcessPoolExecutor, trials: int) -> Iterator[Row]:
    """Limits of quantiles and means of single realisations, and of replications that begin empty."""
    draws: list[tuple[Promise, str, Draw]] = [
        (INDEPENDENT, "independent, exponential", exponential),
        (INDEPENDENT, "independent, lognormal", lognormal),
        (INDEPENDENT, "independent, Pareto 1.5", pareto),
        (QUEUES, "autoregressive 0.9", partial(waves, 0.9)),
        *((QUEUES, f"M/M/1 at {load}", partial(poisson, load)) for load in (0.5, 0.8, 0.9)),
        (HARD, "M/M/1 at 0.95", partial(poisson, 0.95)),
        *((QUEUES, f"M/D/1 at {load}", partial(deterministic, load)) for load in (0.5, 0.8, 0.9)),
        (QUEUES, "on/off, geometric, 0.8", partial(on_off, 0.8)),
        (HARD, "on/off, Pareto 1.5, 0.8", partial(on_off, 0.8, heavy=True)),
    ]
    truths = list(pool.map(exact, [draw for *_, draw in draws]))
    for (promise, name, draw), (truth, mean) in zip(draws, truths, strict=True):
        for n, replications in ((1_500, 1), (12_000, 1), (48_000, 1), (12_000, 8), (48_000, 32), (48_000, 8)):
            begin = draw if replications > 1 else partial(warm, draw)
            case = (name, begin, truth, mean, n, replications)
            how = f"{n:,} packets" + (f" in {replications} replications" if replications > 1 else "")
            rows = partial(_rows_of_limits, promise, f"{name}, {how}")
            yield from _measured(pool, partial(of_limits, case), rows, trials)


def _rows_of_limits(promise: Promise, name: str, found: list[tuple[list[bool], ...]]) -> list[Row]:
    labels = [(promise, f"p{quantile * 100:g}") for quantile in QUANTILES]
    rows = []
    for position, (of, label) in enumerate([*labels, (MEANS, "mean")]):
        wrong = tuple(float(np.mean([trial[side][position] for trial in found])) for side in (0, 1))
        unknown = float(np.mean([trial[2][position] for trial in found]))
        rows.append(Row(of, name, label, wrong, unknown, len(found)))
    return rows


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
            if start_felt(sample) >= STILL_FELT:
                parts, length = [], 2 * length
                continue
            verdict: Verdict = judge(objective, sample, evidence="emulated", look=look, looks=LOOKS)
            outcome = verdict.outcome
            if outcome != "inconclusive":
                break
        found.append(outcome)
    return found


def decisions(pool: ProcessPoolExecutor, trials: int) -> Iterator[Row]:
    """Verdicts that are false, and those that stay open, where the truth lies 3 or 10 % beside the bound."""
    draws: list[tuple[str, Draw]] = [
        ("independent", exponential),
        *((f"M/M/1 at {load}", partial(poisson, load)) for load in (0.5, 0.8, 0.9)),
    ]
    for name, draw in draws:
        truth, _ = exact(draw)
        for quantile, true in zip(QUANTILES[1:], truth[1:], strict=True):
            for factor, false in ((0.97, "met"), (1.03, "broken"), (0.9, "met"), (1.1, "broken")):
                what = f"p{quantile * 100:g}, bound at {factor:g} of the truth: false {false}"
                work = partial(of_decisions, (name, draw, quantile, float(true), factor))
                yield from _measured(pool, work, partial(_row_of_outcomes, DECISIONS, name, what, false), trials)


def _row_of_outcomes(promise: Promise, name: str, what: str, false: str, found: list[str]) -> list[Row]:
    part = {outcome: found.count(outcome) / len(found) for outcome in (false, "inconclusive")}
    return [Row(promise, name, what, (part[false],), part["inconclusive"], len(found))]


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
                rows = partial(_row_of_outcomes, BURSTS, name, f"{what}: false met", "met")
                yield from _measured(pool, work, rows, trials)


def of_policy(case: tuple[str, str, str, str], seed: int) -> tuple[Measurement, Measurement]:
    """What one seed measures of a class in a policy's scenario, at the first look and at the last."""
    network_name, policy, scenario, name = case
    network = load_network(root() / "inventories" / network_name)
    compilation = compile_intent(load_intent(root() / policy), network)
    only = next(each for each in network.traffic if each.name == scenario)
    intent = compilation.intent.intent
    checks = tuple(check for check in intent.verify if (check.from_, check.to) in only.between)
    if not checks:
        source, destination = only.between[0]
        checks = (Verify.model_validate({"from": source, "to": destination, "classes": [name], "seconds": 30}),)
    intent = intent.model_copy(update={"verify": checks})
    tester = TwinTester(network, would_hold(compilation, {}), seed)
    first = tester.measure(intent, "predicted")
    last = tester.measure(intent, "predicted", look=LOOKS, earlier=first)
    return first, last


def policies(pool: ProcessPoolExecutor) -> Iterator[Row]:
    """Limits of the shipped policies over seeds, against the quantiles of all seeds pooled."""
    cases = (
        ("campus", "policies/campus-collaboration.yaml", "layer-3", "voice-video"),
        ("campus", "policies/campus-collaboration.yaml", "branches", "voice-video"),
        ("infn-fnal", "examples/policies/remote-control.yaml", "one-way", "robin"),
        ("infn-fnal", "policies/infn-fnal-pq.yaml", "one-way", "pre7"),
    )
    for case in cases:
        _, _, scenario, name = case
        found = list(pool.map(partial(of_policy, case), range(1, SEEDS + 1)))
        flows = [
            flow for flow in found[0][0].scenario(scenario).flows if flow.traffic_class == name and flow.samples
        ]
        for path in dict.fromkeys(flow.path for flow in flows):
            samples = [[class_sample(m, scenario, {name}, path=path) for m in pair] for pair in found]
            pooled = np.concatenate([pair[1].delays_ps for pair in samples])
            truth = np.quantile(pooled, QUANTILES, method="inverted_cdf") / 1e12
            objective = Objective(delay={f"p{q * 100:g}": 3_600.0 for q in QUANTILES})
            for look, how in ((0, "policy's seconds"), (1, "four times as long")):
                bounds = [judge(objective, pair[look], evidence="emulated").bounds for pair in samples]
                for position, quantile in enumerate(QUANTILES):
                    high = [each[position].high.number() or 0.0 for each in bounds]
                    low = [each[position].low.number() or 0.0 for each in bounds]
                    wrong = (
                        float(np.mean([each < truth[position] for each in high])),
                        float(np.mean([each > truth[position] for each in low])),
                    )
                    unknown = float(np.mean([math.isinf(each) for each in high]))
                    yield Row(POLICIES, f"{name} {path}, {how}", f"p{quantile * 100:g}", wrong, unknown, SEEDS)
            way = path_delay_of(found[0][0], scenario, name, path)
            yield from power(f"{name} {path}", samples, truth, way.burst_packets if way else None)


def power(of: str, samples: list[list[Sample]], truth: NDArray[np.float64], episode: float | None) -> Iterator[Row]:
    """How many seeds reach a verdict, and a wrong one, where p95 and p99 are asked 10 % from the truth.

    ``episode`` is what the tester knows of how many packets are dropped in one go.
    """
    for factor, right in ((1.1, "met"), (0.9, "broken")):
        asked = {f"p{q * 100:g}": float(t) * factor for q, t in zip(QUANTILES[1:], truth[1:], strict=True)}
        found = []
        for pair in samples:
            outcome = "inconclusive"
            for look, sample in zip((1, LOOKS), pair, strict=True):
                objective = Objective(delay=asked)
                verdict = judge(objective, sample, evidence="emulated", look=look, looks=LOOKS, episode=episode)
                outcome = verdict.outcome
                if outcome != "inconclusive":
                    break
            found.append(outcome)
        wrong = float(np.mean([each not in (right, "inconclusive") for each in found]))
        undecided = found.count("inconclusive") / len(found)
        what = f"p95 and p99 asked at {factor:g} of the truth: not {right}"
        yield Row(POWER, of, what, (wrong,), undecided, SEEDS)


def _measured(
    pool: ProcessPoolExecutor,
    work: Callable[[range], list[object]],
    rows: Callable[[list[object]], list[Row]],
    trials: int,
) -> list[Row]:
    """The rows of so many trials; of those that come after and are more, where any of the first ones misses."""
    found = rows(_spread(pool, work, range(trials)))
    if all(row.met for row in found):
        return found
    return rows(_spread(pool, work, range(trials, (1 + AGAIN) * trials)))


def _spread(pool: ProcessPoolExecutor, work: Callable[[range], list[object]], seeds: range) -> list[object]:
    """Trials over all cores."""
    edges = np.linspace(seeds.start, seeds.stop, 9).round().astype(int)
    found = pool.map(work, [range(first, last) for first, last in pairwise(edges)])
    return [each for part in found for each in part]


def main(trials: int) -> int:
    """Measure every row, print it and write the tables; 1 where any misses more often than it may."""
    found: list[Row] = []
    with ProcessPoolExecutor(mp_context=get_context("forkserver")) as pool:
        for rows in (limits(pool, trials), decisions(pool, trials), bursts(pool, trials), policies(pool)):
            for row in rows:
                print(row, flush=True)  # noqa: T201
                found.append(row)
    write(found, trials, SEEDS, AGAIN)
    return int(not all(row.met for row in found))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS))
