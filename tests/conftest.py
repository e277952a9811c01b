"""Rules of every test run: what is deselected is named, and in CI a skip is a failure."""

from __future__ import annotations

import os

import pytest

DESELECTED = pytest.StashKey[list[str]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests against a live Batfish run only where a host is configured."""
    config.stash[DESELECTED] = []
    if os.environ.get("QOSFORGE_BATFISH_HOST"):
        return
    live = [item for item in items if item.get_closest_marker("batfish")]
    if live:
        config.hook.pytest_deselected(items=live)
        config.stash[DESELECTED] = [item.nodeid for item in live]
        items[:] = [item for item in items if item not in live]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name what was left out, and why."""
    for name in config.stash.get(DESELECTED, []):
        terminalreporter.write_line(f"deselected (no QOSFORGE_BATFISH_HOST is set): {name}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failure: what it misses must be installed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
