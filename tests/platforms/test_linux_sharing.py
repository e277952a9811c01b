"""Trees of a Linux router: HFSC where its kernel has it, else HTB; what each does with excess on a real kernel."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from napalm_linux_tc.curves import readable_us, shown_class
from napalm_linux_tc.shown import Answers, shown_lines, trees

from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Fidelity, Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.description import service_words
from qosforge.plan.model import Scheduler
from qosforge.plan.shares import expected_shares
from qosforge.platforms.base import platform
from qosforge.platforms.linux_tc.sharing import burst_of, held_priority_burst
from qosforge.tester.scenario.schedulers import twin_scheduler
from qosforge.twin.schedulers import DcbqScheduler
from tests.compiler.support import made_text
from tests.platforms.kernel_loads import FRAME, LoadRun, loaded

LINUX = platform("linux_tc")
RATE = 2_000_000
CLASSES: list[dict[str, Any]] = [
    {"name": "voice", "match": {"any": [{"dscp": ["ef"]}]}, "treatment": {"priority": {"percent": 30}}},
    {"name": "web", "match": {"any": [{"dscp": ["af21"]}]}, "treatment": {"bandwidth": {"percent": 30}}},
    {
        "name": "bulk",
        "match": {"any": [{"dscp": ["af11"]}]},
        "treatment": {"bandwidth": {"percent": 20}, "shape": {"percent": 40}},
    },
    {
        "name": "bound",
        "match": {"any": [{"dscp": ["cs1"]}]},
        "treatment": {"bandwidth": {"percent": 10}, "bounded": True},
    },
]
DSCPS = {"voice": 46, "web": 18, "bulk": 10, "bound": 8, "default": 0}


def with_voice(**more: Any) -> list[dict[str, Any]]:
    """The classes, with more said of the treatment of ``voice``."""
    voice, *others = CLASSES
    return [voice | {"treatment": voice["treatment"] | more}, *others]


BOUNDED = with_voice(bounded=True)


def lowered(
    *features: str,
    rate: int = RATE,
    running: str | None = None,
    classes: list[dict[str, Any]] = CLASSES,
    shape: int | None = None,
    ports: tuple[str, ...] = ("out",),
) -> CompiledDevice:
    """A router, compiled; ``shape`` is what the intent shapes its ports to (b/s)."""
    device = Device(
        name="r",
        platform="linux_tc",
        image="6.1",
        role=DeviceRole.EDGE,
        driver="linux_tc",
        interfaces=tuple(Interface(name=n, rate=rate, role=DeviceRole.EDGE, tags=("wan",)) for n in ports),
        features=frozenset(features),
    )
    network = Network(name="one", devices=(device,), links=(), stations=())
    scope = {"interfaces": "wan", "direction": "output"} | ({"shape": {"rate": f"{shape} b/s"}} if shape else {})
    intent = parse_intent(made_text(classes, apply=[scope]), "made.yaml")
    (made,) = compile_intent(intent, network, {} if running is None else {"r": running}).devices
    return made


def scheduler_of(made: CompiledDevice) -> Scheduler:
    scheduler = made.plan.interfaces[0].egress.scheduler
    assert scheduler is not None
    return scheduler


def test_a_kernel_with_hfsc_gets_curves_that_read_back() -> None:
    made = lowered("hfsc")
    curves = [
        line.split(" hfsc ")[1] for line in made.text.splitlines() if "class add" in line and " hfsc " in line
    ]
    assert curves == [
        "rt m1 2000kbit d 85700us m2 600kbit ls m2 600kbit",
        "ls m2 600kbit",
        "ls m2 400kbit ul m2 800kbit",
        "ls m2 200kbit ul m2 200kbit",
        "ls m2 200kbit",
    ]
    read = LINUX.parse(made.text, "r", "")
    assert read.unknown == ()
    assert read.interface("out") == made.plan.interface("out")
    assert [f for f in made.findings if f.code == "bounded-by-shape"] == []


def test_the_rate_that_a_priority_class_may_reach_is_told_of_each_interface() -> None:
    """Beside the class that is bounded to a tenth it gets the rest, beside any other one less."""
    made = lowered("hfsc", ports=("out", "other"))
    told = [f for f in made.findings if f.code == "priority-cap-not-enforced"]
    assert [(f.interface, f.traffic_class, f.severity, f.requested, f.applied) for f in told] == [
        (
            name,
            "voice",
            Severity.WARNING,
            "at most 600 kb/s while others wait",
            "up to 1.8 Mb/s while one of them waits",
        )
        for name in ("out", "other")
    ]
    voice = [f for f in made.fidelity if f.traffic_class == "voice"]
    assert [(f.fidelity, f.requested_percent, f.applied_percent) for f in voice] == [
        (Fidelity.APPROXIMATE, 30.0, 90.0)
    ] * 2


@pytest.mark.parametrize(
    ("more", "applied"),
    [
        ({"bounded": True}, None),
        ({"police": {"rate": "600 kb/s", "direction": "output"}}, None),
        ({"police": {"rate": "1 Mb/s", "direction": "output"}}, "up to 1 Mb/s while one of them waits"),
        ({"police": {"rate": "600 kb/s", "direction": "input"}}, "up to 1.8 Mb/s while one of them waits"),
    ],
)
def test_what_holds_a_priority_class_to_its_rate_is_regarded(more: dict[str, Any], applied: str | None) -> None:
    made = lowered("hfsc", classes=with_voice(**more))
    told = [f.applied for f in made.findings if f.code == "priority-cap-not-enforced"]
    assert told == ([] if applied is None else [applied])
    (voice,) = (f for f in made.fidelity if f.traffic_class == "voice")
    assert voice.fidelity is (Fidelity.EXACT if applied is None else Fidelity.APPROXIMATE)


def test_a_bounded_class_of_priority_gets_an_upper_limit_that_reads_back() -> None:
    made = lowered("hfsc", classes=BOUNDED)
    assert "hfsc rt m1 2000kbit d 85700us m2 600kbit ls m2 600kbit ul m2 600kbit\n" in made.text
    read = LINUX.parse(made.text, "r", "")
    assert read.unknown == ()
    assert read.interface("out") == made.plan.interface("out")
    (told,) = [f for f in made.findings if f.code == "bounded-by-shape"]
    assert told.traffic_class == "voice"
    assert [f for f in made.findings if f.code == "priority-cap-not-enforced"] == []
    scheduler = scheduler_of(made)
    assert expected_shares(scheduler, RATE)[0] == pytest.approx(0.3)
    assert "what exceeds that waits" in service_words(scheduler.queues[0], scheduler)
    twin = twin_scheduler(scheduler, RATE)
    assert isinstance(twin, DcbqScheduler)
    assert not twin.classes[0].borrow


def test_what_a_priority_class_of_htb_sends_above_its_rate_is_said_to_wait() -> None:
    scheduler = scheduler_of(lowered())
    assert "what exceeds that waits" in service_words(scheduler.queues[0], scheduler)


@pytest.mark.parametrize("running", [None, "modprobe sch_htb\nip link set dev out up\n"])
def test_a_kernel_without_hfsc_gets_htb_whose_priority_does_not_borrow(running: str | None) -> None:
    made = lowered(*(("hfsc",) if running else ()), running=running)
    assert " hfsc " not in made.text
    assert not scheduler_of(made).decoupled
    (told,) = [f for f in made.findings if f.code == "bounded-by-shape"]
    assert told.traffic_class == "voice"


def test_rates_beyond_those_of_hfsc_get_htb() -> None:
    assert " hfsc " in lowered("hfsc", rate=10**10).text
    assert " hfsc " not in lowered("hfsc", rate=10**11).text


def test_the_twin_divides_such_a_tree_as_d_cbq() -> None:
    made = twin_scheduler(scheduler_of(lowered("hfsc")), RATE)
    assert isinstance(made, DcbqScheduler)
    assert [(c.share, c.priority, c.borrow) for c in made.classes] == [
        (0.3, "high", True),
        (0.3, "low", True),
        (0.2, "low", True),
        (0.1, "low", False),
        (0.1, "low", True),
    ]
    assert made.shapes is not None
    assert {number: shape.rate_bps for number, shape in made.shapes.items()} == {2: 800_000, 3: 200_000}


@given(st.integers(1, 10**6), st.integers(8, 10**6), st.integers(8, 10**6))
def test_bursts_of_priority_are_known_again(size: int, rate_kbps: int, more_kbps: int) -> None:
    rate, link = 1000 * rate_kbps, 1000 * (rate_kbps + more_kbps)
    held = held_priority_burst(size, rate, link)
    assert held_priority_burst(held, rate, link) == held
    assert burst_of(readable_us(8e6 * held / (link - rate)), rate, link) == held


@pytest.mark.parametrize("burst", ["1 B", "32 B", "1500 B", "1600 B", "4 kB"])
def test_a_small_burst_of_priority_reads_back(burst: str) -> None:
    made = lowered("hfsc", rate=10**7, classes=with_voice(priority={"percent": 11, "burst": burst}))
    read = LINUX.parse(made.text, "r", "")
    assert read.unknown == ()
    assert read.interface("out") == made.plan.interface("out")
    assert (scheduler_of(made).queues[0].burst or 0) >= 1590


@pytest.mark.parametrize(
    ("curve", "first"),
    [
        ("rt m1 8kbit d 85700us m2 600kbit", False),
        ("rt m1 1900kbit d 85700us m2 600kbit", True),
        ("rt m1 2000kbit d 85700us m2 500kbit", True),
        ("rt m1 0kbit d 0us m2 600kbit", False),
    ],
)
def test_a_real_time_curve_that_is_not_ours_is_kept_as_not_understood(curve: str, first: bool) -> None:
    """Calls of a class whose curve begins low wait, though they have a curve."""
    made = lowered("hfsc")
    changed = made.text.replace("rt m1 2000kbit d 85700us m2 600kbit", curve)
    assert changed != made.text
    read = LINUX.parse(changed, "r", "")
    (unknown,) = read.unknown
    assert curve in unknown.text
    scheduler = read.interfaces[0].egress.scheduler
    assert scheduler is not None
    assert scheduler.queues[0].priority == first


@pytest.mark.parametrize("curves", ["ls m2 200500bit", "ls m2 500bit", "ls m2 200kbit ul m2 1500bit"])
def test_rates_finer_than_those_of_a_plan_are_kept_as_not_understood(curves: str) -> None:
    (unknown,) = LINUX.parse(lowered("hfsc").text.replace("ls m2 200kbit\n", f"{curves}\n"), "r", "").unknown
    assert curves in unknown.text


@pytest.mark.parametrize("features", [(), ("hfsc",)])
def test_a_class_that_no_plan_numbers_is_kept_as_not_understood(features: tuple[str, ...]) -> None:
    text = lowered(*features).text.replace(" classid 1:12 ", " classid 3:2 ")
    assert [line.text for line in LINUX.parse(text, "r", "").unknown] == [
        line for line in text.splitlines() if " classid 3:2 " in line
    ]


HFSC = (
    "class hfsc 1: root \n"
    "class hfsc 1:10 parent 1: leaf 10: rt m1 2Mbit d 85.7ms m2 600Kbit ls m1 0bit d 0us m2 600Kbit \n"
    "class hfsc 1:11 parent 1: leaf 11: ls m1 0bit d 0us m2 600012bit ul m1 0bit d 0us m2 800Kbit \n"
)


@pytest.mark.parametrize(
    ("classes", "unknown"),
    [
        (HFSC, 0),
        (HFSC.replace("ls m1 0bit", "ls m1 5Mbit"), 2),
        (HFSC.replace("rt m1", "sc m1").replace(" ls m1 0bit d 0us m2 600Kbit", ""), 1),
    ],
)
def test_a_tree_of_hfsc_is_read_though_tc_prints_no_json_of_it(classes: str, unknown: int) -> None:
    """iproute2 6.1 prints the options of ``hfsc`` as plain text inside its JSON."""
    qdiscs = (
        '[{"kind":"htb","handle":"2:","dev":"out","root":true,"options":{"r2q":10,"default":"0x1"}},'
        '{"kind":"hfsc","handle":"1:","dev":"out","parent":"2:1","options":{default 11 }},'
        '{"kind":"pfifo","handle":"10:","dev":"out","parent":"1:10","options":{"limit":64}},'
        '{"kind":"pfifo","handle":"11:","dev":"out","parent":"1:11","options":{"limit":64}}]'
    )
    whole = "class htb 2:1 root leaf 1: prio 0 quantum 25000 rate 2Mbit ceil 2Mbit burst 1600b cburst 1600b\n"
    links = json.dumps([{"ifname": "out", "flags": ["UP"]}])
    assert trees(qdiscs) == ("out",)
    lines = shown_lines(Answers(links=links, qdiscs=qdiscs, classes={"out": whole + classes}))
    plan = LINUX.parse("\n".join(lines), "r", "")
    assert len([line for line in plan.unknown if " class add " in line.text]) == unknown
    if not unknown:
        assert plan.unknown == ()
        scheduler = plan.interfaces[0].egress.scheduler
        assert scheduler is not None
        assert [(q.priority, q.share and q.share.value, q.shape_rate) for q in scheduler.queues] == [
            (True, 600, None),
            (False, 600, 800_000),
        ]


@pytest.mark.parametrize(
    ("shown", "entered"),
    [
        ("600012bit", "600kbit"),
        ("1080bit", "1kbit"),
        ("1500bit", "1500bit"),
        ("504bit", "504bit"),
        ("80bit", "80bit"),
        ("600500bit", "600500bit"),
    ],
)
def test_rates_are_shown_as_they_are_entered_to_become_the_same(shown: str, entered: str) -> None:
    """The kernel's rounding is taken off; what is finer than a kb/s besides is somebody else's, and stays."""
    line = f"class hfsc 1:11 parent 1: leaf 11: ls m1 0bit d 0us m2 {shown} "
    assert shown_class("out", line) == (
        "1:11",
        f"tc class add dev out parent 1: classid 1:11 hfsc ls m2 {entered}",
    )


def test_the_drops_of_a_class_of_hfsc_are_read() -> None:
    made = lowered("hfsc")
    shown = (
        "class hfsc 1: root \n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) \n period 0 level 1 \n\n"
        "class hfsc 1:10 parent 1: leaf 10: rt m1 2Mbit d 85.7ms m2 600Kbit ls m1 0bit d 0us m2 600Kbit \n"
        " Sent 9000 bytes 9 pkt (dropped 4, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n"
    )
    rule = {"chain": "out/out/voice", "expr": [{"counter": {"packets": 13, "bytes": 13000}}]}
    answers = {
        "nft -j list table inet qosforge": json.dumps({"nftables": [{"rule": rule}]}),
        "tc -s class show dev out": shown,
    }
    assert set(LINUX.counter_commands(made.plan)) == set(answers)
    (count,) = LINUX.read_counters(answers, made.plan)
    assert (count.queue, count.packets, count.drops) == ("voice", 13, 4)


@dataclass(frozen=True)
class Shared:
    """What classes got of the link by name, and how long their packets waited."""

    run: LoadRun

    @property
    def parts(self) -> dict[str, float]:
        """Of each class that got any, after the warm-up."""
        got = self.run.parts()
        return {name: got[dscp] for name, dscp in DSCPS.items() if dscp in got}

    def waits_for_one_packet(self, name: str) -> bool:
        """For one of another class, beside its own and the timer's lateness."""
        return self.run.worst_ms(DSCPS[name]) < 3 * FRAME * 8 / RATE * 1e3


