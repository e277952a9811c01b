"""Schedulers that stock kernels have as modules, on such a kernel in virtual time: what is compiled reads back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from napalm_linux_tc import LinuxTcDriver
from napalm_linux_tc.answers import read_json
from napalm_linux_tc.schedulers import SCHEDULERS

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Network
from qosforge.plan.early_drop import Red
from qosforge.platforms.base import platform
from qoslab import control
from tests.compiler.support import made_text
from tests.properties.harness import compiled, loaded
from tests.properties.intents import Case, cases, dialect
from tests.routers.conftest import network

from .test_driver import session

pytestmark = [pytest.mark.needs("virtual-time-network"), pytest.mark.timeout(1200)]

LINUX = platform("linux_tc")
PORTS = tuple(Interface(name=name, rate=10**7, role=DeviceRole.EDGE, tags=(name[:3],)) for name in ("lan0", "wan0"))
FEW = settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""Each has some thirty commands, and each of these a session of SSH in the guest."""
DEVICE = Device(
    name="r1", platform="linux_tc", image="6.1", role=DeviceRole.EDGE, driver="linux_tc", interfaces=PORTS
)


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinuxTcDriver]:
    """The driver of a router whose kernel has every scheduler that the distribution gives it."""
    folder = tmp_path_factory.mktemp("guest")
    startup, state = folder / "startup.cfg", folder / "lab"
    startup.write_text("ip link set dev lan0 up\nip link set dev wan0 up\n", encoding="utf-8")
    try:
        lab = control.start(network(startup).model_copy(update={"virtual_time": True}), state)
        with session(lab, state) as driver:
            yield driver
    finally:
        control.clean(state)


def running(router: LinuxTcDriver) -> str:
    text: str = router.get_config(retrieve="running")["running"]
    return text


def push(router: LinuxTcDriver, made: CompiledDevice, before: str) -> None:
    """Enter what a device lacks, look whether it holds that, and take it back to what it held ``before``."""
    candidate = make_candidate(made, before)
    if not candidate.delta:
        return
    enter(router, candidate.delta)
    after = running(router)
    read = LINUX.parse(after, made.name, made.request.image)
    assert not find_plan_differences(made.plan, read)
    assert read.unknown == ()
    assert make_candidate(made, after).empty
    enter(router, candidate.inverse)
    assert running(router) == before


def enter(router: LinuxTcDriver, lines: Iterable[str]) -> None:
    router.load_merge_candidate(config="\n".join(lines))
    router.commit_config()


WREDS = st.fixed_dictionaries(
    {"prefer": st.just(False)},
    optional={"weight_exponent": st.integers(1, 12), "ecn": st.booleans()},
)


@st.composite
def early_detections(draw: st.DrawFn) -> dict[str, object]:
    """WRED of a class whose packets have DSCP 18: the kernel's own profile, or one of the class."""
    made: dict[str, object] = draw(WREDS)
    if draw(st.booleans()):
        unit, low = draw(st.sampled_from([("packets", 1), ("B", 64), ("kB", 1), ("ms", 1)]))
        minimum = draw(st.integers(low, 300))
        profile = {
            "dscp": 18,
            "minimum": f"{minimum} {unit}",
            "maximum": f"{draw(st.integers(minimum, 600))} {unit}",
        }
        made["profiles"] = [profile | {"probability": f"{draw(st.integers(1, 100))} %"}]
    return made


@st.composite
def profiles_by_mark(draw: st.DrawFn) -> dict[str, object]:
    """WRED of a class whose packets have DSCP 18, 20 or 22: a profile for each."""
    made: dict[str, object] = draw(WREDS)
    lows = [draw(st.integers(64, 300_000)) for _ in range(3)]
    made["profiles"] = [
        {
            "dscp": dscp,
            "minimum": f"{low} B",
            "maximum": f"{draw(st.integers(low, 600_000))} B",
            "probability": f"{draw(st.integers(1, 100))} %",
        }
        for dscp, low in zip((18, 20, 22), lows, strict=True)
    ]
    return made


MARKED = {"match": {"any": [{"protocol": "udp", "destination_port": "80"}]}, "mark": {"dscp": 18}}
BY_MARKS = {"match": {"any": [{"dscp": [18, 20, 22]}]}}


