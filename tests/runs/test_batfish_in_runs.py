"""Runs and Batfish: what fails stops a run before a device is touched, unless a person sets it aside."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from qosforge.reports.markdown import run_markdown
from qosforge.reports.run_metadata import run_metadata
from qosforge.runs.record.run import Run
from qosforge.runs.record.tables import RunStatus
from tests.batfish.support import DEFAULT_PORT, askers, hang, midway, peer

from .support import wait_for
from .test_run_workflow import Site, site, whole

__all__ = ["site", "whole"]

ASIDE = {"code": "batfish-unreachable", "reason": "its machine is being moved"}


@pytest.fixture
def away() -> Iterator[int]:
    """A port where nothing listens, and nobody else can."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def place(at: Site, port: int, monkeypatch: pytest.MonkeyPatch, host: str = "127.0.0.1", **changed: Any) -> Run:
    """A run that requires the Batfish at a port."""
    settings = at.service.settings.model_copy(update={"batfish_host": host, "batfish_port": port})
    with monkeypatch.context() as patched:
        patched.setattr(at.run_requests, "settings", settings)
        return at.place(require_batfish=True, **changed)


def codes(at: Site, run: Run) -> dict[str, str]:
    return {f.code: f.severity.value for f in at.run_requests.detail(run.id).findings}


def test_a_required_batfish_that_is_away_stops_a_run_before_a_device_is_touched(
    site: Site, away: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = site.running()
    rejected = site.go(place(site, away, monkeypatch))
    assert (rejected.status, rejected.reason_step) == (RunStatus.REJECTED, "validate")
    assert codes(site, rejected)["batfish-unreachable"] == "error"
    assert site.running() == before
    assert not site.store.journal.entries(rejected.id)


def test_one_finding_is_set_aside_for_one_run_with_a_reason(
    site: Site, away: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = site.go(place(site, away, monkeypatch, set_aside=ASIDE))
    assert kept.status is RunStatus.KEPT
    assert "batfish-unreachable" not in codes(site, kept)
    report = site.run_requests.detail(kept.id)
    (said,) = (f for f in report.findings if f.code == "set-aside")
    assert said.severity.value == "info"
    for words in ("by ada (its machine is being moved)", "batfish-unreachable", f"127.0.0.1:{away}"):
        assert words in said.message
    told = "batfish-unreachable, by ada: its machine is being moved"
    assert dict(run_metadata(report))["set aside"] == told
    assert "its machine is being moved" in run_markdown(report)
    back = site.run_requests.roll_back(kept.id, "ada")
    assert back.resolved.set_aside is None, "it was set aside for one run"
    again = site.go(site.run_requests.roll_back(site.go(back).id, "ada"))
    assert again.resolved.set_aside is None


def test_what_is_not_there_cannot_be_set_aside(site: Site, away: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rejected = site.go(place(site, away, monkeypatch, set_aside=ASIDE | {"device": "router1"}))
    assert rejected.status is RunStatus.REJECTED
    found = codes(site, rejected)
    assert (found["batfish-unreachable"], found["set-aside-unmatched"]) == ("error", "info")


def test_a_run_that_waits_for_batfish_can_be_cancelled(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with peer(midway(hang)) as port:
        run = place(site, port, monkeypatch)
        with site.beside(run):
            wait_for(lambda: bool(askers()), "a process that asks Batfish")
            began = time.monotonic()
            site.run_requests.cancel(run.id, "ada")
        assert time.monotonic() - began < 15
    assert site.run_requests.run(run.id).status is RunStatus.CANCELLED
    assert askers() == []


@pytest.mark.batfish
def test_a_real_batfish_lets_a_right_change_pass(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    port = int(os.environ.get("QOSFORGE_BATFISH_PORT", DEFAULT_PORT))
    kept = site.go(place(site, port, monkeypatch, host=os.environ["QOSFORGE_BATFISH_HOST"]))
    found = codes(site, kept)
    assert kept.status is RunStatus.KEPT
    assert {code: severity for code, severity in found.items() if severity == "error"} == {}
    assert "batfish-checked" in found
    assert "- **proven**: Batfish checked" in run_markdown(site.run_requests.detail(kept.id))
