"""Where the delay of classes arises: hop delays of the twin, added up over flows and replications."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from qosforge.deltaq.gsv import lower_hull
from qosforge.tester.measurement.document import FlowResult, quantiles_ps
from qosforge.tester.measurement.path_delay import MOST_SIZES, HopDelay, PathDelay, compose, condense, hop_deltaq
from qosforge.tester.measurement.pooling import counted_mean_ps, summarise
from qosforge.tester.policer_memory import PolicerMemory
from qosforge.twin.report import FlowReport, HopReport, HopsReport, TwinReport

_FlowHops = tuple[FlowReport, HopsReport]


@dataclass(frozen=True, slots=True)
class JudgedPath:
    """A class that is judged, those that divide it, and the path."""

    traffic_class: str
    within: frozenset[str]
    path: str

    def takes(self, flow: FlowResult) -> bool:
        """Whether the packets of a flow belong to it."""
        return flow.path == self.path and flow.traffic_class in self.within


@dataclass(slots=True)
class _HopTotals:
    """A hop, added up over flows and replications; sums are over the packets delivered."""

    node: str
    port: str
    lost: int = 0
    lost_input: int = 0
    fixed_ps: int | None = None
    serialisation_ps: float = 0.0
    longest_ps: int = 0
    waiting_ps: float = 0.0
    waiting: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, step: HopReport, delivered: int) -> None:
        """Add what the twin says of it for a flow."""
        self.lost += step.lost
        self.lost_input += step.lost_input
        if delivered:
            serialisation = step.serialisation_ps
            self.fixed_ps = step.fixed_ps
            self.serialisation_ps += (serialisation.mean or 0.0) * delivered
            self.longest_ps = max(self.longest_ps, serialisation.max or 0)
            self.waiting_ps += (step.waiting_ps.mean or 0.0) * delivered
            self._wait(step.waiting_histogram)

    def add_earlier(self, hop: HopDelay, delivered: int) -> None:
        """Add what was measured before."""
        self.lost += hop.lost
        self.lost_input += hop.lost_input
        if delivered:
            self.fixed_ps = hop.fixed_ps
            self.serialisation_ps += (hop.serialisation_ps or 0) * delivered
            self.longest_ps = max(self.longest_ps, hop.longest_serialisation_ps or 0)
            self.waiting_ps += (hop.waiting_ps or 0) * delivered
            self._wait(hop.waiting)

    def _wait(self, bins: Iterable[Sequence[int]]) -> None:
        for delay, count in bins:
            self.waiting[delay] += count

    def hop(self, to: str, delivered: int) -> HopDelay:
        """What it comes to."""
        places = {"node": self.node, "port": self.port, "to": to, "lost": self.lost, "lost_input": self.lost_input}
        if not delivered:
            return HopDelay(**places)
        return HopDelay(
            **places,
            fixed_ps=self.fixed_ps,
            serialisation_ps=round(self.serialisation_ps / delivered),
            longest_serialisation_ps=self.longest_ps,
            waiting_ps=round(self.waiting_ps / delivered),
            waiting=condense(sorted(self.waiting.items())),
        )


def path_delays(
    judged: Iterable[JudgedPath],
    flows: Sequence[FlowResult],
    answers: Sequence[TwinReport],
    earlier: Collection[PathDelay],
    policers: PolicerMemory,
) -> tuple[PathDelay, ...]:
    """Where the delay of every class that is judged arises.

    ``flows`` are all of the scenario, ``answers`` what the twin said in the replications that are new, and
    ``earlier`` what this gave of those before them; ``policers`` are those of the scenario. A class of which
    nothing was sent has none.
    """
    found = []
    for one in judged:
        own = [flow for flow in flows if one.takes(flow)]
        names = {flow.name for flow in own}
        told = [
            [(entry, entry.hops) for entry in answer.flows if entry.name in names and entry.hops is not None]
            for answer in answers
        ]
        before = next((e for e in earlier if (e.traffic_class, e.path) == (one.traffic_class, one.path)), None)
        if any(told):
            burst, settling = policers.of(names)
            path_delay = _path_delay(one, own, told, before)
            found.append(path_delay.model_copy(update={"burst_packets": burst, "settling_seconds": settling}))
    return tuple(found)


def _path_delay(
    one: JudgedPath, flows: Sequence[FlowResult], told: Sequence[Sequence[_FlowHops]], before: PathDelay | None
) -> PathDelay:
    """Of the flows ``told`` in each replication."""
    every = [entry for entries in told for entry in entries]
    hops = [_HopTotals(step.node, step.port) for step in every[0][1].steps]
    unloaded: Counter[int] = Counter()
    least = _two_least([*map(_least, told)], before)
    sent, delivered = 0, 0
    if before is not None:
        sent, delivered = before.sent, before.delivered
        unloaded.update(dict(before.unloaded))
        for total, hop in zip(hops, before.hops, strict=True):
            total.add_earlier(hop, before.delivered)
    for entry, way in every:
        sent += entry.sent
        delivered += entry.delivered
        for total, step in zip(hops, way.steps, strict=True):
            total.add(step, entry.delivered)
        for _, count, _, empty in way.sizes:
            unloaded[round(empty)] += count
    measured = summarise(flows)
    ends = [hop.node for hop in hops[1:]] + [one.path.rpartition("→")[2]]
    empty_way = sorted(unloaded.items())
    arriving, waiting = sent, []
    for total in hops:
        lost = total.lost + total.lost_input
        waiting.append(hop_deltaq(sorted(total.waiting.items()), arriving, lost))
        arriving -= lost
    seen = _fewer(lower_hull([(size, delays[0]) for size, delays in sorted(least.items())]))
    return PathDelay(
        traffic_class=one.traffic_class,
        path=one.path,
        sent=sent,
        delivered=delivered,
        # Of every packet, as the means of the hops are, which add up to it.
        mean_ps=counted_mean_ps(flows),
        hops=tuple(total.hop(to, delivered) for total, to in zip(hops, ends, strict=True)),
        unloaded=condense(empty_way),
        least_by_size=seen,
        second_by_size=tuple((size, least[size][1]) for size, _ in seen if len(least[size]) > 1),
        composed_ps=quantiles_ps(compose(empty_way, waiting)) if sent else {},
        measured_ps=measured.quantiles_ps,
    )


def _least(entries: Sequence[_FlowHops]) -> dict[int, int]:
    """The least delay of each size in one replication."""
    least: dict[int, int] = {}
    for _, way in entries:
        for size, _, delay, _ in way.sizes:
            least[size] = min(delay, least.get(size, delay))
    return least


def _two_least(replications: Sequence[dict[int, int]], before: PathDelay | None) -> dict[int, list[int]]:
    """The least delay of each size, and the second of those that replications have, with those from before."""
    earlier = [dict(before.least_by_size), dict(before.second_by_size)] if before else []
    found: dict[int, list[int]] = {}
    for one in (*earlier, *replications):
        for size, delay in one.items():
            found[size] = sorted([*found.get(size, ()), delay])[:2]
    return found


def _fewer(points: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """At most so many as are kept, those at the ends among them."""
    if len(points) <= MOST_SIZES:
        return tuple(points)
    last = len(points) - 1
    return tuple(points[round(number * last / (MOST_SIZES - 1))] for number in range(MOST_SIZES))
