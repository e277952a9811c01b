"""Early detection on Linux routers: what becomes the kernel's ``red``, what is refused, and the twin's queue."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from napalm_linux_tc.red import MOST_WEIGHT, average_words, cell, denominator_of, red_words, usual_weight, weight_of
from napalm_linux_tc.shown import Answers, shown_lines

from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.experiments.catalogue import load_experiment
from qosforge.findings import Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import Queue
from qosforge.platforms.base import platform
from qosforge.tester.scenario.queues import twin_queue
from qosforge.twin.described import read_red
from tests.compiler.support import made_text

LINUX = platform("linux_tc")
PORTS = tuple(Interface(name=name, rate=10**7, role=DeviceRole.EDGE, tags=(name[:3],)) for name in ("lan0", "wan0"))
HARDWARE = "ip link set dev lan0 up\nip link set dev wan0 up\n"
WITH, WITHOUT = f"modprobe sch_htb\nmodprobe sch_red\n{HARDWARE}", f"modprobe sch_htb\n{HARDWARE}"
WEB = {"name": "web", "match": {"any": [{"protocol": "udp", "destination_port": "80"}]}, "mark": {"dscp": 18}}
SIDES = [{"interfaces": "lan", "direction": "input"}, {"interfaces": "wan", "direction": "output"}]


def lowered(
    wred: object, running: str | None = WITH, features: tuple[str, ...] = (), **treatment: Any
) -> CompiledDevice:
    """A class of 30 % of 10 Mb/s with early detection, at the router's output."""
    device = Device(
        name="r",
        platform="linux_tc",
        image="6.1",
        role=DeviceRole.EDGE,
        driver="linux_tc",
        interfaces=PORTS,
        features=frozenset(features),
    )
    web = {**WEB, "treatment": {"bandwidth": {"percent": 30}, "wred": wred, **treatment}}
    network = Network(name="one", devices=(device,), links=(), stations=())
    intent = parse_intent(made_text([web], apply=SIDES), "made.yaml")
    (made,) = compile_intent(intent, network, {"r": running} if running is not None else {}).devices
    return made


def queue_of(made: CompiledDevice) -> Queue:
    egress = made.plan.interfaces[-1].egress
    assert egress.scheduler is not None
    return egress.scheduler.queues[0]


def red_of(made: CompiledDevice) -> tuple[int | None, tuple[int, int, int], int]:
    """Limit, profile and weight of the class."""
    red = queue_of(made).red
    assert red is not None
    (profile,) = red.profiles
    return (
        queue_of(made).limit_bytes,
        (profile.minimum, profile.maximum, profile.denominator),
        red.weight_exponent,
    )


def profile(**more: object) -> dict[str, object]:
    return {"dscp": 18, "minimum": "15 kB", "maximum": "45 kB", **more}


def test_a_profile_is_entered_in_bytes_and_reads_back() -> None:
    made = lowered({"profiles": [profile(probability="50 %")], "weight_exponent": 5, "ecn": True})
    assert red_of(made) == (180_000, (15_000, 45_000, 2), 5)
    assert (
        "red limit 180000b min 15000b max 45000b avpkt 10000b burst 5 probability 0.5 bandwidth 3000000bit ecn"
        in (made.text)
    )
    assert LINUX.parse(made.text, "r", "").interface("wan0") == made.plan.interface("wan0")
    assert [f for f in made.findings if f.code.startswith("wred")] == []


def test_what_an_intent_leaves_open_follows_the_manual() -> None:
    """tc-red(8): max is limit / 4, min is max / 3, probability 0.02, and burst (min + min + max) / (3 * avpkt)."""
    made = lowered(True)
    assert red_of(made) == (64_000, (5_333, 16_000, 50), weight_of(5_333, 8, 1000))
    made = lowered(True, queue_limit={"bytes": "120 kB"})
    assert red_of(made)[:2] == (120_000, (10_000, 30_000, 50))


def test_thresholds_in_packets_and_time_become_bytes_and_that_is_told() -> None:
    made = lowered({"profiles": [profile(minimum="20 packets", maximum="40 packets", probability="7 %")]})
    assert red_of(made)[:2] == (160_000, (20_000, 40_000, 14))
    told = {(f.requested, f.applied) for f in made.findings if f.code == "wred-approximate"}
    assert told == {("20 and 40 packets", "20000 and 40000 B"), ("7 %", "1/14 (7.143 %)")}
    made = lowered({"profiles": [profile(minimum="20 ms", maximum="40 ms")]})
    assert red_of(made)[1] == (7_500, 15_000, 10)


