"""Many senders into one output of a switch: what the Gigabit Ethernet study of CERN measured.

Senders put frames straight into the output's queues, two into each, so that delay counts from arrival there to the
end of transmission. Rates are of frame bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from qosforge.errors import ServiceError
from qosforge.experiments.cases import Case, SubjectSelection, read_described
from qosforge.experiments.devices import device_profile
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.fan_in_expected import (
    WIRE,
    delay_bounds_us,
    delay_ratios,
    fluid,
    full_queue_ratios,
)
from qosforge.experiments.testbeds.fan_in_setup import LoadSweep, Setup, read_setup, read_sweep
from qosforge.platforms.profile import BufferSize
from qosforge.twin.described import read_scheduler
from qosforge.twin.filters import MatchSpec
from qosforge.twin.part import VERSION
from qosforge.twin.scenario import (
    PS,
    EgressRule,
    EgressSpec,
    FlowSpec,
    FramingSpec,
    LinkSpec,
    NodeSpec,
    PacketSpec,
    PortName,
    PortSpec,
    SeriesSpec,
    TwinScenario,
)
from qosforge.twin.schedulers import SchedulerSpec
from qosforge.twin.sources import CbrSource, IndependentPhase, OnOffSource, PoissonSource, SourceSpec

ETHERNET = 18
"""Header and FCS of an Ethernet frame without tag, bytes."""
_SWITCH = "box"
"""The first switch's name in the twin, from which its random numbers follow: another one gives other samples."""
MODEL = "expected"
"""The device that is computed by the paper's formulas and not run."""


@dataclass(frozen=True)
class _Run:
    """One device at one load in one way of sending: everything that makes a case differ from another."""

    device: str
    load: float
    scenario: Mapping[str, Any]
    between: Mapping[str, tuple[float, float]] | None


def cases(experiment: Experiment) -> Iterator[Case]:
    """All cases: every device of every scenario at every load, equal ones once.

    Raises:
        ServiceError: the data ask for what the testbed does not know; names the experiment and the field.
    """
    runs: dict[str, tuple[_Run, list[str]]] = {}
    sweeps = {name: read_sweep(experiment, name) for name in experiment.scenarios}
    for name, sweep in sweeps.items():
        if sweep.together:
            continue
        # Scenarios that are parts of one sweep share their cases.
        parts = ("devices", "loads", "from", "to")
        own = {key: value for key, value in experiment.scenarios[name].items() if key not in parts}
        for device in sweep.devices or [device for device in experiment.devices if device != MODEL]:
            for load in _loads(read_setup(experiment, own, device), sweep):
                run = _Run(device, load, own, sweep.between)
                runs.setdefault(repr(run), (run, []))[1].append(name)
    for run, names in runs.values():
        if run.device == MODEL:
            yield _model(experiment, run, names)
        else:
            names += [name for name, sweep in sweeps.items() if set(names) & set(sweep.together)]
            yield _case(experiment, run, names)


def _loads(setup: Setup, sweep: LoadSweep) -> Sequence[float]:
    if sweep.loads is not None:
        return sweep.loads
    return tuple(load for load in setup.sweep_mbps if sweep.first <= load <= sweep.last)


