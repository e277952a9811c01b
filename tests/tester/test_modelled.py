"""What the twin does not model is refused by name, never left out of a measurement."""

from __future__ import annotations

import json
from typing import Any

import pytest
import qosforge_twin

from app import errors
from app.inventory.models import Framing
from app.plan.model import (
    DROP,
    TRANSMIT,
    Action,
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
    Policer,
    Queue,
    Red,
    RedProfile,
    Rule,
    Scheduler,
    TailThreshold,
    Term,
)
from app.tester.ports import framing_name

from .test_ports import link, made

BUCKET = Policer(rate=64_000, burst=8000)


def queued(**queue: Any) -> InterfacePlan:
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(Queue(number=0, name="gold", **queue),))
    return InterfacePlan(name="1", egress=Egress(default_queue=0, scheduler=scheduler))


def ruled(**rule: Any) -> InterfacePlan:
    return InterfacePlan(name="1", ingress=Ingress(rules=(Rule(name="gold", any_of=(Term(),), **rule),)))


@pytest.mark.parametrize(
    ("interface", "says"),
    [
        (InterfacePlan(name="1", ingress=Ingress(policers=(InterfacePolicer(police=BUCKET),))), "rate-limit"),
        (InterfacePlan(name="1", egress=Egress(policers=(InterfacePolicer(police=BUCKET),))), "rate-limit"),
        (ruled(set_precedence=5), "precedence alone .class gold"),
        (ruled(police=Policer(rate=64_000, burst=8000, excess_burst=8000)), "two buckets .* .class gold"),
        (ruled(police=Policer(rate=64_000, burst=8000, conform=Action(set_dscp=10))), "two buckets"),
        (ruled(police=Policer(rate=64_000, burst=8000, exceed=Action(set_precedence=1))), "two buckets"),
        (ruled(police=Policer(rate=64_000, burst=8000, exceed=TRANSMIT)), "two buckets"),
        (queued(shape_rate=64_000), "shaped to a rate .gold"),
        (queued(police=BUCKET), "a queue that is metered .gold"),
        (InterfacePlan(name="1", egress=Egress(shape_rate=64_000)), "a port shaped to 64000 b/s"),
        (queued(child=Egress()), "divided among classes of its own .gold"),
        (queued(limit_ms=20), "queue limit in time .gold"),
        (queued(level=1), "order of service beside the shares .gold"),
        (queued(red=Red(ecn=True)), "congestion notification .gold"),
        (queued(red=Red(unit="ms")), "thresholds in time .gold"),
        (queued(red=Red(), thresholds=(TailThreshold(dscp=(10,), percent=40),)), "weighted tail drop beside"),
    ],
)
def test_what_the_twin_cannot_do_is_told_with_its_place(interface: InterfacePlan, says: str) -> None:
    with pytest.raises(errors.TesterError, match=says) as caught:
        made(interface)
    assert (caught.value.where.device, caught.value.where.interface) == ("a", "1")
    assert "another tester" in caught.value.mend


@pytest.mark.parametrize("framing", [Framing.ATM, Framing.ETHERNET])
def test_headers_are_not_compressed_on_every_framing(framing: Framing) -> None:
    compressed = InterfacePlan(name="1", efficiency=Efficiency(header_compression=True))
    with pytest.raises(errors.TesterError, match=f"compression on {framing.value} framing"):
        made(compressed, line=link(framing))
    made(compressed, line=link(Framing.FRAME_RELAY))


@pytest.mark.parametrize("framing", Framing)
def test_the_twin_has_every_framing(framing: Framing) -> None:
    flow = {"name": "f", "path": [["a", "1"]], "source": {"kind": "cbr", "rate_bps": 12_000, "ip_bytes": 1500}}
    rate = 64_000
    scenario = {
        "version": 1,
        "duration_ps": 10**12,
        "nodes": [
            {"name": "a", "ports": [made(InterfacePlan(name="1"), line=link(framing))]},
            {"name": "b", "ports": [{"name": "1"}]},
        ],
        "links": [{"a": ["a", "1"], "b": ["b", "1"], "rate_bps": rate, "framing": framing_name(framing)}],
        "flows": [flow],
    }
    (report,) = json.loads(qosforge_twin.run(json.dumps(scenario), 1))["flows"]
    assert report["delay_ps"]["min"] > 1500 * 8 * 10**12 / rate


def test_colours_matter_only_where_a_queue_looks_at_them() -> None:
    profiles = (RedProfile(colour="high", minimum=10, maximum=20),)
    coloured = queued(red=Red(profiles=profiles))
    rule = Rule(name="gold", any_of=(Term(),), set_drop_precedence="high")
    made(InterfacePlan(name="1", ingress=Ingress(rules=(rule,))))
    with pytest.raises(errors.TesterError, match="drop precedence"):
        made(coloured.model_copy(update={"ingress": Ingress(rules=(rule,))}))


def test_a_policer_that_drops_or_remarks_reaches_the_twin() -> None:
    dropped = made(ruled(police=Policer(rate=64_000, burst=8000, exceed=DROP)))
    marked = made(ruled(police=Policer(rate=64_000, burst=8000, exceed=Action(set_cos=1))))
    (drop,), (mark,) = dropped["ingress"]["rules"], marked["ingress"]["rules"]
    assert "exceed" not in drop["police"]
    assert mark["police"]["exceed"] == {"cos": 1}


def test_weighted_tail_drop_is_detection_that_does_not_average() -> None:
    thresholds = (TailThreshold(dscp=(12, 14), percent=40), TailThreshold(dscp=(10,), percent=100))
    (queue,) = made(queued(limit_packets=50, limit_bytes=9000, thresholds=thresholds))["egress"]["queues"]
    assert (queue["limit_packets"], queue["limit_bytes"]) == (50, 9000)
    assert queue["red"] == {
        "weight_exponent": 0,
        "unit": "packets",
        "profiles": [{"match_dscp": [12, 14], "min": 20, "max": 20, "mark_denominator": 1}],
    }


def test_the_transmit_ring_is_what_the_hardware_holds() -> None:
    egress = queued().egress.model_copy(update={"transmit_ring": 5})
    assert made(InterfacePlan(name="1", egress=egress))["egress"]["tx_fifo_packets"] == 5
    assert made(queued())["egress"]["tx_fifo_packets"] == 2


def test_vlans_are_matched() -> None:
    rule = Rule(name="gold", any_of=(Term(vlan=(10, 20)),))
    (told,) = made(InterfacePlan(name="1", ingress=Ingress(rules=(rule,))))["ingress"]["rules"]
    assert told["match"] == {"any": [{"vlan": [10, 20]}]}