@pytest.mark.parametrize(
    ("told", "drawn"),
    [
        pytest.param(MARKED, early_detections, id="red"),
        pytest.param(BY_MARKS, profiles_by_mark, id="gred"),
    ],
)
def test_early_detection_reads_back_as_it_was_meant_and_is_undone(
    router: LinuxTcDriver, told: dict[str, object], drawn: Callable[[], st.SearchStrategy[dict[str, object]]]
) -> None:
    held: list[Red] = []
    before = running(router)

    @given(wred=drawn(), percent=st.integers(1, 60))
    @FEW
    def check(wred: dict[str, object], percent: int) -> None:
        made = with_wred(told, wred, percent, before)
        egress = made.plan.interfaces[-1].egress
        assert egress.scheduler is not None
        red = egress.scheduler.queues[0].red
        assert (red is None) == any(f.code == "wred-unsupported" for f in made.findings)
        if red is not None:
            held.append(red)
        push(router, made, before)

    check()
    assert held


SEND = """
import socket
for dscp, packets in ((18, 10), (20, 20), (22, 30)):
    for ecn, part in ((0, 1), (2, 2)):
        to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        to.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2 | ecn)
        for _ in range(packets * part):
            to.sendto(b"x" * 100, ("198.51.100.2", 9))
"""


PROFILES = [{"dscp": dscp, "minimum": f"{at} kB", "maximum": "60 kB"} for at, dscp in enumerate((18, 20, 22), 20)]


def test_a_change_that_nobody_confirms_takes_filters_along(router: LinuxTcDriver) -> None:
    """They stand beside the tree that they serve, and come and go with it by the router's own timer, too."""
    before = running(router)
    plain = make_candidate(with_wred(BY_MARKS, {}, 30, before), before)
    enter(router, plain.delta)
    tree = running(router)
    by_mark = make_candidate(with_wred(BY_MARKS, {"profiles": PROFILES}, 30, tree), tree)
    router.load_merge_candidate(config="\n".join(by_mark.delta))
    router.commit_config(revert_in=900)
    directed = running(router)
    assert " flower " in directed
    router.rollback()
    assert running(router) == tree
    enter(router, by_mark.delta)
    router.load_merge_candidate(config="\n".join(by_mark.inverse))
    router.commit_config(revert_in=900)
    assert running(router) == tree
    router.rollback()
    assert running(router) == directed
    enter(router, by_mark.inverse)
    enter(router, plain.inverse)
    assert running(router) == before


def test_packets_are_in_the_virtual_queue_of_their_mark(router: LinuxTcDriver) -> None:
    """By the kernel's own count of each virtual queue, whatever the bits of ECN are."""
    before = running(router)
    candidate = make_candidate(with_wred(BY_MARKS, {"profiles": PROFILES}, 30, before), before)
    enter(router, candidate.delta)
    shown = "tc -s -j qdisc show dev wan0"
    answers = router.cli([f"python3 -c {shlex.quote(SEND)} && sleep 1", shown])
    (queue,) = [qdisc for qdisc in read_json(answers[shown], shown) if qdisc["kind"] == "gred"]
    assert {each["vq"]: each["packets"] for each in queue["options"]["vqs"]} == {1: 30, 2: 60, 3: 90}
    enter(router, candidate.inverse)
    assert running(router) == before


FLOOD = """
import socket
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
out.bind(("wan0", 0))
out.settimeout(2)
flows = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
for flow in flows:
    flow.bind(("", 0))
    flow.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 18 << 2)
ports = [flow.getsockname()[1] for flow in flows]
for _ in range(300):
    flows[0].sendto(b"x" * 1000, ("198.51.100.2", 9))
for _ in range(10):
    flows[1].sendto(b"x" * 1000, ("198.51.100.2", 9))
left = []
try:
    while True:
        port = int.from_bytes(out.recv(2000)[34:36], "big")
        if port in ports:
            left.append(ports.index(port))
except TimeoutError:
    pass
told = [index for index, flow in enumerate(left) if flow == 1]
print(len(told), len(left) - len(told), len(left) - 1 - max(told, default=0))
"""
"""What leaves of two flows, the first of which has filled the queue: packets of each, and those behind both."""


@pytest.mark.parametrize("fair", [True, False])
def test_flows_of_a_class_are_served_in_turn(router: LinuxTcDriver, fair: bool) -> None:
    """By what leaves the port, beside a queue in the order of arrival, which has no room for the second flow."""
    before = running(router)
    treatment: dict[str, object] = {"bandwidth": {"percent": 30}, "queue_limit": {"packets": 50}}
    told = {**BY_MARKS, "treatment": treatment | ({"fair_queue": True} if fair else {})}
    made = compiled_class(told, before)
    candidate = make_candidate(made, before)
    enter(router, candidate.delta)
    assert make_candidate(made, running(router)).empty
    asked = f"python3 -c {shlex.quote(FLOOD)} 2>/dev/null"
    second, first, behind = map(int, router.cli([asked])[asked].split())
    assert 50 <= first < 300
    if fair:
        assert second == 10
        assert behind > 25
    else:
        assert second < 10
    enter(router, candidate.inverse)
    assert running(router) == before


