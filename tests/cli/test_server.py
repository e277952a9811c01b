"""Commands that let a service do it: which one they speak to, and what they make of what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qosforge.client import run_events
from qosforge.resources import root
from tests.client.support import Answer, Asked, document, scripted, stream
from tests.reports.test_run_report import report

from .conftest import Command

POLICY = root() / "policies" / "campus-collaboration.yaml"
ID = "019a3f6e-5b1c-7c8e-9a40-0c5d9f1b7a11"
RUN = {
    "id": ID,
    "network": "campus",
    "policy": "campus",
    "status": "needs_approval",
    "final": False,
    "verdict": None,
    "created": "2026-01-02T03:04:05+00:00",
    "waits_for": "an approval of 3 devices",
    "candidate": "ab" * 32,
    "devices": [{"name": "r1", "delta": ["a", "b"]}],
}


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_TOKEN", "qf_secret")
    monkeypatch.delenv("QOSFORGE_SERVER", raising=False)
    monkeypatch.setattr(run_events, "PAUSE_SECONDS", (0.01,))


def service(**answers: Answer) -> object:
    """Answers by the last part of the path."""

    def answer(asked: Asked) -> Answer:
        return answers[asked.path.partition("?")[0].rpartition("/")[2].replace("-", "_")]

    return answer


def test_a_run_that_is_not_waited_for_says_what_it_waits_for(qosforge: Command) -> None:
    with scripted(document(RUN)) as (url, asked):  # type: ignore[arg-type]
        ended = qosforge("--server", url, "run", POLICY, "--ticket", "CHG-1", "--network", "inventories/campus")
    assert (ended.code, ended.stderr) == (0, "")
    assert f"run {ID}: needs approval" in ended.stdout
    assert "an approval of 3 devices" in ended.stdout
    assert f"qosforge wait {ID}" in ended.stdout
    body = json.loads(asked[0].body)
    assert (body["network"], body["ticket"], body["measure"]) == ("campus", "CHG-1", True)
    assert body["policy"]["text"] == POLICY.read_text()
    assert asked[0].headers["idempotency-key"]


def test_every_call_has_a_key_of_its_own_unless_it_is_given(
    qosforge: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted(document(RUN)) as (url, asked):
        monkeypatch.setenv("QOSFORGE_SERVER", url)
        for arguments in ((), (), ("--idempotency-key", "job-7")):
            assert qosforge("push", POLICY, *arguments).code == 0
    keys = [a.headers["idempotency-key"] for a in asked if a.method == "POST"]
    assert keys[2] == '"job-7"'
    assert len(set(keys)) == 3


@pytest.mark.parametrize("network", [None, "campus", "somewhere/campus"])
def test_a_policy_of_the_service_goes_by_its_name(qosforge: Command, network: str | None) -> None:
    chosen = ("--network", network) if network else ()
    with scripted(document(RUN)) as (url, asked):
        ended = qosforge("--server", url, "run", "gold@3", "--set", "percent=33", *chosen)
    assert ended.code == 0
    body = json.loads(asked[0].body)
    assert body["policy"] == {"name": "gold", "version": 3, "parameters": {"percent": 33}}
    assert (body["network"], body["source"]) == ("campus", None)


@pytest.mark.parametrize(
    ("status", "verdict", "code"),
    [
        ("kept", "met", 0),
        ("kept", None, 0),
        ("no_changes", "met", 0),
        ("kept", "inconclusive", 1),
        ("no_changes", "broken", 1),
        ("rolled_back", "broken", 1),
        ("rejected", None, 1),
        ("cancelled", None, 1),
        ("failed", None, 3),
        ("needs_recovery", None, 3),
    ],
)
def test_waiting_exits_by_the_verdict(qosforge: Command, status: str, verdict: str | None, code: int) -> None:
    ended_run = {**RUN, "status": status, "verdict": verdict, "final": True}
    made = report().model_copy(update={"status": status, "id": ID})
    events = stream(
        'id: 1\nevent: progress\ndata: {"stage": "push", "text": "3 devices"}\n\n',
        'id: 2\nevent: status\ndata: {"status": "needs_approval", "waits_for": "an approval"}\n\n',
        "event: end\ndata: {}\n\n",
    )
    answers = service(
        runs=document(ended_run, 201),
        events=events,
        report=Answer(200, made.model_dump_json().encode(), {"Content-Type": "application/json"}),
        **{ID.replace("-", "_"): document(ended_run)},
    )
    with scripted(answers) as (url, asked):  # type: ignore[arg-type]
        ended = qosforge("--server", url, "run", POLICY, "--wait", "--json")
    assert ended.code == code
    assert "3 devices" in ended.stderr
    assert "an approval" in ended.stderr
    told = json.loads(ended.stdout)
    assert (told["run"], told["status"]) == (ID, status)
    assert told["report"] == f"{url}/runs/{ID}"
    assert f"or reject it: {url}/runs/{ID}" in ended.stderr
    assert any("/report?format=json" in a.path for a in asked)


def test_a_wait_that_ends_too_early_reports_the_run_as_it_stands(qosforge: Command, tmp_path: Path) -> None:
    waiting = report().model_copy(update={"status": "needs_approval", "id": ID})
    answers = service(
        runs=document({**RUN, "status": "needs_approval"}, 201),
        events=stream(": here\n\n"),
        report=Answer(200, waiting.model_dump_json().encode(), {"Content-Type": "application/json"}),
    )
    comment, cases = tmp_path / "run.md", tmp_path / "run.xml"
    files = ("--markdown", str(comment), "--junit", str(cases))
    with scripted(answers) as (url, _):  # type: ignore[arg-type]
        ended = qosforge("--server", url, "run", POLICY, "--wait", "--wait-seconds", "1", *files)
    assert ended.code == 3
    assert "is not over yet" in ended.stderr
    assert comment.read_text().startswith("## QoS run: ")
    assert "**needs approval**" in comment.read_text()
    for written in (comment, cases):
        assert f"{url}/runs/{ID}" in written.read_text()


def test_a_list_says_what_was_rolled_back_since(qosforge: Command) -> None:
    outcome = {"kind": "rolled_back_by_hand", "reasons": [], "rolled_back_by": "r9"}
    page = {"runs": [{**RUN, "status": "kept", "outcome": outcome}], "next": None}
    with scripted(document(page)) as (url, _):
        assert "rolled back later" in qosforge("--server", url, "runs").stdout


def test_runs_go_over_pages(qosforge: Command) -> None:
    first = document({"runs": [{**RUN, "id": "r1"}], "next": "/api/v1/runs?before=r1&limit=2"})
    second = document({"runs": [{**RUN, "id": "r2", "policy": "[bold]x"}, {**RUN, "id": "r3"}], "next": None})
    with scripted(first, second) as (url, asked):
        ended = qosforge("--server", url, "runs", "--limit", "2")
    assert ended.code == 0
    assert [a.path for a in asked] == ["/api/v1/runs?limit=2", "/api/v1/runs?before=r1&limit=2"]
    assert "[bold]x" in ended.stdout
    assert "r3" not in ended.stdout


def test_an_approval_is_of_what_was_looked_at(qosforge: Command) -> None:
    with scripted(document(RUN)) as (url, asked):
        assert qosforge("--server", url, "approve", ID, "--comment", "seen").code == 0
        assert qosforge("--server", url, "approve", ID, "--candidate", "cd" * 32).code == 0
    bodies = [json.loads(a.body) for a in asked if a.method == "POST"]
    assert bodies == [{"candidate": "ab" * 32, "comment": "seen"}, {"candidate": "cd" * 32, "comment": ""}]


@pytest.mark.parametrize(
    ("arguments", "path", "body"),
    [
        (("reject", ID, "--comment", "no"), "reject", {"comment": "no"}),
        (("cancel", ID), "cancel", None),
        (("retry", ID, "--start", "push"), "retry", {"start": "push"}),
        (("pause", ID), "pause", None),
        (("resume", ID), "resume", None),
        (("rollback", ID), "rollback", None),
        (("rollback", ID, "--reason", "calls broke up"), "rollback", {"reason": "calls broke up"}),
    ],
)
def test_decisions_go_to_their_routes(
    qosforge: Command, arguments: tuple[str, ...], path: str, body: dict[str, str] | None
) -> None:
    with scripted(document(RUN)) as (url, asked):
        assert qosforge("--server", url, *arguments).code == 0
    assert asked[0].path == f"/api/v1/runs/{ID}/{path}"
    assert (json.loads(asked[0].body) if asked[0].body else None) == body


def test_a_token_is_read_from_its_file(qosforge: Command, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("qf_other\n")
    with scripted(document({"runs": [], "next": None})) as (url, asked):
        assert qosforge("--server", url, "--token-file", file, "runs").stdout == "no runs yet\n"
    assert asked[0].headers["authorization"] == "Bearer qf_other"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--server", "http://127.0.0.1:1", "lab", "down"), "works on this machine only"),
        (("--server", "qos.example.org", "runs"), "no address of a service"),
        (("--token-file", "x", "runs"), "belongs to a service"),
        (("--server", "http://127.0.0.1:1", "--token-file", "{tmp}/none", "runs"), "cannot be read"),
        (("--server", "http://127.0.0.1:1", "--token-file", "{tmp}", "runs"), "cannot be read"),
        (("--server", "http://127.0.0.1:1", "run", POLICY, "--not-before", "soon"), "is no time"),
        (("--server", "http://127.0.0.1:1", "run", POLICY, "--idempotency-key", "a b"), "is no idempotency key"),
        (("--server", "http://127.0.0.1:1", "run", "none.yaml"), "none.yaml"),
        (("wait", ID), "on a service"),
        (("run", POLICY, "--not-before", "soon"), "is no time"),
    ],
)
def test_what_cannot_be_meant_is_reported(
    qosforge: Command, tmp_path: Path, arguments: tuple[object, ...], says: str
) -> None:
    ended = qosforge(*(str(a).format(tmp=tmp_path) for a in arguments))
    assert ended.code == 2
    assert says in ended.stderr
    assert ended.stderr.count("error: ") == 1


def test_without_a_token_nothing_is_sent(qosforge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QOSFORGE_TOKEN")
    with scripted(document({})) as (url, asked):
        ended = qosforge("--server", url, "runs")
    assert (ended.code, asked) == (2, [])
    assert "QOSFORGE_TOKEN" in ended.stderr


def test_a_service_that_is_not_there_is_reported(qosforge: Command) -> None:
    ended = qosforge("--server", "http://127.0.0.1:9", "runs", "--json")
    assert ended.code == 3
    assert "cannot be reached" in json.loads(ended.stdout)["errors"][0]["message"]
    assert "Traceback" not in ended.stderr


def test_findings_that_refuse_are_printed(qosforge: Command, tmp_path: Path) -> None:
    finding = {"code": "scope-empty", "severity": "error", "message": "none in scope", "class": None}
    refused = document({"type": "urn:x:rejected", "detail": "refused", "findings": [finding]}, 422)
    with scripted(refused) as (url, _):
        ended = qosforge("--server", url, "run", POLICY, "--sarif", tmp_path / "f.sarif")
    assert ended.code == 1
    assert "scope-empty" in ended.stdout
    results = json.loads((tmp_path / "f.sarif").read_text())["runs"][0]["results"]
    assert [r["ruleId"] for r in results] == ["scope-empty"]


def test_the_service_of_the_environment_is_for_commands_that_can(
    qosforge: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QOSFORGE_SERVER", "http://127.0.0.1:9")
    assert qosforge("lab", "down").stdout == "no lab of campus, the default network, is running\n"
    assert qosforge("runs").code == 3


@pytest.mark.parametrize(
    "command", [("runs",), ("show", ID), ("approve", ID), ("cancel", ID), ("lint", POLICY), ("wait", ID)]
)
@pytest.mark.parametrize("answer", [{}, [], {"runs": [1]}, {"intent": 7, "version": None}])
def test_another_service_is_reported_from_ours(
    qosforge: Command, command: tuple[object, ...], answer: object
) -> None:
    with scripted(document(answer)) as (url, _):
        ended = qosforge("--server", url, *command)
    assert ended.code == 3
    assert "cannot be read" in ended.stderr


def test_a_newer_service_may_say_more(qosforge: Command) -> None:
    more = {**json.loads(report().model_dump_json()), "of_the_future": 1}
    with scripted(document(more)) as (url, _):
        ended = qosforge("--server", url, "show", ID)
    assert ended.code == 0
    assert "kept" in ended.stdout


def test_what_a_device_said_is_neither_markup_nor_controls_of_the_terminal(qosforge: Command) -> None:
    said = "refused [/nosuch] [link=https://example.org]here[/link] :bomb: \x1b]0;title\x07\x1b[2J \u202eback"
    document_ = json.loads(report().model_dump_json())
    document_["stages"][0] |= {"outcome": "failed", "summary": said}
    document_["reason"] = said
    with scripted(document(document_)) as (url, _):
        ended = qosforge("--server", url, "show", ID)
    assert ended.code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(ended.stdout + ended.stderr)
    shown = " ".join(ended.stdout.split())
    assert "[/nosuch] [link=https://example.org]here[/link] :bomb: ␛]0;title␛[2J <U+202E>back" in shown


@pytest.mark.needs("git")
def test_a_work_tree_that_git_refuses_costs_the_commit_alone(qosforge: Command, tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    (tmp_path / "p.yaml").write_text(POLICY.read_text())
    with scripted(document(RUN)) as (url, asked):
        ended = qosforge("--server", url, "run", tmp_path / "p.yaml")
    assert ended.code == 0
    assert "the commit is not recorded" in ended.stderr
    assert json.loads(asked[0].body)["source"] is None


def test_a_policy_is_taken_over_by_its_version(qosforge: Command) -> None:
    taken = {"name": "gold", "number": 3, "author": "ann", "trusted_on": ["campus"]}
    with scripted(document(taken)) as (url, asked):
        ended = qosforge("--server", url, "take-over", "gold@3", "--network", "campus")
        folder = "inventories/campus"
        told = qosforge("--server", url, "take-over", "gold@3", "--network", folder, "--json")
        wrong = qosforge("--server", url, "take-over", "gold", "--network", "campus")
    assert (ended.code, ended.stdout.strip()) == (0, "version 3 of gold, by ann, may be run on campus")
    assert json.loads(told.stdout) == taken
    assert (wrong.code, len(asked)) == (2, 2)
    assert "write it like gold@3" in wrong.stderr
    assert asked[0].path == "/api/v1/policies/gold/versions/3/take-over"
    assert [json.loads(one.body) for one in asked] == [{"network": "campus"}] * 2
    assert qosforge("take-over", "gold@3", "--network", "campus").code == 2