def _case(experiment: Experiment, run: _Run, names: list[str]) -> Case:
    setup = read_setup(experiment, run.scenario, run.device)
    service = _service(setup)
    framing = setup.framing
    # One queue for all classes, or one for each.
    queues = ["all"] if setup.discipline == "fifo" else setup.queues
    hops: list[PortName] = [(_SWITCH, "out"), ("second", "out")][: setup.hops]
    every_ps = None if setup.series_us is None else round(setup.series_us * PS / 1e6)
    egress = EgressSpec(
        queues=tuple(service.room.queue(queue, number) for number, queue in enumerate(queues)),
        rules=tuple(EgressRule(match=MatchSpec(cos=(number,)), queue=number) for number in range(1, len(queues))),
        scheduler=service.scheduler,
        extra_gap_ps=round(service.gap * PS),
        series=None if every_ps is None else SeriesSpec(every_ps=every_ps),
    )
    ends: list[PortName] = [*hops, ("receiver", "in")]
    into = PortSpec(name="in")
    document = TwinScenario(
        version=VERSION,
        duration_ps=round((setup.warm_up + setup.seconds) * PS),
        drain=False,
        warmup_ps=round(setup.warm_up * PS),
        nodes=(
            *(NodeSpec(name=node, ports=(into, PortSpec(name="out", egress=egress))) for node, _ in hops),
            NodeSpec(name="receiver", ports=(into,)),
        ),
        links=tuple(
            LinkSpec(a=near, b=(far[0], into.name), rate_bps=round(setup.link_mbps * 1e6), framing=framing)
            for near, far in pairwise(ends)
        ),
        flows=tuple(
            FlowSpec(
                name=f"priority{number}",
                path=tuple(hops),
                packet=PacketSpec(cos=setup.queue_of(number)),
                source=_source(setup, run.load, framing, setup.queue_of(number)),
            )
            for number in range(setup.senders)
        ),
    )
    subjects = _subjects(setup, run, service)
    if run.between is not None:
        # Only queues for which this load counts.
        counting = [queue for queue, (low, high) in run.between.items() if low <= run.load <= high]
        subjects = {f"{run.device}.{queue}": subjects[f"{run.device}.{queue}"] for queue in counting}
    return Case(tuple(names), document, subjects, run.load, setup.trials)


def _source(setup: Setup, load_mbps: float, framing: FramingSpec, queue: int) -> SourceSpec:
    frame = setup.frame(queue)
    ip_bytes = frame - (ETHERNET if framing == "ethernet" else 0)
    rate = round(load_mbps * 1e6 * ip_bytes / frame)
    traffic = setup.traffic
    if traffic == "constant":
        # Independent clocks: every sender drifts against the others.
        return CbrSource(rate_bps=rate, ip_bytes=ip_bytes, phase=IndependentPhase(ppm_within=setup.clock_ppm))
    if traffic == "poisson":
        return PoissonSource(rate_bps=rate, ip_bytes=ip_bytes)
    assert setup.bursts_us is not None
    on, off = (round(length * PS / 1e6) for length in (setup.bursts_us.on, setup.bursts_us.off))
    return OnOffSource(rate_bps=rate, ip_bytes=ip_bytes, on_ps=on, off_ps=off)


@dataclass(frozen=True)
class _Service:
    """How a device serves: scheduler, room of the queues, configured weights, gap between frames in seconds."""

    scheduler: SchedulerSpec
    room: BufferSize
    weights: tuple[float, ...]
    gap: float


def _service(setup: Setup) -> _Service:
    weights = setup.weight
    name = setup.discipline
    gap = 0.0
    if setup.profile is not None:
        profile = device_profile(setup.profile)
        if name not in profile.disciplines:
            raise ServiceError(f"{profile.title} has no discipline {name!r}", hint="add it to the profile")
        discipline = profile.disciplines[name]
        described, room, gap = dict(discipline.scheduler), discipline.room or profile.room, profile.per_packet
        slots = discipline.slots
    else:
        described, room, slots = dict(setup.schedulers[name]), setup.room, None
    if room is None:
        raise ServiceError(f"nothing says what the queues hold under {name!r}", hint="give the profile a room")
    if name == "wrr":
        # The least turns in which the weights are whole numbers.
        described["weights"] = [max(1, round(weight * (slots or setup.turn_packets))) for weight in weights]
    return _Service(read_described(read_scheduler, described), room, weights, gap)


