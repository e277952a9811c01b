"""Sets of packets in the processes that compute: these have little memory, and look for garbage rarely."""

from __future__ import annotations

import gc
import re
import time
from pathlib import Path

from qosforge.compute import Compute
from qosforge.compute_process import Limits
from qosforge.packet_sets.space import PacketSpace


def threads_and_size() -> tuple[int, int]:
    """Threads and megabytes that this process has."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    threads, size = (re.search(rf"^{name}:\s+(\d+)", status, re.M) for name in ("Threads", "VmSize"))
    assert threads is not None
    assert size is not None
    return int(threads[1]), int(size[1]) >> 10


def spaces_and_size() -> tuple[int, int]:
    """Make many spaces with sets that refer to each other; threads and megabytes that this process keeps."""
    gc.disable()
    for _ in range(60):  # all of them together have no room
        space = PacketSpace()
        assert not (space.ports("source_port", [(0, 99)]) & space.everything).is_empty
    del space
    until = time.monotonic() + 30
    while threads_and_size()[0] > 1 and time.monotonic() < until:
        time.sleep(0.05)  # the library's threads end by themselves, on a busy machine some time after their space
    return threads_and_size()


def test_a_computing_process_has_room_for_sets_and_keeps_none() -> None:
    compute = Compute(1, limits=Limits())
    try:
        threads, megabytes = compute.call(spaces_and_size, timeout=60)
    finally:
        compute.close()

    assert threads == 1
    assert megabytes < 2048
