"""Independent replications of a simulation: how many, how long, and what is drawn anew for each.

Constant flows keep the phases they begin with, and equal clocks keep them for ever; what one simulation gives
is then one draw of many. So each scenario runs several times, with phases, clocks and arrivals of its own, and
limits come from the spread between these (Law, Simulation Modeling and Analysis, chapter 9).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from qosforge.deltaq.warm_up import start_effect
from qosforge.tester.measurement.document import FlowResult, flows_sample
from qosforge.tester.scenario.sources import CLOCK_PPM

REPLICATIONS = (12, 24, 48)
"""Simulations of a scenario that each look has; together the first ones measure as long as the policy says. With
eight of the same length in all, Student's t takes so much that nine campus measurements in ten need a second look;
with twelve five in ten do, and sixteen are hardly better, as each is simulated some seconds more.
"""
LEAST_SECONDS = 2.0
"""What a replication measures at least."""
WARM_UP_SECONDS = 1
"""Left out of the figures, while queues fill. Longer where TCP sends, or where MSER-5 still feels the start."""
BACKING_OFF_SECONDS = 15
"""Left out where TCP sends: a connection that finds a full line waits 1, 2, 4 and 8 s before it is as silent as it
stays (RFC 6298, section 5.5). Others feel that less and less all the time, which no test sees in a few seconds."""
MOST_WARM_UP_SECONDS = 30
MAX_START_EFFECT = 0.1
"""Part of a replication that may depend on its start before the warm-up is made longer."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that a replication measures, and its warm-up, which is left out."""

    seconds: float
    warm_up: int = WARM_UP_SECONDS

    @classmethod
    def of(cls, policy_seconds: int) -> Timing:
        """Divide the seconds that a policy asks for among the replications of the first look."""
        return cls(max(LEAST_SECONDS, policy_seconds / REPLICATIONS[0]))

    def with_warm_up(self, settling: float) -> Timing:
        """The same with a warm-up of at least ``settling`` seconds."""
        return Timing(self.seconds, min(MOST_WARM_UP_SECONDS, max(self.warm_up, math.ceil(settling))))

    def longer(self, start_effect: float) -> Timing:
        """The same with a warm-up that ends well after ``start_effect``, the part of the measured time that still
        depends on the start."""
        return Timing(
            self.seconds, min(MOST_WARM_UP_SECONDS, self.warm_up + math.ceil(2 * start_effect * self.seconds))
        )

    def anew(self) -> Timing:
        """Twice as long, with twice the warm-up: for replications that depended on their start all the time."""
        return Timing(2 * self.seconds, min(MOST_WARM_UP_SECONDS, 2 * self.warm_up))


def next_look_seconds(look: int, cpu_seconds: float) -> float | None:
    """Seconds of processor time that the next look will take; ``None`` after the last one.

    ``cpu_seconds`` is what the simulations that this look added took; those of the next one cost as much each.
    """
    counts = (0, *REPLICATIONS)
    if look >= len(REPLICATIONS):
        return None
    return cpu_seconds * (counts[look + 1] - counts[look]) / (counts[look] - counts[look - 1])


def replication_seed(seed: int, replication: int) -> int:
    """The 64-bit seed of a replication."""
    return int(np.random.SeedSequence([seed, replication]).generate_state(1, np.uint64)[0])


def clock_factor(seed: int, replication: int, flow: str) -> float:
    """The factor of a sender's clock on its rate in one replication."""
    draw = np.random.default_rng([seed, replication, crc32(flow.encode())])
    return 1 + float(draw.uniform(-CLOCK_PPM, CLOCK_PPM)) * 1e-6


def largest_start_effect(flows: Iterable[FlowResult]) -> float:
    """The largest part of a replication in which a class on any path still depends on the start."""
    groups: dict[tuple[str | None, str], list[FlowResult]] = {}
    for flow in flows:
        if flow.samples:
            groups.setdefault((flow.traffic_class, flow.path), []).append(flow)
    samples = [flows_sample(group, independent=True) for group in groups.values()]
    return max((start_effect(sample, len(samples)) for sample in samples), default=0.0)