def test_a_queue_in_packets_becomes_bytes_and_that_is_told() -> None:
    made = lowered(True, queue_limit={"packets": 100})
    assert (queue_of(made).limit_packets, queue_of(made).limit_bytes) == (None, 100_000)
    told = [(f.requested, f.applied, f.severity) for f in made.findings if f.code == "wred-approximate"]
    assert told == [("a queue of 100 packets", "100000 B", Severity.INFO)]
    for limit in ({}, {"queue_limit": {"bytes": "100 kB"}}):
        assert [f for f in lowered(True, **limit).findings if f.code == "wred-approximate"] == []
    refused = lowered(
        {"profiles": [profile(maximum="900000000 B")], "weight_exponent": 16}, queue_limit={"packets": 100}
    )
    assert {f.code for f in refused.findings if f.code.startswith("wred")} == {"wred-unsupported"}


@pytest.mark.parametrize(("limit", "told"), [("44 kB", True), ("45 kB", False), ("180 kB", False)])
def test_a_queue_that_is_full_below_its_upper_threshold_is_told(limit: str, told: bool) -> None:
    """tc-red(8) of the limit: it should be set higher than max + burst."""
    made = lowered({"profiles": [profile()]}, queue_limit={"bytes": limit})
    found = [f for f in made.findings if f.code == "wred-approximate"]
    assert [(f.requested, f.applied, f.severity) for f in found] == [
        ("an upper threshold of 45000 B", "a queue of 44000 B", Severity.WARNING)
    ] * told


@pytest.mark.parametrize(
    ("low", "high"), [("2500 B", "3500 B"), ("15500 B", "16 kB"), ("64 B", "65 B"), ("64 B", "900000000 B")]
)
def test_thresholds_close_together_are_entered_with_a_weight_of_their_own(low: str, high: str) -> None:
    made = lowered({"profiles": [profile(minimum=low, maximum=high)], "prefer": False})
    assert [f for f in made.findings if f.code == "wred-unsupported"] == []
    assert queue_of(made).red is not None
    assert LINUX.parse(made.text, "r", "").interface("wan0") == made.plan.interface("wan0")


@given(st.integers(64, 10**9 - 1), st.integers(1, 10**9))
def test_any_thresholds_have_an_average_where_none_is_asked_for(minimum: int, width: int) -> None:
    maximum = min(minimum + width, 10**9)
    weight = usual_weight(minimum, maximum)
    words = average_words(minimum, maximum, weight)
    assert words is not None
    assert weight_of(minimum, words[1], words[0]) == weight
    assert 1 <= weight <= MOST_WEIGHT
    assert weight + maximum.bit_length() <= 31  # red_check_params in include/net/red.h


@pytest.mark.parametrize(
    ("wred", "variant"),
    [
        ({"profiles": [profile(dscp=10)]}, "marks that no drop profile names"),
        ({"profiles": [profile(), profile(dscp=10, maximum="60 kB")]}, "of the scheduler gred"),
        ({"profiles": [profile(minimum="1 B", maximum="2 B")]}, "outside 64 to"),
        (
            {"profiles": [profile(minimum="400 kB", maximum="900 kB")], "weight_exponent": 16},
            "no room for a weight",
        ),
        ({"profiles": [profile(probability="0.001 %")]}, "below 1/10000"),
    ],
)
@pytest.mark.parametrize("prefer", [True, False])
def test_what_red_cannot_do_is_refused_and_drops_at_the_tail(
    wred: dict[str, object], variant: str, prefer: bool
) -> None:
    made = lowered({**wred, "prefer": prefer})
    (found,) = [f for f in made.findings if f.code == "wred-unsupported"]
    assert variant in found.message
    assert found.severity is (Severity.WARNING if prefer else Severity.ERROR)
    assert queue_of(made).red is None


def test_the_same_profile_for_all_marks_of_a_class_is_one() -> None:
    both = {"profiles": [profile(), profile(dscp=[10, 12])]}
    assert red_of(lowered(both))[1] == (15_000, 45_000, 10)
    colours = {"profiles": [{"colour": "green", "minimum": "15 kB", "maximum": "45 kB"}]}
    assert red_of(lowered(colours))[1] == (15_000, 45_000, 10)  # AF21 is of low drop precedence


def test_what_the_router_tells_of_its_kernel_goes_before_its_features() -> None:
    for running, features, known in (
        (WITH, (), True),
        (WITHOUT, ("red",), False),
        (None, ("red",), True),
        (None, (), False),
        (HARDWARE, ("red",), True),
    ):
        made = lowered(True, running, features)
        assert (queue_of(made).red is not None) == known
        unknown = [f for f in made.findings if f.code == "wred-unsupported"]
        assert bool(unknown) != known
        assert all("neither the router nor its 'features' tell of the scheduler red" in f.message for f in unknown)
        untold = [f.severity for f in made.findings if f.code == "schedulers-untold"]
        assert untold == [Severity.INFO] * (running == HARDWARE)


@pytest.mark.parametrize(("modules", "had"), [("", "htb, red"), ("modprobe sch_hfsc\n", "hfsc, htb, red")])
def test_a_scheduler_in_use_is_known_of_a_router_that_tells_of_none(modules: str, had: str) -> None:
    made = lowered(True, modules + WITH)
    again = lowered(True, HARDWARE + made.text)
    assert again.plan.interface("wan0") == made.plan.interface("wan0")
    assert [f.applied for f in again.findings if f.code == "schedulers-untold"] == [had]


