"""How long the tests of each file take, and which files begin first.

A process of pytest-xdist takes file after file: one that takes minutes must not be the last to begin.
"""

from __future__ import annotations

from collections import Counter

import pytest

SLOWEST_FIRST = (
    "tests/system/test_secrets_everywhere.py",
    "tests/system/test_faults.py",
    "tests/routers/test_loop.py",
    "tests/system/test_chaos_postgresql.py",
    "tests/system/test_rollout.py",
    "tests/system/test_kill.py",
    "tests/system/test_loop.py",
    "tests/system/test_chaos_sqlite.py",
    "tests/system/test_crash_matrix.py",
    "tests/system/test_hostile",
    "tests/system/test_own_network.py",
    "tests/system/",
    "tests/web/test_browser",
    "tests/properties/",
    "tests/runs/test_run_workflow.py",
    "tests/test_system_packages.py",
    "tests/deploy/test_hostile",
    "tests/importing/test_deletion.py",
    "tests/api/test_schemathesis.py",
    "tests/experiments/",
    "tests/examples/",
    "tests/operations/",
)
"""Files, by the beginnings of their paths, as the summary of a whole run lists them; all others follow."""
_LISTED = 25
_FILES_OF_A_WHOLE_RUN = 100


def put_slowest_first(items: list[pytest.Item]) -> None:
    """Sort tests by the rank of their files; those of one file stay as they are."""
    items.sort(key=lambda item: _rank(item.nodeid))


def _rank(nodeid: str) -> int:
    ranks = (rank for rank, beginning in enumerate(SLOWEST_FIRST) if nodeid.startswith(beginning))
    return next(ranks, len(SLOWEST_FIRST))


def list_slowest(reporter: pytest.TerminalReporter) -> None:
    """Write the files that took longest, after a run of many."""
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for reports in reporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                file = report.nodeid.partition("::")[0]
                seconds[file] += report.duration
                tests[file] += report.when == "call"
    if len(seconds) < _FILES_OF_A_WHOLE_RUN:
        return
    reporter.section(f"slowest files of {len(seconds)}, {sum(seconds.values()):,.0f} s in all")
    for file, took in seconds.most_common(_LISTED):
        reporter.write_line(f"{took:7.1f} s {tests[file]:5} tests  {file}")
