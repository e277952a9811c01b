"""What the twin does not model is refused by name, never left out of a measurement."""

from __future__ import annotations

import json
from typing import Any

import pytest
import qosforge_twin

from qosforge import errors
from qosforge.inventory.models import Framing
from qosforge.plan.early_drop import Red, RedProfile, TailThreshold
from qosforge.plan.model import (
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
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
)
from qosforge.tester.scenario.ports import framing_name

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
        (ruled(none_of=(Term(source_mac="0000.5e00.5301"),)), "MAC address .class gold"),
        (
            InterfacePlan(
                name="1",
                egress=Egress(
                    policers=(InterfacePolicer(any_of=(Term(destination_mac="0000.5e00.5301"),), police=BUCKET),)
                ),
            ),
            "MAC address .rate-limit",
        ),
        (queued(level=1), "order of service beside the shares .gold"),
        (
            InterfacePlan(
                name="1",
                egress=Egress(
                    scheduler=Scheduler(
                        discipline=Discipline.FLOW_WFQ, queues=(Queue(number=0, name="gold", shape_rate=64_000),)
                    )
                ),
            ),
            "a shaped class of flow-based fair queueing .gold",
        ),
    ],
)
def test_what_the_twin_cannot_do_is_told_with_its_place(interface: InterfacePlan, says: str) -> None:
    with pytest.raises(errors.TesterError, match=says) as caught:
        made(interface)
    assert (caught.value.where.device, caught.value.where.interface) == ("a", "1")
    assert "another tester" in caught.value.hint


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


def policed(**police: Any) -> dict[str, Any]:
    (rule,) = made(ruled(police=Policer(rate=64_000, burst=8000, **police)))["ingress"]["rules"]
    told: dict[str, Any] = rule["police"]
    return told


def test_policers_of_one_bucket_drop_or_remark() -> None:
    bucket = {"kind": "token_bucket", "rate_bps": 64_000, "burst_bytes": 8000, "conform": "transmit"}
    assert policed(exceed=DROP) == bucket | {"exceed": "drop"}
    assert policed(exceed=Action(set_cos=1)) == bucket | {"exceed": {"cos": 1}}
    assert policed(conform=Action(set_dscp=10), exceed=TRANSMIT)["conform"] == {"dscp": 10}


def test_policers_of_two_buckets_are_three_colour_markers() -> None:
    told = policed(excess_burst=4000, exceed=Action(set_precedence=1), violate=DROP)
    assert (told["kind"], told["excess_burst_bytes"]) == ("srtcm", 4000)
    assert (told["exceed"], told["violate"]) == ({"precedence": 1}, "drop")
    told = policed(peak_rate=128_000, excess_burst=9000, exceed=TRANSMIT)
    assert (told["kind"], told["peak_bps"], told["peak_burst_bytes"]) == ("trtcm", 128_000, 9000)
    assert "violate" not in told


def test_the_policers_of_an_interface_may_go_on() -> None:
    first = Policer(rate=64_000, burst=8000, excess_burst=16_000, exceed=Action(set_precedence=0, proceed=True))
    policers = (InterfacePolicer(any_of=(Term(dscp=(46,)),), police=first), InterfacePolicer(police=BUCKET))
    told = made(InterfacePlan(name="1", ingress=Ingress(policers=policers)))["ingress"]["police"]
    assert [t.get("match") for t in told] == [{"any": [{"dscp": [46]}]}, None]
    assert told[0]["police"] == {
        "kind": "car",
        "rate_bps": 64_000,
        "burst_bytes": 8000,
        "extended_burst_bytes": 16_000,
        "conform": "transmit",
        "exceed": {"precedence": 0, "then": "continue"},
    }
    assert made(InterfacePlan(name="1", egress=Egress(policers=policers)))["egress"]["police"] == told


def test_rules_set_precedence_and_drop_precedence() -> None:
    (told,) = made(ruled(set_precedence=5, set_drop_precedence="high"))["ingress"]["rules"]
    assert (told["set"]["dscp"], told["set"]["colour"]) == (40, "red")
    profiles = (RedProfile(colour="high", minimum=10, maximum=20),)
    (queue,) = made(queued(red=Red(profiles=profiles)))["egress"]["queues"]
    assert queue["red"]["profiles"] == [{"colour": ["red"], "min": 10, "max": 20, "mark_denominator": 10}]


def test_weighted_tail_drop_is_thresholds() -> None:
    thresholds = (TailThreshold(dscp=(12, 14), cos=(1,), percent=40), TailThreshold(dscp=(10,), percent=100))
    (queue,) = made(queued(limit_packets=50, limit_bytes=9000, thresholds=thresholds))["egress"]["queues"]
    assert (queue["limit_packets"], queue["limit_bytes"]) == (50, 9000)
    assert queue["thresholds"] == [
        {"match": {"any": [{"dscp": [12, 14]}, {"cos": [1]}]}, "packets": 20, "bytes": 3600}
    ]
    (queue,) = made(queued(thresholds=(TailThreshold(cos=(1,), percent=1),)))["egress"]["queues"]
    assert queue["thresholds"][0]["packets"] == 1


