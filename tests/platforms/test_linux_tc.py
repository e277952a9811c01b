"""Linux routers: a real kernel takes what is compiled, and shows it back line for line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from napalm_linux_tc.buckets import readable

from qosforge.compiler.candidate import find_plan_differences, make_candidate, rollback_lines
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.configtree import transition
from qosforge.configtree.transition import merge
from qosforge.findings import Severity
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.model import Plan
from qosforge.platforms.base import platform
from qoslab.routers.host import Host
from tests.compiler.goldens import GOLDEN
from tests.compiler.support import made_text
from tests.linux_router import enter, held, linux_router
from tests.properties.budget import tried
from tests.properties.harness import compiled, loaded
from tests.properties.intents import Case, cases, dialect

pytestmark = [pytest.mark.namespaces, pytest.mark.needs("namespaces")]

LINUX = platform("linux_tc")
CONFIGURATIONS = sorted(GOLDEN.glob("*/linux-6-1.cfg"))
PORTS = ("lan0", "wan0")


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with linux_router(tmp_path_factory.mktemp("linux"), PORTS) as host:
        yield host


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and line != "!"]


def becomes(host: Host, wanted: str) -> tuple[str, ...]:
    """Make a router hold a configuration, by the lines that a push would enter; what it shows then."""
    current = LINUX.commands.tree("\n".join(held(host)))
    target = merge(current, LINUX.commands.tree(wanted), LINUX.grammar)
    enter(host, transition(current, target, LINUX.grammar))
    return held(host)


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.parent.name)
def test_the_kernel_takes_what_is_compiled_and_shows_it_back(router: Host, path: Path) -> None:
    wanted = path.read_text(encoding="utf-8")
    shown = becomes(router, wanted)
    ours = {dev for line in lines_of(wanted) if line.startswith("tc ") for dev in PORTS if f" dev {dev} " in line}
    told = [line for line in shown if not line.startswith(("ip link", "modprobe"))]
    assert sorted(x for x in told if x.startswith("nft") or any(f" dev {d} " in x for d in ours)) == sorted(
        lines_of(wanted)
    )
    read, meant = (LINUX.parse(text, "r", "") for text in ("\n".join(shown), wanted))
    assert read.unknown == ()
    for port in meant.interfaces:
        assert read.interface(port.name) == port
    assert not transition(
        LINUX.commands.tree("\n".join(shown)), LINUX.commands.tree("\n".join(shown)), LINUX.grammar
    )


PERCENT = st.integers(1, 30)
CLASSES = st.lists(
    st.fixed_dictionaries(
        {
            "treatment": st.one_of(
                st.builds(lambda p: {"priority": {"percent": p}}, PERCENT),
                st.builds(
                    lambda p, b: {"priority": {"percent": p, "burst": f"{b} B"}}, PERCENT, st.integers(1600, 10**6)
                ),
                st.builds(lambda p: {"bandwidth": {"percent": p}}, PERCENT),
                st.builds(lambda p: {"bandwidth": {"percent": p}, "bounded": True}, PERCENT),
                st.builds(
                    lambda p, n: {"bandwidth": {"percent": p}, "queue_limit": {"packets": n}},
                    PERCENT,
                    st.integers(1, 60_000),
                ),
                st.builds(
                    lambda p, r: {"bandwidth": {"percent": p}, "shape": {"rate": f"{r} kb/s"}},
                    PERCENT,
                    st.integers(100, 10**6),
                ),
            ),
            "police": st.none() | st.integers(8_000, 10**9),
            "ports": st.none() | st.tuples(st.integers(1, 65535), st.integers(1, 65535)).map(sorted),
            "source": st.sampled_from([None, "10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32"]),
        }
    ),
    min_size=1,
    max_size=3,
)
RATES = st.sampled_from([2_000_000, 10_000_000, 34_368_000, 100_000_000, 10**9, 10**10]) | st.integers(
    2_000_000, 4 * 10**9
)


@given(classes=CLASSES, rate=RATES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_asked_the_kernel_shows_the_plan_that_was_meant(router: Host, classes, rate: int) -> None:
    made = []
    for number, each in enumerate(classes):
        match = {"protocol": "udp", **({"source": each["source"]} if each["source"] else {})}
        if each["ports"]:
            match["destination_port"] = "-".join(map(str, each["ports"]))
        treatment = dict(each["treatment"])
        if each["police"]:
            treatment["police"] = {"rate": f"{each['police']} b/s", "direction": "input"}
        made.append(
            {
                "name": f"c{number}",
                "match": {"any": [match]},
                "mark": {"dscp": 10 + 2 * number},
                "treatment": treatment,
            }
        )
    apply = [{"interfaces": "lan", "direction": "input"}, {"interfaces": ["lan", "wan"], "direction": "output"}]
    ports = tuple(Interface(name=name, rate=rate, role=DeviceRole.EDGE, tags=(name[:3],)) for name in PORTS)
    device = Device(name="r", platform="linux_tc", image="6.1", role="edge", driver="linux_tc", interfaces=ports)
    network = Network(name="made", devices=(device,), links=(), stations=())
    compiled = compile_intent(parse_intent(made_text(made, apply=apply), "made.yaml"), network)
    assert [f for f in compiled.findings if f.severity is Severity.ERROR] == []
    (one,) = compiled.devices
    shown = becomes(router, one.text)
    assert [x for x in shown if not x.startswith(("ip ", "modprobe ")) and x not in lines_of(one.text)] == []
    read = LINUX.parse("\n".join(shown), "r", "")
    assert read.unknown == ()
    for port in one.plan.interfaces:
        assert read.interface(port.name) == port


def test_any_intent_is_held_as_meant_and_undone(router: Host) -> None:
    pushed = []

    @tried(1 / 4)
    @given(cases("linux_tc", dialect("linux_tc")))
    def check(case: Case) -> None:
        site, *documents = case
        for intent in filter(None, map(loaded, documents)):
            before = "\n".join(held(router))
            made = compiled(site, intent, before)
            if made is not None:
                pushed.append(made)
                push(made, before)

    def push(made: CompiledDevice, before: str) -> None:
        candidate = make_candidate(made, before)
        enter(router, candidate.delta)
        after = "\n".join(held(router))
        read = LINUX.parse(after, made.name, made.request.image)
        unlike = find_plan_differences(made.plan, read)
        assert not unlike, f"{unlike}\n{candidate.text}"
        assert read.unknown == ()
        assert make_candidate(made, after).empty
        for lines, wanted in (
            (candidate.inverse, before),
            (candidate.delta, after),
            (rollback_lines("linux_tc", after, before), before),
            (candidate.delta, after),
        ):
            enter(router, lines)
            assert "\n".join(held(router)) == wanted, "\n".join(lines)

    check()
    assert pushed


def two_ports() -> Network:
    ports = tuple(Interface(name=name, rate=10**7, role=DeviceRole.EDGE, tags=(name[:3],)) for name in PORTS)
    device = Device(name="r", platform="linux_tc", image="6.1", role="edge", driver="linux_tc", interfaces=ports)
    return Network(name="two", devices=(device,), links=(), stations=())


WEB = {"protocol": "udp", "destination_port": "80"}


def pushed(
    router: Host, percent: int, *apply: dict[str, object], match: dict[str, str] = WEB
) -> tuple[CompiledDevice, Plan]:
    """What a push of a class with this share to these sides comes to, and what the router reads as then."""
    before = "\n".join(held(router))
    web = {"name": "web", "match": {"any": [match]}, "mark": {"dscp": 18}}
    text = made_text([{**web, "treatment": {"bandwidth": {"percent": percent}}}], apply=list(apply))
    (made,) = compile_intent(parse_intent(text, "made.yaml"), two_ports(), {"r": before}).devices
    candidate = make_candidate(made, before)
    enter(router, candidate.delta)
    after = "\n".join(held(router))
    assert make_candidate(made, after).empty
    read = LINUX.parse(after, "r", "")
    enter(router, candidate.inverse)
    assert "\n".join(held(router)) == before
    enter(router, candidate.delta)
    return made, read


@pytest.fixture
def clean(router: Host) -> Iterator[Host]:
    yield router
    enter(
        router,
        rollback_lines("linux_tc", "\n".join(held(router)), "\n".join(f"ip link set dev {p} up" for p in PORTS)),
    )


def test_a_port_that_a_policy_does_not_name_keeps_its_rules_and_its_queues(clean: Host) -> None:
    both = {"interfaces": ["lan", "wan"], "direction": "output"}
    made, first = pushed(clean, 30, both)
    _, second = pushed(clean, 60, {"interfaces": "lan", "direction": "output"})
    assert second.interface("wan0") == first.interface("wan0") == made.plan.interface("wan0")
    assert second.interface("lan0") != first.interface("lan0")


@pytest.mark.parametrize("prefix", ["::e11:d5b8/127", "::e11:d5b8/128", "2001:db8::/32", "192.0.2.7/32"])
def test_an_address_reads_back_as_it_was_meant(clean: Host, prefix: str) -> None:
    """Of those that begin with 96 zeros the kernel's tool writes the last 32 bits as of IPv4."""
    made, read = pushed(clean, 30, {"interfaces": "lan", "direction": "output"}, match={"destination": prefix})
    assert read.interface("lan0") == made.plan.interface("lan0")


