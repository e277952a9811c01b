"""The kernel in virtual time: what its first file system is made of, and packets through its queues."""

from __future__ import annotations

import lzma
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from qoslab.errors import LabError, SpecError
from qoslab.virtual_time import Mark, Packets, RouterPlan, boot, run_router
from qoslab.virtual_time.cpio import Entry, File, Folder, Link, archive
from qoslab.virtual_time.parts import Kernel, PartMissing, kernel, modules, program
from tests.patience import PATIENCE

Found = TypeVar("Found")
MS = 1_000_000
LINE = (
    "tc qdisc add dev out root handle 1: htb default 1",
    "tc class add dev out parent 1: classid 1:1 htb rate 10mbit burst 1 cburst 1",
)
PRIORITY = (
    *LINE,
    "tc qdisc add dev out parent 1:1 handle 10: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "tc qdisc add dev out parent 10:1 pfifo limit 20",
    "tc qdisc add dev out parent 10:2 pfifo limit 20",
    "tc filter add dev out parent 10: protocol ip u32 match ip tos 0xb8 0xfc flowid 10:1",
)
FRAME_NS = 1514 * 8 * 100
"""On a line of 10 Mb/s."""


@pytest.mark.needs("virtual-time")
def test_busybox_unpacks_an_archive(tmp_path: Path) -> None:
    entries: dict[str, Entry] = {
        "a/b/odd": File(b"12345"),
        "/run": File(b"#!/bin/sh\n", executable=True),
        "a/link": Link("b/odd"),
        "empty": Folder(),
    }
    unpack = subprocess.run(
        ["/bin/busybox", "cpio", "-i"], input=archive(entries), cwd=tmp_path, capture_output=True, check=True
    )
    assert not unpack.stderr.strip().strip(b"0123456789 blocks")
    assert (tmp_path / "a/link").read_bytes() == b"12345"
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o755
    assert not list((tmp_path / "empty").iterdir())


def test_the_same_entries_give_the_same_archive() -> None:
    one, other = {"a": File(b"1"), "b/c": File(b"2")}, {"b/c": File(b"2"), "a": File(b"1")}
    assert archive(one) == archive(other)


@pytest.mark.parametrize("wrong", [{"../a": File(b"")}, {"a": File(b""), "a/b": File(b"")}, {"/": Folder()}])
def test_what_fits_into_no_archive_is_told(wrong: dict[str, Entry]) -> None:
    with pytest.raises(LabError):
        archive(wrong)


def installed(root: Path, release: str, **contents: bytes) -> Kernel:
    """A kernel as a package installs it, with modules that need one another in this order."""
    names = [f"kernel/net/sched/{name.replace('_ko', '.ko').replace('_xz', '.xz')}" for name in contents]
    folder = root / "modules" / release
    for name, content in zip(names, contents.values(), strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder).mkdir(parents=True, exist_ok=True)
    lines = [f"{name}: {' '.join(names[number + 1 :])}\n" for number, name in enumerate(names)]
    (folder / "modules.dep").write_text("".join(lines))
    for name in ("modules.alias", "modules.builtin"):
        (folder / name).write_text("")
    (root / "boot").mkdir(exist_ok=True)
    (root / "boot" / f"vmlinuz-{release}").touch()
    return Kernel(release, root / "boot" / f"vmlinuz-{release}", folder)


def test_modules_come_unpacked_with_those_they_need(tmp_path: Path) -> None:
    chosen = installed(tmp_path, "6.12", sch_a_ko_xz=lzma.compress(b"a"), lib_ko=b"b")
    found = modules(chosen, ["kernel/net/sched/sch_"])
    folder = "lib/modules/6.12"
    assert found[f"{folder}/kernel/net/sched/sch_a.ko"] == File(b"a")
    assert found[f"{folder}/kernel/net/sched/lib.ko"] == File(b"b")
    index = b"kernel/net/sched/lib.ko:\nkernel/net/sched/sch_a.ko: kernel/net/sched/lib.ko\n"
    assert found[f"{folder}/modules.dep"] == File(index)


def test_modules_in_an_unknown_form_are_named(tmp_path: Path) -> None:
    chosen = installed(tmp_path, "6.12", sch_a_ko_zst=b"")
    with pytest.raises(LabError, match=r"sch_a\.ko_zst"):
        modules(chosen, [""])


