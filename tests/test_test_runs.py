"""Rules of test runs: which files begin first, and how often property tests are tried."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import file_durations, hypothesis_profiles
from tests.checkout import ROOT


@pytest.mark.parametrize("beginning", file_durations.SLOWEST_FIRST)
def test_files_that_begin_first_are_there(beginning: str) -> None:
    assert list(Path(ROOT).glob(f"{beginning}*"))


def test_slow_files_begin_first_and_keep_the_order_of_their_tests() -> None:
    names = [
        "tests/a.py::one",
        "tests/system/test_kill.py::two",
        "tests/system/test_kill.py::one",
        "tests/a.py::two",
    ]
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    file_durations.put_slowest_first(items)
    assert [item.nodeid for item in items] == [names[1], names[2], names[0], names[3]]


@pytest.mark.parametrize(
    ("profile", "examples", "same_each_time"),
    [(None, 40, True), ("ci", 40, True), ("dev", 10, True), ("nightly", 800, False)],
)
def test_a_profile_scales_the_examples(profile: str | None, examples: int, same_each_time: bool) -> None:
    tried = 0

    @settings(max_examples=40, derandomize=True, database=None, deadline=None)
    @given(st.integers())
    def test(_number: int) -> None:
        nonlocal tried
        tried += 1

    item: Any = SimpleNamespace(obj=test)
    config: Any = SimpleNamespace(getoption=lambda _name: profile)
    # A parametrised test is several items of one function.
    hypothesis_profiles.scale(config, [item, item, SimpleNamespace(obj=print)])  # type: ignore[list-item]
    test()
    assert tried == examples
    assert test._hypothesis_internal_use_settings.derandomize is same_each_time  # type: ignore[attr-defined]