def test_fair_queueing_reads_back_as_it_was_meant_and_is_undone(router: LinuxTcDriver) -> None:
    before = running(router)

    @given(
        flows=st.sampled_from([True, {"flows": 16}, {"flows": 4096}]),
        limit=st.one_of(
            st.integers(1, 65_535).map(lambda packets: {"packets": packets}),
            st.integers(1_600, 10**8).map(lambda size: {"bytes": f"{size} B"}),
        ),
    )
    @FEW
    def check(flows: object, limit: dict[str, object]) -> None:
        treatment = {"bandwidth": {"percent": 30}, "queue_limit": limit, "fair_queue": flows}
        push(router, compiled_class({**BY_MARKS, "treatment": treatment}, before), before)

    check()


@pytest.mark.parametrize("lacking", ["none", "ets", "htb", "htb ets"])
def test_priority_without_a_cap_reads_back_as_it_was_meant_and_is_undone(
    router: LinuxTcDriver, lacking: str
) -> None:
    """Bands of ETS below HTB or TBF, or of PRIO with a tree of HTB or classes of DRR in the last one."""
    treatments = st.sampled_from(
        [
            {"priority": True},
            {"bandwidth": {"percent": 20}},
            {"bandwidth": {"percent": 7}, "queue_limit": {"bytes": "64 kB"}},
            {"bandwidth": {"percent": 20}, "wred": {"prefer": True}},
            *([] if "htb" in lacking else [{"bandwidth": {"percent": 10}, "bounded": True}]),
        ]
    )

    before = running(router)
    known = without(before, *lacking.split())

    @given(others=st.lists(treatments, max_size=3))
    @FEW
    def check(others: list[dict[str, object]]) -> None:
        classes = [
            {
                "name": f"c{number}",
                "match": {"any": [{"protocol": "udp", "destination_port": f"{80 + number}"}]},
                "mark": {"dscp": 18 + 2 * number},
                "treatment": treatment,
            }
            for number, treatment in enumerate(({"priority": True}, *others))
        ]
        made = with_classes(classes, known)
        assert " 3: prio " in made.text or "ets" not in lacking
        assert (" handle 2: tbf " in made.text) == ("htb" in lacking)
        assert (" 4: drr" in made.text) == (lacking == "htb ets" and any("priority" not in each for each in others))
        push(router, made, before)

    check()


def without(before: str, *schedulers: str) -> str:
    """What a router holds, as one that lacks these would tell it."""
    lacking = {f"modprobe sch_{name}" for name in schedulers}
    return "\n".join(line for line in before.splitlines() if line not in lacking)


def test_rules_choose_classes_of_drr_and_its_filter_has_what_none_tells(router: LinuxTcDriver) -> None:
    """By the kernel's own count of each class: those of a mark, and pings with the ARP that they begin with."""
    before = running(router)
    told = {**BY_MARKS, "treatment": {"bandwidth": {"percent": 30}, "queue_limit": {"packets": 500}}}
    candidate = make_candidate(compiled_class(told, without(before, "htb", "hfsc", "ets")), before)
    enter(router, candidate.delta)
    shown = "tc -s class show dev wan0"
    pings = "ip neigh flush all; ping -c 3 -W 1 198.51.100.2 >/dev/null; ip neigh show dev wan0"
    answers = router.cli([pings, f"python3 -c {shlex.quote(SEND)} && sleep 1", shown])
    sent = dict(re.findall(r"class drr (4:\d) .*\n Sent \d+ bytes (\d+) pkt", answers[shown]))
    assert (" lladdr " in answers[pings], sent["4:1"], int(sent["4:2"]) > 3) == (True, "180", True)
    enter(router, candidate.inverse)
    assert running(router) == before


def with_wred(told: dict[str, object], wred: dict[str, object], percent: int, before: str) -> CompiledDevice:
    """A class of a share with early detection, told like this, for a router that holds ``before``."""
    return compiled_class({**told, "treatment": {"bandwidth": {"percent": percent}, "wred": wred}}, before)