def test_an_output_that_is_not_named_any_more_loses_our_queues(clean: Host) -> None:
    pushed(clean, 30, {"interfaces": "lan", "direction": "output"})
    _, read = pushed(clean, 30, {"interfaces": "lan", "direction": "input"})
    port = read.interface("lan0")
    assert port is not None
    assert (port.egress.scheduler, [rule.name for rule in port.ingress.rules]) == (None, ["web"])


def test_queues_of_others_stay_at_an_output_that_is_not_named(clean: Host) -> None:
    rates = "rate 5mbit ceil 5mbit burst 1600b cburst 1600b"
    theirs = (
        "tc qdisc replace dev wan0 root handle 1: htb default 0x1 r2q 10",
        f"tc class add dev wan0 parent 1: classid 1:1 htb {rates}",
        f"tc class add dev wan0 parent 1:1 classid 1:10 htb prio 1 {rates} quantum 1514",
    )
    enter(clean, theirs)
    before = [line for line in held(clean) if line.startswith("tc ")]
    made, _ = pushed(clean, 30, {"interfaces": "wan", "direction": "input"})
    assert [line for line in held(clean) if line.startswith("tc ")] == before
    (left,) = [f for f in made.findings if f.code == "policy-left"]
    assert (left.interface, left.direction) == ("wan0", "output")


