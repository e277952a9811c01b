"""The tester ``probes``: a plan's flows as packets between the hosts of its stations."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from random import Random

from qosforge.errors import InputError, Place, TesterError
from qosforge.inventory.probes import GuestHost, Probes
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, Side
from qosforge.tester.measurement.protocol_checks import WAITED_SECONDS
from qosforge.tester.measurement_plan import MeasurementPlan, PlannedFlow, PlannedScenario
from qosforge.tester.permission import require_permission
from qosforge.tester.probes import iperf3, mgen
from qosforge.tester.probes.clocks import TOOLS, ClockDifference, clock_difference, comparing_seconds
from qosforge.tester.probes.hosts import Host, HostProcess
from qosforge.tester.probes.mgen import RESOLUTION_PS, ReceivedLog, SentLog
from qosforge.tester.probes.results import join_starts, tcp_result, udp_result
from qosforge.tester.replications import replication_seed
from qosforge.tester.scenario.sources import PHASE_SECONDS

TESTER = "probes"
_SIDES: tuple[Side, ...] = ("before", "after")
_STARTING_SECONDS = 1.0
_LONGER_SECONDS = 3.0
_LOOK_SECONDS = 0.1
_PS = 10**12
_STARTED = " START "
"""What MGEN says first."""
_ACCEPTED = "Accepted connection"
"""What an iperf3 server says of the client's first one."""
_COMPARISONS = 2
"""Of the clocks of two hosts in each start: before and after."""


@dataclass(frozen=True)
class ProbeTester:
    """Sends what a plan describes from host to host, with MGEN and iperf3, and gives what every packet saw."""

    probes: Probes
    ssh_options: tuple[str, ...] = ()

    def measure(self, plan: MeasurementPlan, when: Side) -> Measurement:
        """Carry a plan out, scenario after scenario, in real time.

        Raises:
            InputError: a station has no host, or packets may not be sent.
            TesterError: a host is not reached, lacks a tool, or cannot send what is described.
        """
        hosts = self._hosts(plan)
        if not all(host.is_local for host in hosts.values()):
            require_permission(plan, self.probes.permission)
        _require_tools(plan, hosts)
        results, error_ps = [], RESOLUTION_PS
        for scenario in plan.scenarios:
            first = _SIDES.index(when) * plan.replications
            runs = [_ScenarioRun(plan, scenario, hosts, first + number) for number in range(plan.replications)]
            results.append(join_starts(scenario, [running.result() for running in runs]))
            error_ps = max(error_ps, *(running.clock_error_ps + RESOLUTION_PS for running in runs))
        return Measurement(
            when=when,
            evidence="measured",
            tester=TESTER,
            seed=plan.seed,
            clock_error_ps=error_ps,
            delay_reference="from MGEN's call that sends to MGEN's call that receives",
            scenarios=tuple(results),
        )

    def _hosts(self, plan: MeasurementPlan) -> dict[str, Host]:
        known = {host.station: host for host in self.probes.hosts}
        missing = [name for name in plan.stations if name not in known]
        if missing:
            raise InputError(
                f"no host is known behind {', '.join(missing)}",
                Place(file="probes.yaml", path="hosts"),
                "give each station of the traffic one: its `station`, and `ssh` or `namespace`",
            )
        return {name: Host(name, known[name], self.ssh_options) for name in plan.stations}


def seconds_taken(plan: MeasurementPlan) -> float:
    """About how long the probes of a plan take, with what goes before and after each start."""
    hosts = {host.station: Host(host.station, host) for host in plan.network.probes.hosts}
    seconds = 0.0
    for scenario in plan.scenarios:
        pairs = {(flow.source.name, flow.target.name) for flow in scenario.flows if not _is_tcp(flow)}
        known = [(hosts[source], hosts[target]) for source, target in pairs if {source, target} <= hosts.keys()]
        beside = scenario.warm_up_seconds + PHASE_SECONDS + WAITED_SECONDS + _STARTING_SECONDS
        beside += _longer_seconds(scenario.flows)
        comparing = _COMPARISONS * sum(comparing_seconds(*pair) for pair in known)
        seconds += plan.replications * (plan.seconds_of_each(scenario) + beside + comparing)
    return seconds


