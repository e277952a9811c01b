"""Compilation of the shipped intents: pure, as published, and with every number right.

The expected configurations stand in ``tests/golden``; ``python -m tests.golden`` writes them anew from what is
compiled, for a look at the difference.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.compiler.candidate import find_plan_differences
from qosforge.compiler.compile import compile_intent
from qosforge.findings import Finding, Severity, has_errors
from qosforge.intent.loader import load_intent
from qosforge.intent.models import fragment_bytes
from qosforge.inventory.loader import load_network
from qosforge.plan.model import Discipline, InterfacePlan
from qosforge.platforms.cisco_ios import PLATFORM

from .goldens import golden_file
from .support import (
    CAMPUS,
    POLICIES,
    ROOT,
    ROUTERS,
    a_class,
    compiled,
    device,
    emulated,
    made,
    policy,
    routers,
    running,
    startup,
)

PAPER_CLASSES = """\
class-map match-any HTTP-FTP
match protocol ftp
match protocol http
"""
PAPER_POLICY = """\
policy-map VOICE-VIDEO
class VOICE-VIDEO
priority percent 50
class HTTP-FTP
bandwidth remaining percent 70
class class-default
bandwidth remaining percent 30
random-detect
"""
PAPER_EDGE = f"""\
class-map match-any VOICE-VIDEO
match protocol rtp audio
match protocol rtp video
{PAPER_CLASSES}policy-map MARKING
class VOICE-VIDEO
set dscp af41
{PAPER_POLICY}interface s0/0
service-policy output VOICE-VIDEO
interface fa0/0
service-policy input MARKING
"""
"""R1 as the paper types it (section 4.2)."""
PAPER_MIDDLE = f"""\
class-map match-any VOICE-VIDEO
match ip dscp af41
{PAPER_CLASSES}{PAPER_POLICY}interface s0/0
service-policy output VOICE-VIDEO
interface s0/1
service-policy output VOICE-VIDEO
"""
"""R2 as the paper types it: its voice class trusts the mark, the rest is as on the edge."""


def of(code: str, findings: tuple[Finding, ...]) -> list[Finding]:
    return [f for f in findings if f.code == code]


@pytest.mark.parametrize("name", POLICIES)
def test_the_same_input_gives_the_same_bytes(name: str) -> None:
    again = compile_intent(load_intent(ROOT / "policies" / f"{name}.yaml"), load_network(CAMPUS), running())
    routed = [d for d in again.devices if d.name in ROUTERS]

    assert [d.text for d in routed] == [d.text for d in compiled(name).devices]
    assert [d.findings for d in routed] == [d.findings for d in compiled(name).devices]


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("name", POLICIES)
def test_golden(name: str, router: str) -> None:
    assert device(compiled(name), router).text == golden_file(name, router).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", POLICIES)
def test_the_shipped_intents_compile_without_errors(name: str) -> None:
    assert not has_errors(compiled(name).findings)


@pytest.mark.parametrize(
    ("router", "commands", "interfaces"),
    [("r1", PAPER_EDGE, ("Serial0/0", "FastEthernet0/0")), ("r2", PAPER_MIDDLE, ("Serial0/0", "Serial0/1"))],
)
def test_the_papers_own_commands_mean_what_is_compiled(
    router: str, commands: str, interfaces: tuple[str, ...]
) -> None:
    box = emulated(router)
    assert box.configure(commands.splitlines()) == []

    held = PLATFORM.parse(box.running_text(), router, "12.4")

    wanted = device(compiled("itesm-paper"), router).plan
    for name in interfaces:
        assert in_both_versions(held.interface(name)) == wanted.interface(name)
    assert held.unknown == ()


def in_both_versions(interface: InterfacePlan | None) -> InterfacePlan:
    """An interface whose marks are told in both versions of IP: the papers' routers know those of IPv4 alone."""
    assert interface is not None
    rules = tuple(rule.model_copy(update={"ipv4": False}) for rule in interface.egress.rules)
    return interface.model_copy(update={"egress": interface.egress.model_copy(update={"rules": rules})})


