"""Policers and marks of classes: buckets and rates, actions, both forms of print, and a clean way back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.configtree import merge, transition
from qosforge.inventory.models import Framing
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer, Rule, Term
from qosforge.plan.percentages import default_burst
from qosforge.plan.request import ClassRequest
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.platforms.cisco_ios.lines import TABLE
from qosforge.platforms.mqc.policers import read_policer

from .ios_support import (
    MODERN,
    OLD,
    STARTUP,
    TRAINS,
    a_class,
    booted,
    errors,
    lan,
    line,
    lowered,
    of,
    port,
    pushed,
    requested,
    rest,
    text_of,
)

POLICING = [image for image in TRAINS if image not in {"12.0(5)T", "12.0(7)T"}]
TWO_RATES = [image for image in POLICING if image != "12.1(5)T"]
PROPERTY = settings(max_examples=40, deadline=None, derandomize=True, database=None)
BOTH = (line(), lan())


def policed(**police: Any) -> ClassRequest:
    return a_class("a", 3, treatment={"police": {"rate": "64 kb/s", **police}})


def ingress(result: LoweredDevice) -> tuple[Rule, ...]:
    return port(result, "FastEthernet0/0").ingress.rules


@pytest.mark.parametrize("image", POLICING)
def test_one_bucket(image: str) -> None:
    result, box = pushed(requested(policed(burst="9 kB"), image=image, interfaces=BOTH))

    assert ingress(result)[0].police == Policer(rate=64_000, burst=9000)
    text = " ".join(box.running_text().split())
    form = "police 64000 9000" if image == "12.1(5)T" else "police cir 64000 bc 9000"
    assert f"{form} conform-action transmit exceed-action drop" in text


@pytest.mark.parametrize("image", POLICING)
def test_two_buckets_of_one_rate(image: str) -> None:
    wanted = policed(burst="4 kB", excess_burst="4 kB", exceed={"precedence": 1}, violate="drop")

    result, _ = pushed(requested(wanted, image=image, interfaces=BOTH))

    assert ingress(result)[0].police == Policer(
        rate=64_000, burst=4000, excess_burst=4000, exceed=Action(set_precedence=1), violate=DROP
    )


@pytest.mark.parametrize("image", POLICING)
def test_a_second_bucket_stays_one_where_both_outcomes_are_alike(image: str) -> None:
    result, _ = pushed(requested(policed(burst="4 kB", excess_burst="4 kB"), image=image, interfaces=BOTH))

    assert ingress(result)[0].police == Policer(rate=64_000, burst=4000, excess_burst=4000)


@pytest.mark.parametrize("image", TWO_RATES)
def test_two_rates_and_every_action(image: str) -> None:
    wanted = policed(
        peak_rate="128 kb/s", conform={"remark": "af31"}, exceed={"remark": "af32"}, violate={"remark": "af33"}
    )

    result, box = pushed(requested(wanted, image=image, interfaces=BOTH))

    assert ingress(result)[0].police == Policer(
        rate=64_000,
        burst=2000,
        peak_rate=128_000,
        excess_burst=4000,
        conform=Action(set_dscp=26),
        exceed=Action(set_dscp=28),
        violate=Action(set_dscp=30),
    )
    assert "police cir 64000 bc 2000 pir 128000 be 4000\n" in box.running_text()


@pytest.mark.parametrize("image", TWO_RATES)
def test_what_exceeds_may_be_sent_as_it_is(image: str) -> None:
    result, _ = pushed(requested(policed(exceed="transmit"), image=image, interfaces=BOTH))

    assert ingress(result)[0].police == Policer(rate=64_000, burst=2000, exceed=TRANSMIT)


@pytest.mark.parametrize("image", [OLD, MODERN, "12.1(5)T"])
def test_the_class_of_everything_else_is_policed_on_output(image: str) -> None:
    result, box = pushed(
        requested(a_class("a", 3), rest(police={"rate": "64 kb/s", "direction": "output"}), image=image)
    )

    assert port(result).egress.rules[-1] == Rule(
        name="class-default", any_of=(Term(),), police=Policer(rate=64_000, burst=2000), queue=1
    )
    assert "class-map match-all class-default" not in box.running_text()


@pytest.mark.parametrize(
    ("police", "image", "why"),
    [
        ({"rate": "7 kb/s"}, OLD, "rate of 7000 b/s"),
        ({"burst": "999 B"}, OLD, "burst of 999 bytes"),
        ({"peak_rate": "3 Gb/s"}, OLD, "rate of 3000000000 b/s"),
        ({"excess_burst": "60000 kB"}, OLD, "burst of 60000000 bytes"),
        ({"peak_rate": "128 kb/s"}, "12.1(5)T", "no policer of two rates"),
        ({"exceed": {"precedence": 1}, "conform": {"remark": "af11"}}, OLD, "not both"),
        ({"exceed": {"remark": 8}, "excess_burst": "2 kB", "violate": "transmit"}, OLD, "sent as it is"),
        ({"exceed": {"cos": 1}}, OLD, "cannot mark a CoS on input"),
    ],
)
def test_what_the_image_does_not_take_is_refused(police: dict[str, Any], image: str, why: str) -> None:
    result = lowered(requested(policed(**police), image=image, interfaces=BOTH))

    assert "police-unsupported" in errors(result)
    assert any(why in f.message for f in of(result, "police-unsupported"))
    assert all(rule.police is None for rule in ingress(result))


def test_a_cos_is_marked_where_frames_are_tagged() -> None:
    wanted = a_class(
        "a",
        3,
        treatment={
            "bandwidth": {"percent": 20},
            "police": {"rate": "64 kb/s", "exceed": {"cos": 1}, "direction": "output"},
        },
    )
    fast = line("FastEthernet0/1", 100_000_000, framing=Framing.ETHERNET)

    assert errors(lowered(requested(wanted, interfaces=(fast,)))) == ["police-unsupported"]
    result, _ = pushed(requested(wanted, interfaces=(fast.model_copy(update={"tagged": True}),)))
    assert port(result, "FastEthernet0/1").egress.rules[0].police == Policer(
        rate=64_000, burst=2000, exceed=Action(set_cos=1)
    )


# -- percentages of the rate -------------------------------------------------------------------------------
PERCENTAGES = ["12.3", "12.4", "12.4(24)T", "15.1"]


def share(side: str = "output", **police: Any) -> ClassRequest:
    return a_class("a", 3, treatment={"police": {"percent": 10, "direction": side, **police}})


@pytest.mark.parametrize("image", PERCENTAGES)
def test_a_percentage_is_of_the_interface_and_one_policy_stands_on_several(image: str) -> None:
    result, box = pushed(
        requested(share(), image=image, interfaces=(line(), line("Serial0/1", 1_000_000))),
    )

    slow, fast = (port(result, name).egress for name in ("Serial0/1", "Serial0/0"))
    assert slow.policy == fast.policy
    assert slow.rules[0].police == Policer(percent=10, rate=100_000, burst=3125)
    assert fast.rules[0].police == Policer(percent=10, rate=200_000, burst=6250)
    assert "police cir percent 10\n" in box.running_text()


@pytest.mark.parametrize("image", PERCENTAGES)
def test_two_rates_in_per_cent_with_bursts_as_times(image: str) -> None:
    wanted = share(
        "input",
        peak_percent=20,
        burst_time="300 ms",
        excess_burst_time="400 ms",
        exceed={"remark": 8},
        violate="drop",
    )

    result, box = pushed(requested(wanted, image=image, interfaces=BOTH))

    assert ingress(result)[0].police == Policer(
        percent=10, peak_percent=20, burst_ms=300, excess_burst_ms=400,
        rate=10**7, burst=375_000, peak_rate=2 * 10**7, excess_burst=10**6,
        exceed=Action(set_dscp=8), violate=DROP,
    )  # fmt: skip
    assert "police cir percent 10 bc 300 ms pir percent 20 be 400 ms\n" in box.running_text()


def test_a_percentage_below_a_shape_is_of_that() -> None:
    shaped = line("FastEthernet0/1", 10**8, usable=8_000_000, shape=8_000_000, framing=Framing.ETHERNET)

    result, _ = pushed(requested(share(), image=MODERN, interfaces=(shaped,)))

    scheduler = port(result, "FastEthernet0/1").egress.scheduler
    assert scheduler is not None
    inside = scheduler.queues[0].child
    assert inside is not None
    assert inside.rules[0].police == Policer(percent=10, rate=800_000, burst=25_000)


@pytest.mark.parametrize(
    ("wanted", "image", "why"),
    [
        (share(), "12.2(8)T", "load 12.2(13)T or newer"),
        (share(), "12.0(7)T", "load 12.2(13)T or newer"),
        (share(burst_time="3 s"), MODERN, "burst of 3000 ms"),
    ],
)
def test_what_no_percentage_can_be_is_refused(wanted: ClassRequest, image: str, why: str) -> None:
    result = lowered(requested(wanted, image=image))

    assert any(why in f"{f.message} {f.hint}" for f in of(result, "police-unsupported"))
    assert all(rule.police is None for rule in port(result).egress.rules)


def test_a_percentage_of_a_slow_interface_is_refused_there() -> None:
    request = requested(share(), image=MODERN, interfaces=(line("Serial0/1", 64_000),))
    startup = STARTUP.replace("bandwidth 1000", "bandwidth 64")

    (found,) = of(lowered(request), "police-unsupported")

    assert (found.interface, found.traffic_class) == ("Serial0/1", "a")
    assert "10 % of the interface's rate are 6400 b/s" in found.message
    refused = booted(MODERN, startup).configure(text_of(request).splitlines())
    assert any("out of range" in str(answer) for answer in refused)


# -- marks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("image", "words"),
    [("12.1(5)T", "set ip precedence 4"), ("12.2(8)T", "set ip precedence 4"), (OLD, "set precedence 4")],
)
def test_a_precedence_is_marked_as_the_train_spells_it(image: str, words: str) -> None:
    result, box = pushed(requested(a_class("a", 3, mark={"precedence": 4}), image=image, interfaces=BOTH))

    assert ingress(result)[0].set_precedence == 4
    assert f"  {words}\n" in box.running_text()


# -- reading -----------------------------------------------------------------------------------------------


def read(*lines: str) -> Policer | None:
    (policy,) = TABLE.read("policy-map P\n class C\n  " + "\n   ".join(lines)).entries
    understood = policy.below[0].below
    return read_policer(understood[0], default_burst) if understood else None


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("police 64000 8000 8000 conform-action transmit  exceed-action drop", Policer(rate=64_000, burst=8000)),
        (
            "police 64000 8000 8000 conform-action transmit exceed-action set-prec-transmit routine",
            Policer(rate=64_000, burst=8000, exceed=Action(set_precedence=0)),
        ),
        (
            "police 64000 8000 16000 conform-action set-cos-transmit 3 exceed-action drop violate-action drop",
            Policer(rate=64_000, burst=8000, excess_burst=16000, conform=Action(set_cos=3)),
        ),
        ("police cir 64000 bc 8000 be 9000", Policer(rate=64_000, burst=8000, excess_burst=9000)),
        # Captures of 15.x: `cir 8000 bps, bc 1500 bytes`, `cir 1000000 bps, bc 31250 bytes`.
        ("police cir 8000", Policer(rate=8000, burst=1500)),
        ("police 1000000 conform-action transmit exceed-action drop", Policer(rate=1_000_000, burst=31_250)),
        (
            "police cir 64000 bc 8000 pir 128000",
            Policer(rate=64_000, burst=8000, peak_rate=128_000, excess_burst=4000),
        ),
        ("police cir percent 10", Policer(percent=10)),
        (
            "police cir percent 20 bc 300 ms pir percent 40 be 400 ms",
            Policer(percent=20, burst_ms=300, peak_percent=40, excess_burst_ms=400),
        ),
        (
            "police cir percent 20 bc 300 conform-action set-dscp-transmit af11",
            Policer(percent=20, burst_ms=300, conform=Action(set_dscp=10)),
        ),
    ],
)
def test_hand_written_policers_are_read(text: str, held: Policer) -> None:
    assert read(text) == held


@pytest.mark.parametrize(
    "lines",
    [
        ("police cir 64000 bc 8000", "violate-action set-dscp-transmit af13"),
        ("police cir 64000 bc 8000", "exceed-action set-qos-transmit 3"),
        ("police cir 64000 bc 8000", "exceed-action set-dscp-transmit 77"),
        ("police cir 64000 bc 8000", "conform-action set-dscp-transmit af11", "conform-action set-cos-transmit 1"),
        ("police 64000 8000 conform-action transmitted",),
    ],
)
def test_policers_that_no_plan_holds_are_kept(lines: tuple[str, ...]) -> None:
    assert read(*lines) is None


SEVERAL_ACTIONS = STARTUP.replace(
    "interface FastEthernet0/0\n",
    """\
