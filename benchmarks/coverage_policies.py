"""Limits and verdicts of the shipped policies over seeds, against the quantiles of all seeds pooled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from app.compiler.compile import compile_intent
from app.deltaq.error_spending import LOOKS
from app.deltaq.objective import Objective
from app.deltaq.sample import Sample
from app.deltaq.verdict import judge
from app.intent.loader import load_intent
from app.intent.models import Verify
from app.inventory.loader import load_network
from app.prediction.holding import would_hold
from app.resources import root
from app.tester.judging import path_delay_of
from app.tester.measurement import Measurement, class_sample
from app.tester.twin import TwinTester
from benchmarks.coverage_report import POLICIES, POWER, Row
from benchmarks.known_truth import QUANTILES

SEEDS = 60


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
        ("campus", "policies/campus-collaboration.yaml", "layer-2", "voice-video"),
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
            quantiles = np.quantile(pooled, QUANTILES, method="inverted_cdf") / 1e12
            labels = [*(f"p{q * 100:g}" for q in QUANTILES), "variation"]
            objective = Objective(delay=dict.fromkeys(labels[:-1], 3_600.0), variation=3_600.0)
            for look, how in ((0, "policy's seconds"), (1, "four times as long")):
                # Variation counts from the least delay of its own evaluation interval (ITU-T Y.1541, RFC 5481).
                least = np.array([pair[look].delays_ps.min() for pair in samples]) / 1e12
                truth = [*(np.full(SEEDS, each) for each in quantiles), quantiles[-1] - least]
                bounds = [judge(objective, pair[look], evidence="emulated").bounds for pair in samples]
                for position, label in enumerate(labels):
                    high = [each[position].high.number() or 0.0 for each in bounds]
                    low = [each[position].low.number() or 0.0 for each in bounds]
                    wrong = (
                        float(np.mean(np.array(high) < truth[position])),
                        float(np.mean(np.array(low) > truth[position])),
                    )
                    unknown = float(np.mean([math.isinf(each) for each in high]))
                    yield Row(POLICIES, f"{name} {path}, {how}", label, wrong, unknown, SEEDS)
            way = path_delay_of(found[0][0], scenario, name, path)
            yield from power(f"{name} {path}", samples, quantiles, way.burst_packets if way else None)


def power(of: str, samples: list[list[Sample]], truth: NDArray[np.float64], episode: float | None) -> Iterator[Row]:
    """How many seeds reach a verdict, and a wrong one, where p95 and p99 are asked 10 % from the truth.

    ``episode`` is what the tester knows of how many packets are dropped in one go.
    """
    for factor, right in ((1.1, "met"), (0.9, "broken")):
        asked = {f"p{q * 100:g}": float(t) * factor for q, t in zip(QUANTILES[1:3], truth[1:3], strict=True)}
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
