"""What a run left, of one real run on the lab: its detail, artifacts and reports, and what of them is for whom."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import open_backend
from qosforge.emulation import start_lab
from qosforge.executor.service import open_service
from qosforge.intent.loader import parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qosforge.runs.views.artifact_list import ArtifactKind
from qosforge.settings import Settings
from qoslab import control
from tests.api.conftest import Headers, People
from tests.patience import PATIENCE
from tests.run_requests import request_run

SECRET = "s3cr3t-of-r1"
BOXES = {"r1", "r2", "r3", "b56", "b256"}
VERIFY = """\
apply:
  - {role: [edge, middle], interfaces: wan, direction: output}
verify:
  - {from: vigo1, to: vigo2, classes: [voice-video], beside: [web-and-file, default], seconds: 30, confidence: 90 %}
"""


@dataclass(frozen=True)
class Kept:
    """A run that was kept, seen through the interface by an operator and by a viewer."""

    client: TestClient
    run_id: str
    operator: Headers
    viewer: Headers

    def get(self, path: str = "", *, by: Headers | None = None) -> Any:
        """The answer of a path below the run."""
        return self.client.get(f"/api/v1/runs/{self.run_id}{path}", headers=by or self.viewer)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """The routers of the campus under a short intent, over SSH, measured before and after."""
    folder = tmp_path_factory.mktemp("kept")
    settings = Settings(var_dir=folder / "var", compute_processes=1, request_seconds=PATIENCE)
    inventory = folder / "campus"
    shutil.copytree(root() / "inventories" / "campus", inventory)
    startup = inventory / "startup" / "r1.cfg"
    line = "interface FastEthernet0/0\n"
    startup.write_text(startup.read_text().replace(line, f"{line} description {SECRET}\n"))
    network = load_network(inventory)
    text = (root() / "policies" / "campus-collaboration.yaml").read_text(encoding="utf-8")
    intent = parse_intent(text[: text.index("apply:")] + VERIFY, "policies/short.yaml")
    lab = state_folder(settings.var_dir, network.name)
    start_lab(network, inventory, lab)
    try:
        with open_service(settings, lambda _stage, _text: None) as service:
            finished = service.run(*request_run(network, intent), "ann")
    finally:
        control.stop(lab)
    assert finished.result.status == "kept", finished.result
    with open_backend(settings) as backend, TestClient(create_app(backend)) as client:
        people = People(backend)
        operator = people.headers("ann", Role.OPERATOR, "campus")
        yield Kept(client, finished.run_id, operator, people.headers("eve", Role.VIEWER, "campus"))


def test_the_detail_tells_how_a_run_went(kept: Kept) -> None:
    run = kept.get().json()
    assert (run["status"], run["final"], run["verdict"], run["outcome_after"]) == ("kept", True, "met", "met")
    names = [stage["name"] for stage in run["stages"]]
    assert names.index("read") < names.index("push") < names.index("measure-after") < names.index("keep")
    assert {device["name"] for device in run["devices"]} == BOXES
    r1 = next(device for device in run["devices"] if device["name"] == "r1")
    assert any("policy-map" in line for line in r1["delta"])
    assert r1["inverse"]
    assert any(line.startswith("+policy-map") for line in r1["difference"])
    heading = r1["difference"].index(" interface Serial0/0")
    assert r1["difference"][heading + 1].startswith(("+ ", "- ", "  "))
    assert run["findings"]
    assert {"code", "severity", "message", "file", "line", "class"} <= run["findings"][0].keys()
    (verdict,) = run["verdicts_after"]
    assert (verdict["traffic_class"], verdict["verdict"]["outcome"]) == ("voice-video", "met")
    assert run["links"]["report"] == f"/api/v1/runs/{kept.run_id}/report"
    for name, link in run["links"].items():
        short = {"format": "json"} if name == "report" else {}  # a page takes seconds
        assert kept.client.get(link, params=short, headers=kept.viewer).status_code == 200


def test_every_artifact_is_listed_by_name_and_is_what_its_id_says(kept: Kept) -> None:
    listed = kept.get("/artifacts").json()["artifacts"]
    names = {entry["name"] for entry in listed}
    assert {"policy", "network", "findings", "counters", "measurement/before", "verdicts/after"} <= names
    for kind in ("running", "configuration", "delta", "inverse", "difference", "read-back"):
        assert {f"{kind}/{box}" for box in BOXES} <= names
    assert len(names) == len(listed)
    for entry in listed:
        answer = kept.client.get(entry["link"], headers=kept.operator)
        assert answer.status_code == 200
        assert hashlib.sha256(answer.content).hexdigest() == entry["id"]
        assert answer.headers["content-type"].partition(";")[0] == entry["media_type"]
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_what_a_device_holds_takes_an_operator(kept: Kept) -> None:
    listed = kept.get("/artifacts").json()["artifacts"]
    restricted = [entry for entry in listed if entry["restricted"]]
    assert {entry["kind"] for entry in restricted} == {
        ArtifactKind.RUNNING,
        ArtifactKind.DIFFERENCE,
        ArtifactKind.READ_BACK,
    }
    for entry in listed:
        answer = kept.client.get(entry["link"], headers=kept.viewer)
        assert answer.status_code == (403 if entry["restricted"] else 200)
        assert SECRET not in answer.text
    r1 = next(entry for entry in restricted if entry["name"] == "running/r1")
    assert SECRET in kept.client.get(r1["link"], headers=kept.operator).text
    told = kept.client.get(r1["link"], headers=kept.viewer).json()
    assert "operator" in told["detail"]


def test_an_artifact_of_something_else_is_not_the_runs(kept: Kept) -> None:
    backend = kept.client.app.state.backend  # type: ignore[attr-defined]
    other = backend.artifacts.put_text("of nobody")
    assert kept.get(f"/artifacts/{other}", by=kept.operator).status_code == 404
    assert kept.get("/artifacts/..%2F..%2Fruns.sqlite", by=kept.operator).status_code in (404, 422)


@pytest.mark.parametrize("form", ["html", "json", "junit", "sarif", "markdown"])
def test_no_report_has_a_line_that_stands_apart_from_what_changed(kept: Kept, form: str) -> None:
    full, bare = (kept.get(f"/report?format={form}", by=who) for who in (kept.operator, kept.viewer))
    assert (full.status_code, bare.status_code) == (200, 200)
    assert SECRET not in full.text + bare.text


def test_the_report_comes_as_a_page_that_loads_nothing(kept: Kept) -> None:
    answer = kept.get("/report")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.text.startswith("<!DOCTYPE html>")
    assert "<svg" in answer.text
    assert "Nothing to change" not in answer.text


@pytest.mark.needs("pdf")
def test_the_report_comes_on_paper(kept: Kept) -> None:
    full, bare = (kept.get("/report.pdf", by=who) for who in (kept.operator, kept.viewer))
    assert (full.status_code, bare.status_code) == (200, 200)
    assert bare.headers["content-type"] == "application/pdf"
    assert bare.headers["content-disposition"] == f'inline; filename="{kept.run_id}.pdf"'
    assert bare.content.startswith(b"%PDF-")
    assert len(full.content) > len(bare.content)


def test_the_report_comes_in_the_forms_of_pipelines(kept: Kept) -> None:
    junit = kept.get("/report?format=junit")
    assert junit.headers["content-type"] == "application/xml"
    cases = list(ElementTree.fromstring(junit.text).iter("testcase"))
    assert any("voice-video" in (case.get("name") or "") + (case.get("classname") or "") for case in cases)
    sarif = kept.get("/report?format=sarif")
    assert sarif.headers["content-type"] == "application/sarif+json"
    (log,) = sarif.json()["runs"]
    # Rows that stand at lines of their own are results of their own.
    findings = kept.get("/report?format=json").json()["findings"]
    at_lines = [len(f["rows"]) if any(row["line"] for row in f["rows"]) else 1 for f in findings]
    assert len(log["results"]) == sum(at_lines)
    places = {
        place["physicalLocation"]["artifactLocation"]["uri"]
        for each in log["results"]
        for place in each["locations"]
    }
    assert places == {"policies/short.yaml"}
    markdown = kept.get("/report?format=markdown")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert kept.run_id in markdown.text
    report = kept.get("/report?format=json").json()
    assert report["after"]["evidence"] == "emulated"
    assert {account["traffic_class"] for account in report["accounts"]} >= {"voice-video"}
    assert report["trade_offs"]
    whole = json.loads(kept.get("/report?format=json", by=kept.operator).text)["devices"][0]["diff"]
    assert len(whole.splitlines()) > len(report["devices"][0]["diff"].splitlines())  # with what stands around


def test_an_unknown_form_is_refused(kept: Kept) -> None:
    assert kept.get("/report?format=pdf").status_code == 422