class-map match-any a
 match ip precedence 3
policy-map QOSFORGE-IN
 class a
  police cir 64000 bc 2000 be 4000
   conform-action set-dscp-transmit af11
   exceed-action set-dscp-transmit af12
   violate-action set-dscp-transmit af13
interface FastEthernet0/0
 service-policy input QOSFORGE-IN
""",
)


@pytest.mark.parametrize("image", TWO_RATES)
@pytest.mark.parametrize(
    "police",
    [
        {"burst": "2 kB"},
        {"burst": "2 kB", "excess_burst": "4 kB"},
        {"burst": "2 kB", "excess_burst": "4 kB", "exceed": {"remark": "cs1"}, "violate": "drop"},
        {"burst": "3 kB", "exceed": {"remark": "cs1"}},
    ],
)
def test_a_policer_by_hand_is_replaced_and_comes_back(image: str, police: dict[str, Any]) -> None:
    pushed(requested(policed(**police), image=image, interfaces=(lan(),)), SEVERAL_ACTIONS)


def test_actions_that_go_are_taken_back_before_others_come() -> None:
    """One outcome may have several actions: what is entered is held beside what stands there."""
    by_hand = (
        "policy-map P\n class a\n  police cir 64000 bc 2000\n   conform-action set-dscp-transmit af11\n"
        "   conform-action set-cos-transmit 1\n   exceed-action drop\n"
    )
    ours = by_hand.replace("set-dscp-transmit af11", "transmit").replace(
        "   conform-action set-cos-transmit 1\n", ""
    )
    grammar = PLATFORM.grammar
    current = grammar.parse(by_hand)
    target = merge(current, grammar.parse(ours), grammar)

    assert [text.strip() for text in transition(current, target, grammar)][2:] == [
        "police cir 64000 bc 2000",
        "no conform-action set-cos-transmit 1",
        "no conform-action set-dscp-transmit af11",
        "class a",
        "police cir 64000 bc 2000",
        "conform-action transmit",
    ]
    assert [text.strip() for text in transition(target, current, grammar)][2:] == [
        "police cir 64000 bc 2000",
        "no conform-action transmit",
        "class a",
        "police cir 64000 bc 2000",
        "conform-action set-dscp-transmit af11",
        "conform-action set-cos-transmit 1",
    ]


# -- properties --------------------------------------------------------------------------------------------

MARKS = st.one_of(
    st.just("drop"),
    st.just("transmit"),
    st.builds(lambda value: {"remark": value}, st.integers(0, 63)),
    st.builds(lambda value: {"precedence": value}, st.integers(0, 7)),
)


@PROPERTY
@given(
    st.sampled_from(POLICING),
    MARKS,
    MARKS,
    st.sampled_from(["one", "two", "peak"]),
    st.sampled_from(["input", "output"]),
)
def test_any_policer_is_refused_or_held(image: str, exceed: Any, violate: Any, buckets: str, side: str) -> None:
    more: dict[str, Any] = {"exceed": exceed, "direction": side}
    if buckets != "one":
        more |= {"violate": "drop" if exceed == "drop" else violate}
        more |= {"excess_burst": "5 kB"} if buckets == "two" else {"peak_rate": "256 kb/s"}
    request = requested(
        a_class("a", 3, treatment={"bandwidth": {"percent": 10}, "police": {"rate": "64 kb/s", **more}}),
        image=image,
        interfaces=BOTH,
    )

    result = lowered(request)

    if errors(result):
        assert all(
            rule.police is None for i in result.plan.interfaces for rule in (*i.ingress.rules, *i.egress.rules)
        )
    else:
        pushed(request)