def _longer_seconds(flows: Iterable[PlannedFlow]) -> float:
    """How much longer than is measured each of several senders sends: they begin one after the other.

    A host has one for all its datagrams, and one for each description of connections.
    """
    senders = {(flow.source.name, flow.described.name if _is_tcp(flow) else "") for flow in flows}
    return _LONGER_SECONDS if len(senders) > 1 else 0.0


def _is_tcp(flow: PlannedFlow) -> bool:
    return flow.described.source.kind == "tcp"


def _require_tools(plan: MeasurementPlan, hosts: Mapping[str, Host]) -> None:
    """Make sure that hosts have what they need, before anything is sent."""
    needed: dict[str, set[str]] = defaultdict(lambda: {"timeout"})
    for flow in (flow for scenario in plan.scenarios for flow in scenario.flows):
        both = (flow.source.name, flow.target.name)
        local = all(hosts[name].is_local for name in both)
        for name in both:
            needed[name].add("iperf3" if _is_tcp(flow) else "mgen")
            if not local:
                exchanging = "exchange" in [hosts[each].described.clock for each in both]
                needed[name].add("irtt" if exchanging else TOOLS[hosts[name].described.clock])
    for name, tools in needed.items():
        hosts[name].require(sorted(tools))


class _ScenarioRun:
    """One scenario on its way. Every process that it starts ends by itself, also if this one is killed."""

    def __init__(
        self, plan: MeasurementPlan, scenario: PlannedScenario, hosts: Mapping[str, Host], start: int
    ) -> None:
        self._start_number = start
        self._scenario = scenario = replace(scenario, seconds=plan.seconds_of_each(scenario))
        self._replications = plan.replications
        self._hosts = hosts
        self._meanwhile = plan.meanwhile
        random = Random(replication_seed(plan.seed, start % plan.replications))  # noqa: S311 (phases of flows)
        self._udp = {n: flow for n, flow in enumerate(scenario.flows, start=1) if not _is_tcp(flow)}
        self._tcp: dict[str, list[PlannedFlow]] = defaultdict(list)
        for flow in scenario.flows:
            if _is_tcp(flow):
                self._tcp[flow.described.name].append(flow)
        self._phases = {number: random.uniform(0, PHASE_SECONDS) for number in self._udp}
        self._end = scenario.warm_up_seconds + scenario.seconds + PHASE_SECONDS
        self._longer = _longer_seconds(scenario.flows)
        self._clocks: dict[tuple[str, str], ClockDifference] = {}
        self._lag_ps: dict[str, int] = {}
        self.clock_error_ps = 0
        _require_own_ports(self._tcp.values())

    def result(self) -> ScenarioResult:
        """Send, receive, and put the logs together."""
        before = self._differences()
        with ExitStack() as started:
            receivers = self._start_receivers(started)
            servers = self._start_servers(started)
            for server in servers.values():
                server.await_lines("listening", 1, "iperf3")
            clients = self._start_clients(started)
            connected = self._await_connections(servers, clients)
            senders = self._start_senders(started)
            begun = HostProcess.await_each(senders, _STARTED, "mgen")
            self._require_beside(connected, begun)
            sent = {name: mgen.read_sent(p.finished("mgen", self._meanwhile)) for name, p in senders.items()}
            reports = {name: p.finished("iperf3", self._meanwhile) for name, p in clients.items()}
            self._await_packets(sent, receivers)
            received = {
                name: mgen.read_received(process.printed(), self._numbers_to(name))
                for name, process in receivers.items()
            }
        self._lag_ps = self._lags(begun, sent)
        self._clocks = self._in_the_middle(before, self._differences())
        self.clock_error_ps = max((each.error_ps for each in self._clocks.values()), default=0)
        return self._put_together(sent, received, reports)

    def _differences(self) -> dict[tuple[str, str], ClockDifference]:
        pairs = {(flow.source.name, flow.target.name): flow.target.address for flow in self._udp.values()}
        return {
            pair: clock_difference(self._hosts[pair[0]], self._hosts[pair[1]], address)
            for pair, address in pairs.items()
        }

    @staticmethod
    def _in_the_middle(
        before: Mapping[tuple[str, str], ClockDifference], after: Mapping[tuple[str, str], ClockDifference]
    ) -> dict[tuple[str, str], ClockDifference]:
        """The difference in the middle of the scenario; how far it moved until then, or since, is of its error."""
        joined = {}
        for pair, first in before.items():
            last = after[pair]
            moved = abs(last.ahead_ps - first.ahead_ps)
            error = max(first.error_ps, last.error_ps) + -(-moved // 2)
            joined[pair] = ClockDifference((first.ahead_ps + last.ahead_ps) // 2, error)
        return joined

    def _numbers_to(self, station: str) -> list[int]:
        return [number for number, flow in self._udp.items() if flow.target.name == station]

    def _start(self, started: ExitStack, station: str, words: Sequence[str], seconds: float) -> HostProcess:
        process = self._hosts[station].start(words, seconds)
        started.callback(process.end)
        return process

    def _start_mgen(
        self,
        started: ExitStack,
        station: str,
        words: Sequence[str],
        seconds: float,
        first: tuple[str, int],
    ) -> HostProcess:
        """See `Host.start_logging`: MGEN sends late where its log is held up."""
        process = self._hosts[station].start_logging(words, seconds, first)
        started.callback(process.end)
        return process

    def _start_receivers(self, started: ExitStack) -> dict[str, HostProcess]:
        """MGEN at every target, which listens until it is ended: how long senders take to begin is not known."""
        running = {}
        for station in dict.fromkeys(flow.target.name for flow in self._udp.values()):
            words = mgen.receive_words(self._flows_to(station))
            seconds = self._end + self._longer + WAITED_SECONDS
            running[station] = self._start_mgen(started, station, words, seconds, self._listening(station))
        for station, process in running.items():
            process.await_lines(*self._listening(station), "mgen")
        return running

    def _listening(self, station: str) -> tuple[str, int]:
        """What MGEN says of each port at which it listens, and at how many it does there."""
        return " LISTEN ", len({flow.described.dst_port for flow in self._flows_to(station)})

    def _await_packets(self, sent: Mapping[str, SentLog], receivers: Mapping[str, HostProcess]) -> None:
        """Until every packet has come, or for as long as packets are waited for, by the receivers' own time.

        Raises:
            TesterError: a receiver has ended before, so that nobody knows what came since.
        """
        end = time.monotonic() + WAITED_SECONDS
        for station, process in receivers.items():
            if not process.is_running:
                hint = "look whether it can run there, and how long the other hosts take to log in to"
                raise self._hosts[station].error("mgen ended before all packets were sent", hint)
        left = WAITED_SECONDS
        for station, process in receivers.items():
            if not self._hosts[station].prints_at_once:
                process.log_after(left, "mgen", self._meanwhile)
                left = 0.0  # the others listened as long meanwhile
                continue
            numbers = self._numbers_to(station)
            count = sum(len(log.packets.get(number, ())) for log in sent.values() for number in numbers)
            while process.printed().count(" RECV ") < count and time.monotonic() < end:
                time.sleep(_LOOK_SECONDS)

    def _flows_to(self, station: str) -> Iterable[PlannedFlow]:
        return (self._udp[number] for number in self._numbers_to(station))

    def _start_senders(self, started: ExitStack) -> dict[str, HostProcess]:
        """MGEN at every source; none is logged in to after that, which would take the time of what forwards."""
        running = {}
        end = self._end + self._longer
        for station in dict.fromkeys(flow.source.name for flow in self._udp.values()):
            flows = {number: flow for number, flow in self._udp.items() if flow.source.name == station}
            words = mgen.send_words(flows, self._phases, end)
            running[station] = self._start_mgen(started, station, words, end, (_STARTED, 1))
        return running

    def _lags(self, begun: Mapping[str, float], sent: Mapping[str, SentLog]) -> dict[str, int]:
        """How long before the last sender each one began, in picoseconds: by their one clock, or when it was told.

        Raises:
            TesterError: one did so long before that it was over too soon.
        """
        if all(self._hosts[name].is_local for name in sent):
            lags = mgen.lags_ps(sent)
        else:
            last = max(begun.values(), default=0.0)
            lags = {name: round((last - at) * _PS) for name, at in begun.items()}
        for name, lag in lags.items():
            if lag > (self._longer + PHASE_SECONDS) * _PS:
                raise TesterError(
                    f"the host of {name} began to send {lag / _PS:.1f} s before the last one, and none sends more "
                    f"than {self._longer:g} s longer than is measured",
                    hint="look why the other hosts take so long to log in to or to begin, and measure again",
                )
        return lags

    def _await_connections(
        self, servers: Mapping[str, HostProcess], clients: Mapping[str, HostProcess]
    ) -> dict[str, float]:
        """When each client was connected, in seconds of ``time.monotonic``; one that has ended reports why."""
        seen: dict[str, float] = {}
        while waiting := [name for name in clients if name not in seen and clients[name].is_running]:
            for name in waiting:
                if _ACCEPTED in servers[name].printed():
                    seen[name] = time.monotonic()
            self._meanwhile()
            time.sleep(_LOOK_SECONDS)
        return seen

    def _require_beside(self, connected: Mapping[str, float], begun: Mapping[str, float]) -> None:
        """Make sure that connections go on until the measured time is over.

        In a guest in virtual time nobody can tell: its clock is not this machine's.

        Raises:
            TesterError: senders began so long after a connection that it would be closed before.
        """
        if any(isinstance(self._hosts[name].described, GuestHost) for name in begun):
            return
        last = max(begun.values(), default=0.0)
        for name, at in connected.items():
            if last - at > self._longer:
                raise TesterError(
                    f"the last host began to send {last - at:.1f} s after flow {name} was connected, which lasts "
                    f"{self._longer:g} s longer than is measured",
                    hint="look why hosts take so long to log in to or to begin, and measure again",
                )

    def _start_servers(self, started: ExitStack) -> dict[str, HostProcess]:
        running = {}
        for name, flows in self._tcp.items():
            words = iperf3.server_words(flows[0].target.address, flows[0].described.dst_port)
            running[name] = self._start(started, flows[0].target.name, words, self._end + self._longer)
        return running

    def _start_clients(self, started: ExitStack) -> dict[str, HostProcess]:
        running = {}
        for name, flows in self._tcp.items():
            first = flows[0]
            seconds = self._scenario.seconds + self._longer
            words = iperf3.client_words(flows, seconds, self._scenario.warm_up_seconds, self._start_number)
            running[name] = self._start(started, first.source.name, words, self._end + self._longer)
        return running

    def _put_together(
        self, sent: Mapping[str, SentLog], received: Mapping[str, ReceivedLog], reports: Mapping[str, str]
    ) -> ScenarioResult:
        found: dict[str, FlowResult] = {}
        for number, flow in self._udp.items():
            name = flow.source.name
            logs = (sent[name], received[flow.target.name])
            clocks = self._clocks[name, flow.target.name]
            lag_ps = self._lag_ps[name]
            found[flow.name] = udp_result(
                flow, number, self._scenario, logs, clocks, lag_ps=lag_ps, replications=self._replications
            )
        for name, flows in self._tcp.items():
            for flow, stream in zip(flows, iperf3.read_report(reports[name], len(flows)), strict=True):
                found[flow.name] = tcp_result(flow, stream)
        return ScenarioResult(
            name=self._scenario.name,
            title=self._scenario.title,
            seconds=self._scenario.seconds,
            warm_up_seconds=self._scenario.warm_up_seconds,
            waited_seconds=WAITED_SECONDS,
            flows=tuple(found[flow.name] for flow in self._scenario.flows),
        )


def _require_own_ports(descriptions: Iterable[Sequence[PlannedFlow]]) -> None:
    """Make sure that no two iperf3 servers need one port.

    Raises:
        TesterError: they do.
    """
    taken: dict[tuple[str, int], str] = {}
    for flows in descriptions:
        first = flows[0]
        key = (first.target.name, first.described.dst_port)
        if key in taken:
            raise TesterError(
                f"flows {taken[key]} and {first.described.name} both send TCP to port {key[1]} of {key[0]}, and an "
                "iperf3 server serves one of them",
                hint="describe them as one, with a count, or give them ports of their own",
            )
        taken[key] = first.described.name
