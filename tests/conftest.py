"""Rules of every test run: what is deselected is named, and in CI a skip is a failure."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

from tests.postgres import empty_postgres_url, postgres, postgres_url

__all__ = ["empty_postgres_url", "postgres", "postgres_url"]

DESELECTED = pytest.StashKey[list[tuple[str, str]]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests against Batfish run only where a host is configured, those against ns-3 where it is installed."""
    missing = {}
    if not os.environ.get("QOSFORGE_BATFISH_HOST"):
        missing["batfish"] = "no QOSFORGE_BATFISH_HOST is set"
    if find_spec("ns") is None:
        missing["crosscheck"] = "the package ns3 is not installed"
    left_out = {
        item: why
        for item in items
        for marker, why in missing.items()
        if item.get_closest_marker(marker) is not None
    }
    config.stash[DESELECTED] = [(item.nodeid, why) for item, why in left_out.items()]
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name what was left out, and why."""
    for name, why in config.stash.get(DESELECTED, []):
        terminalreporter.write_line(f"deselected ({why}): {name}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failure: what it misses must be installed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
