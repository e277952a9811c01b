"""The twin beside a Linux kernel: the same packets, at the same times, through the same queues of both.

The kernel runs in virtual time as a router (`qoslab.virtual_time`), told by ``tc``. The twin is given the packets
at the times at which the kernel's sender really sent them, so that what differs is what queues and schedulers do.
A frame is counted as ``tc`` counts it, with its Ethernet header and without check sequence; the twin's lines have
no framing, and its packets these bytes.

A virtual interface has no rate. What holds the packets back as a line does is a token bucket around all queues
(``htb``), which lets a frame go when a line would begin to send it; the twin has the same one, and the time that
the line takes for the frame is added to the delays of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qosforge.emulation import run_kernel_router
from qosforge.experiments.cases import Case, CurvePoints, SubjectSelection, read_described
from qosforge.experiments.model import Experiment
from qosforge.twin.described import read_red, read_scheduler
from qosforge.twin.filters import MatchSpec
from qosforge.twin.part import VERSION
from qosforge.twin.scenario import (
    PS,
    EgressRule,
    EgressSpec,
    FlowSpec,
    LinkSpec,
    NodeSpec,
    PacketSpec,
    PortSpec,
    QueueSpec,
    TwinScenario,
)
from qosforge.twin.schedulers import ShapeSpec
from qosforge.twin.simulation import simulate
from qosforge.twin.sources import TraceSource

_NS = 10**9
_PS_PER_NS = 1000
_LINE = (
    "tc qdisc add dev out root handle 1: htb default 1",
    "tc class add dev out parent 1: classid 1:1 htb rate {rate} burst {late} cburst {late}",
)
"""Lets a frame go when a line of this rate begins to send it: a bucket that may go into debt. It holds what the
line sends in ``_LATE_US``, so that a timer that comes late takes nothing from the line."""
_LATE_US = 20
_PAUSE = 0.5
"""Of the time before it."""
_ENDLESS_BPS = 10**11
"""Of lines that queue nothing."""
_CURVE_POINTS = 200
_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


@dataclass(frozen=True)
class PlannedPackets:
    """What is sent, in order of time: ns from the start, the number of the class, bytes of the frame."""

    times_ns: NDArray[np.int64]
    classes: NDArray[np.int64]
    frame_bytes: NDArray[np.int64]


def cases(experiment: Experiment) -> Iterator[Case]:
    """One case for each scenario, with figures of both by class.

    Raises:
        ServiceError: the data are no part of a scenario, or the kernel does not run.
        NotInstalled: a package of the operating system is missing.
    """
    for name, scenario in experiment.scenarios.items():
        setup = {**experiment.setup, **scenario}
        draws = [_both(setup, seed) for seed in setup["seeds"]]
        values = _compared(setup, _Both.together(draws))
        subjects = {subject: SubjectSelection() for subject in values}
        repeats = tuple(_compared(setup, one) for one in draws) if len(draws) > 1 else ()
        curves = _curves(setup, _Both.together(draws))
        yield Case((name,), None, subjects, values=values, repeats=repeats, curves=curves)


@dataclass(frozen=True)
class _Both:
    """Every packet's class, bytes and delays, µs from the sender to the last bit; infinite where it was lost."""

    classes: NDArray[np.int64]
    frame_bytes: NDArray[np.int64]
    kernel_us: NDArray[np.float64]
    twin_us: NDArray[np.float64]

    @classmethod
    def together(cls, draws: Sequence[Self]) -> Self:
        """The packets of all draws."""
        columns = ("classes", "frame_bytes", "kernel_us", "twin_us")
        return cls(*(np.concatenate([getattr(one, column) for one in draws]) for column in columns))


def _both(setup: Mapping[str, Any], seed: int) -> _Both:
    """One draw of the packets through both; the twin gets them when the kernel really sent them."""
    packets = planned_packets(setup, seed)
    kernel = run_kernel_router(
        commands(setup),
        [one["dscp"] for one in setup["classes"].values()],
        (packets.times_ns.tolist(), packets.classes.tolist(), packets.frame_bytes.tolist()),
        drain_s=setup["drain_s"],
    )
    sent, received = np.array(kernel.sent_ns), np.array([-1 if at is None else at for at in kernel.received_ns])
    line_us = packets.frame_bytes * 8e3 / setup["rate_kbps"] if setup["line"] else np.zeros(len(sent))
    delays = np.where(received < 0, np.inf, received - sent) / 1000
    twin = _twin_delays(setup, packets, sent, seed)
    return _Both(packets.classes, packets.frame_bytes, delays + line_us, twin + line_us)