def compiled_class(told: dict[str, object], before: str) -> CompiledDevice:
    """A class for a router that holds ``before``."""
    return with_classes([{"name": "web", **told}], before)


def with_classes(classes: list[dict[str, object]], before: str) -> CompiledDevice:
    """Classes that an input marks and an output serves, for a router that holds ``before``."""
    sides = [{"interfaces": "lan", "direction": "input"}, {"interfaces": "wan", "direction": "output"}]
    intent = parse_intent(made_text(classes, apply=sides), "made.yaml")
    alone = Network(name="one", devices=(DEVICE,), links=(), stations=())
    (made,) = compile_intent(intent, alone, {"r1": before}).devices
    return made


def test_any_intent_is_held_as_meant_and_undone_by_a_kernel_with_every_scheduler(router: LinuxTcDriver) -> None:
    """As on this machine's kernel in `tests.platforms.test_linux_tc`, which may lack most schedulers."""
    drawn = dialect("linux_tc")
    pushed: list[CompiledDevice] = []
    before = running(router)

    @given(cases("linux_tc", drawn))
    @FEW
    def check(case: Case) -> None:
        site, *documents = case
        for intent in filter(None, map(loaded, documents)):
            made = compiled(site, intent, before)
            if made is not None:
                pushed.append(made)
                push(router, made, before)

    check()
    assert pushed


FOREIGN = (
    "tc qdisc replace dev wan0 root handle 1: htb default 0x30 r2q 10",
    "tc class add dev wan0 parent 1: classid 1:30 htb rate 5mbit ceil 5mbit burst 1600b cburst 1600b",
    "tc qdisc add dev wan0 parent 1:30 handle 2: hfsc default 0x1",
    "tc class add dev wan0 parent 2: classid 2:1 hfsc ls m2 1500bit",
    "tc class add dev wan0 parent 2: classid 2:2 hfsc rt m1 8kbit d 5000us m2 500bit ls m2 500bit ul m2 600500bit",
    "tc class add dev wan0 parent 2: classid 2:3 hfsc ls m2 600kbit",
)
"""A tree of somebody else: in a class whose number is above those inside it, with rates finer than a kb/s."""


def test_what_is_shown_of_a_tree_of_others_enters_it_again(router: LinuxTcDriver) -> None:
    before = running(router)
    enter(router, FOREIGN)
    held = running(router)
    shown = tuple(line for line in held.splitlines() if line.startswith("tc ") and " dev wan0 " in line)
    assert len(shown) == len(FOREIGN)
    assert any(line.endswith(" hfsc ls m2 600kbit") for line in shown)
    unknown = [line.text for line in LINUX.parse(held, "r1", "").unknown]
    assert [line.split(" classid ")[1].split()[0] for line in unknown if " hfsc " in line] == ["2:1", "2:2", "2:3"]
    enter(router, ("tc qdisc del dev wan0 root",))
    assert running(router) == before
    enter(router, shown)
    assert running(router) == held
    enter(router, ("tc qdisc del dev wan0 root",))


BUCKETS = "burst 1600b cburst 1600b"
BELOW_BANDS = (
    f"tc qdisc replace dev wan0 root handle 1: prio bands 2 priomap {' '.join('1' * 16)}",
    "tc qdisc add dev wan0 parent 1:2 handle 5: htb default 0x20 r2q 10",
    f"tc class add dev wan0 parent 5: classid 5:20 htb prio 3 rate 5mbit ceil 5mbit {BUCKETS} quantum 3000",
    "tc qdisc add dev wan0 parent 5:20 handle 8: pfifo limit 7",
)
"""A tree of somebody else in a band."""


def test_what_is_pushed_over_a_tree_of_others_brings_it_back(router: LinuxTcDriver) -> None:
    before = running(router)
    enter(router, BELOW_BANDS)
    held = running(router)
    assert [line for line in held.splitlines() if line.startswith("tc ")] == [*BELOW_BANDS]
    candidate = make_candidate(
        compiled_class({**BY_MARKS, "treatment": {"bandwidth": {"percent": 30}}}, held), held
    )
    enter(router, candidate.delta)
    assert running(router) != held
    enter(router, candidate.inverse)
    assert running(router) == held
    enter(router, ("tc qdisc del dev wan0 root",))
    assert running(router) == before


def test_the_router_tells_its_schedulers(router: LinuxTcDriver) -> None:
    assert set(LINUX.parse(running(router), "r1", "").schedulers) == {*SCHEDULERS}
