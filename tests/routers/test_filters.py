"""Filters that somebody else has in a tree, by real kernels: they are read, and none is taken away unsaid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from napalm.base.exceptions import CommitConfirmException
from napalm_linux_tc import LinuxTcDriver, filters, reading
from napalm_linux_tc.undo import SAVED

from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import CompiledDevice
from qosforge.platforms.base import platform
from qoslab.control import Overlay
from tests.linux_router import held as kept_by
from tests.linux_router import linux_router

from .test_driver import session
from .test_schedulers import BY_MARKS, compiled_class, enter, router, running

__all__ = ["router"]

LINUX = platform("linux_tc")
BUCKETS = "burst 1600b cburst 1600b"
TREE = (
    "tc qdisc replace dev wan0 root handle 1: htb default 0x20 r2q 10",
    f"tc class add dev wan0 parent 1: classid 1:1 htb rate 5mbit ceil 5mbit {BUCKETS}",
    f"tc class add dev wan0 parent 1:1 classid 1:20 htb prio 0 rate 1mbit ceil 5mbit {BUCKETS} quantum 1600",
)
"""A tree of somebody else."""
U32 = "tc filter add dev wan0 parent 1: protocol ip pref 1 u32 match ip dport 53 0xffff match ip tos 0xb8 0xfc"
AT_CLASS = "tc filter add dev wan0 parent 1:1 protocol all pref 7 u32 match u32 0 0 flowid 1:20"
SHOWN = (
    "tc filter add dev wan0 parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 "
    "*flowid 1:20 not_in_hw match 00000035/0000ffff at 20 match 00b80000/00fc0000 at 0"
)
CLEAR = ("tc qdisc del dev wan0 root",)


def wanted(before: str) -> CompiledDevice:
    return compiled_class({**BY_MARKS, "treatment": {"bandwidth": {"percent": 30}}}, before)


def affected(made: CompiledDevice) -> list[str]:
    return [f.message for f in made.findings if f.code == "not-understood-affected"]


def namespaces(test: Callable[..., None]) -> Callable[..., None]:
    """A test of a router of this machine's kernel."""
    for mark in (pytest.mark.namespaces, pytest.mark.needs("namespaces"), pytest.mark.needs("ssh-server")):
        test = mark(test)
    return test


@pytest.fixture
def device(lab: Overlay, state: Path) -> Iterator[LinuxTcDriver]:
    """The driver of a router of this machine's kernel."""
    with session(lab, state) as driver:
        yield driver


@namespaces
def test_a_policy_for_a_port_with_filters_of_others_is_refused_and_names_each(device: LinuxTcDriver) -> None:
    before = running(device)
    enter(device, (*TREE, f"{U32} flowid 1:20", AT_CLASS))
    held = running(device)
    theirs = [line for line in held.splitlines() if " filter " in line and line.startswith("tc ")]
    assert theirs[0] == SHOWN
    assert theirs[1].startswith("tc filter add dev wan0 parent 1:1 protocol all pref 7 u32 ")
    assert [line.text for line in LINUX.parse(held, "r1", "").unknown] == theirs
    script = reading.script(schedulers=False)
    asked = map(filters.asked_of, reading.answered(device.cli([script])[script]))
    assert [place for place in asked if place] == [("wan0", "1:"), ("wan0", "1:1")]
    made = wanted(held)
    messages = affected(made)
    assert len(messages) == len(theirs)
    for line, message in zip(theirs, messages, strict=True):
        assert repr(line) in message
        assert "tc qdisc del dev wan0 root" in message
    assert all("by hand" in (f.hint or "") for f in made.findings if f.code == "not-understood-affected")
    # Who enters the lines all the same is stopped by the driver: its way back is without the filters.
    device.load_merge_candidate(config="\n".join(make_candidate(made, held).delta))
    with pytest.raises(CommitConfirmException, match="parent 1: protocol ip pref 1 u32"):
        device.commit_config(revert_in=600)
    device.discard_config()
    assert running(device) == held
    # Once they are off by hand the tree is pushed over, and comes back as it was.
    enter(device, ("tc filter del dev wan0 parent 1:", "tc filter del dev wan0 parent 1:1"))
    bare = running(device)
    assert bare == "".join(line for line in held.splitlines(keepends=True) if line.strip() not in theirs)
    again = wanted(bare)
    assert affected(again) == []
    device.load_merge_candidate(config="\n".join(make_candidate(again, bare).delta))
    device.commit_config(revert_in=600)
    assert running(device) != bare
    device.rollback()
    assert running(device) == bare
    enter(device, CLEAR)
    assert running(device) == before


@namespaces
def test_a_tree_of_others_with_filters_is_not_kept_for_a_restart_and_ours_is(device: LinuxTcDriver) -> None:
    before = running(device)
    saved = f"cat {SAVED}"
    enter(device, (*TREE, f"{U32} flowid 1:20"))
    assert device.cli([saved])[saved] == ""
    enter(device, CLEAR)
    clean = running(device)
    candidate = make_candidate(wanted(clean), clean)
    enter(device, candidate.delta)
    ours = [line for line in candidate.delta if " dev wan0 " in line and line.startswith("tc ")]
    root = ours[0].split(" handle ")[1].split()[0]
    enter(device, (f"tc filter add dev wan0 parent {root} protocol ip pref 1 u32 match u32 0 0 flowid {root}1",))
    kept = device.cli([saved])[saved].splitlines()
    assert [line for line in kept if line.startswith("tc ")] == ours
    assert " u32 " in running(device)
    enter(device, candidate.inverse)
    assert running(device) == before