def test_the_middle_recognises_again_what_carries_no_mark() -> None:
    (finding,) = of("recognised-again", compiled("itesm-paper").findings)

    assert (finding.device, finding.traffic_class, finding.severity) == ("r2", "HTTP-FTP", Severity.INFO)
    place = policy("itesm-paper").class_place("HTTP-FTP")
    assert place is not None
    assert finding.line == place.line
    assert not of("recognised-again", compiled("campus-collaboration").findings)


def test_fragments_are_rate_times_blocking_delay_and_none_on_fast_lines() -> None:
    campus = compiled("campus-collaboration")
    sizes = {
        (d.name, i.name): i.efficiency.fragment_bytes
        for d in campus.devices
        for i in d.plan.interfaces
        if i.efficiency.fragment_bytes is not None
    }

    assert sizes == {
        ("r2", "Multilink1"): 512,
        ("r2", "Multilink2"): 112,
        ("b256", "Multilink1"): 512,
        ("b56", "Multilink1"): 112,
    }
    why = of("efficiency-not-needed", campus.findings)
    assert {(f.device, f.interface) for f in why} == {
        ("r1", "Serial0/0"),
        ("r2", "Serial0/0"),
        ("r2", "Serial0/1"),
        ("r3", "Serial0/1"),
    }
    assert {(f.applied, f.severity) for f in why} == {("2 Mb/s, 6 ms for 1500 bytes", Severity.INFO)}


@given(st.integers(1, 10**9), st.integers(1, 10**6))
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_a_fragment_is_the_largest_that_keeps_the_blocking_delay(rate: int, microseconds: int) -> None:
    size = fragment_bytes(rate, microseconds / 1e6)

    assert size * 8 * 10**6 <= rate * microseconds < (size + 1) * 8 * 10**6


@given(st.integers(1, 2000), st.sampled_from(["Multilink1", "Multilink2"]))
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_no_fragment_is_larger_than_asked(tenths: int, interface: str) -> None:
    rules = [{"when": {"rate_below": "768 kb/s"}, "fragment": {"blocking_delay": f"{tenths / 10} ms"}}]
    result = compile_intent(made([a_class()], link_efficiency=rules), routers())
    line = device(result, "r2").plan.interface(interface)
    assert line is not None

    requested = fragment_bytes({"Multilink1": 256_000, "Multilink2": 56_000}[interface], tenths / 1e4)
    if line.efficiency.fragment_bytes is not None:
        assert 42 <= line.efficiency.fragment_bytes <= requested
    if line.efficiency.fragment_bytes != requested:
        assert of("fragment-size-approximate", device(result, "r2").findings)


@pytest.mark.parametrize(
    ("change", "held"),
    [(("bandwidth 2000", "bandwidth 1000"), "1 Mb/s"), ((" bandwidth 2000\n", ""), "1.544 Mb/s")],
)
def test_a_bandwidth_that_is_not_the_lines_rate_is_an_error_with_two_mends(
    change: tuple[str, str], held: str
) -> None:
    result = compile_intent(policy("itesm-paper"), routers(), {**running(), "r1": startup("r1").replace(*change)})

    (finding,) = of("bandwidth-differs", result.findings)
    assert (finding.severity, finding.device, finding.interface) == (Severity.ERROR, "r1", "Serial0/0")
    assert (finding.requested, finding.applied) == ("2 Mb/s", held)
    assert "'bandwidth 2000'" in (finding.hint or "")
    assert "inventory" in (finding.hint or "")


def test_the_line_of_a_bundle_with_another_bandwidth_is_told() -> None:
    """Fragments are sized by the delay at the bandwidth of each line, not of the bundle (OL-7433-09, p. 16-67)."""
    rules = [{"when": {"rate_below": "768 kb/s"}, "fragment": {"blocking_delay": "16 ms"}}]
    intent = made([a_class()], link_efficiency=rules)
    assert of("bandwidth-differs", compile_intent(intent, routers(), running()).findings) == []

    bare = startup("r2").replace("interface Serial0/3\n bandwidth 56\n", "interface Serial0/3\n")
    (finding,) = of("bandwidth-differs", compile_intent(intent, routers(), {**running(), "r2": bare}).findings)
    assert (finding.severity, finding.device, finding.interface) == (Severity.WARNING, "r2", "Multilink2")
    assert (finding.requested, finding.applied) == ("56 kb/s", "1.544 Mb/s")
    assert "'bandwidth 56' on Serial0/3" in (finding.hint or "")


