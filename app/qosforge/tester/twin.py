"""The twin as a tester: a packet simulation of the network by the configurations of its devices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from qosforge.deltaq.error_spending import LOOKS
from qosforge.deltaq.warm_up import START_DOMINATES
from qosforge.errors import TesterError
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network, Station, TrafficFlow, TrafficScenario
from qosforge.plan.model import Efficiency, InterfacePlan, Plan
from qosforge.platforms.base import platform
from qosforge.tester.expectation import Expectation, expectations
from qosforge.tester.hop_delays import JudgedPath, path_delays
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, When
from qosforge.tester.measurement.path_delay import PathDelay
from qosforge.tester.measurement.pooling import join_replications
from qosforge.tester.measurement_plan import verified_scenarios
from qosforge.tester.policer_memory import PolicerMemory
from qosforge.tester.replications import (
    BACKING_OFF_SECONDS,
    MAX_START_EFFECT,
    REPLICATIONS,
    WARM_UP_SECONDS,
    Timing,
    clock_factor,
    largest_start_effect,
    replication_seed,
)
from qosforge.tester.scenario.ports import framing_name, twin_port
from qosforge.tester.scenario.sources import twin_source, with_own_clock
from qosforge.tester.scenario.streams import find_streams
from qosforge.tester.scenario.traffic import flow_classes, flow_names, sample_every
from qosforge.twin.part import VERSION
from qosforge.twin.report import FlowReport, TwinReport
from qosforge.twin.scenario import (
    PS,
    FlowSpec,
    LinkSpec,
    NodeSpec,
    PacketSpec,
    PortName,
    PortSpec,
    TwinScenario,
)
from qosforge.twin.simulation import ScenarioError, simulate, simulate_all

TESTER = "twin"
STATION_PORT = "nic"
_PROTOCOLS = {"tcp": 6, "udp": 17}


@dataclass(frozen=True, slots=True)
class _ScenarioRun:
    """A traffic scenario to simulate: the pairs of stations that are judged, and, by the flows' names in the twin's
    scenario, their descriptions, classes and expectations."""

    scenario: TrafficScenario
    judged: set[tuple[str, str]]
    described: Mapping[str, TrafficFlow]
    classes: Mapping[str, str]
    expected: Mapping[str, Expectation]
    policers: PolicerMemory

    def result(self, entry: FlowReport, timing: Timing, replication: int) -> FlowResult:
        """The result of one flow in one replication, from the twin's report."""
        flow = self.described[entry.name]
        expected = self.expected[entry.name]
        delay, pace = entry.delay_ps, entry.interarrival_ps
        return FlowResult(
            name=entry.name,
            replication=replication,
            traffic_class=self.classes[entry.name],
            kind=flow.application or "other",
            path=f"{flow.from_}→{flow.to}",
            sent=entry.sent,
            delivered=entry.delivered,
            lost=entry.lost,
            mean_delay_ps=None if delay.mean is None else round(delay.mean),
            sd_delay_ps=None if delay.sd is None else round(delay.sd),
            min_delay_ps=delay.min,
            max_delay_ps=delay.max,
            interarrival_sd_ps=round(pace.sd) if pace.sd is not None and entry.delivered > 2 else None,
            throughput_bps=round(entry.throughput_bps),
            offered_bps=expected.offered_bps,
            expected_bps=expected.expected_bps,
            expected_most_bps=expected.expected_most_bps,
            delay_bound_ps=expected.delay_bound_ps,
            samples=entry.samples or (),
            sample_every=sample_every(flow, timing.seconds * REPLICATIONS[0]),
            histogram=entry.histogram or (),
        )


