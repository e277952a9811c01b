"""How busy a Linux router is, by what the kernel counts (the columns of proc_stat(5))."""

from __future__ import annotations

import pytest
from napalm_linux_tc.processors import busy_percents

TWICE = """\
cpu0 39369 26 6355 18348 180 0 96 85 0 0
cpu1 44427 81 8512 10745 358 0 262 82 50 0

cpu0 39389 26 6365 18408 190 0 96 85 0 0
cpu1 44507 81 8522 10745 358 0 272 82 120 0
"""


def test_waiting_and_waiting_for_a_disk_is_not_busy_and_time_of_guests_counts_once() -> None:
    assert busy_percents(TWICE) == {0: 30.0, 1: 100.0}


def test_older_kernels_count_less_and_waiting_for_a_disk_may_go_backwards() -> None:
    assert busy_percents("cpu0 10 0 10 50 9\n\ncpu0 20 0 20 80 4\n") == {0: 40.0}
    assert busy_percents("cpu0 10 0 10 50 9\n\ncpu0 10 0 10 50 9\n") == {0: 0.0}


@pytest.mark.parametrize(
    "said",
    [
        "",
        "\n",
        TWICE.partition("\n\n")[0],
        TWICE.replace("cpu1", "cpu2", 1),
        "cpu0 a b c d\n\ncpu0 a b c d\n",
        "cpu0 1 2 3\n\ncpu0 1 2 3\n",
        f"cpu0 {'9' * 5000} 0 0 0 0\n\ncpu0 0 0 0 0 0\n",
        "grep: /proc/stat: Permission denied",
    ],
)
def test_anything_else_is_not_understood(said: str) -> None:
    with pytest.raises(ValueError, match="/proc/stat is not understood"):
        busy_percents(said)
