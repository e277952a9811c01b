"""What others have configured on interfaces of an intent: queueing in the way of policies."""

from __future__ import annotations

import pytest

from qosforge.configtree import merge, transition
from qosforge.findings import Finding, Severity
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.cisco_ios import PLATFORM
from qoslab.box import Box

from .ios_support import MODERN, OLD, STARTUP, a_class, booted, lan, line, of, pushed, requested, text_of

GOLD = a_class("gold", 5, treatment={"bandwidth": {"percent": 20}}, mark={"dscp": 10})


def found(request: DeviceRequest, startup: str, code: str) -> list[Finding]:
    running = PLATFORM.parse(booted(request.image, startup).running_text(), "r9", request.image)
    return of(PLATFORM.lower(request, running), code)


def entered(request: DeviceRequest, box: Box) -> list[str]:
    """What a device refuses of a request."""
    grammar = PLATFORM.grammar
    current = grammar.parse(box.running_text())
    delta = transition(current, merge(current, grammar.parse(text_of(request)), grammar), grammar)
    return list(map(str, box.configure(delta)))


@pytest.mark.parametrize("image", [OLD, MODERN])
@pytest.mark.parametrize(
    ("lines", "removal"),
    [
        (" priority-group 1\n", ("no priority-group",)),
        (" custom-queue-list 2\n", ("no custom-queue-list",)),
        (" random-detect dscp-based\n random-detect dscp af11 10 20\n", ("no random-detect",)),
        (" fair-queue 128 256 0\n", ("no fair-queue",)),
    ],
)
def test_queueing_that_excludes_a_policy_is_told_with_the_line_that_removes_it(
    lines: str, removal: tuple[str, ...], image: str
) -> None:
    """The device refuses the policy while the lines stand, and takes it when those of the hint are entered."""
    startup = f"{STARTUP}interface Serial0/0\n{lines}"
    request = requested(GOLD, image=image)

    (finding,) = found(request, startup, "queueing-in-the-way")

    assert (finding.severity, finding.interface, finding.direction) == (Severity.ERROR, "Serial0/0", "output")
    assert all(repr(text.strip()) in finding.message for text in lines.splitlines())
    refused = entered(request, booted(image, startup))
    assert any("Must deconfigure" in answer for answer in refused)

    after = booted(image, startup)
    assert all(f"'{command}'" in (finding.hint or "") for command in removal)
    assert after.configure(["interface Serial0/0", *(f" {command}" for command in removal)]) == []
    pushed(request, after.running_text())


@pytest.mark.parametrize(
    ("text", "removal"),
    [
        ("ip rtp priority 16384 16383 50", "'no ip rtp priority'"),
        ("auto qos voip trust", "'no auto qos voip'"),
        ("auto qos", "'no auto qos'"),
    ],
)
def test_what_is_served_before_a_policy_or_writes_others_is_told(text: str, removal: str) -> None:
    running = PLATFORM.parse(f"interface Serial0/0\n {text}\n", "r9", OLD)

    (finding,) = of(PLATFORM.lower(requested(GOLD), running), "queueing-in-the-way")

    assert finding.severity is Severity.ERROR
    assert text in finding.message
    assert removal in (finding.hint or "")


def test_queueing_of_ports_that_get_no_policy_is_left_alone() -> None:
    startup = f"{STARTUP}interface FastEthernet0/0\n priority-group 1\ninterface Serial0/1\n priority-group 1\n"

    request, box = requested(GOLD, interfaces=(lan(), line())), booted(OLD, startup)

    assert found(request, startup, "queueing-in-the-way") == []
    assert entered(request, box) == []
    assert box.running_text().count(" priority-group 1\n") == 2
