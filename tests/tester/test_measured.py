"""What a plan states, in the figures of what the twin delivers: policers, limits, marks, framings."""

from __future__ import annotations

import pytest

from qosforge.inventory.models import Framing
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import (
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

from .measured import RATE, Load, by_mark, measure, policy, sending

OFFERED = 256_000
"""IP bits per second of 500 bytes; in frames of 518 a little more."""
FRAMES = OFFERED * 518 / 500


# -- policers ---------------------------------------------------------------------------------------------
def test_a_two_rate_marker_gives_three_marks() -> None:
    marker = Policer(
        rate=64_000,
        burst=2000,
        peak_rate=128_000,
        excess_burst=2000,
        conform=Action(set_dscp=10),
        exceed=Action(set_dscp=12),
        violate=Action(set_dscp=14),
    )
    rule = Rule(name="metered", any_of=(Term(),), police=marker)
    far = {"ingress": {"rules": [{"match": {"dscp": [dscp]}} for dscp in (10, 12, 14)]}}
    interface = InterfacePlan(name="1", ingress=Ingress(rules=(rule,)))
    seen = measure(interface, Load(0, OFFERED), far=far, seconds=60)
    green, yellow, red, other = (found["packets"] / 62 * 518 * 8 for found in seen.far["rules"]["ingress"])
    assert [green, yellow, red] == pytest.approx([64_000, 64_000, FRAMES - 128_000], rel=0.02)
    assert other == 0


@pytest.mark.parametrize(("borrowed", "passes"), [(None, 64_000), (8000, 64_000)])
def test_the_policer_of_an_interface_lets_its_rate_pass(borrowed: int | None, passes: int) -> None:
    listed = InterfacePolicer(police=Policer(rate=64_000, burst=4000, excess_burst=borrowed))
    seen = measure(sending(Egress(policers=(listed,))), Load(0, OFFERED), seconds=60)
    assert seen.frame_rates() == pytest.approx([passes], rel=0.02)


def test_a_metered_queue_takes_its_rate_and_the_rest_goes_on() -> None:
    metered = Queue(number=0, name="m", police=Policer(rate=64_000, burst=4000))
    egress = policy(metered, Queue(number=1, name="rest"), rules=by_mark(10))
    seen = measure(sending(egress), Load(10, OFFERED), Load(0, OFFERED), seconds=60)
    assert seen.frame_rates() == pytest.approx([64_000, FRAMES], rel=0.02)


def test_a_priority_that_nothing_caps_leaves_shares_as_they_are() -> None:
    voice = Queue(number=0, name="voice", priority=True)
    shares = (
        Queue(number=n, name=f"c{n}", share=Share(unit=ShareUnit.PERCENT, value=p), limit_packets=20)
        for n, p in ((1, 60), (2, 20))
    )
    rules = (*by_mark(46), Rule(name="c1", any_of=(Term(dscp=(10,)),), queue=1))
    seen = measure(sending(policy(voice, *shares, rules=rules)), Load(46, 400_000), Load(10, RATE), Load(0, RATE))
    voice_rate, gold, rest = seen.frame_rates()
    assert voice_rate == pytest.approx(400_000 * 518 / 500, rel=0.01)
    assert gold / rest == pytest.approx(3, rel=0.03)


# -- limits and early drops -------------------------------------------------------------------------------
def halved(**queue: object) -> InterfacePlan:
    """Two classes of a megabit each."""
    half = Share(unit=ShareUnit.PERCENT, value=50)
    queues = [Queue.model_validate({"number": n, "name": f"c{n}", "share": half, **queue}) for n in (0, 1)]
    return sending(policy(*queues, rules=by_mark(10)))


def test_a_limit_in_time_is_the_time_that_packets_wait() -> None:
    seen = measure(halved(limit_ms=100), Load(10, RATE), Load(0, RATE))
    for flow in seen.flows:
        assert flow["delay_ps"]["p50"] == pytest.approx(0.1e12, rel=0.12)


@pytest.mark.parametrize(
    ("unit", "low", "high"),
    [("ms", 10, 30), ("percent", 10, 30), ("packets", 5, 15), ("bytes", 1250, 3750)],
)
def test_early_detection_keeps_queues_short_in_every_unit(unit: str, low: int, high: int) -> None:
    """The mean stays below the upper threshold, 30 ms, where a full queue would be 100 ms."""
    profile = RedProfile(minimum=low, maximum=high, denominator=2)
    red = Red.model_validate({"unit": unit, "weight_exponent": 6, "profiles": (profile,)})
    limit = {"limit_ms": 100} if unit in ("ms", "percent") else {"limit_packets": 60}
    seen = measure(halved(red=red, **limit), Load(10, 1_200_000, 250), Load(0, 1_200_000, 250))
    for flow in seen.flows:
        assert 0.005e12 < flow["delay_ps"]["mean"] < 0.036e12


def test_congestion_marks_spare_packets_that_can_carry_them() -> None:
    red = Red(ecn=True, weight_exponent=4, profiles=(RedProfile(minimum=5, maximum=60, denominator=1),))
    loads = [Load(10, 900_000, packet={"ecn": ecn}, kind="poisson") for ecn in ("ect", "not_ect")]
    able, unable = (measure(halved(red=red, limit_packets=64), load, Load(0, RATE)) for load in loads)
    assert able.out["queues"][0]["ecn_marked"] > 0
    assert able.flows[0]["lost"] < unable.flows[0]["lost"]
    assert unable.out["queues"][0]["ecn_marked"] == 0


def test_a_shaped_queue_of_shared_round_robin_gets_its_part() -> None:
    queues = (
        Queue(number=0, shape_weight=4, share=Share(unit=ShareUnit.WEIGHT, value=1)),
        Queue(number=1, share=Share(unit=ShareUnit.WEIGHT, value=3)),
    )
    scheduler = Scheduler(discipline=Discipline.SRR, queues=queues)
    egress = Egress(rules=by_mark(10), default_queue=1, scheduler=scheduler)
    shaped, rest = measure(sending(egress), Load(10, RATE), Load(0, RATE)).frame_rates()
    assert shaped / RATE == pytest.approx(0.25, rel=0.04)
    assert shaped + rest == pytest.approx(RATE * 518 / 538, rel=0.01)


# -- lines ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("framing", "efficiency", "wire_bytes"),
    [
        # 500 bytes, 16 of AAL5 with LLC: 11 cells.
        (Framing.ATM, Efficiency(), 583),
        (Framing.FRAME_RELAY, Efficiency(), 507),
        # Five fragments, each with its header.
        (Framing.MLPPP, Efficiency(multilink=True, fragment_bytes=100), 555),
        # Two IP packets of 276 and 244 bytes.
        (Framing.PPP, Efficiency(ip_mtu=276), 534),
        (Framing.ATM, Efficiency(ip_mtu=276), 13 * 53),
    ],
)
def test_every_line_has_its_price(framing: Framing, efficiency: Efficiency, wire_bytes: int) -> None:
    seen = measure(InterfacePlan(name="1", efficiency=efficiency), Load(0, 1_200_000), framing=framing)
    assert [flow["throughput_bps"] for flow in seen.flows] == pytest.approx([1_200_000], rel=0.01)
    assert seen.out["line"]["wire_bps"] == pytest.approx(1_200_000 * wire_bytes / 500, rel=0.01)


def test_frame_relay_fragments_let_small_packets_by() -> None:
    voice = Queue(number=0, name="voice", priority=True, capped=True, share=Share(unit=ShareUnit.PERCENT, value=30))
    egress = policy(voice, Queue(number=1, name="rest"), rules=by_mark(46))
    loads = (Load(46, 32_000, 80), Load(0, 1_600_000, 1500))
    whole, cut = (
        measure(
            InterfacePlan(name="1", egress=egress, efficiency=Efficiency(frame_relay_fragment=size)),
            *loads,
            framing=Framing.FRAME_RELAY,
        )
        for size in (None, 160)
    )
    assert cut.flows[0]["delay_ps"]["max"] < 0.5 * whole.flows[0]["delay_ps"]["max"]
