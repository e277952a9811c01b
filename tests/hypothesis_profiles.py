"""How often property tests are tried: a profile scales the numbers that the tests name.

``ci`` tries what they name, with the same examples each time; ``dev`` a quarter, for a quick answer; ``nightly``
twenty times as many, with other seeds each time. ``pytest --hypothesis-profile=nightly`` chooses one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

PARTS = {"dev": 0.25, "ci": 1.0, "nightly": 20.0}
_SETTINGS = "_hypothesis_internal_use_settings"
_LEAST_EXAMPLES = 5


def register() -> None:
    """Make the profiles known, and load the one of every day."""
    for name in PARTS:
        settings.register_profile(name, deadline=None, print_blob=name == "nightly")  # a busy machine is no defect
    settings.load_profile("ci")


def scale(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Let property tests try so many times their number of examples as the profile of this run says."""
    profile = config.getoption("--hypothesis-profile")
    parts = PARTS.get(profile, 1.0)
    if parts == 1.0:
        return
    tests = {id(test): test for item in items if (test := _test(item)) is not None}
    for test in tests.values():
        named: settings = getattr(test, _SETTINGS)
        most = max(min(named.max_examples, _LEAST_EXAMPLES), round(named.max_examples * parts))
        derandomize = named.derandomize and profile != "nightly"
        setattr(test, _SETTINGS, settings(named, max_examples=most, derandomize=derandomize))


def _test(item: pytest.Item) -> Any:
    """The function of a property test."""
    test = getattr(item, "obj", None)
    test = getattr(test, "__func__", test)
    return test if getattr(test, _SETTINGS, None) is not None else None