def measured(made: CompiledDevice, *loads: dict[str, float]) -> list[Shared]:
    """Packets of constant rates, in parts of the link, through the tree on a kernel, one load after another."""
    tree = [line for line in made.text.splitlines() if line.startswith("tc ")]
    tree += [
        f"tc filter add dev out parent {chosen.split(':')[0]}: protocol ip u32 "
        f"match ip tos {DSCPS[name] << 2:#04x} 0xfc flowid {chosen}"
        for name, chosen in re.findall(r" out/out/(\S+) meta priority set (\S+) ", made.text)
    ]
    by_dscp = [{DSCPS[name]: part for name, part in load.items()} for load in loads]
    return list(map(Shared, loaded(tree, by_dscp, RATE)))


@pytest.mark.needs("virtual-time")
def test_on_a_kernel_priority_of_hfsc_borrows_by_its_share_and_waits_for_one_packet_below_its_rate() -> None:
    made = lowered("hfsc")
    expected = expected_shares(scheduler_of(made), RATE, backlogged={0, 1})
    borrowing, bound, below = measured(
        made,
        {"voice": 1.2, "web": 1.2},
        {"voice": 1.2, "bound": 1.2},
        {"voice": 0.25, "web": 1.2, "bulk": 1.2, "bound": 1.2},
    )
    # What three idle classes leave is divided in the ratio of the shares, 30 to 30, and not all given to priority.
    assert borrowing.parts["voice"] == pytest.approx(0.5, abs=0.02)
    assert borrowing.parts["web"] == pytest.approx(0.5, abs=0.02)
    assert expected[1] == pytest.approx(0.7), "a priority class is taken to send its rate, and others what is left"

    (most,) = (f.applied_percent for f in made.fidelity if f.traffic_class == "voice")
    assert bound.parts["voice"] == pytest.approx((most or 0) / 100, abs=0.02)

    got = below.parts
    assert got["voice"] == pytest.approx(0.25, abs=0.01)
    assert got["bulk"] <= 0.41
    assert got["bound"] == pytest.approx(0.1, abs=0.01)
    assert sum(got.values()) == pytest.approx(1.0, abs=0.02)
    assert below.waits_for_one_packet("voice")