@pytest.mark.namespaces
@pytest.mark.needs("namespaces")
@pytest.mark.parametrize("name", ["a0#b", "'a0'", 'a"b$c', "a\\n*"])
def test_filters_of_a_port_are_read_whatever_its_name_is(tmp_path: Path, name: str) -> None:
    """Batches of tc take a part of such names for comments and quotes: ``a0`` would be asked in its place."""
    with linux_router(tmp_path, ("a0", name)) as host:
        for words in (
            ("qdisc", "add", "dev", name, "root", "handle", "1:", "htb"),
            ("qdisc", "add", "dev", "a0", "root", "handle", "1:", "htb"),
            ("filter", "add", "dev", name, "parent", "1:", *U32.split()[7:], "flowid", "1:1"),
        ):
            host.run("tc", *words)
        (line,) = [line for line in kept_by(host) if " filter " in line]
        assert line.startswith(f"tc filter add dev {name} parent 1: protocol ip pref 1 u32 ")


KEY = "*flowid 1:20 not_in_hw"
KINDS = (
    (
        "pref 2 flower ip_proto udp dst_port 5060 dst_ip 10.0.0.0/8 classid 1:20",
        (
            "pref 2 flower chain 0 handle 0x1 classid 1:20 "
            "eth_type ipv4 ip_proto udp dst_ip 10.0.0.0/8 dst_port 5060 not_in_hw"
        ),
    ),
    ("pref 3 handle 6 fw classid 1:20", "pref 3 fw chain 0 handle 0x6 classid 1:20"),
    ("pref 4 basic flowid 1:20", "pref 4 basic chain 0 handle 0x1 flowid 1:20"),
    ("pref 5 matchall classid 1:20", "pref 5 matchall chain 0 handle 0x1 flowid 1:20 not_in_hw"),
    (
        "pref 6 u32 match ip src 10.1.0.0/16 police rate 1mbit burst 10k drop flowid 1:20",
        (
            f"pref 6 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 {KEY} match 0a010000/ffff0000 at 12 "
            "police 0x1 rate 1Mbit burst 10Kb mtu 2Kb action drop overhead 0b ref 1 bind 1"
        ),
    ),
    (
        "pref 8 u32 match mark 6 0xff flowid 1:20",
        f"pref 8 u32 chain 0 fh 801::800 order 2048 key ht 801 bkt 0 {KEY} mark 0x0006 0x00ff",
    ),
    ("pref 9 handle 2: u32 divisor 256", "pref 9 u32 chain 0 fh 2: ht divisor 256"),
    (
        "pref 10 flower src_ip 192.0.2.1 action skbedit priority 1:20",
        (
            "pref 10 flower chain 0 handle 0x1 eth_type ipv4 src_ip 192.0.2.1 not_in_hw "
            "action order 1: skbedit priority 1:20 pipe index 1 ref 1 bind 1"
        ),
    ),
    ("pref 11 fw", "pref 11 fw chain 0"),
)
"""Filters of each kind as they are entered, and the words by which they are kept."""


@pytest.mark.needs("virtual-time-network")
@pytest.mark.timeout(1200)
def test_filters_of_each_kind_are_read(router: LinuxTcDriver) -> None:
    before = running(router)
    above = "tc filter add dev wan0 parent 1:"
    enter(router, (*TREE, *(f"{above} protocol ip {entered}" for entered, _ in KINDS)))
    held = running(router)
    # Of fw without a handle tc ends with an error, and shows no other filter behind it.
    kept = [*(f"{above} protocol ip {shown}" for _, shown in KINDS), f"{above} that tc does not show"]
    assert [line for line in held.splitlines() if line.startswith("tc filter ")] == kept
    assert len(affected(wanted(held))) == len(kept)
    enter(router, CLEAR)
    assert running(router) == before


@pytest.mark.needs("virtual-time-network")
@pytest.mark.timeout(1200)
def test_filters_at_the_root_of_hfsc_are_read_once(router: LinuxTcDriver) -> None:
    """Its root is a class, too, and the kernel answers for both with the same."""
    before = running(router)
    tree = (
        "tc qdisc replace dev wan0 root handle 1: hfsc default 1",
        "tc class add dev wan0 parent 1: classid 1:1 hfsc ls rate 1mbit ul rate 1mbit",
    )
    enter(router, (*tree, "tc filter add dev wan0 parent 1: protocol ip pref 3 handle 6 fw classid 1:1"))
    kept = [line for line in running(router).splitlines() if line.startswith("tc filter ")]
    assert kept == ["tc filter add dev wan0 parent 1: protocol ip pref 3 fw chain 0 handle 0x6 classid 1:1"]
    enter(router, CLEAR)
    assert running(router) == before
