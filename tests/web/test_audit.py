"""The audit of a network as a page."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.api.jobs.queue import JobProgress
from qosforge.resources import root
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from qosforge.web.routes import audit as audit_routes
from qosforge.web.site import create_site
from qosforge.web.views import audit as audit_views
from qosforge.web.views.audit import AuditView
from tests.web.people import Persons
from tests.web.recorded import record, startups

AUDIT = "/networks/campus/audit"


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    settings = Settings(var_dir=tmp_path / "var", compute_processes=1, inventories_dir=root() / "inventories")
    with open_backend(settings) as made:
        yield made


@pytest.fixture
def site(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_site(backend)) as made:
        Persons(backend).add("ann", Role.VIEWER, "campus").log_in(made)
        yield made


def _audited(site: TestClient, **sought: str) -> str:
    deadline = time.monotonic() + 300
    while 'id="auditing"' in (page := site.get(AUDIT, params=sought).text):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return page


def test_findings_are_grouped_and_lead_to_their_devices(site: TestClient, backend: Backend) -> None:
    texts = startups(backend.networks.network("campus"))
    texts["r1"] += "\nservice-policy output NOWHERE\n"
    del texts["b56"]
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.FAILED)
    page = _audited(site)
    group = page[page.index('id="mark-rewritten-warning"') :].partition("</article>")[0]
    assert '<a href="/networks/campus/devices/s2950">s2950</a>' in group
    assert "af41 by CoS 0" in group
    assert "vigo1 → phone256" in page, "its DSCP arrives"
    assert "What to do:" in group
    assert "1 device was never read, and is not part of this" in page
    assert "vigo1 → vigo2" in page
    assert "by way of b56" in re.sub(r"<[^>]+>", "", re.sub(r"\s+", " ", page))
    assert "device-not-read" not in page, "that is told once, above"
    assert AUDIT in site.get("/networks/campus").text


def test_findings_are_narrowed_by_severity_device_and_words_without_scripts(
    site: TestClient, backend: Backend
) -> None:
    texts = startups(backend.networks.network("campus"))
    texts["r1"] += "\nservice-policy output NOWHERE\n"
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.FAILED)
    whole = _audited(site)
    assert {severity for _, severity in _groups(whole)} >= {"warning", "info"}
    (count,) = re.findall(r"(\d+) findings<", whole)
    assert int(count) > len(_places(whole)), "ports of a device of which the same is said stand in one line"
    assert "FastEthernet0/1, GigabitEthernet0/2, input" in whole

    warnings = _audited(site, severity="warning")
    assert {severity for _, severity in _groups(warnings)} == {"warning"}
    assert re.search(rf"\d+ findings fit, of {count}\.", warnings)
    assert '<option value="warning" selected>' in warnings, "what was chosen stays in the form"
    assert 'id="paths"' not in warnings, "a path has no severity"

    of_r1 = _audited(site, device="r1")
    assert set(_places(of_r1)) == {"r1"}
    assert _places(of_r1) == [name for name in _places(whole) if name == "r1"]

    (group,) = _groups(_audited(site, q="R1 not-understood"))
    assert group[0] == "line-not-understood", "every word, in any case, of code, message, device or port"
    nothing = _audited(site, q="<b>")
    assert "No finding fits this filter." in nothing
    assert 'value="&lt;b&gt;"' in nothing
    assert site.get(AUDIT, params={"severity": "grave"}).status_code == 422


def test_a_chosen_device_stays_in_the_form_whatever_is_said_of_it(site: TestClient, backend: Backend) -> None:
    texts = startups(backend.networks.network("campus"))
    del texts["b56"]
    record(backend.run_requests.store, backend.artifacts, "campus", texts, RunStatus.FAILED)
    assert "b56" in _choices(_audited(site)), "paths lead through it"
    assert [name for name, chosen in _choices(_audited(site, device="b56")).items() if chosen] == ["b56"]
    gone = _audited(site, device="long-gone")
    assert [name for name, chosen in _choices(gone).items() if chosen] == ["long-gone"]
    assert "No finding fits this filter." in gone


def test_a_filter_of_an_audit_without_findings_can_be_taken_back(
    site: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = JobProgress("done", result=AuditView((), (), 9, ()))
    monkeypatch.setattr(audit_routes, "submit_audit", lambda *_, **__: clean)
    whole = _audited(site)
    assert _choices(whole) == {}, "nothing to filter"
    assert "Nothing was found: what was read is consistent." in whole
    assert "Errors 0 ✔ none Warnings 0 ✔ none" in _words(whole)
    narrowed = _audited(site, device="b56")
    assert [name for name, chosen in _choices(narrowed).items() if chosen] == ["b56"]
    assert f'<a href="{AUDIT}">' in narrowed.partition('id="audited"')[2]


def _words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def _choices(page: str) -> dict[str, bool]:
    """The devices that the form offers, and whether each is chosen."""
    form = page.partition('id="filter-device"')[2].partition("</select>")[0]
    return {name: bool(chosen) for chosen, name in re.findall(r"<option( selected)?>([^<]+)</option>", form)}


def _groups(page: str) -> list[tuple[str, str]]:
    """Code and severity of the groups of a page."""
    return re.findall(r'<article class="card" id="([a-z-]+)-(error|warning|info)">', page)


def _places(page: str) -> list[str]:
    """The devices of all findings of a page, in its order."""
    findings = page.partition('id="audited"')[2].partition('id="paths"')[0]
    return re.findall(r'<li><a href="/networks/campus/devices/([^"]+)">', findings)


def test_a_network_that_was_never_read_is_not_told_as_sound(site: TestClient, backend: Backend) -> None:
    for page in (_audited(site), _audited(site, device="b56")):
        told = _words(page)
        assert "Errors – ? not audited Warnings – ? not audited" in told
        assert "No device was read yet." in told
        assert "✔" not in told
        assert "Read all devices" not in told, "who only looks reads nothing"
        assert 'id="filter-q"' not in page


def test_an_audit_of_some_devices_says_of_how_many_it_is(site: TestClient, backend: Backend) -> None:
    texts = startups(backend.networks.network("campus"))
    record(backend.run_requests.store, backend.artifacts, "campus", {"r3": texts["r3"]}, RunStatus.FAILED)
    told = _words(_audited(site))
    assert "Errors 0 ? on 1 of 9 devices" in told
    assert "The newest reading is of" in told
    assert "8 devices were never read, and are no part of this" in told


def test_others_have_no_part_in_it(site: TestClient) -> None:
    assert site.get("/networks/infn-fnal/audit").status_code == 403


def test_an_audit_that_failed_is_told_and_made_again_where_somebody_asks(
    site: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_views, "audit_view", ord)  # with two arguments, it fails in its process
    for _ in range(300):
        if "could not be audited" in (page := site.get(AUDIT).text):
            break
        time.sleep(0.1)
    again = f"{AUDIT}?retry=true"
    assert f'href="{again}"' in page
    assert "could not be audited" in site.get(AUDIT).text
    monkeypatch.undo()
    assert 'id="auditing"' in site.get(again).text
    assert "could not be audited" not in _audited(site)
