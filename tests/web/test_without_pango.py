"""A machine without Pango: a PDF is refused with the packages that it takes, and every other form is there."""

from __future__ import annotations

import os
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.errors import NotInstalled
from qosforge.intent.policy_source import load_policy
from qosforge.reports.pdf import run_pdf
from qosforge.settings import Settings
from qosforge.system_packages import parts
from tests.checkout import PYTHONPATH
from tests.principals import somebody
from tests.reports.test_run_report import report
from tests.run_requests import request_run
from tests.web.people import Persons

# On a machine that really lacks some, those alone are named.
PACKAGES = parts()["pdf"].missing() or ["libpango-1.0-0", "libpangoft2-1.0-0"]


@pytest.fixture(autouse=True)
def without_pango(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process and in those that it starts, WeasyPrint ends as it does where no Pango can be loaded."""
    package = tmp_path / "packages" / "weasyprint"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise OSError(\"cannot load library 'libpango-1.0-0'\")\n")
    for name in [name for name in sys.modules if name.partition(".")[0] == "weasyprint"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "qosforge.reports.paper", raising=False)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(package.parent), PYTHONPATH]))


@pytest.fixture
def backend(tmp_path: Path, without_pango: None) -> object:
    """A service whose processes begin without Pango."""
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as made:
        yield made


def stored_run(backend: Backend) -> str:
    """A run that somebody asked for."""
    policies = backend.policies.seen_by(somebody("ann"))
    written = load_policy(policies.get("campus-collaboration").written())
    return backend.run_requests.submit(*request_run(backend.networks.network("campus"), written), "ann")[0].id


def test_the_error_names_the_packages() -> None:
    with pytest.raises(NotInstalled, match="cannot load library") as caught:
        run_pdf(report())
    assert all(name in caught.value.message and name in caught.value.hint for name in PACKAGES)
    assert "apt-get install" in caught.value.hint


def test_the_interface_answers_with_the_packages(backend: Backend, client: TestClient, persons: Persons) -> None:
    run = stored_run(backend)
    persons.add("eve", Role.VIEWER).log_in(client)
    answer = client.get(f"/api/v1/runs/{run}/report.pdf")
    assert (answer.status_code, answer.json()["type"]) == (501, "urn:qosforge:problem:not-installed")
    assert all(name in answer.json()["errors"][0]["hint"] for name in PACKAGES)
    for form in ("html", "json", "junit", "sarif", "markdown"):
        assert client.get(f"/api/v1/runs/{run}/report?format={form}").status_code == 200


def test_the_page_tells_people(backend: Backend, client: TestClient, persons: Persons) -> None:
    run = stored_run(backend)
    persons.add("eve", Role.VIEWER).log_in(client)
    link = f"/runs/{run}/report.pdf"
    assert f'href="{link}"' in client.get(f"/runs/{run}").text
    answer = client.get(link, headers={"Accept": "text/html"})
    assert answer.status_code == 501
    assert answer.headers["content-type"].startswith("text/html")
    assert all(name in unescape(answer.text) for name in PACKAGES)
    assert client.get(f"/runs/{run}/everything.zip").status_code == 200


def test_the_command_line_tells_it_and_writes_the_page(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stored_run(backend)
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(tmp_path / "var"))
    page, paper = tmp_path / "run.html", tmp_path / "run.pdf"
    command = [sys.executable, "-c", "from qosforge.cli.entry import main; main()", "show", run]
    ended = subprocess.run([*command, "--pdf", paper], capture_output=True, text=True, check=False)
    assert (ended.returncode, paper.exists()) == (3, False), ended.stderr
    assert all(name in ended.stderr for name in PACKAGES)
    assert "Traceback" not in ended.stderr
    assert subprocess.run([*command, "--html", page], capture_output=True, check=False).returncode == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
