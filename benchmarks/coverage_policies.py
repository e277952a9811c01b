"""Limits and verdicts of the shipped policies over seeds, against the quantiles of all seeds pooled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage_report import POLICIES, POWER, Row
from benchmarks.coverage_trials import AGAIN
from benchmarks.known_truth import QUANTILES
from qosforge.compiler.compile import compile_intent
from qosforge.deltaq.error_spending import LOOKS
from qosforge.deltaq.objective import Objective
from qosforge.deltaq.sample import Sample
from qosforge.deltaq.verdict import judge
from qosforge.intent.loader import load_intent
from qosforge.intent.models import Verify
from qosforge.inventory.loader import load_network
from qosforge.prediction.projected_state import project_state
from qosforge.resources import root
from qosforge.tester.measurement.document import class_sample
from qosforge.tester.measurement.judging import path_delay_of
from qosforge.tester.twin import TwinTester

SEEDS = 60


@dataclass(frozen=True)
class Case:
    """A class of a policy, in a scenario of a network."""

    network: str
    policy: str
    scenario: str
    traffic_class: str


CASES = (
    Case("campus", "policies/campus-collaboration.yaml", "layer-3", "voice-video"),
    Case("campus", "policies/campus-collaboration.yaml", "branches", "voice-video"),
    Case("campus", "policies/campus-collaboration.yaml", "layer-2", "voice-video"),
    Case("infn-fnal", "examples/policies/remote-control.yaml", "one-way", "robin"),
    Case("infn-fnal", "policies/infn-fnal-pq.yaml", "one-way", "pre7"),
)


@dataclass(frozen=True)
class PolicyTrial:
    """What one seed measures of a class on one path, at the first look and at the last; ``episode`` is what the
    tester knows of how many packets are dropped in one go."""

    samples: tuple[Sample, Sample]
    episode: float | None


def of_policy(case: Case, seed: int) -> dict[str, PolicyTrial]:
    """What one seed measures of a class in a policy's scenario, by path."""
    network = load_network(root() / "inventories" / case.network)
    compilation = compile_intent(load_intent(root() / case.policy), network)
    only = next(each for each in network.traffic if each.name == case.scenario)
    intent = compilation.intent.intent
    checks = tuple(check for check in intent.verify if (check.from_, check.to) in only.between)
    if not checks:
        source, destination = only.between[0]
        described = {"from": source, "to": destination, "classes": [case.traffic_class], "seconds": 30}
        checks = (Verify.model_validate(described),)
    intent = intent.model_copy(update={"verify": checks})
    tester = TwinTester(network, project_state(compilation, {}), seed)
    first = tester.measure(intent, "predicted")
    last = tester.measure(intent, "predicted", look=LOOKS, earlier=first)
    flows = first.scenario(case.scenario).flows
    found = {}
    for path in dict.fromkeys(f.path for f in flows if f.traffic_class == case.traffic_class and f.samples):
        early, late = (class_sample(m, case.scenario, {case.traffic_class}, path=path) for m in (first, last))
        way = path_delay_of(first, case.scenario, case.traffic_class, path)
        found[path] = PolicyTrial((early, late), way.burst_packets if way else None)
    return found


def policies(pool: ProcessPoolExecutor) -> Iterator[Row]:
    """Limits of the shipped policies over seeds, against the quantiles of all seeds pooled; over other seeds, and
    more, where any of a policy's rows misses.
    """
    for case in CASES:
        rows = list(_rows(pool, case, range(1, SEEDS + 1)))
        if not all(row.met for row in rows):
            rows = list(_rows(pool, case, range(SEEDS + 1, (1 + AGAIN) * SEEDS + 1)))
        yield from rows


def _rows(pool: ProcessPoolExecutor, case: Case, seeds: range) -> Iterator[Row]:
    found = list(pool.map(partial(of_policy, case), seeds))
    name = case.traffic_class
    for path in found[0]:
        seen = [each[path] for each in found]
        pooled = np.concatenate([each.samples[1].delays_ps for each in seen])
        quantiles = np.quantile(pooled, QUANTILES, method="inverted_cdf") / 1e12
        labels = [*(f"p{q * 100:g}" for q in QUANTILES), "variation"]
        objective = Objective(delay=dict.fromkeys(labels[:-1], 3_600.0), variation=3_600.0)
        for look, how in ((0, "policy's seconds"), (1, "four times as long")):
            # Variation counts from the least delay of its own evaluation interval (ITU-T Y.1541, RFC 5481).
            least = np.array([each.samples[look].delays_ps.min() for each in seen]) / 1e12
            truth = [*(np.full(len(seen), each) for each in quantiles), quantiles[-1] - least]
            bounds = [judge(objective, each.samples[look], evidence="emulated").bounds for each in seen]
            for position, label in enumerate(labels):
                high = [each[position].high.number() or 0.0 for each in bounds]
                low = [each[position].low.number() or 0.0 for each in bounds]
                wrong = (
                    float(np.mean(np.array(high) < truth[position])),
                    float(np.mean(np.array(low) > truth[position])),
                )
                unknown = float(np.mean([math.isinf(each) for each in high]))
                yield Row(POLICIES, f"{name} {path}, {how}", label, wrong, unknown, len(seen))
        yield from power(f"{name} {path}", seen, quantiles)


def power(of: str, seen: list[PolicyTrial], truth: NDArray[np.float64]) -> Iterator[Row]:
    """How many seeds reach a verdict, and a wrong one, where p95 and p99 are asked 10 % from the truth."""
    for factor, right in ((1.1, "met"), (0.9, "broken")):
        asked = {f"p{q * 100:g}": float(t) * factor for q, t in zip(QUANTILES[1:3], truth[1:3], strict=True)}
        objective = Objective(delay=asked)
        found = []
        for each in seen:
            outcome = "inconclusive"
            for look, sample in zip((1, LOOKS), each.samples, strict=True):
                verdict = judge(
                    objective, sample, evidence="emulated", look=look, looks=LOOKS, episode=each.episode
                )
                outcome = verdict.outcome
                if outcome != "inconclusive":
                    break
            found.append(outcome)
        wrong = float(np.mean([each not in (right, "inconclusive") for each in found]))
        undecided = found.count("inconclusive") / len(found)
        what = f"p95 and p99 asked at {factor:g} of the truth: not {right}"
        yield Row(POWER, of, what, (wrong,), undecided, len(seen))