def planned_packets(setup: Mapping[str, Any], seed: int) -> PlannedPackets:
    """The packets of all classes, drawn by a seed.

    ``load`` is the part of the line that a class asks for. ``cbr`` packets come at equal gaps, each up to a tenth
    of a gap late, so that they are in step with nothing; ``poisson`` ones at exponential gaps. Sizes are drawn
    evenly from ``frame_bytes``. All classes pause together, when the line could have sent ``burst_kbit``, so that
    queues empty: a microsecond decides which of two packets an overloaded queue drops, and from there on no two
    systems hold the same packets.
    """
    draw = np.random.default_rng(seed)
    burst_ns = setup["burst_kbit"] * _NS / setup["rate_kbps"]
    parts = []
    for number, one in enumerate(setup["classes"].values()):
        sizes = np.atleast_1d(one["frame_bytes"])
        gap_ns = sizes.mean() * 8 * _NS / (one["load"] * setup["rate_kbps"] * 1000)
        count = int(setup["seconds"] * _NS / gap_ns)
        if one["source"] == "cbr":
            times = (np.arange(count) + draw.uniform(0, 0.1, count)) * gap_ns
        else:
            times = np.cumsum(draw.exponential(gap_ns, count))
        times += np.floor(times / burst_ns) * burst_ns * _PAUSE
        parts.append((times.astype(np.int64), np.full(count, number), draw.choice(sizes, count)))
    times, classes, frames = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(times, kind="stable")
    return PlannedPackets(times[order], classes[order], frames[order])


def commands(setup: Mapping[str, Any]) -> list[str]:
    """What the router is told; ``{30%}`` is that part of the rate."""
    lines = [
        re.sub(r"\{(\d+)%\}", lambda part: f"{_part_bps(setup, int(part[1]))}bit", line) for line in setup["tc"]
    ]
    return [*(line_commands(setup["rate_kbps"]) if setup["line"] else ()), *(f"tc {line}" for line in lines)]


def line_commands(rate_kbps: int) -> list[str]:
    """What makes the router's interface a line of this rate; its queues hang below class 1:1."""
    rate, late = f"{rate_kbps}kbit", _late_bytes(rate_kbps)
    return [line.format(rate=rate, late=late) for line in _LINE]