@given(size=st.integers(1600, 5 * 10**7), rate=st.integers(8_000, 10**10))
def test_sizes_of_buckets_are_told_apart_by_more_than_tc_is_off(size: int, rate: int) -> None:
    held_size = readable(size, rate)
    assert size <= held_size <= size + max(2 * size // 100, 4096) + 32_768
    assert readable(held_size, rate) == held_size
    microsecond = rate / 8 / 1_000_000
    assert readable(held_size - microsecond - 1, rate) == held_size


def test_packets_are_marked_queued_and_counted_by_class(router: Host) -> None:
    becomes(router, (GOLDEN / "rfc4594-4" / "linux-6-1.cfg").read_text(encoding="utf-8"))
    router.run("ip", "addr", "replace", "192.0.2.1/24", "dev", "wan0")
    router.run("ip", "neigh", "replace", "192.0.2.9", "lladdr", "02:00:00:00:00:09", "dev", "wan0")
    sender = (
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 46 << 2)\n"
        "[s.sendto(b'x' * 100, ('192.0.2.9', 5000)) for _ in range(7)]\n"
    )
    plan = LINUX.parse("\n".join(held(router)), "r", "")
    answers = [{c: router.run(*c.split()) for c in LINUX.counter_commands(plan)}]
    router.run("python3", "-c", sender)
    answers.append({c: router.run(*c.split()) for c in LINUX.counter_commands(plan)})
    before, after = (
        {(n.interface, n.direction, n.queue): n for n in LINUX.read_counters(each, plan)} for each in answers
    )
    moved = {place: after[place].packets - before[place].packets for place in after}
    assert {place: count for place, count in moved.items() if count} == {("wan0", "output", "real-time"): 7}
    assert after["wan0", "output", "real-time"].drops == 0