@pytest.mark.parametrize(
    ("image", "features", "percent", "refused"),
    [
        ("12.4", frozenset(), 25, False),
        ("12.4", frozenset(), 26, True),
        ("12.4", frozenset({"hqf"}), 49, False),
        ("12.4", frozenset({"hqf"}), 50, True),
        ("15.1", frozenset(), 50, False),
    ],
)
def test_what_classes_may_reserve_depends_on_the_image(
    image: str, features: frozenset[str], percent: int, refused: bool
) -> None:
    network = routers()
    r1 = network.device("r1").model_copy(update={"image": image, "features": features})
    intent = made(
        [
            a_class("voice", treatment={"priority": {"percent": 50}}),
            a_class(treatment={"bandwidth": {"percent": percent}}),
        ]
    )

    result = compile_intent(intent, network.model_copy(update={"devices": (r1,)}))

    assert bool(of("reserved-bandwidth-exceeded", result.findings)) is refused
    assert has_errors(result.findings) is refused


def test_rates_count_towards_what_may_be_reserved() -> None:
    intent = made([a_class(treatment={"bandwidth": {"rate": "200 kb/s"}})])

    refused = of("reserved-bandwidth-exceeded", compile_intent(intent, routers()).findings)

    # 200 kb/s are 78 % of 256 kb/s and more than 56 kb/s.
    assert {(f.device, f.interface) for f in refused} == {
        ("r2", "Multilink1"),
        ("r2", "Multilink2"),
        ("b256", "Multilink1"),
        ("b56", "Multilink1"),
    }


def test_a_scope_that_meets_nothing_is_an_error_with_its_line() -> None:
    intent = made([a_class()], apply=[{"role": "edge", "interfaces": "moon", "direction": "output"}])

    unknown, empty = compile_intent(intent, routers()).findings

    assert (unknown.code, unknown.severity, unknown.line) == ("scope-unknown-name", Severity.WARNING, 1)
    assert (empty.code, empty.severity, empty.line) == ("scope-empty", Severity.ERROR, 1)


def test_a_router_without_policy_holds_what_it_does_not_print() -> None:
    held = PLATFORM.parse(startup("r1"), "r1", "12.4")

    serial, ethernet = held.interface("Serial0/0"), held.interface("FastEthernet0/0")
    assert serial is not None
    assert ethernet is not None
    assert serial.egress.scheduler is not None
    assert ethernet.egress.scheduler is not None
    assert serial.egress.scheduler.discipline is Discipline.FLOW_WFQ
    assert ethernet.egress.scheduler.discipline is Discipline.FIFO
    assert any(
        "no such interface" in d or "egress" in d
        for d in find_plan_differences(device(compiled("itesm-paper"), "r1").plan, held)
    )


def test_unread_lines_of_a_running_configuration_are_told() -> None:
    text = startup("r1").replace(" bandwidth 2000\n", " bandwidth 2000\n rate-limit input 8000 1500 2000\n")

    result = compile_intent(policy("itesm-paper"), routers(), {**running(), "r1": text})

    (finding,) = of("line-not-understood", result.findings)
    assert (finding.device, finding.interface, finding.severity) == ("r1", "Serial0/0", Severity.WARNING)
    assert "rate-limit input 8000 1500 2000" in finding.message


def test_an_interface_that_the_box_does_not_have_is_an_error_naming_it() -> None:
    network = load_network(CAMPUS)
    text = (CAMPUS / "startup" / "r1.cfg").read_text(encoding="utf-8").replace("Serial0/0", "Serial0/7")
    compilation = compile_intent(
        load_intent(ROOT / "policies" / "campus-collaboration.yaml"), network, {"r1": text}
    )
    (finding,) = [f for f in compilation.findings if f.code == "interface-missing"]
    assert (finding.severity, finding.device, finding.interface) == ("error", "r1", "Serial0/0")