def _late_bytes(rate_kbps: int) -> int:
    return max(1, int(rate_kbps) * _LATE_US // 8000)


def _part_bps(setup: Mapping[str, Any], percent: int) -> int:
    return int(setup["rate_kbps"]) * 10 * percent


def _compared(setup: Mapping[str, Any], drawn: _Both) -> dict[str, Mapping[str, float]]:
    """Figures by class, of the kernel and of the twin, and what is between them."""
    values: dict[str, Mapping[str, float]] = {}
    for number, name in enumerate(setup["classes"]):
        own = drawn.classes == number
        both = {
            "kernel": _figures(drawn.kernel_us, own, drawn.frame_bytes),
            "twin": _figures(drawn.twin_us, own, drawn.frame_bytes),
        }
        figures = {f"{side}_{metric}": value for side, part in both.items() for metric, value in part.items()}
        figures |= _between(both["kernel"], both["twin"])
        figures["ks_distance"] = ks_distance(drawn.kernel_us[own], drawn.twin_us[own])
        values[name] = figures
    return values


def _curves(setup: Mapping[str, Any], drawn: _Both) -> dict[str, dict[str, CurvePoints]]:
    """The delays of each class in both, as per cent of its packets that came within so many ms."""
    return {
        name: {
            side: distribution(delays[drawn.classes == number])
            for side, delays in (("kernel", drawn.kernel_us), ("twin", drawn.twin_us))
        }
        for number, name in enumerate(setup["classes"])
    }


def distribution(delays_us: NDArray[np.float64]) -> CurvePoints:
    """Points ``(ms, per cent within)`` of an empirical distribution, evenly up to the part that came."""
    kept = np.sort(delays_us[np.isfinite(delays_us)])
    if not len(kept):
        return ()
    ranks = np.unique(np.linspace(1, len(kept), _CURVE_POINTS).astype(int))
    return tuple((float(kept[rank - 1]) / 1000, 100.0 * int(rank) / len(delays_us)) for rank in ranks)


def _figures(delays_us: NDArray[np.float64], own: NDArray[np.bool_], frames: NDArray[np.int64]) -> dict[str, float]:
    """Share of the bytes that came, loss, and delays of what came (µs); a lost packet's delay is infinite."""
    came = np.isfinite(delays_us)
    kept = np.sort(delays_us[own & came])
    quantiles = {
        f"{name}_us": float(kept[int(np.ceil(part * len(kept))) - 1]) if len(kept) else float("inf")
        for name, part in _QUANTILES.items()
    }
    return {
        "share": float(frames[own & came].sum() / frames[came].sum()),
        "loss_ratio": float(1 - (own & came).sum() / own.sum()),
        "mean_us": float(kept.mean()) if len(kept) else float("inf"),
        **quantiles,
    }


def _between(kernel: Mapping[str, float], twin: Mapping[str, float]) -> dict[str, float]:
    """The twin's delays and share over the kernel's; its loss less the kernel's, over that where there is any."""
    ratios = {
        f"{name.removesuffix('_us')}_ratio": twin[name] / kernel[name] for name in kernel if name.endswith("_us")
    }
    lost = (twin["loss_ratio"] - kernel["loss_ratio"]) / (kernel["loss_ratio"] or 1.0)
    return {**ratios, "share_ratio": twin["share"] / kernel["share"], "loss_change": lost}


def ks_distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Kolmogorov and Smirnov's distance of two distribution functions; lost packets are at infinity."""
    edges = np.unique(np.concatenate((one, other)))
    edges = edges[np.isfinite(edges)]
    functions = [np.searchsorted(np.sort(sample), edges, side="right") / len(sample) for sample in (one, other)]
    return float(np.abs(functions[0] - functions[1]).max()) if len(edges) else 0.0


def _twin_delays(
    setup: Mapping[str, Any], packets: PlannedPackets, sent: NDArray[np.int64], seed: int
) -> NDArray[np.float64]:
    """The delay of each packet in the twin, µs; infinite where it was lost."""
    report = simulate(scenario(setup, packets, sent), seed=seed)
    delays = np.empty(len(sent))
    for number, flow in enumerate(report.flows):
        samples = np.array(flow.samples, dtype=np.float64)[:, 1]
        delays[packets.classes == number] = np.where(samples < 0, np.inf, samples / 1e6)
    return delays


def scenario(setup: Mapping[str, Any], packets: PlannedPackets, sent: NDArray[np.int64]) -> TwinScenario:
    """The twin's side: a sender, a router that forwards in the kernel's time, a receiver."""
    names = list(setup["classes"])
    shape = setup.get("shape", {"rate_bps": "100%", "burst_bytes": "late"})
    egress = EgressSpec(
        rules=tuple(
            EgressRule(match=MatchSpec(dscp=(one["dscp"],)), queue=one.get("queue", 0))
            for one in setup["classes"].values()
        ),
        queues=tuple(_queue(one) for one in setup["queues"]),
        scheduler=read_described(read_scheduler, _in_rates(setup["scheduler"], setup)),
        shape=None if shape is None else ShapeSpec(**_in_rates(shape, setup)),
    )
    flows = tuple(
        FlowSpec(
            name=name,
            path=(("sender", "out"), ("router", "out")),
            packet=PacketSpec(dscp=setup["classes"][name]["dscp"]),
            source=TraceSource(
                times_ps=tuple((sent[packets.classes == number] * _PS_PER_NS).tolist()),
                ip_bytes=tuple(packets.frame_bytes[packets.classes == number].tolist()),
            ),
            samples=True,
        )
        for number, name in enumerate(names)
    )
    return TwinScenario(
        version=VERSION,
        duration_ps=int(sent[-1]) * _PS_PER_NS + PS,
        nodes=(
            NodeSpec(name="sender", ports=(PortSpec(name="out"),)),
            NodeSpec(
                name="router",
                latency_ps=int(setup["to_queue_us"] * 10**6),
                ports=(PortSpec(name="in"), PortSpec(name="out", egress=egress)),
            ),
            NodeSpec(name="receiver", ports=(PortSpec(name="in"),)),
        ),
        links=(
            LinkSpec(a=("sender", "out"), b=("router", "in"), rate_bps=_ENDLESS_BPS, framing="none"),
            LinkSpec(
                a=("router", "out"),
                b=("receiver", "in"),
                rate_bps=_ENDLESS_BPS,
                delay_ps=int(setup["from_queue_us"] * 10**6),
                framing="none",
            ),
        ),
        flows=flows,
    )


def _queue(described: Mapping[str, Any]) -> QueueSpec:
    red = described.get("red")
    return QueueSpec(**{**described, "red": None if red is None else read_described(read_red, red)})


def _in_rates(described: Any, setup: Mapping[str, Any]) -> Any:
    """A description whose percentages of the rate (``30%``) are bits per second, and ``late`` the line's bucket."""
    match described:
        case Mapping():
            return {key: _in_rates(value, setup) for key, value in described.items()}
        case "late":
            return _late_bytes(setup["rate_kbps"])
        case str() if described.endswith("%"):
            return _part_bps(setup, int(described.removesuffix("%")))
        case Sequence() if not isinstance(described, str):
            return [_in_rates(value, setup) for value in described]
    return described