def _subjects(setup: Setup, run: _Run, service: _Service) -> dict[str, SubjectSelection]:
    queues = setup.queues
    by_queue = {
        number: tuple(f"priority{n}" for n in range(setup.senders) if setup.queue_of(n) == number)
        for number in range(len(queues))
    }
    link = setup.link_mbps
    framed = setup.framing == "ethernet"
    models = _models(setup, run.load, service, framed=framed)
    peers = tuple(f"{run.device}.{queue}" for queue in queues)
    subjects: dict[str, SubjectSelection] = {}
    for number, queue in enumerate(queues):
        subjects[f"{run.device}.{queue}"] = SubjectSelection(
            flows=by_queue[number],
            port=(_SWITCH, "out"),
            queues=("all",) if setup.discipline == "fifo" else (queue,),
            expected=models[number] | {"throughput_per_sender_mbps": _each(models[number], by_queue[number])},
            facts={"link_mbps": link, "sender_mbps": run.load, "whole_mbps": link}
            | _facts(setup, run.load, service, number),
            whole=None if setup.discipline == "strict" else f"{run.device}.all",
            peers=peers,
        )
    everything = tuple(flow for flows in by_queue.values() for flow in flows)
    rates = [name for name in models[0] if name.startswith("throughput")]
    whole = SubjectSelection(
        flows=everything,
        port=(_SWITCH, "out"),
        queues=("all",) if setup.discipline == "fifo" else tuple(queues),
        expected={name: math.fsum(model[name] for model in models) for name in rates},
        facts={"link_mbps": link, "sender_mbps": run.load},
        peers=peers,
    )
    subjects[f"{run.device}.all"] = subjects[run.device] = whole
    for flow in everything:
        subjects[f"{run.device}.{flow}"] = SubjectSelection(flows=(flow,), facts={"link_mbps": link})
    return subjects


def _each(model: Mapping[str, float], flows: Sequence[str]) -> float:
    return model["throughput_mbps"] / len(flows)


def _facts(setup: Setup, load_mbps: float, service: _Service, number: int) -> dict[str, float]:
    """Figures of one queue that claims compare with."""
    link = setup.link_mbps
    facts: dict[str, float] = {}
    share = 1.0
    if service.weights:
        share = facts["weight"] = service.weights[number]
        offered = load_mbps * setup.senders / len(setup.queues)
        facts["guaranteed_mbps"] = min(offered, share * link)
    packets = service.room.packets_of(number)
    if packets is not None:
        # One frame more than wait: the one in transmission.
        facts["full_queue_us"] = (packets + 1) * setup.frame(number) * 8 / (share * link)
    return facts


def _models(setup: Setup, load_mbps: float, service: _Service, *, framed: bool) -> list[dict[str, float]]:
    """What models expect of each queue, by metric."""
    overhead = WIRE if framed else 0
    plain = fluid(setup, load_mbps)
    with_framing = fluid(setup, load_mbps, overhead)
    bounds = delay_bounds_us(setup, service.scheduler, service.room, overhead, service.gap)
    models = [
        {"throughput_mbps": plain[queue], "throughput_with_framing_mbps": with_framing[queue]}
        for queue in setup.queues
    ]
    for number, bound in bounds.items():
        models[number]["delay_max_us"] = bound
    if service.weights:
        published = delay_ratios(service.weights)
        equal = full_queue_ratios(service.weights, [1.0] * len(models))
        for number, model in enumerate(models):
            model |= {"delay_ratio": published[number], "delay_ratio_equal_full_queues": equal[number]}
    return models


def _model(experiment: Experiment, run: _Run, names: list[str]) -> Case:
    setup = read_setup(experiment, run.scenario, run.device)
    weights = setup.weight
    shares = fluid(setup, run.load)
    link = setup.link_mbps
    total = math.fsum(shares.values())
    values: dict[str, dict[str, float]] = {}
    for number, queue in enumerate(setup.queues):
        values[f"{MODEL}.{queue}"] = {"throughput_mbps": shares[queue], "throughput_ratio": shares[queue] / total}
        if weights:
            values[f"{MODEL}.{queue}"]["delay_ratio"] = delay_ratios(weights)[number]
        elif shares[queue] == 0:
            values[f"{MODEL}.{queue}"]["delivered_packets"] = 0.0
    values[f"{MODEL}.all"] = {"throughput_mbps": total, "wasted_mbps": link - total}
    subjects = {subject: SubjectSelection(expected=found) for subject, found in values.items()}
    return Case(scenarios=tuple(names), document=None, subjects=subjects, load=run.load, values=values)
