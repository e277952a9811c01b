"""Both pipelines, carried out line by line against a served instance with a lab."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs
from xml.etree.ElementTree import parse

import pytest

from .conftest import Approver, Instance, commit, git
from .pipelines import (
    ACTION,
    GITHUB,
    GITLAB,
    LOCAL_ACTION,
    Job,
    action_steps,
    carry_out,
    component,
    github_job,
    gitlab_job,
    read,
)

POLICY = Path("policies") / "remote-control.yaml"


def github(instance: Instance, name: str, folder: Path, run: int = 1) -> tuple[bool, str, str]:
    """A job of the workflow: whether it was good, what it printed, and its summary."""
    summary = folder / "summary"
    summary.touch()
    given = {
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_REPOSITORY": "net/policies",
        "GITHUB_RUN_ID": str(run),
        "GITHUB_RUN_ATTEMPT": "1",
    }
    ended = carry_out(github_job(name, instance.project()), folder, given)
    return ended.good, ended.printed, summary.read_text()


def edit(folder: Path, old: str, new: str, *, committed: bool = True) -> None:
    path = folder / POLICY
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    if committed:
        commit(folder)


def test_the_files_are_what_the_platforms_take() -> None:
    workflow, action, pipeline = read(GITHUB), read(ACTION), read(GITLAB)
    assert set(workflow["jobs"]) == {"lint", "preview", "deploy"}
    for job in workflow["jobs"].values():
        assert {"runs-on", "steps", "if"} <= job.keys()
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(("uses" in step) != ("run" in step) for step in [*steps, *action["runs"]["steps"]])
    assert all(step["shell"] == "bash" for step in action["runs"]["steps"] if "run" in step), (
        "none is the usual one"
    )
    used = [step["uses"] for step in [*steps, *action["runs"]["steps"]] if "uses" in step]
    others = [one for one in used if one != LOCAL_ACTION]
    assert all(one.startswith(("actions/", "github/")) for one in others), "the platform's own alone"
    assert all(re.search("@[0-9a-f]{40}$", one) for one in others), "by commit: a tag can be moved"
    assert all("${{" not in step.get("run", "") for step in action["runs"]["steps"]), "no input is a shell's words"
    jobs = component(policy="a.yaml", network="a")
    assert set(jobs) == {"qosforge:lint", "qosforge:preview", "qosforge:deploy"}
    assert {job["stage"] for job in jobs.values()} <= set(pipeline["stages"])
    assert "voice:deploy" in component(policy="a.yaml", network="a", name="voice")


def test_the_action_refuses_what_it_cannot_do(project: Path) -> None:
    given = {"do": "destroy", "policy": "a.yaml", "network": "a", "server": "http://127.0.0.1:9", "token": "t"}
    ended = carry_out(Job(action_steps(given), {}), project, {})
    assert not ended.good
    assert "::error::do is check, preview or deploy, not 'destroy'" in ended.printed


def test_github_checks_previews_and_deploys(instance: Instance, project: Path) -> None:
    good, printed, _ = github(instance, "lint", project)
    assert good, printed
    results = json.loads((project / "qosforge.sarif").read_text())["runs"][0]["results"]
    assert {r["level"] for r in results} <= {"note", "warning"}

    good, printed, summary = github(instance, "preview", project)
    assert good, printed
    assert summary == (project / "preview.md").read_text()
    assert "router1" in summary
    assert "Lines to enter" in summary

    approver = Approver(instance)
    good, printed, summary = github(instance, "deploy", project)
    approver.join()
    assert good, printed
    assert "needs approval" in printed
    assert "**kept**, objective ✅ met" in summary
    assert approver.approved is not None
    assert approver.approved["source"] == {
        "repository": "https://git.example.org/net/policies.git",
        "commit": git(project, "rev-parse", "HEAD"),
        "path": str(POLICY),
    }
    assert parse(project / "verdict.xml").getroot().get("failures") == "0"

    with instance.connect("viewer") as connection:
        before = connection.get("/runs")["runs"]
        good, printed, _ = github(instance, "deploy", project)
        assert good, printed  # the same job again is the same run
        assert connection.get("/runs")["runs"] == before


@pytest.mark.needs("pipelines")
def test_gitlab_comments_and_fails_with_the_verdict(instance: Instance, project: Path) -> None:
    edit(project, "p99: 75 ms", "p99: 63 ms")  # no packet comes as fast as that
    edit(project, "rate: 800 kb/s", "rate: 700 kb/s", committed=False)
    with _Notes() as (url, notes):
        given = {
            "CI_API_V4_URL": url,
            "CI_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "3",
            "CI_PROJECT_PATH": "net/policies",
            "CI_JOB_ID": "11",
            "GITLAB_COMMENT_TOKEN": "glpat",
        }
        ended = carry_out(gitlab_job("preview", instance.project()), project, given)
        assert ended.good, ended.printed
    assert [(path, token) for path, token, _ in notes] == [("/projects/7/merge_requests/3/notes", "glpat")]
    assert notes[0][2] == (project / "preview.md").read_text()

    approver = Approver(instance, restart=True)  # which a job that waits survives
    ended = carry_out(gitlab_job("deploy", instance.project(), ticket="CHG 7"), project, given)
    approver.join()
    assert not ended.good
    assert approver.approved is not None, ended.printed
    assert approver.approved["ticket"] == "CHG 7"
    assert approver.approved["source"]["dirty"] == "yes"
    failures = [case.get("name") for case in parse(project / "verdict.xml").iter("testcase") if len(case)]
    assert any("delay p99" in str(name) for name in failures)
    assert "**rolled back**, objective ❌ broken" in (project / "verdict.md").read_text()


@pytest.mark.parametrize("platform", ["github", "gitlab"])
def test_an_error_finding_fails_the_lint_job_with_its_annotation(
    instance: Instance, project: Path, platform: str
) -> None:
    edit(project, "- {interfaces: ", "- {role: middle, interfaces: ")  # the network has none
    job = {"github": github_job, "gitlab": gitlab_job}[platform]("lint", instance.project())
    ended = carry_out(job, project, {})
    assert not ended.good
    results = json.loads((project / "qosforge.sarif").read_text())["runs"][0]["results"]
    errors = [r for r in results if r["level"] == "error"]
    assert "scope-empty" in {r["ruleId"] for r in errors}
    places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in errors}
    assert places == {str(POLICY)}
    if platform == "gitlab":
        assert parse(project / "qosforge.xml").getroot().get("failures") != "0"


class _Notes:
    """The part of GitLab's interface that takes notes on merge requests: a real server on loopback."""

    def __enter__(self) -> tuple[str, list[tuple[str, str, str]]]:
        notes: list[tuple[str, str, str]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                notes.append((self.path, self.headers["PRIVATE-TOKEN"], parse_qs(body)["body"][0]))
                self.send_response(201)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_port}", notes

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
