"""A measurement document of an external tester as it should be: two periods of three flows, one of them thinned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qosforge.deltaq.distribution import DeltaQ
from qosforge.tester.measurement.document import quantiles_ps

Json = dict[str, Any]
Change = Callable[[Json], None]

MS = 10**9
SECOND = 10**12
SECONDS = 30
"""How long each of the two periods was measured."""
APART = 50 * MS
"""Time between packets of a flow."""
IP_BITS = 8 * 200
"""Of every packet."""
LOST_EVERY = 97
"""Every so manyth packet was lost."""


def flow(name: str, traffic_class: str, period: int, *, every: int = 1, with_samples: bool = True) -> Json:
    """What a tester says of a flow in one period, all figures in the digits that it has."""
    draw = np.random.default_rng([period, len(name), sum(name.encode())])
    count = SECONDS * SECOND // APART
    delays = [int(10 * MS + draw.exponential(4 * MS)) for _ in range(count)]
    first = int(draw.integers(0, APART // 2))
    packets = [
        [first + number * APART, -1 if number % LOST_EVERY == LOST_EVERY - 1 else delay]
        for number, delay in enumerate(delays)
    ]
    arrived = [delay for _, delay in packets if delay >= 0]
    edges = np.geomspace(10 * MS, 1.001 * max(arrived), 12).astype(int).tolist()[1:]
    found = np.histogram(arrived, [0, *edges])[0].tolist()
    return {
        "name": name,
        "replication": period,
        "traffic_class": traffic_class,
        "path": "phone1→phone2",
        "sent": count,
        "delivered": len(arrived),
        "lost": count - len(arrived),
        "mean_delay_ps": round(math.fsum(arrived) / len(arrived)),
        "sd_delay_ps": round(float(np.std(arrived))),
        "min_delay_ps": min(arrived),
        "max_delay_ps": max(arrived),
        "throughput_bps": round(len(arrived) * IP_BITS / SECONDS),
        "offered_bps": round(count * IP_BITS / SECONDS),
        "quantiles_ps": quantiles_ps(DeltaQ.from_delays(delay for _, delay in packets)),
        "samples": packets[::every] if with_samples else [],
        "sample_every": every,
        "histogram": [[edge, count] for edge, count in zip(edges, found, strict=True)],
    }


def document() -> Json:
    """The whole document, anew."""
    flows = [
        flow(name, name, period, every=every)
        for period in (0, 1)
        for name, every in (("web", 1), ("files", 1), ("video", 5))
    ]
    return {
        "when": "after",
        "evidence": "measured",
        "tester": "probe",
        "seed": 7,
        "clock_error_ps": 1000,
        "delay_reference": "first bit to first bit",
        "scenarios": [
            {
                "name": "calls",
                "title": "Calls",
                "replications": 2,
                "seconds": SECONDS,
                "warm_up_seconds": 0,
                "flows": flows,
            }
        ],
    }


def scenario(document: Json) -> Json:
    """Its only scenario."""
    found: Json = document["scenarios"][0]
    return found


def web(document: Json) -> Json:
    """The flow of the first period of which every packet was looked at."""
    found: Json = scenario(document)["flows"][0]
    return found


def video(document: Json) -> Json:
    """The thinned flow of the first period."""
    found: Json = scenario(document)["flows"][2]
    return found


def of_class(document: Json, name: str) -> Iterator[Json]:
    """The flow of that name, in each period."""
    return (each for each in scenario(document)["flows"] if each["name"] == name)


def bare(flow: Json) -> None:
    """Leave of a flow its counts and samples only: figures that others would contradict are not said."""
    for name in ("mean_delay_ps", "sd_delay_ps", "min_delay_ps", "max_delay_ps", "throughput_bps", "offered_bps"):
        flow.pop(name, None)
    flow["quantiles_ps"], flow["histogram"] = {}, []
