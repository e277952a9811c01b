"""Sizes of buckets of a Linux router, as ``tc`` sends and shows them."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st
from napalm_linux_tc.buckets import readable
from napalm_linux_tc.shown import Answers, shown_lines

TICKS_PER_US = 15.625
"""What the kernel counts the time of a bucket in (/proc/net/psched)."""
KIB, MIB = 1024, 1024 * 1024


def shown(size: int, rate: int) -> str:
    """What ``tc`` shows of a bucket (bytes) at a rate in b/s: tc/tc_core.c and ``print_size`` of iproute2."""
    us = int(size * 1_000_000 / (rate / 8))
    ticks = int(us * TICKS_PER_US)
    left = int((rate / 8) * int(ticks / TICKS_PER_US) / 1_000_000)
    if left >= MIB and abs(MIB * round(left / MIB) - left) < 1024:
        return f"{round(left / MIB)}Mb"
    if left >= KIB and abs(KIB * round(left / KIB) - left) < 16:
        return f"{round(left / KIB)}Kb"
    return f"{left}b"


@given(st.integers(1600, 4_000_000), st.integers(2_000, 34_000_000).map(lambda kbps: kbps * 1000))
@example(124_943, 999_540_000)  # on a kernel: 125184 bytes were shown as 122Kb
@example(4_064, 79_000_000)
@example(1_260_000, 9_999_000_000)
def test_a_bucket_is_known_again_by_what_tc_shows_of_it(size: int, rate: int) -> None:
    if rate >= 10**9:
        rate = rate // 10**6 * 10**6  # `tc` shows whole Mb/s from there on
    entered = readable(size, rate)
    words = f"{rate // 10**6}Mbit" if rate % 10**6 == 0 else f"{rate // 1000}Kbit"
    line = f"class htb 1:1 root rate {words} ceil {words} burst {shown(entered, rate)} cburst 1600b level 7"
    qdiscs = [{"kind": "htb", "handle": "1:", "dev": "wan0", "root": True, "options": {"r2q": 10}}]
    links = [{"ifname": "wan0", "flags": ["UP"]}]
    *_, held = shown_lines(Answers(links=json.dumps(links), qdiscs=json.dumps(qdiscs), classes={"wan0": line}))
    assert f" burst {entered}b " in held
