"""Candidates on emulated routers: the delta is taken line by line, reads back as the plan, and can be undone."""

from __future__ import annotations

import re

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from qosforge.compiler.candidate import find_plan_differences, make_candidate, plan_differences, rollback_lines
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import has_errors
from qosforge.intent.loader import parse_intent
from qosforge.platforms.cisco_ios import PLATFORM
from qoslab.box import Box

from .support import (
    POLICIES,
    ROUTERS,
    a_class,
    compiled,
    device,
    emulated,
    intents,
    made_text,
    routers,
    running,
    startup,
)

SETTINGS = settings(
    max_examples=25, deadline=None, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate)
)


def parsed(wanted: CompiledDevice, text: str) -> tuple[str, ...]:
    """Where a running configuration is not the plan."""
    return find_plan_differences(wanted.plan, PLATFORM.parse(text, wanted.name, wanted.request.image))


def push(box: Box, wanted: CompiledDevice) -> str:
    """Enter the candidate; every line must be taken, and what is read back must be the plan. Returns what was."""
    before = box.running_text()
    candidate = make_candidate(wanted, before)
    assert box.configure(candidate.delta) == [], candidate.text
    assert parsed(wanted, box.running_text()) == ()
    assert make_candidate(wanted, box.running_text()).empty
    return before


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("name", POLICIES)
def test_a_shipped_intent_is_pushed_and_undone(name: str, router: str) -> None:
    box, wanted = emulated(router), device(compiled(name), router)
    candidate = make_candidate(wanted, box.running_text())

    before = push(box, wanted)
    assert box.running_text() != before
    assert sorted(rollback_lines("cisco_ios", box.running_text(), before)) == sorted(candidate.inverse)
    assert box.configure(candidate.inverse) == []

    assert box.running_text() == before


@pytest.mark.parametrize("router", ROUTERS)
def test_one_shipped_intent_replaces_the_other_and_back(router: str) -> None:
    box = emulated(router)
    push(box, device(compiled("itesm-paper"), router))

    before = push(box, device(compiled("campus-collaboration"), router))
    assert box.configure(rollback_lines("cisco_ios", box.running_text(), before)) == []

    assert box.running_text() == before


def test_a_lost_line_is_seen_in_what_is_read_back() -> None:
    box, wanted = emulated("r1"), device(compiled("itesm-paper"), "r1")
    push(box, wanted)

    for lines in (
        ["policy-map VOICE-VIDEO", "class HTTP-FTP", "bandwidth remaining percent 69"],
        ["policy-map MARKING", "class VOICE-VIDEO", "set dscp af42"],
        ["class-map match-any HTTP-FTP", "no match protocol ftp"],
        ["interface Serial0/0", "no service-policy output VOICE-VIDEO"],
        ["interface Serial0/0", "bandwidth 1999"],
    ):
        changed = emulated("r1", box.running_text())
        assert changed.configure(lines) == []
        assert parsed(wanted, changed.running_text()), lines


def test_an_empty_candidate_has_no_text() -> None:
    box, wanted = emulated("r1"), device(compiled("itesm-paper"), "r1")
    push(box, wanted)

    candidate = make_candidate(wanted, box.running_text())

    assert (candidate.empty, candidate.delta, candidate.inverse, candidate.text) == (True, (), (), "")


def wanted_of(intent: str, router: str) -> CompiledDevice:
    return device(compile_intent(parse_intent(intent, "made.yaml"), routers(), running()), router)


def errorless(intent: str, router: str) -> CompiledDevice:
    wanted = wanted_of(intent, router)
    assume(not has_errors(wanted.findings))
    return wanted


@SETTINGS
@given(intents(), st.sampled_from(ROUTERS))
def test_any_intent_reads_back_as_its_plan_and_can_be_undone(intent: str, router: str) -> None:
    wanted = errorless(intent, router)
    box = emulated(router)
    before = push(box, wanted)

    assert box.configure(rollback_lines("cisco_ios", box.running_text(), before)) == []

    assert box.running_text() == before


@SETTINGS
@given(intents(), intents(), st.sampled_from(ROUTERS))
def test_any_intent_replaces_any_other(first: str, second: str, router: str) -> None:
    box = emulated(router)
    push(box, errorless(first, router))
    wanted = errorless(second, router)
    delta = make_candidate(wanted, box.running_text()).delta

    before = push(box, wanted)
    for line in delta:
        if line.startswith(" no service-policy output"):
            following = delta[delta.index(line) + 1]
            assert re.fullmatch(r" service-policy output \S+", following), delta
    assert box.configure(rollback_lines("cisco_ios", box.running_text(), before)) == []

    assert box.running_text() == before


def test_lines_that_are_not_ours_stay() -> None:
    wanted = device(compiled("campus-collaboration"), "r1")
    beside = "class-map match-any OPERATOR\n match ip precedence 5\n!\n"
    text = startup("r1").replace(
        "!\ninterface FastEthernet0/0\n", f"!\n{beside}interface FastEthernet0/0\n duplex full\n"
    )
    box = emulated("r1", text)

    push(box, wanted)

    assert "class-map match-any OPERATOR\n match ip precedence 5\n" in re.sub("  +", " ", box.running_text())
    assert " duplex full\n" in box.running_text()


def test_the_order_of_alternatives_means_nothing() -> None:
    first, second = (
        wanted_of(made_text([a_class(match={"any": [{"application": order}]})]), "r1")
        for order in (["http", "ftp"], ["ftp", "http"])
    )
    box = emulated("r1")
    push(box, first)

    assert parsed(second, box.running_text()) == ()
    assert make_candidate(second, box.running_text()).empty


def test_the_order_of_classes_means_something() -> None:
    first, second = (
        wanted_of(made_text([a_class(name) for name in order]), "r1") for order in (("a", "b"), ("b", "a"))
    )
    box = emulated("r1")
    push(box, first)

    assert parsed(second, box.running_text())
    push(box, second)


def test_a_difference_names_the_innermost_place_and_both_values() -> None:
    wanted, box = device(compiled("campus-collaboration"), "r1"), emulated("r1")
    push(box, wanted)
    text = box.running_text().replace("remaining percent 70", "remaining percent 7")

    (difference,) = plan_differences(wanted, text)

    assert difference == "Serial0/0 egress.scheduler.queues[1].share.value: meant 70, holds 7"
    # Without its policy a whole side differs: told in words of bounded length.
    bare = plan_differences(wanted, text.replace(" service-policy output QOSFORGE-OUT\n", ""))
    assert bare
    assert max(map(len, bare)) < 500
