"""The passive tester's arithmetic, and the forms of counters that it reads, without a device."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.errors import DeviceError
from qosforge.plan.model import (
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
)
from qosforge.platforms.base import QueueCount, platform
from qosforge.platforms.device_text import DeviceText
from qosforge.tester.counters.comparison import compare_counters, read_counters
from qosforge.tester.counters.offered_load import (
    CLASS_DEFAULT,
    CounterKey,
    ExpectedCounts,
    OfferedPackets,
    expected_counts,
)
from tests.compiler.goldens import every_platform, library
from tests.device_texts import said

SERIAL = "Serial0/0"
VOICE = CounterKey(SERIAL, "output", "VOICE")
POLICY = Egress(
    policy="WAN",
    rules=(Rule(name="VOICE", any_of=(Term(dscp=(46,)),), queue=0),),
    default_queue=1,
    scheduler=Scheduler(
        discipline=Discipline.LLQ_CBWFQ,
        queues=(
            Queue(number=0, name="VOICE", priority=True, share=Share(unit=ShareUnit.PERCENT, value=30)),
            Queue(number=1, name="class-default"),
        ),
    ),
)
ROUTER = Plan(device="r1", platform="cisco_ios", interfaces=(InterfacePlan(name=SERIAL, egress=POLICY),))
DUE = ExpectedCounts({VOICE: 100}, frozenset({VOICE}))


def voice(packets: int, queued: int | None = None, **rest: Any) -> QueueCount:
    """The counter of the voice class, its queue having taken everything unless told otherwise."""
    rest = {"priority": True, "drops": 0, **rest}
    return QueueCount(SERIAL, "output", "VOICE", packets, queued=packets if queued is None else queued, **rest)


def problems(first: QueueCount | None, second: QueueCount | None, due: ExpectedCounts | None = DUE) -> list[str]:
    notes = compare_counters(ROUTER, [first] if first else [], [second] if second else [], due)
    return [note.message for note in notes if note.contradiction]


def test_growth_as_configured_is_a_note_with_both_figures() -> None:
    (note,) = compare_counters(ROUTER, [voice(40)], [voice(140)], DUE)
    assert (note.grew, note.expected, note.contradiction) == (100, 100, False)
    assert "served first" in note.message


@pytest.mark.parametrize("grown", [0, 99, 101])
def test_other_growth_contradicts(grown: int) -> None:
    (problem,) = problems(voice(40), voice(40 + grown))
    assert f"counted {grown} packets" in problem
    assert "says 100" in problem


def test_a_counter_that_is_not_due_must_stand_still() -> None:
    assert not problems(voice(7), voice(7), ExpectedCounts({}, frozenset()))
    assert problems(voice(7), voice(8), ExpectedCounts({}, frozenset()))


def test_counters_that_overlap_may_count_more_but_never_less() -> None:
    assert not problems(voice(0), voice(150, overlapping=True))
    assert problems(voice(0), voice(99, overlapping=True))


def test_a_counter_that_fell_was_cleared() -> None:
    (problem,) = problems(voice(140), voice(40))
    assert "lost 100" in problem


def test_a_priority_class_that_its_queue_did_not_take() -> None:
    (problem,) = problems(voice(0, queued=0), voice(100, queued=20))
    assert "priority queue took 20" in problem


def test_what_the_queue_dropped_did_reach_it() -> None:
    assert not problems(voice(0), voice(100, queued=80, drops=20))


def test_a_priority_queue_that_the_device_does_not_serve_first() -> None:
    (problem,) = problems(voice(0), voice(100, priority=False))
    assert "not served first" in problem


def test_without_an_expectation_growth_is_told_and_nothing_judged() -> None:
    (note,) = compare_counters(ROUTER, [voice(0)], [voice(33, queued=0, priority=False)], None)
    assert (note.grew, note.expected, note.contradiction) == (33, None, False)


def test_a_class_that_is_due_and_has_no_counter() -> None:
    other = QueueCount(SERIAL, "output", "class-default", 0)
    notes = compare_counters(ROUTER, [other], [other], DUE)
    assert [note.contradiction for note in notes] == [True]
    assert "has no counter" in notes[0].message
    assert "has no counter" in problems(None, None)[0]


def test_counters_of_no_interface_count_for_all() -> None:
    rule = QueueCount("", "input", "web", 30)
    due = ExpectedCounts({CounterKey("1", "input", "web"): 10, CounterKey("2", "input", "web"): 20}, frozenset())
    notes = compare_counters(ROUTER, [QueueCount("", "input", "web", 0)], [rule], due)
    assert [(n.grew, n.expected, n.contradiction) for n in notes] == [(30, 30, False)]


def test_a_device_without_counters_is_told_not_judged() -> None:
    plan = Plan(device="s1", platform="catalyst_2950")
    assert read_counters(FakeDriver({}), plan) == ()
    (note,) = compare_counters(plan, (), (), DUE)
    assert note.message == "the device has no counters by class"
    assert not note.contradiction


class FakeDriver:
    """A driver that answers what it was told to, and nothing else."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers

    def cli(self, commands: list[str]) -> dict[str, DeviceText]:
        return {command: said(self.answers[command]) for command in commands}


