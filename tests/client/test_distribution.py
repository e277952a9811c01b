"""The client that is a distribution of its own, against a service that answers as scripted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

import qosforge_client
from qosforge.api.application import create_app
from qosforge.api.backend import open_backend
from qosforge.settings import Settings
from qosforge_client import (
    Client,
    InlinePolicy,
    NotAuthenticated,
    Problem,
    Rejected,
    RunStatus,
    Unavailable,
    Unreachable,
    WrongInput,
    connection,
    models,
)

from .support import Answer, document, scripted, stream

DOCUMENTS = {
    "RunSummary": models.RunSummary,
    "RunPage": models.RunPage,
    "RunDetail": models.Run,
    "RunDevice": models.DeviceChange,
    "StageReport": models.Stage,
    "UnjudgedTradeOff": models.UnjudgedTradeOff,
    "TradeOffFigure": models.TradeOffFigure,
    "RunEvent": models.RunEvent,
    "PolicyVersionDocument": models.PolicyVersion,
    "PolicyDocument": models.Policy,
    "CompilePreview": models.Preview,
    "DevicePreview": models.DevicePreview,
    "CandidateDocument": models.Candidate,
    "InlinePolicy": models.InlinePolicy,
    "NamedPolicy": models.NamedPolicy,
    "ErrorDetail": qosforge_client.ErrorDetail,
}
"""Our models by the schemas of the interface that they are of."""
ID = "019a3f6e-5b1c-7c8e-9a40-0c5d9f1b7a11"
POLICY = InlinePolicy(text="version: 1\n")


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with open_backend(Settings(var_dir=tmp_path_factory.mktemp("schemas"))) as backend:
        found: dict[str, Any] = create_app(backend).openapi()["components"]["schemas"]
    return found


@pytest.fixture
def run(schemas: dict[str, Any]) -> dict[str, Any]:
    """A run as the interface's document shows it."""
    shown: dict[str, Any] = schemas["RunDetail"]["examples"][0]
    return shown


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 5.0)


def problem(status: int, kind: str, **more: Any) -> Answer:
    body = {"type": f"urn:qosforge:problem:{kind}", "title": kind, "status": status, "detail": "it is wrong"}
    return document(body | {"instance": "urn:qosforge:request:1"} | more, status)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_models_are_those_of_the_interface(schemas: dict[str, Any], name: str) -> None:
    """Every field of ours is one of the service's, and we require none that it may leave out."""
    model: type[BaseModel] = DOCUMENTS[name]
    fields = {info.alias or field: info for field, info in model.model_fields.items()}
    assert fields.keys() <= schemas[name]["properties"].keys()
    required = {field for field, info in fields.items() if info.is_required()}
    assert required <= set(schemas[name].get("required", ()))
    for example in schemas[name].get("examples", ()):
        model.model_validate_json(json.dumps(example))


def test_statuses_and_verdicts_are_those_of_the_interface(schemas: dict[str, Any]) -> None:
    assert {str(status) for status in RunStatus} == set(schemas["RunStatus"]["enum"])
    assert {str(verdict) for verdict in models.Verdict} == set(schemas["Verdict"]["enum"])


def test_what_a_newer_service_adds_is_taken(run: dict[str, Any]) -> None:
    with scripted(document({**run, "status": "hovering", "new": 1})) as (url, _), Client(url, "qf_x") as qos:
        assert qos.runs.get(ID).status == "hovering"
    with scripted(document(run)) as (url, _), Client(url, "qf_x") as qos:
        assert qos.runs.get(ID).status is RunStatus.KEPT


def test_problems_are_errors_of_their_kind() -> None:
    finding = {"code": "share-out-of-range", "severity": "error", "message": "too much", "class": "voice"}
    answers = (
        problem(422, "rejected", findings=[finding]),
        problem(422, "wrong-input", errors=[{"message": "no such", "hint": "list them", "line": 3}]),
        problem(401, "not-authenticated"),
        problem(418, "new"),
        Answer(502, b"<html>a proxy</html>"),
    )
    with scripted(*answers) as (url, _), Client(url, "qf_x") as qos:
        with pytest.raises(Rejected) as rejected:
            qos.preview("campus", POLICY)
        assert rejected.value.findings[0].traffic_class == "voice"
        with pytest.raises(WrongInput, match=r"it is wrong \(list them\)") as wrong:
            qos.preview("campus", POLICY)
        assert (wrong.value.kind, wrong.value.errors[0].line) == ("wrong-input", 3)
        assert wrong.value.instance == "urn:qosforge:request:1"
        for kind in (NotAuthenticated, Problem, Unreachable):
            with pytest.raises(kind):
                qos.preview("campus", POLICY)


def test_a_start_that_breaks_off_is_sent_again_with_its_key(run: dict[str, Any]) -> None:
    with (
        scripted(Answer(breaks=True), problem(503, "busy"), document(run, 201)) as (url, asked),
        Client(url, "qf_x") as qos,
    ):
        with pytest.raises(Unavailable):  # it does not say when to come again
            qos.runs.start("campus", POLICY)
        assert qos.runs.start("campus", POLICY).id == ID
    keys = [each.headers["idempotency-key"] for each in asked]
    assert keys[0] == keys[1] != keys[2]
    assert asked[0].headers["authorization"] == "Bearer qf_x"


def test_a_call_that_may_not_be_repeated_is_not(run: dict[str, Any]) -> None:
    with scripted(Answer(breaks=True), document(run)) as (url, asked), Client(url, "qf_x") as qos:
        with pytest.raises(Unreachable):
            qos.runs.approve(ID, "ab" * 32)
        assert len(asked) == 1


def test_waiting_goes_by_events_and_outlasts_a_stream_that_breaks(run: dict[str, Any]) -> None:
    running = document({**run, "status": "running", "final": False})
    answers = (
        running,
        stream('id: 4\nevent: status\ndata: {"status": "running"}\n\n', breaks=True),
        running,
        stream('id: 9\nevent: status\ndata: {"status": "kept"}\n\nevent: end\ndata: {}\n\n'),
        document(run),
    )
    with scripted(*answers) as (url, asked), Client(url, "qf_x") as qos:
        assert qos.runs.wait(ID).status is RunStatus.KEPT
    streams = [each.headers["last-event-id"] for each in asked if each.path.endswith("/events")]
    assert streams == ["0", "4"]


@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("http://qos.example", "qf_x"),
        ("qos.example", "qf_x"),
        ("https://a:b@qos.example", "qf_x"),
        ("https://q", "a b"),
    ],
)
def test_a_token_goes_nowhere_unencrypted(url: str, token: str) -> None:
    with pytest.raises(ValueError, match=r"no address|unencrypted|no token"):
        Client(url, token)


def test_a_service_that_is_not_there_is_told_at_once() -> None:
    with scripted(document({})) as (url, _):
        pass
    with Client(url, "qf_x") as qos, pytest.raises(Unreachable, match="is not reached"):
        qos.policies.newest()
