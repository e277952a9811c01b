"""The twin as a tester: a packet simulation of the network as its devices say they are configured."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import qosforge_twin

from qosforge.deltaq.error_spending import LOOKS
from qosforge.deltaq.warm_up import STILL_FELT
from qosforge.errors import TesterError
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network, Station, TrafficFlow, TrafficScenario
from qosforge.plan.model import Efficiency, InterfacePlan, Plan
from qosforge.platforms.base import platform
from qosforge.tester.expectation import Expectation, expectations
from qosforge.tester.hop_delays import JudgedPath, path_delays
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, When
from qosforge.tester.measurement.path_delay import PathDelay
from qosforge.tester.measurement.pooling import joined
from qosforge.tester.policer_memory import PolicerMemory
from qosforge.tester.replications import (
    BACKING_OFF_SECONDS,
    MOST_FELT,
    REPLICATIONS,
    WARM_UP_SECONDS,
    Timing,
    clock_of,
    most_felt,
    seed_of,
)
from qosforge.tester.scenario.ports import framing_name, port
from qosforge.tester.scenario.sources import by_own_clock, source_of
from qosforge.tester.scenario.streams import streams
from qosforge.tester.scenario.traffic import flow_classes, flow_names, sample_every, scenario_of

Json = dict[str, Any]

TESTER = "twin"
STATION_PORT = "nic"
PS = 10**12


@dataclass(frozen=True, slots=True)
class _Job:
    """A scenario to be run: who is judged, and what is known of its flows beforehand, by their names in the twin's
    scenario."""

    scenario: TrafficScenario
    judged: set[tuple[str, str]]
    described: Mapping[str, TrafficFlow]
    classes: Mapping[str, str]
    expected: Mapping[str, Expectation]
    policers: PolicerMemory

    def result(self, entry: Json, timing: Timing, replication: int) -> FlowResult:
        """What the twin says of one flow in one replication."""
        flow = self.described[entry["name"]]
        expected = self.expected[entry["name"]]
        delay = entry["delay_ps"]
        pace = entry["interarrival_ps"]
        heard = entry["delivered"] > 0
        samples = tuple((sent, delay) for sent, delay in entry.get("samples") or ())
        return FlowResult(
            name=entry["name"],
            replication=replication,
            traffic_class=self.classes[entry["name"]],
            kind=flow.application or "other",
            path=f"{flow.from_}→{flow.to}",
            sent=entry["sent"],
            delivered=entry["delivered"],
            lost=entry["lost"],
            mean_delay_ps=round(delay["mean"]) if heard else None,
            sd_delay_ps=round(delay["sd"]) if heard else None,
            min_delay_ps=delay["min"] if heard else None,
            max_delay_ps=delay["max"] if heard else None,
            interarrival_sd_ps=round(pace["sd"]) if entry["delivered"] > 2 else None,
            throughput_bps=round(entry["throughput_bps"]),
            offered_bps=expected.offered_bps,
            expected_bps=expected.expected_bps,
            expected_most_bps=expected.expected_most_bps,
            delay_bound_ps=expected.delay_bound_ps,
            samples=samples,
            sample_every=sample_every(flow, timing.seconds * REPLICATIONS[0]),
            histogram=tuple((edge, count) for edge, count in entry["histogram"] or ()),
        )


@dataclass(frozen=True)
class TwinTester:
    """Measures on the twin built from ``plans``: what the devices hold, read back, or (predicted) would hold."""

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
        goes_on: Collection[str] | None = None,
    ) -> Measurement:
        """Run every scenario that the intent verifies, ``when`` the plans stand, in independent replications.

        The second and third of up to three ``looks`` add to what was ``earlier`` measured at the one before, or
        begin anew with longer replications where those still felt their start. ``goes_on`` names the scenarios that
        they add to, all unless told. With one look all is measured at once.

        Raises:
            TesterError: a verification has no traffic, or the twin refuses the scenario.
        """
        wanted, judged = self._wanted(intent)
        results = []
        reference = earlier.delay_reference if earlier else ""
        for scenario, seconds in wanted.values():
            held = earlier.scenario(scenario.name) if earlier else None
            if held and goes_on is not None and scenario.name not in goes_on:
                results.append(held)
                continue
            timing = _timing(held) if held else Timing.of(seconds)
            if held and most_felt(held.flows) >= STILL_FELT:
                held, timing = None, timing.anew()
            numbers = range(held.replications if held else 0, REPLICATIONS[look - 1])
            job = self._job(intent, scenario, judged, timing)
            if not held:
                backing_off = BACKING_OFF_SECONDS * any(flow.source.kind == "tcp" for flow in scenario.flows)
                timing = timing.settled(max(job.policers.settling, backing_off))
            flows, answers = self._flow_results(job, timing, numbers)
            felt = 0.0 if held else most_felt(flows)
            if felt > MOST_FELT:
                timing = timing.longer(felt)
                flows, answers = self._flow_results(job, timing, numbers)
            reference = answers[0]["delay_reference"]
            every = [*(held.flows if held else ()), *flows]
            results.append(
                ScenarioResult(
                    name=scenario.name,
                    title=scenario.title,
                    replications=REPLICATIONS[look - 1],
                    seconds=timing.seconds,
                    warm_up_seconds=timing.warm_up,
                    look=look,
                    path_delays=self._path_delays(intent, job, every, answers, held),
                    flows=joined(every),
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

    def _wanted(self, intent: Intent) -> tuple[dict[str, tuple[TrafficScenario, int]], set[tuple[str, str]]]:
        """The scenarios that the intent verifies with their seconds, and the pairs of stations that are judged."""
        wanted: dict[str, tuple[TrafficScenario, int]] = {}
        judged: set[tuple[str, str]] = set()
        for check in intent.verify:
            scenario = scenario_of(self.network, check)
            if scenario is None:
                raise TesterError(
                    f"no traffic is described between {check.from_} and {check.to}",
                    hint="add a scenario to traffic.yaml that has this pair under 'between'",
                )
            seconds = max(check.seconds, wanted.get(scenario.name, (scenario, 0))[1])
            wanted[scenario.name] = (scenario, seconds)
            judged.add((check.from_, check.to))
        return wanted, judged

    def _run(self, document: Json) -> Json:
        try:
            answer: Json = json.loads(qosforge_twin.run(json.dumps(document), self.seed))
        except qosforge_twin.ScenarioError as error:
            raise TesterError(f"the twin refuses the scenario: {error}") from None
        return answer

    def _job(self, intent: Intent, scenario: TrafficScenario, judged: set[tuple[str, str]], timing: Timing) -> _Job:
        document = self.scenario(scenario, timing.seconds, judged)
        known = streams(self.network, self.plans, scenario, document, self._run)
        by_stream = expectations(known)
        expected = {name: by_stream[stream.name] for stream in known for name in stream.flows}
        described, classes = {}, {}
        for flow in scenario.flows:
            for name, taken in zip(flow_names(flow), flow_classes(intent, flow, self.network), strict=True):
                described[name], classes[name] = flow, taken
        return _Job(scenario, judged, described, classes, expected, PolicerMemory(known, described))

    def _path_delays(
        self,
        intent: Intent,
        job: _Job,
        flows: list[FlowResult],
        answers: list[Json],
        held: ScenarioResult | None,
    ) -> tuple[PathDelay, ...] | None:
        """Where the delay arises; not recorded where it was not ``held`` of the replications before these."""
        if held is not None and held.path_delays is None:
            return None
        judged = dict.fromkeys(
            JudgedPath(name, intent.within(name), check.path)
            for check in intent.verify
            if (check.from_, check.to) in job.scenario.between
            for name in check.classes
        )
        earlier = held.path_delays or () if held else ()
        return path_delays(judged, flows, answers, earlier, job.policers)

    def _flow_results(self, job: _Job, timing: Timing, numbers: range) -> tuple[list[FlowResult], list[Json]]:
        """What every flow saw in these replications, and the twin's own answers."""
        documents = [
            json.dumps(
                self.scenario(job.scenario, timing.seconds, job.judged, warm_up=timing.warm_up, replication=number)
            )
            for number in numbers
        ]
        try:
            texts = qosforge_twin.run_many(documents, [seed_of(self.seed, number) for number in numbers])
        except qosforge_twin.ScenarioError as error:
            raise TesterError(f"the twin refuses the scenario: {error}") from None
        answers = [json.loads(text) for text in texts]
        results = [
            job.result(entry, timing, number)
            for number, answer in zip(numbers, answers, strict=True)
            for entry in answer["flows"]
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
    ) -> Json:
        """The twin's scenario document; with the clocks and the cool-down of a ``replication``, or without."""
        flows = [
            document
            for flow in scenario.flows
            for document in self._flows(flow, (flow.from_, flow.to) in judged, seconds, replication)
        ]
        return {
            "version": 1,
            "duration_ps": round((seconds + warm_up) * PS),
            "warmup_ps": warm_up * PS,
            # As long as the warm-up: the last packets measured are to meet what the first ones did.
            "cool_down_ps": 0 if replication is None else warm_up * PS,
            **self._topology,
            "flows": flows,
        }

    def topology(self) -> Json:
        """The network without traffic: ``nodes`` and ``links`` of the twin's scenario.

        Raises:
            TesterError: a device was not read back, or does what the twin does not model.
        """
        return {
            "nodes": [*self._devices(), *self._stations()],
            "links": [*self._links(), *self._access_links()],
        }

    @cached_property
    def _topology(self) -> Json:
        """The same for all replications; nobody changes it."""
        return self.topology()

    def path(self, source: Station, target: Station) -> list[list[str]]:
        """The egress ports from one station to another."""
        hops = self.network.path(source.name, target.name)
        return [[source.name, STATION_PORT], *(list(hop) for hop in hops)]

    def _devices(self) -> list[Json]:
        nodes = []
        for device in self.network.devices:
            plan = self.plans.get(device.name)
            if plan is None:
                raise TesterError(f"the configuration of {device.name} was not read back")
            profile = platform(device.platform, device.name).profile
            ports = []
            for interface in device.interfaces:
                held = plan.interface(interface.name) or InterfacePlan(name=interface.name)
                end = self.network.neighbour((device.name, interface.name))
                link, far = (end[0], self._efficiency(end[1])) if end else (None, None)
                ports.append(port(plan, held, link, interface.usable, profile, far=far))
            nodes.append({"name": device.name, **profile.forwarding(), "ports": ports})
        return nodes

    def _efficiency(self, end: tuple[str, str]) -> Efficiency | None:
        plan = self.plans.get(end[0])
        held = plan.interface(end[1]) if plan else None
        return held.efficiency if held else None

    def _stations(self) -> list[Json]:
        return [{"name": s.name, "latency_ps": 0, "ports": [{"name": STATION_PORT}]} for s in self.network.stations]

    def _links(self) -> list[Json]:
        return [
            {
                "a": list(link.a),
                "b": list(link.b),
                "rate_bps": link.rate,
                "delay_ps": round(link.delay * PS),
                "framing": framing_name(link.framing),
                "tagged": link.tagged,
            }
            for link in self.network.links
        ]

    def _access_links(self) -> list[Json]:
        return [
            {
                "a": [s.name, STATION_PORT],
                "b": list(s.attach),
                "rate_bps": s.rate,
                "delay_ps": 0,
                "framing": "ethernet",
                "tagged": False,
            }
            for s in self.network.stations
        ]

    def _flows(self, flow: TrafficFlow, samples: bool, seconds: float, replication: int | None) -> list[Json]:
        source, target = self.network.station(flow.from_), self.network.station(flow.to)
        path = self.path(source, target)
        documents = []
        for number, name in enumerate(flow_names(flow)):
            sending = source_of(flow)
            if replication is not None:
                sending |= by_own_clock(sending, clock_of(self.seed, replication, name))
            document: Json = {
                "name": name,
                "path": path,
                "packet": {
                    "dscp": flow.dscp,
                    "cos": flow.cos,
                    "protocol": {"tcp": 6, "udp": 17}[flow.protocol],
                    "src": source.address,
                    "dst": target.address,
                    "src_port": flow.src_port + number,
                    "dst_port": flow.dst_port,
                    "application": flow.application,
                },
                "source": sending,
                "samples": samples,
                "histogram": not samples,
                "hops": samples and replication is not None,
                "sample_every": sample_every(flow, seconds * REPLICATIONS[0]),
            }
            if flow.source.kind == "tcp":
                document["return_path"] = self.path(target, source)
            documents.append(document)
        return documents


def _timing(held: ScenarioResult) -> Timing:
    """How long the replications of a measurement that goes on were."""
    return Timing(held.seconds or 0, round(held.warm_up_seconds or 0))