# The block of the command guide for images before HQF, with an input policy and a child policy added.
SHOWN = """\
 Serial0/0

  Service-policy output: WAN

    Class-map: VOICE (match-any)
      120 packets, 24000 bytes
      5 minute offered rate 0 bps, drop rate 0 bps
      Match: ip dscp ef
      Queueing
        Strict Priority
        Output Queue: Conversation 264
        Bandwidth 128 (kbps) Burst 3200 (Bytes)
        (pkts matched/bytes matched) 110/22000
        (total drops/bytes drops) 10/2000

    Class-map: class-default (match-any)
      7 packets, 700 bytes
      5 minute offered rate 0 bps, drop rate 0 bps
      Match: any
      Queueing
        Output Queue: Conversation 265
        Bandwidth 20 (%)
        (pkts matched/bytes matched) 7/700
        (depth/total drops/no-buffer drops) 5/3/1

      Service-policy : CHILD

        Class-map: BELOW (match-any)
          5 packets, 500 bytes
 FastEthernet0/0

  Service-policy input: LAN

    Class-map: VOICE (match-any)
      9 packets, 900 bytes
"""


def test_ios_policies_are_read_by_interface_direction_and_class() -> None:
    plan = ROUTER.model_copy(
        update={
            "interfaces": (*ROUTER.interfaces, InterfacePlan(name="FastEthernet0/0", ingress=Ingress(policy="L")))
        }
    )
    assert read_counters(FakeDriver({"show policy-map interface": SHOWN}), plan) == (
        QueueCount(SERIAL, "output", "VOICE", 120, 10, priority=True, queued=110, size_bytes=24000),
        QueueCount(SERIAL, "output", "class-default", 7, 3, priority=False, queued=7, size_bytes=700),
        # A class inside a class counts for itself too.
        QueueCount(SERIAL, "output", "BELOW", 5, priority=False, size_bytes=500),
        QueueCount("FastEthernet0/0", "input", "VOICE", 9, size_bytes=900),
    )


@pytest.mark.parametrize("answer", ["% Invalid input detected at '^' marker.", "    Class-map: A (match-any)\n"])
def test_what_is_no_counter_is_an_error_of_the_device(answer: str) -> None:
    with pytest.raises(DeviceError) as raised:
        read_counters(FakeDriver({"show policy-map interface": answer}), ROUTER)
    assert raised.value.where.device == "r1"


PORT = "GigabitEthernet0/1"
STATISTICS = """\
GigabitEthernet0/1

  output queues enqueued:
 queue:    threshold1   threshold2   threshold3
-----------------------------------------------
 queue 0:         10            2            0
 queue 1:          0            0            0
 queue 2:          3            0            0
 queue 3:          0            0            4

  output queues dropped:
 queue:    threshold1   threshold2   threshold3
-----------------------------------------------
 queue 0:          0            0            0
 queue 1:          0            0            0
 queue 2:          1            1            0
 queue 3:          0            0            0

Policer: Inprofile:            0 OutofProfile:            0
"""


@pytest.mark.parametrize("state", ["enabled", "disabled"])
def test_a_2970_counts_queues_from_zero_and_tells_whether_the_first_is_expedited(state: str) -> None:
    text = f"hostname S\nmls qos\ninterface {PORT}\n priority-queue out\n"
    plan = platform("catalyst_2970").parse(text, "s1", "12.2")
    commands = platform("catalyst_2970").counter_commands(plan)
    answers = dict(zip(commands, [STATISTICS, f"{PORT}\nEgress Priority Queue : {state}\n"], strict=True))
    counts = read_counters(FakeDriver(answers), plan)
    assert [(c.queue, c.packets, c.drops) for c in counts] == [("1", 12, 0), ("2", 0, 0), ("3", 3, 2), ("4", 4, 0)]
    first = CounterKey(PORT, "output", "1")
    notes = compare_counters(plan, counts, counts, ExpectedCounts({}, frozenset({first})))
    assert any(note.contradiction for note in notes) == (state == "disabled")


def test_a_2970_whose_qos_is_off_has_nothing_to_ask() -> None:
    plan = platform("catalyst_2970").parse(f"interface {PORT}\n priority-queue out\n", "s1", "12.2")
    assert platform("catalyst_2970").counter_commands(plan) == ()


@pytest.mark.parametrize(
    ("source", "counted"),
    [
        ("10.1.1.1", {"branch-a", "class-1"}),
        ("10.1.9.1", {"branch-a"}),
        ("10.2.2.1", {"branch-b", "class-4"}),
        ("10.9.9.9", {CLASS_DEFAULT}),
    ],
)
@pytest.mark.parametrize("name", ["ios-12-4", "linux-6-1-e1"])
def test_packets_are_due_at_a_class_and_at_those_below_it(name: str, source: str, counted: set[str]) -> None:
    made = next(device for device in library("torino-link-sharing").devices if device.name == name)
    inside, out = ("lan0", "wan0") if name.startswith("linux") else ("FastEthernet0/0", "Serial0/0")
    offer = OfferedPackets(
        device=name,
        into=inside,
        out=out,
        packets=7,
        size=100,
        dscp=0,
        cos=0,
        tagged=False,
        protocol=17,
        source=source,
        destination="192.0.2.1",
        source_port=5000,
        destination_port=5001,
    )
    due = expected_counts(every_platform(), made.plan, [offer])
    assert due.packets == {CounterKey(out, "output", each): 7 for each in counted}