@pytest.mark.needs("virtual-time")
def test_on_a_kernel_bounded_priority_of_hfsc_stays_at_its_rate_and_still_waits_for_one_packet() -> None:
    """The real-time curve alone would be served beyond the upper limit: both have the class's rate."""
    beside, alone, below = measured(
        lowered("hfsc", classes=BOUNDED),
        {"voice": 1.2, "web": 1.2},
        {"voice": 1.2},
        {"voice": 0.25, "web": 1.2, "bulk": 1.2, "bound": 1.2},
    )
    assert beside.parts["voice"] == pytest.approx(0.3, abs=0.01)
    assert beside.parts["web"] == pytest.approx(0.7, abs=0.01)
    assert alone.parts["voice"] == pytest.approx(0.3, abs=0.01)
    assert below.parts["voice"] == pytest.approx(0.25, abs=0.01)
    assert below.waits_for_one_packet("voice")


@pytest.mark.needs("virtual-time")
def test_on_a_kernel_priority_of_htb_stays_at_its_rate() -> None:
    (beside,) = measured(lowered(), {"voice": 1.2, "web": 1.2})
    assert beside.parts["voice"] == pytest.approx(0.3, abs=0.05)
    assert beside.parts["web"] == pytest.approx(0.7, abs=0.05)
