"""WRED in classes: curves by precedence and code point, averages, ECN, and what the device does not print."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.findings import Severity
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.request import ClassRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.base import LoweredDevice
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.platforms.cisco_ios.wred import default_red, default_rows
from qosforge.tester.scenario.queues import twin_queue

from .ios_support import MODERN, OLD, TRAINS, a_class, errors, lowered, of, pushed, queues, requested, rest, text_of

PROPERTY = settings(max_examples=40, deadline=None, derandomize=True, database=None)


def detecting(wred: dict[str, Any] | bool, **more: Any) -> ClassRequest:
    treatment = {"bandwidth": {"percent": 20}, "wred": wred, **more.pop("treatment", {})}
    return a_class("a", None if "terms" in more else 3, treatment=treatment, **more)


def profile(**more: Any) -> dict[str, Any]:
    return {"minimum": "10 packets", "maximum": "30 packets", **more}


def red(result: LoweredDevice) -> Red:
    found = queues(result)[0].red
    assert found is not None
    return found


def of_mark(found: Red, mark: int) -> tuple[int, int, int]:
    kind = "dscp" if found.by_dscp else "precedence"
    (held,) = [p for p in found.profiles if mark in getattr(p, kind)]
    return held.minimum, held.maximum, held.denominator


@pytest.mark.parametrize("image", TRAINS)
def test_without_profiles_the_box_has_its_own_curves(image: str) -> None:
    result, box = pushed(requested(detecting(True), rest(wred={}), image=image))

    assert [q.red for q in queues(result)] == [default_red(), default_red()]
    assert box.running_text().count("random-detect") == 2
    assert [of_mark(default_red(), p)[0] for p in range(8)] == [20, 22, 24, 26, 28, 31, 33, 35]


@pytest.mark.parametrize("image", ["12.1(5)T", OLD, MODERN])
def test_code_points_that_differ_in_drop_precedence_are_told_apart(image: str) -> None:
    result, box = pushed(requested(detecting(True, terms=(Alternative(dscp=(10, 12, 14)),)), image=image))

    assert red(result) == default_red(by_dscp=True)
    assert [of_mark(red(result), d) for d in (10, 12, 14, 46, 0)] == [
        (32, 40, 10),
        (28, 40, 10),
        (24, 40, 10),
        (36, 40, 10),
        (20, 40, 10),
    ]
    assert "  random-detect dscp-based\n" in box.running_text()


@pytest.mark.parametrize(
    ("more", "by_dscp"),
    [
        ({"terms": (Alternative(dscp=(10, 18)),)}, False),
        ({"mark": {"dscp": "af11"}}, False),
        (
            {"mark": {"dscp": "af11"}, "treatment": {"police": {"rate": "64 kb/s", "exceed": {"remark": "af12"}}}},
            True,
        ),
        ({"terms": (Alternative(dscp=(10,)),), "mark": {"dscp": "af13"}}, True),
    ],
)
def test_what_the_curves_go_by_follows_the_marks(more: dict[str, Any], by_dscp: bool) -> None:
    assert red(lowered(requested(detecting(True, **more)))).by_dscp is by_dscp


@pytest.mark.parametrize("image", TRAINS)
def test_profiles_by_precedence(image: str) -> None:
    wanted = detecting({"profiles": [profile(precedence=[3, 4], probability="20 %")], "weight_exponent": 7})

    result, box = pushed(requested(wanted, image=image))

    assert (of_mark(red(result), 3), of_mark(red(result), 4)) == ((10, 30, 5), (10, 30, 5))
    assert of_mark(red(result), 5) == default_rows(False)[5]
    assert red(result).weight_exponent == 7
    text = " ".join(box.running_text().split())
    assert "random-detect random-detect exponential-weighting-constant 7 random-detect precedence 3 10 30 5" in text


def test_profiles_by_code_point_with_ecn() -> None:
    wanted = detecting({"profiles": [profile(dscp=["af31", "cs6", 1])], "ecn": True})

    result, box = pushed(requested(wanted, image=MODERN))

    assert red(result).ecn
    assert {of_mark(red(result), d) for d in (26, 48, 1)} == {(10, 30, 10)}
    assert "  random-detect ecn\n" in box.running_text()


def test_a_profile_is_entered_although_the_box_may_have_it_anyway() -> None:
    """Defaults are not known of every release: what is not entered could be something else."""
    wanted = detecting({"profiles": [{"precedence": [3], "minimum": "26 packets", "maximum": "40 packets"}]})

    result, box = pushed(requested(wanted))

    assert "  random-detect precedence 3 26 40 10\n" in text_of(requested(wanted))
    assert red(result).profiles == default_red().profiles
    assert "random-detect precedence" not in box.running_text()


def test_an_image_without_ecn_drops_early_all_the_same() -> None:
    wanted = detecting({"profiles": [profile(precedence=[3])], "ecn": True, "prefer": True})

    result, box = pushed(requested(wanted, image="12.2(2)T"))

    assert of_mark(red(result), 3) == (10, 30, 10)
    assert "ecn" not in box.running_text()
    (finding,) = of(result, "wred-unsupported")
    assert (finding.severity, finding.applied) == (Severity.WARNING, "drops instead of marks")


def test_a_colour_is_the_code_points_that_say_it() -> None:
    wanted = detecting({"profiles": [profile(colour="yellow")]})

    result, _ = pushed(requested(wanted))

    assert {of_mark(red(result), d) for d in (12, 20, 28, 36)} == {(10, 30, 10)}
    assert [f.applied for f in of(result, "wred-colour-as-dscp")] == ["af12, af22, af32, af42"]


@pytest.mark.parametrize(
    ("minimum", "maximum", "held", "told"),
    [
        ("15 kB", "31 kB", (10, 20), ("15000 and 31000 B", "10 and 20 packets")),
        # A fifth of 2 Mb/s brings 50 bytes a millisecond.
        ("60 ms", "300 ms", (2, 10), ("60 and 300 ms", "2 and 10 packets")),
        ("1 B", "2 B", (1, 1), ("1 and 2 B", "1 and 1 packets")),
    ],
)
def test_bytes_and_times_become_packets(
    minimum: str, maximum: str, held: tuple[int, int], told: tuple[str, str]
) -> None:
    wanted = detecting({"profiles": [{"precedence": [3], "minimum": minimum, "maximum": maximum}]})

    result, _ = pushed(requested(wanted))

    assert of_mark(red(result), 3)[:2] == held
    (finding,) = of(result, "wred-approximate")
    assert (finding.requested, finding.applied) == told


def test_a_probability_is_one_packet_of_a_whole_number() -> None:
    wanted = detecting({"profiles": [profile(precedence=[3], probability="30 %")]})

    result = lowered(requested(wanted))

    assert of_mark(red(result), 3) == (10, 30, 3)
    assert [(f.requested, f.applied) for f in of(result, "wred-approximate")] == [("30 %", "1/3 (33.33 %)")]


@pytest.mark.parametrize("prefer", [True, False])
@pytest.mark.parametrize(
    ("wred", "image"),
    [
        ({"profiles": [{"dscp": [10], "minimum": "1 packets", "maximum": "4097 packets"}]}, OLD),
        ({"profiles": [profile(dscp=[10], probability="0.001 %")]}, OLD),
        ({"profiles": [profile(dscp=[10])]}, "12.1"),
    ],
)
def test_what_the_image_does_not_take_is_told_and_left_out(wred: dict[str, Any], image: str, prefer: bool) -> None:
    result = lowered(requested(detecting({**wred, "prefer": prefer}), image=image))

    assert queues(result)[0].red is None
    (finding,) = of(result, "wred-unsupported")
    assert finding.severity is (Severity.WARNING if prefer else Severity.ERROR)
    assert finding.applied == "no early detection"


def test_with_hqf_a_queue_limit_goes_beside_detection() -> None:
    wanted = detecting(True, treatment={"queue_limit": {"packets": 100}})

    assert errors(lowered(requested(wanted, image=OLD))) == ["queue-limit-unsupported"]
    result, _ = pushed(requested(wanted, image=MODERN))
    assert (queues(result)[0].limit_packets, red(result)) == (100, default_red())


@pytest.mark.parametrize(
    ("limit", "asked", "packets"),
    [({"time": "300 ms"}, "300 ms", 10), ({"bytes": "31 kB"}, "31000 B", 20), ({"time": "2 ms"}, "2 ms", 1)],
)
def test_a_limit_beside_thresholds_has_their_unit(limit: dict[str, str], asked: str, packets: int) -> None:
    """Byte-based detection and a limit in other units exclude each other (congestion avoidance guide)."""
    beside = detecting({"profiles": [profile(precedence=[3])]}, treatment={"queue_limit": limit})
    alone = detecting(True, treatment={"queue_limit": limit})

    result, box = pushed(requested(beside, image=MODERN))

    (finding,) = of(result, "queue-limit-approximate")
    assert (finding.requested, finding.applied) == (asked, f"{packets} packets")
    assert f"  queue-limit {packets} packets\n" in box.running_text()
    assert of(lowered(requested(alone, image=MODERN)), "queue-limit-approximate") == []
    for first, then in ((alone, beside), (beside, alone)):
        startup = pushed(requested(first, image=MODERN))[1].running_text()
        pushed(requested(then, image=MODERN), startup)


# -- reading -----------------------------------------------------------------------------------------------


def read(*lines: str) -> tuple[Red | None, list[str]]:
    text = "policy-map P\n class class-default\n" + "".join(f"  {line}\n" for line in lines)
    plan = PLATFORM.parse(text + "interface Serial0/0\n service-policy output P\n", "r9", OLD)
    interface = plan.interface("Serial0/0")
    assert interface is not None
    assert interface.egress.scheduler is not None
    return interface.egress.scheduler.queues[0].red, [u.text for u in plan.unknown]


def test_hand_written_detection_is_read() -> None:
    found, unknown = read(
        "random-detect dscp-based",
        "random-detect exponential-weighting-constant 12",
        "random-detect dscp 10 24 40",
        "random-detect dscp ef 30 50 20",
    )

    assert found is not None
    assert (found.by_dscp, found.weight_exponent, unknown) == (True, 12, [])
    assert of_mark(found, 10) == (24, 40, 10)
    assert of_mark(found, 46) == (30, 50, 20)


@pytest.mark.parametrize(
    "line",
    [
        "random-detect precedence rsvp 37 40",
        "random-detect precedence 8 20 40",
        "random-detect dscp 10 24 40",
        "random-detect precedence 3 40 20",
        "random-detect dscp-based",
        "random-detect cos-based",
        "random-detect exponential-weighting-constant 17",
    ],
)
def test_what_a_plan_does_not_hold_is_kept(line: str) -> None:
    assert read("random-detect prec-based", line) == (default_red(), [line])


def test_marks_of_one_curve_are_one_profile() -> None:
    assert RedProfile(dscp=(10, 18, 26, 34, 48), minimum=32, maximum=40) in default_red(by_dscp=True).profiles


@PROPERTY
@given(
    st.booleans(),
    st.dictionaries(
        st.integers(0, 7), st.tuples(st.integers(1, 4096), st.integers(1, 4096), st.integers(1, 1000)), max_size=6
    ),
    st.integers(1, 16),
    st.booleans(),
)
def test_any_curves_are_entered_and_read_back(
    by_dscp: bool, curves: dict[int, tuple[int, int, int]], weight: int, ecn: bool
) -> None:
    kind, factor = ("dscp", 8) if by_dscp else ("precedence", 1)
    profiles = [
        {
            kind: [mark * factor],
            "minimum": f"{min(a, b)} packets",
            "maximum": f"{max(a, b)} packets",
            "probability": f"{100 / n:.12f} %",
        }
        for mark, (a, b, n) in curves.items()
    ]

    result, _ = pushed(
        requested(detecting({"profiles": profiles, "weight_exponent": weight, "ecn": ecn}), image=MODERN)
    )

    for mark, (a, b, n) in curves.items():
        assert of_mark(red(result), mark * factor) == (min(a, b), max(a, b), n)


IOS_XE = "17.9"
TIMED = {
    "profiles": [
        profile(dscp="af21", minimum="20 ms", maximum="50 ms"),
        profile(dscp="af22", minimum="10 ms", maximum="40 ms", probability="100 %"),
    ]
}


@pytest.mark.parametrize(("unit", "word"), [("ms", "ms"), ("us", "us"), ("B", "bytes")])
def test_thresholds_in_time_or_bytes_stay_so_where_the_image_has_them(unit: str, word: str) -> None:
    wred = {"profiles": [profile(dscp="af21", minimum=f"2000 {unit}", maximum=f"5000 {unit}")]}

    result, box = pushed(requested(detecting(wred), image=IOS_XE))

    assert red(result) == Red(
        by_dscp=True, unit=word, profiles=(RedProfile(dscp=(18,), minimum=2000, maximum=5000),)
    )
    assert f"  random-detect dscp af21 2000 {word} 5000 {word}\n" in box.running_text()
    assert of(result, "wred-approximate") == []
    old = lowered(requested(detecting(wred), image=MODERN))
    assert (red(old).unit, [f.severity for f in of(old, "wred-approximate")]) == ("packets", [Severity.INFO])


@pytest.mark.parametrize(
    ("limit", "unit"), [({"time": "100 ms"}, "ms"), ({"packets": 100}, "packets"), ({"bytes": "90 kB"}, "packets")]
)
def test_the_limit_of_a_queue_and_its_thresholds_are_in_one_unit(limit: dict[str, Any], unit: str) -> None:
    """As the emulated router demands it (module Byte-Based Weighted Random Early Detection)."""
    result, box = pushed(requested(detecting(TIMED, treatment={"queue_limit": limit}), image=IOS_XE))

    assert red(result).unit == unit
    assert (queues(result)[0].limit_ms, "queue-limit 100 ms" in box.running_text()) == (
        (100, True) if unit == "ms" else (None, False)
    )


def test_thresholds_beyond_what_the_image_takes_are_told_in_their_unit() -> None:
    wred = {"prefer": False, "profiles": [profile(dscp="af21", minimum="2 ms", maximum="600000000 ms")]}
    (found,) = of(lowered(requested(detecting(wred), image=IOS_XE)), "wred-unsupported")
    assert "600000000 ms are outside 1 to 512000000 ms" in found.message


@pytest.mark.parametrize(
    "lines",
    [
        ["random-detect dscp 18 20 ms 50 us"],
        ["random-detect dscp 18 20 ms 50 ms", "random-detect dscp 20 2000 bytes 5000 bytes"],
    ],
)
def test_thresholds_in_several_units_are_not_understood(lines: list[str]) -> None:
    inside = "".join(f"  {line}\n" for line in ["random-detect dscp-based", *lines])
    text = f"policy-map P\n class class-default\n{inside}interface Serial0/0\n service-policy output P\n"

    assert [line.text for line in PLATFORM.parse(text, "r9", IOS_XE).unknown] == lines[-1:]


def test_the_twin_has_thresholds_in_time() -> None:
    found = twin_queue(queues(lowered(requested(detecting(TIMED), image=IOS_XE)))[0], "a", 400_000).red
    assert found is not None
    assert found.unit == "ps"
    assert [(p.min, p.max) for p in found.profiles] == [(20 * 10**9, 50 * 10**9), (10 * 10**9, 40 * 10**9)]


IN_UNITS: dict[str, ClassRequest] = {
    "packets": detecting({"profiles": [profile(dscp="af21")]}, treatment={"queue_limit": {"packets": 100}}),
    "ms": detecting(TIMED, treatment={"queue_limit": {"time": "100 ms"}}),
    "bytes": detecting(
        {"profiles": [profile(dscp="af21", minimum="2 kB", maximum="5 kB")]},
        treatment={"queue_limit": {"bytes": "90 kB"}},
    ),
    "unlimited": detecting(TIMED),
}


@pytest.mark.parametrize(("first", "then"), [(a, b) for a in IN_UNITS for b in IN_UNITS if a != b])
def test_a_queue_changes_its_unit_and_back(first: str, then: str) -> None:
    _, box = pushed(requested(IN_UNITS[first], image=IOS_XE))

    pushed(requested(IN_UNITS[then], image=IOS_XE), box.running_text())