@dataclass(frozen=True)
class TwinTester:
    """Simulates ``plans``: the configurations read back from the devices or, predicted, those to be pushed."""

    network: Network
    plans: Mapping[str, Plan]
    seed: int = 1

    def measure(
        self,
        intent: Intent,
        when: When,
        *,
        look: int = 1,
        looks: int = LOOKS,
        earlier: Measurement | None = None,
        extend: Collection[str] | None = None,
        timings: Mapping[str, Timing] | None = None,
    ) -> Measurement:
        """Simulate every scenario that the intent verifies, in independent replications.

        ``when`` is what the plans stand for. The second and third of up to three ``looks`` add replications to the
        ``earlier`` measurement, or start again with longer ones where the warm-up was too short. ``extend`` names
        the scenarios that they add to (default: all). With one look everything is measured at once. ``timings`` by
        scenario are kept to, so that another measurement's packets are sent again and no more is simulated.

        Raises:
            TesterError: a verification has no traffic, the twin refuses the scenario, or a policer remembers the
                start for longer than its ``timings`` leave out.
        """
        scenarios, judged = verified_scenarios(intent, self.network)
        results = []
        reference = earlier.delay_reference if earlier else ""
        for scenario, seconds in scenarios.values():
            previous = earlier.scenario(scenario.name) if earlier else None
            if previous and extend is not None and scenario.name not in extend:
                results.append(previous)
                continue
            given = (timings or {}).get(scenario.name)
            timing = _timing(previous) if previous else given or Timing.of(seconds)
            if previous and largest_start_effect(previous.flows) >= START_DOMINATES:
                previous, timing = None, timing.anew()
            numbers = range(previous.replications if previous else 0, REPLICATIONS[look - 1])
            run = self._scenario_run(intent, scenario, judged, timing)
            if not previous:
                timing = _settled(run, timing, keep=given is not None)
            flows, answers = self._flow_results(run, timing, numbers)
            start_effect = 0.0 if previous else largest_start_effect(flows)
            if start_effect > MAX_START_EFFECT and given is None:
                timing = timing.longer(start_effect)
                flows, answers = self._flow_results(run, timing, numbers)
            reference = answers[0].delay_reference
            every = [*(previous.flows if previous else ()), *flows]
            results.append(
                ScenarioResult(
                    name=scenario.name,
                    title=scenario.title,
                    replications=REPLICATIONS[look - 1],
                    seconds=timing.seconds,
                    warm_up_seconds=timing.warm_up,
                    look=look,
                    path_delays=self._path_delays(intent, run, every, answers, previous),
                    flows=join_replications(every),
                )
            )
        return Measurement(
            when=when,
            evidence="predicted" if when == "predicted" else "emulated",
            look=look,
            looks=looks,
            tester=TESTER,
            seed=self.seed,
            delay_reference=reference,
            scenarios=tuple(results),
        )

    def _run(self, document: TwinScenario) -> TwinReport:
        try:
            return simulate(document, self.seed)
        except ScenarioError as error:
            raise TesterError(f"the twin refuses the scenario: {error}") from None

    def _scenario_run(
        self, intent: Intent, scenario: TrafficScenario, judged: set[tuple[str, str]], timing: Timing
    ) -> _ScenarioRun:
        document = self.scenario(scenario, timing.seconds, judged)
        known = find_streams(self.network, self.plans, scenario, document, self._run)
        by_stream = expectations(known)
        expected = {name: by_stream[stream.name] for stream in known for name in stream.flows}
        described, classes = {}, {}
        for flow in scenario.flows:
            for name, taken in zip(flow_names(flow), flow_classes(intent, flow, self.network), strict=True):
                described[name], classes[name] = flow, taken
        return _ScenarioRun(scenario, judged, described, classes, expected, PolicerMemory(known, described))

    def _path_delays(
        self,
        intent: Intent,
        run: _ScenarioRun,
        flows: list[FlowResult],
        answers: list[TwinReport],
        previous: ScenarioResult | None,
    ) -> tuple[PathDelay, ...] | None:
        """Delay by hop; ``None`` where the ``previous`` replications did not record it."""
        if previous is not None and previous.path_delays is None:
            return None
        judged = dict.fromkeys(
            JudgedPath(name, intent.within(name), check.path)
            for check in intent.verify
            if (check.from_, check.to) in run.scenario.between
            for name in check.classes
        )
        earlier = previous.path_delays or () if previous else ()
        return path_delays(judged, flows, answers, earlier, run.policers)

    def _flow_results(
        self, run: _ScenarioRun, timing: Timing, numbers: range
    ) -> tuple[list[FlowResult], list[TwinReport]]:
        """The results of every flow in these replications, and the twin's reports."""
        documents = [
            self.scenario(run.scenario, timing.seconds, run.judged, warm_up=timing.warm_up, replication=number)
            for number in numbers
        ]
        try:
            answers = list(simulate_all(documents, [replication_seed(self.seed, number) for number in numbers]))
        except ScenarioError as error:
            raise TesterError(f"the twin refuses the scenario: {error}") from None
        results = [
            run.result(entry, timing, number)
            for number, answer in zip(numbers, answers, strict=True)
            for entry in answer.flows
        ]
        return results, answers

    def scenario(
        self,
        scenario: TrafficScenario,
        seconds: float,
        judged: set[tuple[str, str]],
        *,
        warm_up: int = WARM_UP_SECONDS,
        replication: int | None = None,
    ) -> TwinScenario:
        """The twin's scenario; for a ``replication`` with its sender clocks and cool-down."""
        flows = [
            document
            for flow in scenario.flows
            for document in self._flows(flow, (flow.from_, flow.to) in judged, seconds, replication)
        ]
        nodes, links = self._topology
        return TwinScenario(
            version=VERSION,
            duration_ps=round((seconds + warm_up) * PS),
            warmup_ps=warm_up * PS,
            # As long as the warm-up: the last packets measured are to meet what the first ones did.
            cool_down_ps=0 if replication is None else warm_up * PS,
            nodes=nodes,
            links=links,
            flows=tuple(flows),
        )

    def topology(self) -> tuple[tuple[NodeSpec, ...], tuple[LinkSpec, ...]]:
        """The network without traffic: nodes and links of the twin's scenario.

        Raises:
            TesterError: a device was not read back, or does what the twin does not model.
        """
        return (*self._devices(), *self._stations()), (*self._links(), *self._access_links())

    @cached_property
    def _topology(self) -> tuple[tuple[NodeSpec, ...], tuple[LinkSpec, ...]]:
        """The same for all replications."""
        return self.topology()

    def path(self, source: Station, target: Station) -> tuple[PortName, ...]:
        """The egress ports from one station to another."""
        hops = self.network.path(source.name, target.name)
        return ((source.name, STATION_PORT), *hops)

    def _devices(self) -> list[NodeSpec]:
        nodes = []
        for device in self.network.devices:
            plan = self.plans.get(device.name)
            if plan is None:
                raise TesterError(f"the configuration of {device.name} was not read back")
            profile = platform(device.platform, device.name).profile
            ports = []
            for interface in device.interfaces:
                previous = plan.interface(interface.name) or InterfacePlan(name=interface.name)
                end = self.network.neighbour((device.name, interface.name))
                link, far = (end[0], self._efficiency(end[1])) if end else (None, None)
                ports.append(twin_port(plan, previous, link, interface.usable, profile, far=far))
            latency, jitter = profile.latencies_ps()
            nodes.append(
                NodeSpec(name=device.name, latency_ps=latency, latency_jitter_ps=jitter, ports=tuple(ports))
            )
        return nodes

    def _efficiency(self, end: tuple[str, str]) -> Efficiency | None:
        plan = self.plans.get(end[0])
        previous = plan.interface(end[1]) if plan else None
        return previous.efficiency if previous else None

    def _stations(self) -> list[NodeSpec]:
        return [NodeSpec(name=s.name, ports=(PortSpec(name=STATION_PORT),)) for s in self.network.stations]

    def _links(self) -> list[LinkSpec]:
        return [
            LinkSpec(
                a=link.a,
                b=link.b,
                rate_bps=link.rate,
                delay_ps=round(link.delay * PS),
                framing=framing_name(link.framing),
                tagged=link.tagged,
            )
            for link in self.network.links
        ]

    def _access_links(self) -> list[LinkSpec]:
        return [
            LinkSpec(a=(s.name, STATION_PORT), b=s.attach, rate_bps=s.rate, framing="ethernet")
            for s in self.network.stations
        ]

    def _flows(self, flow: TrafficFlow, samples: bool, seconds: float, replication: int | None) -> list[FlowSpec]:
        source, target = self.network.station(flow.from_), self.network.station(flow.to)
        path = self.path(source, target)
        back = self.path(target, source) if flow.source.kind == "tcp" else None
        flows = []
        for number, name in enumerate(flow_names(flow)):
            sending = twin_source(flow)
            if replication is not None:
                sending = with_own_clock(sending, clock_factor(self.seed, replication, name))
            flows.append(
                FlowSpec(
                    name=name,
                    path=path,
                    return_path=back,
                    packet=PacketSpec(
                        dscp=flow.dscp,
                        cos=flow.cos,
                        protocol=_PROTOCOLS[flow.protocol],
                        src=source.address,
                        dst=target.address,
                        src_port=flow.src_port + number,
                        dst_port=flow.dst_port,
                        application=flow.application,
                    ),
                    source=sending,
                    samples=samples,
                    histogram=not samples,
                    hops=samples and replication is not None,
                    sample_every=sample_every(flow, seconds * REPLICATIONS[0]),
                )
            )
        return flows


def _settled(run: _ScenarioRun, timing: Timing, *, keep: bool) -> Timing:
    """With a warm-up that outlasts policers' buckets and connections that back off.

    Raises:
        TesterError: it would have to be longer, and is to ``keep``.
    """
    backing_off = BACKING_OFF_SECONDS * any(flow.source.kind == "tcp" for flow in run.scenario.flows)
    settled = timing.with_warm_up(max(run.policers.settling, backing_off))
    if keep and settled != timing:
        raise TesterError(
            f"a policer's bucket lasts for {run.policers.settling:.0f} s, longer than the {timing.warm_up} s that "
            "a simulation leaves out at its start"
        )
    return settled


def _timing(previous: ScenarioResult) -> Timing:
    """How long the replications of a measurement that goes on were."""
    return Timing(previous.seconds or 0, round(previous.warm_up_seconds or 0))
