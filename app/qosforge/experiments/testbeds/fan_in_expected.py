"""What models expect of many senders into one output: shares of the link, delay ratios, bounds of the delay."""

from __future__ import annotations

import math
from collections.abc import Sequence

from qosforge.calculus.bounds import RateLatency, full_queue_delay, held_back, weighted_round_robin
from qosforge.experiments.testbeds.fan_in_setup import Setup
from qosforge.plan.fluid import Division, FluidClass, throughput
from qosforge.platforms.profile import BufferSize
from qosforge.twin.schedulers import SchedulerSpec, StrictScheduler, WrrScheduler

WIRE = 20
"""Preamble and gap of an Ethernet frame, bytes (IEEE 802.3)."""


def fluid(setup: Setup, load_mbps: float, overhead: int = 0) -> dict[str, float]:
    """Frame bits of each queue in the fluid model of the discipline as it should be, Mb/s.

    ``overhead`` bytes of line time go with every frame: what the link is divided of is line time.
    """
    queues = setup.queues
    each = setup.senders / len(queues) * load_mbps
    on_line = [1 + overhead / setup.frame(number) for number in range(len(queues))]
    strict = setup.discipline == "strict"
    classes = tuple(
        FluidClass(
            name=queue,
            offered=each * on_line[number],
            weight=setup.weight[number] * on_line[number] if setup.weight else 1.0,
            priority=len(queues) - number if strict else None,
        )
        for number, queue in enumerate(queues)
    )
    division = Division.OFFERED if setup.discipline == "fifo" else Division.WEIGHT
    link = FluidClass(name="link", children=classes, division=division)
    shares = throughput(link, setup.link_mbps)
    return {queue: shares[queue] / on_line[number] for number, queue in enumerate(queues)}


def delay_ratios(weights: Sequence[float]) -> list[float]:
    """The paper's expected delay of each queue over the sum of all (Table 5).

    Proportional to the sum of 1/w over the queue itself and all of larger weight, which are taken to stand in the
    order of the weights, the largest last.
    """
    return _normalised([math.fsum(1 / weight for weight in weights[number:]) for number in range(len(weights))])


def full_queue_ratios(weights: Sequence[float], frames: Sequence[float]) -> list[float]:
    """Delay of each queue over the sum of all, all being full: ``frames`` over the rate they are served at."""
    return _normalised([held / weight for held, weight in zip(frames, weights, strict=True)])


def _normalised(values: Sequence[float]) -> list[float]:
    return [value / math.fsum(values) for value in values]


def delay_bounds_us(
    setup: Setup, scheduler: SchedulerSpec, room: BufferSize, line_bytes: int, gap_s: float
) -> dict[int, float]:
    """Largest delay of each queue whatever arrives (network calculus), microseconds; none of what may starve.

    ``line_bytes`` and ``gap_s`` are what every frame takes of the line beside its own bits. Only of disciplines
    whose service curve is known: the first queue of a strict order, and round robin by packets.
    """
    if room.packets is None:
        return {}
    rate = setup.link_mbps * 1e6
    bits = [math.ceil((setup.frame(number) + line_bytes) * 8 + gap_s * rate) for number in range(len(setup.queues))]
    line = RateLatency.of(round(rate))
    curves: dict[int, RateLatency] = {}
    match scheduler:
        case StrictScheduler(order=(int(first), *_), leak=None):
            curves = {first: held_back(line, max(bits))}
        case WrrScheduler(weights=tuple(weights), quantum_bytes=None):
            turns = [weight or 0 for weight in weights]
            # One frame may be on the line that the turn does not count.
            curves = {
                number: held_back(weighted_round_robin(line, turns, bits, bits[number], number), max(bits))
                for number in range(len(bits))
            }
        case _:
            pass
    return {
        number: float(full_queue_delay((room.packets_of(number) or 0) * bits[number], curve)) * 1e6
        for number, curve in curves.items()
    }
