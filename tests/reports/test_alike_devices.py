"""Reports of a run on hundreds of devices: those that ended alike stand together, what did not go well first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qosforge.cli.run_output import print_report
from qosforge.reports.alike_devices import gather_devices
from qosforge.reports.markdown import run_markdown
from qosforge.reports.model import DeviceReport, RunReport
from qosforge.reports.run_report import render_run_report

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def device(name: str, outcome: str = "undone") -> DeviceReport:
    return DeviceReport(name=name, platform="catalyst_2970", outcome=outcome, candidate="mls qos\n")


@pytest.fixture
def report() -> RunReport:
    devices = (*(device(f"d{n}") for n in range(297)), *(device(f"x{n}", "failed") for n in range(3)))
    return RunReport(
        id="1", network="large", intent="gold", status="rolled_back", started=NOW, finished=NOW, devices=devices
    )


def test_what_did_not_go_well_stands_first() -> None:
    alike = gather_devices([*(device(f"d{n}") for n in range(40)), device("x", "failed")])
    assert [(one.outcome, len(one.devices)) for one in alike] == [("failed", 1), ("undone", 40)]


def test_few_devices_stand_each_by_itself() -> None:
    few = [device(f"d{n}") for n in range(9)]
    assert [one.devices for one in gather_devices(few)] == [(one,) for one in few]


def test_the_command_line_has_a_row_for_those_alike(report: RunReport, capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report)
    told = capsys.readouterr().out
    assert told.index("x0, x1, x2") < told.index("d0 and 296 more")
    assert len(told.splitlines()) < 20


def test_the_html_report_folds_those_alike(report: RunReport) -> None:
    page = render_run_report(report)
    devices = page[page.index('<section id="devices"') :]
    assert "<details><summary>d0 and 296 more <small>catalyst_2970, undone</small>" in devices
    assert devices.index("x0, x1, x2") < devices.index("d0 and 296 more")
    assert all(f"<h3>{one.name} " in devices for one in report.devices)


def test_the_markdown_report_begins_with_what_did_not_go_well(report: RunReport) -> None:
    told = run_markdown(report)
    assert told.index("x2: failed") < told.index("d0: undone")