def test_times_are_of_the_share_of_the_queue() -> None:
    shares = (Share(unit=ShareUnit.PERCENT, value=25), Share(unit=ShareUnit.PERCENT, value=75))
    red = Red(unit="ms", ecn=True, profiles=(RedProfile(minimum=5, maximum=10),))
    queues = tuple(Queue(number=n, share=share, limit_ms=20, red=red) for n, share in enumerate(shares))
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues)
    first, second = made(InterfacePlan(name="1", egress=Egress(default_queue=0, scheduler=scheduler)))["egress"][
        "queues"
    ]
    assert "limit_packets" not in first
    assert first["limit_ps"] == 20 * 10**9
    assert second["drain_bps"] == 3 * first["drain_bps"] > 0
    assert first["red"]["unit"] == "ps"
    assert first["red"]["default"] == {"min": 5 * 10**9, "max": 10 * 10**9, "mark_denominator": 10}
    assert first["red"]["ecn"] is True


def test_a_metered_queue_has_its_policer() -> None:
    (queue,) = made(queued(police=BUCKET))["egress"]["queues"]
    assert queue["police"]["rate_bps"] == 64_000


def test_the_transmit_ring_is_what_the_hardware_holds() -> None:
    egress = queued().egress.model_copy(update={"transmit_ring": 5})
    assert made(InterfacePlan(name="1", egress=egress))["egress"]["tx_fifo_packets"] == 5
    assert made(queued())["egress"]["tx_fifo_packets"] == 2


def test_vlans_are_matched() -> None:
    rule = Rule(name="gold", any_of=(Term(vlan=(10, 20)),))
    (told,) = made(InterfacePlan(name="1", ingress=Ingress(rules=(rule,))))["ingress"]["rules"]
    assert told["match"] == {"any": [{"vlan": [10, 20]}]}


def test_the_twin_takes_what_it_is_told() -> None:
    red = Red(unit="ms", ecn=True, profiles=(RedProfile(colour="high", minimum=5, maximum=10),))
    queue = Queue(
        number=0,
        name="gold",
        share=Share(unit=ShareUnit.PERCENT, value=50),
        limit_ms=20,
        red=red,
        thresholds=(TailThreshold(dscp=(12,), cos=(1,), percent=40),),
        police=Policer(rate=64_000, burst=1000, peak_rate=128_000, excess_burst=2000, exceed=TRANSMIT),
    )
    rule = Rule(
        name="gold",
        any_of=(Term(input_interface="1"), Term(dscp=(46,))),
        set_precedence=5,
        set_drop_precedence="high",
        police=Policer(rate=64_000, burst=1000, excess_burst=2000, exceed=Action(set_cos=1), violate=DROP),
        queue=0,
    )
    first = Policer(rate=64_000, burst=1000, exceed=Action(set_precedence=1, proceed=True))
    listed = (InterfacePolicer(any_of=(Term(dscp=(46,)),), police=first), InterfacePolicer(police=BUCKET))
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(queue,))
    told = made(
        InterfacePlan(
            name="1",
            ingress=Ingress(rules=(rule,), policers=listed),
            egress=Egress(rules=(rule,), policers=listed, default_queue=0, scheduler=scheduler),
        )
    )
    path = [["h", "eth0"], ["a", "1"]]
    scenario = {
        "version": 1,
        "duration_ps": 10**12,
        "nodes": [
            {"name": "a", "ports": [told | {"name": "2"}, told]},
            {"name": "h", "ports": [{"name": "eth0"}]},
            {"name": "b", "ports": [{"name": "1"}]},
        ],
        "links": [
            {"a": path[0], "b": ["a", "2"], "rate_bps": 10**7, "framing": "ethernet"},
            {"a": path[1], "b": ["b", "1"], "rate_bps": 2 * 10**6, "framing": "ethernet"},
        ],
        "flows": [
            {
                "name": "f",
                "path": path,
                "packet": {"dscp": 46},
                "source": {"kind": "cbr", "rate_bps": 80_000, "ip_bytes": 200},
            }
        ],
    }
    result = json.loads(qosforge_twin.run(json.dumps(scenario), 1))
    into, out = (next(p for p in result["ports"] if (p["node"], p["port"]) == ("a", name)) for name in ("2", "1"))
    # 50 frames of 218 bytes: 1000 bytes and 8000 a second conform to the first policer, the rest to the second.
    assert into["policers"]["ingress"][0] == {"conform": 40, "exceed": 10, "violate": 0}
    assert into["policers"]["ingress"][1] == {"conform": 10, "exceed": 0, "violate": 0}
    assert sum(into["rules"]["ingress"][0]["police"].values()) == 40
    assert out["queues"][0]["police"]["conform"] > 0
