"""Shares by software train: units, the reservable part of a link, priority where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.configtree import Tree
from qosforge.findings import Fidelity, Severity
from qosforge.inventory.models import Circuit, Framing
from qosforge.plan.model import ShareUnit
from qosforge.plan.request import ClassRequest, EfficiencyRequest, TermRequest
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.platforms.cisco_ios.lines import TABLE
from qosforge.platforms.cisco_ios.trains import train

from .ios_support import (
    BEFORE_LLQ,
    MODERN,
    OLD,
    STARTUP,
    TRAINS,
    a_class,
    errors,
    lan,
    line,
    lowered,
    of,
    port,
    pushed,
    queues,
    requested,
    rest,
    text_of,
)

KBPS, PERCENT, REMAINING = ShareUnit.KBPS, ShareUnit.PERCENT, ShareUnit.REMAINING_PERCENT
WEIGHT = ShareUnit.WEIGHT
PROPERTY = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def shares(result: Any) -> list[tuple[ShareUnit, int] | None]:
    return [(q.share.unit, q.share.value) if q.share else None for q in queues(result)]


def seven(top: dict[str, Any], each: int = 100_000) -> tuple[ClassRequest, ...]:
    """The INFN-FNAL classes: precedence 7 first, six others and the rest at ``each`` bits per second."""
    limited = {"bandwidth": {"rate": each}, "queue_limit": {"packets": 10}}
    others = [a_class(f"pre{p}", p, treatment=limited) for p in range(6, 0, -1)]
    return (a_class("pre7", 7, treatment=top), *others, rest(bandwidth={"rate": each}))


# -- images ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("image", "onset", "has"),
    [
        ("12.0", "12.0(7)T", False),
        ("12.0(7)T", "12.0(7)T", True),
        ("12.0(7)", "12.0(7)T", False),
        ("12.0(6.5)T7", "12.0(7)T", True),
        ("12.0(6)T", "12.0(7)T", False),
        ("12.1", "12.0(7)T", True),
        ("12.1(5)T12", "12.1(5)T", True),
        ("12.2", "12.2(13)T", True),
        ("12.2(8)T", "12.2(13)T", False),
        ("12.4(25)", "12.4(20)T", False),
        ("12.4T", "12.4(20)T", False),
        ("12.4(24)T5", "12.4(20)T", True),
        ("15.1(4)M", "12.4(20)T", True),
        ("12.3(26)", "12.3", True),
    ],
)
def test_an_image_has_what_came_with_its_train(image: str, onset: str, has: bool) -> None:
    assert train(image).since(onset) is has


# -- the reservable part -----------------------------------------------------------------------------------


@pytest.mark.parametrize("top", [{"bandwidth": {"rate": 800_000}}, {"priority": {"rate": 800_000}}])
@pytest.mark.parametrize("image", [t for t in TRAINS if t != BEFORE_LLQ])
def test_three_quarters_of_a_link_may_be_reserved(image: str, top: dict[str, Any]) -> None:
    result, _ = pushed(requested(*seven(top), image=image))

    assert errors(result) == []
    assert shares(result) == [(KBPS, 800), *[(KBPS, 100)] * 7]


@pytest.mark.parametrize(
    ("image", "features", "refused"),
    [
        ("12.0(7)T", frozenset[str](), True),
        (OLD, frozenset[str](), True),
        (OLD, frozenset({"hqf"}), False),
        ("12.4(24)T", frozenset[str](), False),
        (MODERN, frozenset[str](), False),
    ],
)
def test_one_more_kilobit_is_refused_before_hqf(image: str, features: frozenset[str], refused: bool) -> None:
    request = requested(*seven({"priority": {"rate": 801_000}}), image=image, features=features)

    result = lowered(request)

    assert errors(result) == (["reserved-bandwidth-exceeded"] if refused else [])
    if refused:
        (finding,) = of(result, "reserved-bandwidth-exceeded")
        assert (finding.requested, finding.applied) == ("1501 kb/s", "at most 1500 kb/s")
    else:
        pushed(request)


def test_what_the_interface_lets_be_reserved_is_respected_and_stays() -> None:
    classes = (a_class("big", 5, treatment={"bandwidth": {"percent": 85}}),)
    more = STARTUP.replace(" bandwidth 2000\n", " bandwidth 2000\n max-reserved-bandwidth 90\n")
    less = more.replace("bandwidth 90", "bandwidth 80")

    result, box = pushed(requested(*classes), more)

    assert errors(result) == []
    assert port(result).reservable_percent == 90
    assert " max-reserved-bandwidth 90\n" in box.running_text()
    assert errors(lowered(requested(*classes))) == ["reserved-bandwidth-exceeded"]
    with pytest.raises(AssertionError):
        pushed(requested(*classes), less)


def test_all_of_a_link_with_hqf_and_no_more() -> None:
    whole = (a_class("a", 5, treatment={"bandwidth": {"percent": 60}}), rest(bandwidth={"percent": 40}))
    more = (a_class("a", 5, treatment={"bandwidth": {"percent": 61}}), rest(bandwidth={"percent": 40}))

    assert errors(pushed(requested(*whole, image=MODERN))[0]) == []
    assert errors(lowered(requested(*more, image=MODERN))) == ["reserved-bandwidth-exceeded"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"bandwidth": {"percent": 60}}, {"percent": 39}, [(PERCENT, 60), (PERCENT, 39)]),
        ({"bandwidth": {"percent": 60}}, {"percent": 40}, [(WEIGHT, 999), (WEIGHT, 666)]),
        ({"priority": {"percent": 60}}, {"percent": 40}, [(PERCENT, 60), (WEIGHT, 1000)]),
        ({"bandwidth": {"rate": 400_000}}, {"rate": 1_600_000}, [(WEIGHT, 250), (WEIGHT, 1000)]),
        ({"bandwidth": {"rate": 1_999_000}}, {"rate": 1_000_000}, None),
    ],
)
def test_hqf_divides_by_ratios_what_leaves_the_default_class_nothing(
    first: dict[str, Any], second: dict[str, int], expected: list[tuple[ShareUnit, int]] | None
) -> None:
    classes = (a_class("a", 5, treatment=first), a_class("b", 3, treatment={"bandwidth": second}))

    if expected is None:
        assert errors(lowered(requested(*classes, image=MODERN))) == ["reserved-bandwidth-exceeded"]
        return
    result, _ = pushed(requested(*classes, image=MODERN))

    assert errors(result) == []
    assert shares(result)[:2] == expected
    told = {f.traffic_class: f for f in of(result, "share-as-ratio")}
    assert set(told) == {name for name, (unit, _) in zip("ab", expected, strict=True) if unit is WEIGHT}
    assert all(abs(f.requested_percent - f.applied_percent) < 0.2 for f in result.fidelity)


def test_an_older_image_with_hqf_and_no_ratios_does_not_take_all_of_a_link() -> None:
    whole = (a_class("a", 5, treatment={"bandwidth": {"percent": 100}}),)

    result = lowered(requested(*whole, image=OLD, features=frozenset({"hqf"})))

    (finding,) = of(result, "reserved-bandwidth-exceeded")
    assert finding.applied == "at most 1980 kb/s"


# -- units -------------------------------------------------------------------------------------------------

VOICE = a_class("voice", 5, treatment={"priority": {"percent": 33}})


@pytest.mark.parametrize("image", TRAINS)
def test_percents_become_kilobits_where_the_train_has_none(image: str) -> None:
    odd = line(rate=256_000)
    startup = STARTUP.replace("bandwidth 2000", "bandwidth 256")
    web = a_class("web", 3, treatment={"bandwidth": {"percent": 33}})

    result, _ = pushed(requested(VOICE, web, image=image, interfaces=(odd,)), startup)

    if train(image).since("12.2(2)T"):
        assert shares(result) == [(PERCENT, 33), (PERCENT, 33), None]
        assert result.findings == ()
        return
    web_share = shares(result)[1]
    assert web_share == (KBPS, 84)
    told = [f for f in of(result, "share-in-kbps") if f.traffic_class == "web"]
    assert [(f.requested, f.applied) for f in told] == [("33 % of 256 kb/s = 84.48 kb/s", "84 kb/s")]
    web_fidelity = next(f for f in result.fidelity if f.traffic_class == "web")
    assert web_fidelity.fidelity is Fidelity.APPROXIMATE
    assert web_fidelity.requested_percent == pytest.approx(33)
    assert web_fidelity.applied_percent == pytest.approx(100 * 84 / 256, abs=0.01)


def test_what_is_left_keeps_its_proportions_within_the_reservable_part() -> None:
    web = a_class("web", 3, treatment={"bandwidth": {"remaining_percent": 70}})
    classes = (VOICE, web, rest(bandwidth={"remaining_percent": 30}))

    old, _ = pushed(requested(*classes, image="12.1(5)T"))
    new, _ = pushed(requested(*classes, image="12.2(8)T"))

    # 75 % of 2000 kb/s without the 660 of the priority class, 7 to 3.
    assert shares(old) == [(KBPS, 660), (KBPS, 588), (KBPS, 252)]
    assert shares(new) == [(PERCENT, 33), (REMAINING, 70), (REMAINING, 30)]
    assert [f.applied_percent for f in old.fidelity] == pytest.approx([33, 46.9, 20.1])
    assert [f.applied_percent for f in new.fidelity] == pytest.approx([33, 46.9, 20.1])


def test_the_rest_gets_its_part_when_what_is_left_is_reserved() -> None:
    web = a_class("web", 3, treatment={"bandwidth": {"remaining_percent": 90}})

    result = lowered(requested(VOICE, web, image="12.1"))

    assert shares(result) == [(KBPS, 660), (KBPS, 756), (KBPS, 84)]
    assert [f.applied_percent for f in result.fidelity] == pytest.approx([33, 60.3, 6.7])


@pytest.mark.parametrize("image", TRAINS)
def test_weights_become_ratios_percents_or_kilobits(image: str) -> None:
    classes = (
        a_class("a", 3, treatment={"bandwidth": {"weight": 3}}),
        a_class("b", 2, treatment={"bandwidth": {"weight": 2}}),
        rest(bandwidth={"weight": 2}),
    )

    result, _ = pushed(requested(*classes, image=image))

    if train(image).since("12.4(20)T"):
        assert shares(result) == [(ShareUnit.WEIGHT, 3), (ShareUnit.WEIGHT, 2), (ShareUnit.WEIGHT, 2)]
        assert "  bandwidth remaining ratio 3\n" in text_of(requested(*classes, image=image))
    elif train(image).since("12.2(2)T"):
        # 42.86, 28.57, 28.57: the largest remainder goes up first.
        assert shares(result) == [(REMAINING, 43), (REMAINING, 29), (REMAINING, 28)]
        told = of(result, "weight-as-percent")
        assert (told[0].requested, told[0].applied) == (
            "weight 3 of 7 = 42.86 % of what priority leaves",
            "43 % of what priority leaves",
        )
    else:
        assert shares(result) == [(KBPS, 642), (KBPS, 428), (KBPS, 428)]
    assert errors(result) == []


def test_no_weight_is_rounded_away_and_the_sum_stays() -> None:
    classes = (
        a_class("large", 3, treatment={"bandwidth": {"weight": 1000}}),
        *(a_class(f"small{p}", p, treatment={"bandwidth": {"weight": 1}}) for p in (1, 2)),
    )

    result = lowered(requested(*classes))

    assert shares(result) == [(REMAINING, 97), (REMAINING, 1), (REMAINING, 1), None]


def test_a_share_that_misses_by_more_than_the_tolerance_is_an_error() -> None:
    classes = (
        a_class("large", 3, treatment={"bandwidth": {"weight": 1000}}),
        *(a_class(f"small{p}", p, treatment={"bandwidth": {"weight": 1}}) for p in range(3)),
    )
    tight = requested(*classes).model_copy(update={"tolerance": 0.001})

    result = lowered(tight)

    assert {f.traffic_class for f in of(result, "share-out-of-tolerance")} >= {"large", "small0"}
    assert all(
        f.severity is Severity.ERROR and f.requested and f.applied for f in of(result, "share-out-of-tolerance")
    )


# -- priority where there is none --------------------------------------------------------------------------


@pytest.mark.parametrize("image", ["12.0", "12.0(5)T"])
def test_a_train_without_priority_reserves_more_than_asked(image: str) -> None:
    result = lowered(requested(*seven({"priority": {"rate": 300_000}}), image=image))

    # Twice 300 kb/s: the others leave 800 of 1500.
    assert shares(result)[0] == (KBPS, 600)
    assert not queues(result)[0].priority
    (finding,) = of(result, "priority-as-bandwidth")
    assert (finding.severity, finding.requested, finding.applied) == (
        Severity.WARNING,
        "priority 300 kb/s",
        "bandwidth 600 kb/s",
    )
    assert "2 times" in finding.message
    assert result.fidelity[0].fidelity is Fidelity.APPROXIMATE
    assert errors(result) == []


@pytest.mark.parametrize("image", ["12.0(28)", "12.0(4)T", "11.2"])
def test_an_image_without_classes_is_refused(image: str) -> None:
    """Class-based queueing is of 12.0(5)T, which the main line 12.0 does not have."""
    wanted = a_class("a", 5, treatment={"bandwidth": {"percent": 20}}, mark={"precedence": 3})

    result, box = pushed(requested(wanted, image=image, interfaces=(lan(), line())))

    assert errors(result) == ["policies-unsupported"]
    assert "policy-map" not in box.running_text()
    assert "rate-limit input" in box.running_text()


@pytest.mark.parametrize(("image", "hint"), [("12.1", "12.2(2)T or newer"), ("12.2(15)T", "remaining_percent")])
def test_a_share_that_is_too_small_is_told_with_what_helps_on_the_image(image: str, hint: str) -> None:
    wanted = a_class("a", 5, treatment={"bandwidth": {"rate": "7 kb/s"}})

    (finding,) = of(lowered(requested(wanted, image=image)), "share-out-of-range")

    assert hint in (finding.hint or "")


def test_the_published_wfq_policy_comes_of_the_priority_one() -> None:
    result, box = pushed(requested(*seven({"priority": {"rate": 800_000}}), image=BEFORE_LLQ))

    assert shares(result) == [(KBPS, 800), *[(KBPS, 100)] * 7]
    assert " class pre7\n  bandwidth 800\n class pre6\n  bandwidth 100\n  queue-limit 10\n" in box.running_text()


def test_half_of_what_is_left_at_most_goes_to_the_stand_in() -> None:
    web = a_class("web", 3, treatment={"bandwidth": {"remaining_percent": 100}})

    result, _ = pushed(requested(VOICE, web, image=BEFORE_LLQ))

    # The rest, which is to have nothing, gets the least that keeps it from all that is not reserved.
    assert shares(result) == [(KBPS, 1080), (KBPS, 412), (KBPS, 8)]
    assert [f.applied_percent for f in result.fidelity] == pytest.approx([33, 65.72, 1.28], abs=0.01)
    assert errors(result) == []


def test_a_class_without_a_cap_is_served_first_from_hqf_on() -> None:
    voice = a_class("voice", 5, treatment={"priority": {}})
    web = a_class("web", 3, treatment={"bandwidth": {"remaining_percent": 60}})

    result, box = pushed(requested(voice, web, image=MODERN))

    assert (queues(result)[0].priority, queues(result)[0].capped, queues(result)[0].share) == (True, False, None)
    assert "  priority\n" in box.running_text()
    assert errors(result) == []
    for image in (OLD, BEFORE_LLQ):
        old = lowered(requested(voice, web, image=image))
        assert "priority-needs-cap" in errors(old)
        assert not queues(old)[0].priority


# -- bursts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("image", [OLD, MODERN, "12.1(3)T"])
def test_a_priority_class_may_have_a_burst(image: str) -> None:
    voice = a_class("voice", 5, treatment={"priority": {"percent": 20, "burst": "8 kB"}})

    result, box = pushed(requested(voice, image=image))

    assert queues(result)[0].burst == 8000
    assert " 8000\n" in box.running_text()


def test_a_burst_came_later_than_priority() -> None:
    """It has a feature module of its own, of 12.1(3)T ("Configuring Burst Size in Low Latency Queueing")."""
    voice = a_class("voice", 5, treatment={"priority": {"percent": 20, "burst": "8 kB"}})

    result, box = pushed(requested(voice, image="12.1(2)T"))

    (finding,) = of(result, "priority-burst-unsupported")
    assert "12.1(3)T" in finding.message
    assert "priority 400\n" in box.running_text()


@pytest.mark.parametrize("burst", ["31 B", "2001 kB"])
def test_a_burst_outside_the_range_is_told_and_left_out(burst: str) -> None:
    result = lowered(requested(a_class("voice", 5, treatment={"priority": {"percent": 20, "burst": burst}})))

    assert queues(result)[0].burst is None
    assert [f.severity for f in of(result, "priority-burst-unsupported")] == [Severity.WARNING]


# -- limits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "line_of", "field"),
    [
        ({"packets": 1000}, "queue-limit 1000 packets", ("limit_packets", 1000)),
        ({"bytes": "30 kB"}, "queue-limit 30000 bytes", ("limit_bytes", 30_000)),
        ({"time": "20 ms"}, "queue-limit 20 ms", ("limit_ms", 20)),
    ],
)
def test_queue_limits_have_units_with_hqf_alone(
    limit: dict[str, Any], line_of: str, field: tuple[str, int]
) -> None:
    wanted = a_class("a", 3, treatment={"bandwidth": {"percent": 20}, "queue_limit": limit})

    result, box = pushed(requested(wanted, image=MODERN))
    old = lowered(requested(wanted, image=OLD))

    assert f"  {line_of}\n" in box.running_text()
    assert getattr(queues(result)[0], field[0]) == field[1]
    assert errors(old) == ["queue-limit-unsupported"]
    assert queues(old)[0].limit_packets == 64


def test_part_of_a_millisecond_is_told() -> None:
    wanted = a_class("a", 3, treatment={"bandwidth": {"percent": 20}, "queue_limit": {"time": "2500 us"}})

    (finding,) = of(lowered(requested(wanted, image=MODERN)), "queue-limit-approximate")

    assert (finding.requested, finding.applied) == ("2.5 ms", "2 ms")


# -- properties --------------------------------------------------------------------------------------------


@st.composite
def levels(draw: st.DrawFn) -> tuple[ClassRequest, ...]:
    """Classes of one unit, with and without priority and a share of the rest."""
    unit = draw(st.sampled_from(["percent", "remaining_percent", "weight", "rate"]))
    factor = 10_000 if unit == "rate" else 1
    count = draw(st.integers(0, 4))
    amounts = draw(st.lists(st.integers(2, 24), min_size=count + 1, max_size=count + 1))
    classes = [
        a_class(f"c{p}", p, treatment={"bandwidth": {unit: amount * factor}})
        for p, amount in enumerate(amounts[:count])
    ]
    if draw(st.booleans()):
        classes.insert(0, a_class("voice", 7, treatment={"priority": {"percent": draw(st.integers(1, 40))}}))
    last = rest(bandwidth={unit: amounts[-1] * factor}) if draw(st.booleans()) else rest()
    return (*classes, last)


@PROPERTY
@given(levels(), st.sampled_from(TRAINS), st.sampled_from([64_000, 777_000, 2_000_000]))
def test_any_level_is_refused_or_held_with_one_unit(
    classes: tuple[ClassRequest, ...], image: str, rate: int
) -> None:
    request = requested(*classes, image=image, interfaces=(line(rate=rate),))
    startup = STARTUP.replace("bandwidth 2000", f"bandwidth {rate // 1000}")

    result = lowered(request)

    if not errors(result):
        pushed(request, startup)
    held = [q.share.unit for q in queues(result) if q.share and not q.priority]
    assert len(set(held)) <= 1
    for near in result.fidelity:
        told = [f for f in result.findings if f.traffic_class == near.traffic_class and f.code.startswith("share-")]
        assert near.requested_percent is not None
        assert near.applied_percent is not None
        assert abs(near.requested_percent - near.applied_percent) < 1e-6 or told


# -- lines ---------------------------------------------------------------------------------------------------


def younger(tree: Tree, image: str, mode: str = "") -> Iterator[str]:
    """The lines of a configuration that came with a later release than an image."""
    for entry in tree:
        found = TABLE.find(entry.text, mode)
        assert found is not None, entry.text
        row = found[0].line
        if row.since and not train(image).since(row.since):
            yield f"{entry.text}: {row.since}"
        yield from younger(entry.children, image, row.opens)


FRAGMENTED = EfficiencyRequest(fragment_bytes=320, blocking_delay=0.01, header_compression=True)
EVERYTHING = (
    a_class("voice", 5, treatment={"priority": {"percent": 10}}, mark={"dscp": 46}),
    a_class("web", mark={"dscp": 18}).model_copy(update={"terms": (TermRequest(application="http"),)}),
    a_class("calls", mark={"dscp": 34}).model_copy(update={"terms": (TermRequest(application="rtp-audio"),)}),
    a_class("prefix").model_copy(update={"terms": (TermRequest(source=("2001:db8::/32",)),)}),
    a_class("policed", 4, treatment={"police": {"rate": "64 kb/s"}}),
    a_class("dropped", 3, treatment={"bandwidth": {"weight": 5}, "wred": {"ecn": True}}),
    rest(bandwidth={"weight": 3}, wred=True),
)


@pytest.mark.parametrize("image", TRAINS)
def test_no_line_is_younger_than_its_image(image: str) -> None:
    circuit = line(
        "Serial0/0.1", 64_000, shape=64_000, framing=Framing.FRAME_RELAY, circuit=Circuit(dlci=100),
        efficiency=FRAGMENTED,
    )  # fmt: skip
    interfaces = (lan(), line("Multilink1", framing=Framing.MLPPP, efficiency=FRAGMENTED), circuit)
    text = text_of(requested(*EVERYTHING, image=image, interfaces=interfaces))
    assert list(younger(PLATFORM.grammar.parse(text), image)) == []


def test_lines_of_a_modern_image_are_younger_than_an_old_one() -> None:
    text = text_of(requested(*EVERYTHING, image=MODERN))
    told = list(younger(PLATFORM.grammar.parse(text), BEFORE_LLQ))
    for row in (
        "priority percent 10: 12.2(2)T",
        "match protocol rtp audio: 12.2(8)T",
        "random-detect ecn: 12.2(8)T",
    ):
        assert row in told
    assert "bandwidth remaining ratio 5: 12.4(20)T" in told


@pytest.mark.parametrize(("image", "taken"), [("12.2", ["12.2(15)T"]), ("12.4", []), ("12.2(15)T", [])])
def test_a_release_that_is_assumed_is_told(image: str, taken: list[str]) -> None:
    told = of(lowered(requested(a_class("gold", 5), image=image)), "release-assumed")

    assert [(finding.facts["release"], finding.severity) for finding in told] == [(t, "warning") for t in taken]
