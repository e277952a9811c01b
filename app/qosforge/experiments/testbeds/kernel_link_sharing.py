"""Link-sharing trees on the Linux kernel's HFSC, beside what was published of them and the twin's D-CBQ.

The kernel runs in virtual time as a router (`qoslab.virtual_time`). Trees and traffic are those of an experiment of
the testbed ``link-sharing``, whose scenarios are taken by name. The twin has no HFSC: it runs its D-CBQ, which the
trees were published for, with the packets at the times at which the kernel's sender really sent them. Both divide a
link alike over seconds, and packet by packet each in its own way: throughput can be compared, delays cannot.

In HFSC (Stoica, Zhang, Ng 1997) a class has its share twice: as a link-sharing curve, by which excess is divided at
each node whatever the priority, and, where it is a leaf, as a real-time curve that guarantees it. A leaf of high
priority is guaranteed its first packet sooner, which changes no rate. A class that may not borrow has the share as
its upper limit as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qosforge.emulation import KernelRouterRun, run_kernel_router
from qosforge.errors import ServiceError
from qosforge.experiments.cases import Case, SubjectSelection
from qosforge.experiments.catalogue import load_experiment
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.class_traffic import offered_kbps, silent
from qosforge.experiments.testbeds.class_tree import TreeClass
from qosforge.experiments.testbeds.kernel_router import line_commands
from qosforge.experiments.testbeds.link_sharing import PORT, Simulation, fluid_case, simulations, twin_case
from qosforge.twin.scenario import FlowSpec, PacketSpec
from qosforge.twin.sources import TraceSource

KERNEL = "hfsc"
_NS = 10**9
_PS_PER_NS = 1000
_MS = 10**6


@dataclass(frozen=True)
class PlannedPackets:
    """What is sent, in order of time: ns from the start, and the number of the leaf."""

    times_ns: NDArray[np.int64]
    leaves: NDArray[np.int64]


def cases(experiment: Experiment) -> Iterator[Case]:
    """For each scenario one case of the kernel, one of the twin and one of the fluid model.

    Raises:
        ServiceError: the data describe no tree, or the kernel does not run.
        NotInstalled: a package of the operating system is missing.
    """
    published = load_experiment(experiment.setup["as"])
    same = published.model_copy(update={"setup": {**published.setup, **experiment.setup}})
    for number, name in enumerate(experiment.scenarios, start=1):
        for simulation in simulations(same, name, same.scenarios[name]):
            packets = planned_packets(simulation)
            run = _run(simulation, packets)
            yield fluid_case(simulation, (name,), number)
            yield _kernel_case(simulation, packets, run, name, number)
            for kind in simulation.setup["schedulers"]:
                yield twin_case(simulation, kind, _sent_flows(simulation, packets, run), (name,), number)


def planned_packets(simulation: Simulation) -> PlannedPackets:
    """The packets of all leaves, each leaf's source beginning at a time of its own, drawn by the set-up's seed.

    Raises:
        ServiceError: a source is neither ``cbr`` nor ``onoff`` of lengths that are always the same.
    """
    draw = np.random.default_rng(simulation.setup["seed"])
    end_ns = _end_ns(simulation)
    times_ns, leaves = [], []
    for number, leaf in enumerate(simulation.tree.leaves):
        for source in simulation.sources(leaf.traffic) if leaf.traffic is not None else ():
            times = _source_times_ns(source, _gap_ns(simulation, leaf, source), end_ns, draw.uniform())
            times_ns.append(times.astype(np.int64))
            leaves.append(np.full(len(times), number))
    order = np.argsort(np.concatenate(times_ns), kind="stable")
    return PlannedPackets(np.concatenate(times_ns)[order], np.concatenate(leaves)[order])


def _gap_ns(simulation: Simulation, leaf: TreeClass, source: Mapping[str, Any]) -> float:
    """Mean time between packets; endless of a source that takes what it gets."""
    rate_kbps = offered_kbps(leaf, [source], simulation.link_kbps)
    return float(simulation.setup["packet_bytes"] * 8 * _NS / (rate_kbps * 1000))


def _source_times_ns(source: Mapping[str, Any], gap_ns: float, end_ns: float, phase: float) -> NDArray[np.float64]:
    """Times of a source whose packets come every ``gap_ns`` on average; ``phase`` is a part of its first period."""
    match source:
        case {"kind": "cbr"}:
            return np.arange(phase * gap_ns, end_ns, gap_ns)
        case {"kind": "onoff", "lengths": "deterministic", "on_ms": on, "off_ms": off}:
            period_ns = (on + off) * _MS
            # While it sends its gaps are shorter, so that the mean is kept.
            within = np.arange(0, on * _MS, gap_ns * on / (on + off))
            begins = np.arange(-phase * period_ns, end_ns, period_ns)
            times = (begins[:, None] + within).ravel()
            return times[(times >= 0) & (times < end_ns)]
    raise ServiceError(
        f"the kernel is sent no source like {dict(source)}", hint="use cbr, or onoff of even lengths"
    )


def commands(simulation: Simulation) -> list[str]:
    """What the router is told."""
    setup, tree = simulation.setup, simulation.tree
    numbers = {one.name: number for number, one in enumerate(tree.classes, start=1)}
    leaves = {leaf.name for leaf in tree.leaves}
    lines = [*line_commands(int(simulation.link_kbps)), "tc qdisc add dev out parent 1:1 handle 10: hfsc"]
    for one in tree.classes:
        parent = "10:" if one.parent is None else f"10:{numbers[one.parent]}"
        curves = _curves(simulation, one, is_leaf=one.name in leaves)
        lines.append(f"tc class add dev out parent {parent} classid 10:{numbers[one.name]} hfsc {curves}")
    for number, leaf in enumerate(tree.leaves):
        flow = f"10:{numbers[leaf.name]}"
        lines.append(f"tc qdisc add dev out parent {flow} pfifo limit {setup['queue_packets']}")
        marked = f"u32 match ip tos {_dscp(number) << 2:#04x} 0xfc flowid {flow}"
        lines.append(f"tc filter add dev out parent 10: protocol ip {marked}")
    return lines


def _curves(simulation: Simulation, one: TreeClass, *, is_leaf: bool) -> str:
    setup = simulation.setup
    rate = f"{round(one.share * simulation.link_kbps * 1000)}bit"
    curves = [f"ls rate {rate}"]
    if is_leaf:
        sooner = f"umax {setup['packet_bytes']}b dmax {setup['high_packet_ms']}ms "
        curves.append(f"rt {sooner if one.priority == 'high' else ''}rate {rate}")
    if not one.borrow:
        curves.append(f"ul rate {rate}")
    return " ".join(curves)


def _dscp(leaf: int) -> int:
    """A class selector of its own for each leaf."""
    return 8 * (leaf + 1)


def _run(simulation: Simulation, packets: PlannedPackets) -> KernelRouterRun:
    sizes = np.full(len(packets.times_ns), simulation.setup["packet_bytes"])
    return run_kernel_router(
        commands(simulation),
        [_dscp(number) for number in range(len(simulation.tree.leaves))],
        (packets.times_ns.tolist(), packets.leaves.tolist(), sizes.tolist()),
        drain_s=simulation.setup["drain_s"],
    )


def _kernel_case(
    simulation: Simulation, packets: PlannedPackets, run: KernelRouterRun, scenario: str, number: int
) -> Case:
    """Throughput of each leaf after the warm-up, by when its packets left the line."""
    setup, link_kbps = simulation.setup, simulation.link_kbps
    line_ns = setup["packet_bytes"] * 8 * _NS / (link_kbps * 1000)
    left_ns = np.array([-1 if at is None else at + line_ns for at in run.received_ns])
    counted = (left_ns > setup["warm_up"] * _NS) & (left_ns <= _end_ns(simulation))
    kbit = setup["packet_bytes"] * 8 / 1000
    values = {
        f"{KERNEL}.{leaf.name}": {
            "throughput_kbps": float(counted[packets.leaves == queue].sum()) * kbit / setup["seconds"]
        }
        for queue, leaf in enumerate(simulation.tree.leaves)
    }
    total = sum(one["throughput_kbps"] for one in values.values())
    values[f"{KERNEL}.all"] = {"throughput_kbps": total, "idle_kbps": link_kbps - total}
    subjects = {subject: SubjectSelection() for subject in values}
    return Case((scenario,), None, subjects, load=float(number), values=values)


def _sent_flows(
    simulation: Simulation, packets: PlannedPackets, run: KernelRouterRun
) -> dict[str, Sequence[FlowSpec]]:
    """The twin's flow of each leaf, with the times at which the kernel's sender sent."""
    sent_ps = np.array(run.sent_ns) * _PS_PER_NS
    size = simulation.setup["packet_bytes"]
    flows: dict[str, Sequence[FlowSpec]] = {}
    for queue, leaf in enumerate(simulation.tree.leaves):
        times = tuple(sent_ps[packets.leaves == queue].tolist())
        source = TraceSource(times_ps=times, ip_bytes=(size,) * len(times))
        flows[leaf.name] = [
            FlowSpec(name=leaf.name, path=(PORT,), packet=PacketSpec(cos=queue), source=source)
            if times
            else silent(leaf, queue, PORT, _end_ns(simulation) * _PS_PER_NS)
        ]
    return flows


def _end_ns(simulation: Simulation) -> int:
    return int((simulation.setup["warm_up"] + simulation.setup["seconds"]) * _NS)
