"""Expected throughput beside what the twin does where a router of the campus shapes, or divides classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from qosforge.calculus.delay_bounds import delay_bounds
from qosforge.calculus.stages import Passage
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.plan.model import Discipline, Egress, Plan, Queue, Rule, Scheduler, Share, ShareUnit, Term
from qosforge.platforms.base import platform
from qosforge.tester.expectation import throughput_ranges
from qosforge.tester.scenario.streams import find_streams
from qosforge.tester.twin import TwinTester
from qosforge.twin.scenario import PS

ROOT = Path(__file__).parents[2]
INVENTORY = ROOT / "inventories" / "campus"
ROUTER, PORT = "r1", "Serial0/0"
SECONDS = 20


def percent(value: int) -> Share:
    return Share(unit=ShareUnit.PERCENT, value=value)


def shaped(egress: Egress) -> Egress:
    """The whole port at 1 Mb/s."""
    return egress.model_copy(update={"shape_rate": 1_000_000})


def around(egress: Egress) -> Egress:
    """A policy that shapes the port, with the compiled one inside."""
    whole = Queue(number=0, name="class-default", shape_rate=1_000_000, child=egress)
    return Egress(
        policy="AROUND",
        default_queue=0,
        scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(whole,)),
    )


def branched(egress: Egress) -> Egress:
    """Two branches: what comes from the measured stations under the compiled policy, and a bounded rest."""
    del egress
    inner = Egress(
        rules=(Rule(name="marked", any_of=(Term(dscp=(34, 46)),), queue=0),),
        default_queue=1,
        scheduler=Scheduler(
            discipline=Discipline.LLQ_CBWFQ,
            queues=(
                Queue(number=0, name="marked", share=percent(60), limit_packets=20),
                Queue(number=1, name="other", share=percent(40), limit_packets=20),
            ),
        ),
    )
    return Egress(
        policy="BRANCHES",
        rules=(Rule(name="tcp", any_of=(Term(protocol=6),), queue=0),),
        default_queue=1,
        scheduler=Scheduler(
            discipline=Discipline.LLQ_CBWFQ,
            queues=(
                Queue(number=0, name="tcp", share=percent(30), limit_packets=64),
                Queue(number=1, name="udp", share=percent(70), shape_rate=900_000, child=inner),
            ),
        ),
    )


def fair(egress: Egress) -> Egress:
    """One class, fair among flows."""
    del egress
    queue = Queue(number=0, name="class-default", fair=True, limit_packets=64)
    return Egress(
        policy="FAIR",
        default_queue=0,
        scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(queue,)),
    )


def with_output(plan: Plan, made: Callable[[Egress], Egress]) -> Plan:
    interfaces = tuple(
        i.model_copy(update={"egress": made(i.egress)}) if i.name == PORT else i for i in plan.interfaces
    )
    return plan.model_copy(update={"interfaces": interfaces})


@pytest.mark.parametrize("made", [shaped, around, branched, fair])
def test_streams_get_what_is_expected_of_them(made: Callable[[Egress], Egress]) -> None:
    network = load_network(INVENTORY)
    texts = {d.name: (INVENTORY / (d.startup or "")).read_text() for d in network.devices}
    plans = {d.name: platform(d.platform, d.name).parse(texts[d.name], d.name, d.image) for d in network.devices}
    intent = load_intent(ROOT / "policies" / "campus-collaboration.yaml")
    plans |= {each.request.device: each.plan for each in compile_intent(intent, network, texts).devices}
    plans[ROUTER] = with_output(plans[ROUTER], made)
    tester = TwinTester(network, plans)
    scenario = next(entry for entry in network.traffic if entry.name == "layer-3")
    document = tester.scenario(scenario, SECONDS, set())
    answer = tester._run(document)
    found = find_streams(network, plans, scenario, document, tester._run)

    passing = [
        stream
        for stream in found
        if any(isinstance(s, Passage) and (s.line.node, s.line.port) == (ROUTER, PORT) for s in stream.stages)
    ]
    seen, late, bounds = {}, {}, delay_bounds(found)
    for stream in passing:
        own = {stream.name} if stream.count == 1 else {f"{stream.name}-{n + 1}" for n in range(stream.count)}
        seen[stream.name] = sum(flow.throughput_bps for flow in answer.flows if flow.name in own)
        worst = max(flow.delay_ps.max or 0 for flow in answer.flows if flow.name in own)
        bound = bounds[stream.name]
        if bound is not None and worst > bound * PS:
            late[stream.name] = (worst, bound)
    assert not late
    assert made is fair or any(bounds[stream.name] is not None for stream in passing)
    expected = {name: least for name, (least, _) in throughput_ranges(found).items()}
    total = {stream.name: expected[stream.name] * stream.count for stream in passing}
    assert len(passing) == 4
    assert sum(seen.values()) == pytest.approx(sum(total.values()), rel=0.05)
    for name, rate in total.items():
        assert seen[name] == pytest.approx(rate, rel=0.1, abs=0.05 * sum(total.values())), name