def test_the_twin_has_it_as_the_experiment_that_compares_it_with_the_kernel() -> None:
    """`kernel-red` sends the same packets through the kernel's queue and the twin's (docs/kernel.md)."""
    setup = load_experiment("kernel-red").setup
    (line,) = setup["tc"]
    words = line.replace("{100%}", "2mbit").split()
    said = {name: words[words.index(name) + 1] for name in ("limit", "min", "max", "avpkt", "burst")}
    weight = weight_of(int(said["min"]), int(said["burst"]), int(said["avpkt"]))
    assert weight is not None
    entered = red_words(
        limit=int(said["limit"]),
        minimum=int(said["min"]),
        maximum=int(said["max"]),
        weight=weight,
        denominator=2,
        ecn=False,
        rate=2_000_000,
    )
    tree = (
        "tc qdisc replace dev wan0 root handle 1: htb default 0x10 r2q 10\n"
        "tc class add dev wan0 parent 1: classid 1:1 htb rate 2mbit ceil 2mbit burst 1600b cburst 1600b\n"
        "tc class add dev wan0 parent 1:1 classid 1:10 htb prio 1 rate 2mbit ceil 2mbit burst 1600b cburst 1600b "
        f"quantum 1600\ntc qdisc add dev wan0 parent 1:10 handle 10: {entered}\n"
    )
    plan = LINUX.parse(tree, "r", "")
    assert plan.unknown == ()
    scheduler = plan.interfaces[0].egress.scheduler
    assert scheduler is not None
    made = twin_queue(scheduler.queues[0], "all")
    (described,) = setup["queues"]
    expected = read_red(described["red"])
    assert made.red is not None
    # The mean size of packets says how fast the average falls while idle, which it does not here.
    assert made.red == type(expected)(**{**_fields(expected), "mean_packet_bytes": made.red.mean_packet_bytes})
    assert made.limit_bytes == described["limit_bytes"]


def _fields(spec: Any) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in spec.__struct_fields__}


@given(st.integers(64, 10**6), st.integers(1, 10**6), st.integers(1, 16), st.integers(1, 10_000))
def test_any_average_has_words_that_tc_reckons_it_from(
    minimum: int, width: int, weight: int, denominator: int
) -> None:
    words = average_words(minimum, minimum + width, weight)
    assert words is not None
    assert weight_of(minimum, words[1], words[0]) == weight
    shown = float(f"{int(float(_chance(denominator)) * 2**32) / 2**32:.6g}")
    assert denominator_of(shown) == denominator


def _chance(denominator: int) -> str:
    words = red_words(
        limit=9, minimum=1000, maximum=2000, weight=5, denominator=denominator, ecn=False, rate=10**6
    ).split()
    return words[words.index("probability") + 1]


OPTIONS = {
    "limit": 180_000,
    "min": 15_000,
    "max": 45_000,
    "ecn": False,
    "harddrop": False,
    "adaptive": False,
    "nodrop": False,
    "ewma": 5,
    "probability": 0.5,
    "Scell_log": cell(5, 10_000, 3_000_000),
}


@pytest.mark.parametrize(
    ("change", "ours"),
    [
        ({}, True),
        ({"ecn": True}, True),
        ({"adaptive": True}, False),
        ({"Scell_log": 25}, False),
        ({"probability": 0.4}, False),
        ({"ewma": 31}, False),
        ({"max": 15_000}, False),
    ],
)
def test_a_queue_of_other_words_is_shown_as_one_that_is_not_ours(change: dict[str, object], ours: bool) -> None:
    options = OPTIONS | change
    qdiscs = [
        {"kind": "htb", "handle": "1:", "dev": "wan0", "root": True, "options": {"r2q": 10, "default": "0x10"}},
        {"kind": "red", "handle": "10:", "dev": "wan0", "parent": "1:10", "options": options},
    ]
    classes = (
        "class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b\n"
        "class htb 1:10 parent 1:1 leaf 10: prio 1 quantum 1600 rate 3Mbit ceil 10Mbit burst 1600b cburst 1600b\n"
        "class red 10:1 parent 10: \n"
    )
    links = [{"ifname": "wan0", "flags": ["UP"]}]
    lines = shown_lines(Answers(links=json.dumps(links), qdiscs=json.dumps(qdiscs), classes={"wan0": classes}))
    plan = LINUX.parse("\n".join(lines), "r", "")
    assert (plan.unknown == ()) is ours
    if ours:
        scheduler = plan.interfaces[0].egress.scheduler
        assert scheduler is not None
        assert scheduler.queues[0].red == Red(
            weight_exponent=5,
            unit="bytes",
            profiles=(RedProfile(minimum=15_000, maximum=45_000, denominator=2),),
            ecn=bool(options["ecn"]),
            even=True,
            idle_decay=False,
        )
