"""From logs to results: every packet that was sent, with its delay or as lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from qosforge.deltaq.distribution import LOST
from qosforge.errors import TesterError
from qosforge.tester.measurement.document import FlowResult, ScenarioResult
from qosforge.tester.measurement.protocol_checks import WAITED_SECONDS
from qosforge.tester.measurement_plan import PlannedFlow, PlannedScenario
from qosforge.tester.probes.clocks import ClockDifference
from qosforge.tester.probes.iperf3 import TcpStream
from qosforge.tester.probes.mgen import RESOLUTION_PS, ReceivedLog, SentLog
from qosforge.tester.scenario.traffic import sample_every

_PS = 10**12
_US_PS = 10**6


def udp_result(
    flow: PlannedFlow,
    number: int,
    scenario: PlannedScenario,
    logs: tuple[SentLog, ReceivedLog],
    clocks: ClockDifference,
    *,
    lag_ps: int = 0,
    replications: int = 1,
) -> FlowResult:
    """What a flow, with its MGEN ``number``, saw in the seconds after the warm-up, in one of so many replications.

    The warm-up begins ``lag_ps`` after the flow's sender started: when the last of all did.

    What took longer than these, or came after packets were waited for, counts as lost: so a measurement has it.

    Raises:
        TesterError: packets came before they were sent, by more than the clocks may be wrong.
    """
    sent, received = logs
    first = round(scenario.warm_up_seconds * _PS)
    longest = scenario.seconds * _PS
    last = first + longest
    until = last + round(WAITED_SECONDS * _PS)
    delays = received.delays[number]
    samples: list[tuple[int, int]] = []
    arrivals: list[int] = []
    before = -1
    for sequence, moment_us in sent.packets.get(number, ()):
        moment = (moment_us - sent.start_us) * _US_PS - lag_ps
        if not first <= moment < last:
            continue
        # Two packets of one microsecond, which is all that the log tells, are told apart.
        before = moment = max(moment, before + 1)
        delay = LOST
        if sequence in delays:
            delay = _true_delay(delays[sequence] * _US_PS - clocks.ahead_ps, flow, clocks)
            if delay > longest or moment + delay > until:
                delay = LOST
            else:
                arrivals.append(moment + delay)
        samples.append((moment, delay))
    arrived = np.array([delay for _, delay in samples if delay != LOST], dtype=np.int64)
    every = sample_every(flow.described, scenario.seconds * replications)
    bits = flow.described.source.ip_bytes * 8
    gaps = np.diff(np.sort(np.array(arrivals, dtype=np.int64)))
    return FlowResult(
        name=flow.name,
        traffic_class=flow.traffic_class,
        kind=flow.described.application or "other",
        path=flow.path,
        sent=len(samples),
        delivered=len(arrived),
        lost=len(samples) - len(arrived),
        mean_delay_ps=round(float(arrived.mean())) if arrived.size else None,
        sd_delay_ps=round(float(arrived.std())) if arrived.size else None,
        min_delay_ps=int(arrived.min()) if arrived.size else None,
        max_delay_ps=int(arrived.max()) if arrived.size else None,
        interarrival_sd_ps=round(float(gaps.std())) if gaps.size > 1 else None,
        throughput_bps=round(len(arrived) * bits / scenario.seconds),
        offered_bps=round(len(samples) * bits / scenario.seconds),
        samples=tuple(samples[::every]) if flow.judged else (),
        sample_every=every,
    )


def _true_delay(delay_ps: int, flow: PlannedFlow, clocks: ClockDifference) -> int:
    """A delay by clocks that agree; one that is negative within their error is none at all."""
    if delay_ps < -clocks.error_ps - RESOLUTION_PS:
        raise TesterError(
            f"flow {flow.name}: a packet came {-delay_ps / 1e9:.3f} ms before it was sent, and the clocks should "
            f"lie {clocks.error_ps / 1e9:.3f} ms apart at most",
            hint="let the clocks of both hosts follow one source of time, and look whether they do",
        )
    return max(0, delay_ps)


def tcp_result(flow: PlannedFlow, stream: TcpStream) -> FlowResult:
    """What a connection saw: counts and rates alone."""
    return FlowResult(
        name=flow.name,
        traffic_class=flow.traffic_class,
        kind=flow.described.application or "other",
        path=flow.path,
        sent=stream.delivered + stream.lost,
        delivered=stream.delivered,
        lost=stream.lost,
        throughput_bps=stream.throughput_bps,
        offered_bps=stream.offered_bps,
    )


def join_starts(scenario: PlannedScenario, starts: Sequence[ScenarioResult]) -> ScenarioResult:
    """The results of starts of their own as those of one scenario. A sparse flow may have sent nothing in one.

    Raises:
        TesterError: a flow of datagrams sent nothing in any.
    """
    flows = tuple(
        flow.model_copy(update={"replication": number}) for number, each in enumerate(starts) for flow in each.flows
    )
    sent = Counter[str]()
    for flow in flows:
        sent[flow.name] += flow.sent
    for planned in scenario.flows:
        if planned.described.source.kind != "tcp" and not sent[planned.name]:
            seconds = f"{starts[0].seconds:g} s" + f" of each of {len(starts)} starts" * (len(starts) > 1)
            raise TesterError(
                f"flow {planned.name} sent nothing in the {seconds} of scenario {scenario.name}",
                hint="look whether it sends so seldom, and whether MGEN takes its address and port",
            )
    many = len(starts)
    return starts[0].model_copy(update={"replications": many, "independent": many > 1, "flows": flows})