def test_the_newest_kernel_for_clouds_is_taken(tmp_path: Path) -> None:
    for release in ("6.1.0-9-cloud-amd64", "6.1.0-56-cloud-amd64", "6.12.1-amd64"):
        installed(tmp_path, release)
    (tmp_path / "boot/vmlinuz-7.0-cloud-amd64").touch()  # whose modules are not there
    assert kernel(tmp_path / "boot", tmp_path / "modules").release == "6.1.0-56-cloud-amd64"


def test_what_is_missing_is_told_with_its_package(tmp_path: Path) -> None:
    with pytest.raises(PartMissing, match="apt-get install linux-image-cloud-amd64"):
        kernel(tmp_path, tmp_path)
    with pytest.raises(PartMissing, match="apt-get install some-package"):
        program("no-such-program", "some-package")


@pytest.mark.parametrize(
    ("packets", "flows", "command"),
    [
        (Packets([], [], []), 1, "tc qdisc show"),
        (Packets([2, 1], [0, 0], [100, 100]), 1, "tc qdisc show"),
        (Packets([1], [1], [100]), 1, "tc qdisc show"),
        (Packets([1], [0], [1515]), 1, "tc qdisc show"),
        (Packets([1], [0], [100]), 1, "reboot"),
    ],
)
def test_a_wrong_plan_is_refused_before_anything_boots(packets: Packets, flows: int, command: str) -> None:
    with pytest.raises(SpecError):
        run_router(RouterPlan((command,), (Mark(0),) * flows, packets))


@pytest.mark.needs("virtual-time")
def test_priority_spares_a_flow_the_queue_and_the_same_plan_gives_the_same_times() -> None:
    # Large frames at twice the line's rate, and a small one every 5 ms.
    large = [(number * FRAME_NS // 2, 0, 1514) for number in range(200)]
    small = [(number * 5 * MS, 1, 214) for number in range(24)]
    packets = Packets(*zip(*sorted(large + small), strict=True))
    plan = RouterPlan(PRIORITY, (Mark(0), Mark(46)), packets, drain_s=0.1)
    run = run_router(plan)
    times = zip(run.sent_ns, run.received_ns, packets.flows, strict=True)
    delays = [(flow, None if to is None else to - at) for at, to, flow in times]
    voice = [delay for flow, delay in delays if flow == 1]
    others = [delay for flow, delay in delays if flow == 0]
    assert None not in voice
    assert max(filter(None, voice)) < FRAME_NS + 100_000
    assert 60 < others.count(None) < 100  # half of them, but for what the queue holds at the end
    assert max(filter(None, others)) > 15 * FRAME_NS
    assert run == run_router(plan)


@pytest.mark.needs("virtual-time")
def test_a_guest_that_has_nothing_to_do_counts_on_and_never_halts() -> None:
    run = boot({"main": b"cat /proc/stat > /results/before; sleep 2; cat /proc/stat > /results/after\n"})
    # proc_stat(5): user, nice, system, idle, in hundredths of a second
    before, after = (list(map(int, run.results[name].split()[1:5])) for name in ("before", "after"))
    user, _, _, idle = (now - then for then, now in zip(before, after, strict=True))
    assert idle == 0
    assert user > 150


@pytest.mark.needs("virtual-time")
def test_what_tc_refuses_is_told_in_its_words() -> None:
    plan = RouterPlan(("tc qdisc add dev nowhere root pfifo",), (Mark(0),), Packets([0], [0], [100]))
    with pytest.raises(LabError, match='Cannot find device "nowhere"'):
        run_router(plan)


@pytest.mark.needs("virtual-time")
def test_a_guest_ends_with_whoever_started_it(tmp_path: Path) -> None:
    script = "from qoslab.virtual_time import boot; boot({'main': b'while true; do sleep 1; done'})"
    owner = subprocess.Popen([sys.executable, "-c", script], env=os.environ | {"TMPDIR": str(tmp_path)})
    try:
        guest = eventually(lambda: running_guest(owner.pid))
    finally:
        owner.kill()
        owner.wait()
    assert guest
    assert eventually(lambda: not runs(guest))


def running_guest(owner: int) -> str:
    """The process of a started QEMU; empty while there is none."""
    for child in Path(f"/proc/{owner}/task/{owner}/children").read_text().split():
        if Path(f"/proc/{child}/comm").read_text().startswith("qemu"):
            return child
    return ""


def runs(process: str) -> bool:
    """Whether a process is there, and not only its exit code."""
    try:
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except OSError:
        return False


def eventually(found: Callable[[], Found]) -> Found:
    """What ``found`` returns once it is something."""
    end = time.monotonic() + PATIENCE
    while not (value := found()) and time.monotonic() < end:
        time.sleep(0.05)
    return value
