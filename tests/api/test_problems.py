"""Every error becomes a problem that names place, problem and hint."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fastapi import APIRouter
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

import qosforge.errors
from qosforge.access.roles import NotAllowed, NotAuthenticated
from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.api.problems import KINDS, MEDIA_TYPE, Problem, error_response
from qosforge.compute import ComputeDied, TooBusy, TookTooLong
from qosforge.errors import (
    DeviceError,
    DeviceErrors,
    EngineBusy,
    InputError,
    InputErrors,
    Place,
    QosforgeError,
    RefusedError,
    ServiceError,
    StoreError,
)
from qosforge.findings import Finding, Severity
from qosforge.inventory.catalogue import NetworkUnknown
from qosforge.policy_library.choice import PolicyChoice
from qosforge.runs.record.idempotency import KeyReused
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.store import RunUnknown


class Asked(BaseModel):
    password: str
    count: int


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("wrong"), 422),
        (InputErrors("wrong"), 422),
        (KeyReused("wrong"), 422),
        (RunUnknown("wrong"), 404),
        (NetworkUnknown("wrong"), 404),
        (InvalidState("wrong"), 409),
        (RefusedError("wrong"), 422),
        (NotAuthenticated("wrong"), 401),
        (NotAllowed("wrong"), 403),
        (DeviceError("wrong"), 502),
        (DeviceErrors("wrong"), 502),
        (qosforge.errors.TesterError("wrong"), 502),
        (StoreError("wrong"), 503),
        (EngineBusy("wrong"), 503),
        (ComputeDied("wrong"), 503),
        (TooBusy("wrong"), 503),
        (TookTooLong("wrong"), 504),
        (ServiceError("wrong"), 503),
    ],
)
def test_an_error_has_its_status(error: QosforgeError, status: int) -> None:
    answer = error_response("0" * 32, error)
    problem = Problem.model_validate_json(bytes(answer.body))
    assert (answer.status_code, problem.status, problem.detail) == (status, status, "wrong")
    assert answer.media_type == MEDIA_TYPE
    assert ("www-authenticate" in answer.headers) == (status == 401)


def test_no_error_of_the_tree_is_without_a_kind() -> None:
    def tree(kind: type[QosforgeError]) -> Iterator[type[QosforgeError]]:
        yield kind
        for child in kind.__subclasses__():
            yield from tree(child)

    told = [kind for kind in tree(QosforgeError) if any(base in KINDS for base in kind.__mro__)]
    silent = {kind.__name__ for kind in tree(QosforgeError)} - {kind.__name__ for kind in told}
    assert silent <= {"QosforgeError", "Interrupted"}  # of the command line alone


def test_every_single_problem_is_reported_with_place_and_hint() -> None:
    errors = [
        InputError("no such class", Place(file="a.yaml", line=3, column=5, path="apply[0]"), "name one"),
        InputError("no such device", Place(device="r1", interface="Serial0/0")),
    ]
    document = json.loads(bytes(error_response("0" * 32, InputErrors("two problems", errors=errors)).body))
    assert document["detail"] == "two problems"
    assert document["errors"] == [error.document() for error in errors]
    assert document["errors"][0] | {"line": 3, "file": "a.yaml", "hint": "name one"} == document["errors"][0]


def test_findings_go_along() -> None:
    finding = Finding(code="Q001", severity=Severity.ERROR, message="too much", file="a.yaml", line=7)
    error = RefusedError("refused", findings=[finding])
    document = json.loads(bytes(error_response("0" * 32, error).body))
    assert document["findings"] == [finding.document()]


@pytest.fixture
def client(backend: Backend) -> Iterator[TestClient]:
    router = APIRouter()

    @router.post("/ask/{number}")
    def ask(asked: Asked, number: int) -> int:
        return asked.count + number

    @router.post("/policy")
    def choose(choice: PolicyChoice) -> None: ...

    @router.put("/gone")
    def put() -> None: ...

    @router.get("/gone")
    def gone() -> None:
        raise HTTPException(410, "gone for good", {"X-Why": "it was old"})

    app = create_app(backend)
    app.include_router(router)
    with TestClient(app) as made:
        yield made


def test_wrong_fields_are_named_and_never_echoed(client: TestClient) -> None:
    answer = client.post("/ask/x", json={"password": ["hunter2"], "count": "hunter3"})
    assert answer.status_code == 422
    paths = [error["path"] for error in answer.json()["errors"]]
    assert paths == ["path.number", "body.password", "body.count"]
    assert "hunter" not in answer.text


def test_every_problem_says_how_to_hint_it(client: TestClient) -> None:
    json_type = {"Content-Type": "application/json"}
    told = {
        "nothing is there": client.get("/api/v1/nothing"),
        "wrong method": client.delete("/gone"),
        "no content type": client.post("/ask/1", content=b'{"count": 1}'),
        "not JSON": client.post("/ask/1", content=b"{", headers=json_type),
        "missing": client.post("/ask/1", json={"count": 1}),
        "misspelt": client.post("/policy", json={"name": "x", "versoin": 3}),
    }
    hints = {what: [error["hint"] for error in answer.json()["errors"]] for what, answer in told.items()}
    assert all(len(each) == 1 and each[0] for each in hints.values()), hints
    assert "Content-Type" in hints["no content type"][0]
    assert hints["missing"] == ["add it"]
    assert "spelt" in hints["misspelt"][0]
    assert told["misspelt"].json()["errors"][0]["path"].endswith("versoin")


def test_what_is_no_json_is_malformed(client: TestClient) -> None:
    answer = client.post("/ask/1", content=b"{", headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["type"]) == (400, "urn:qosforge:problem:malformed")


def test_other_statuses_are_problems_too(client: TestClient) -> None:
    gone, wrong = client.get("/gone"), client.delete("/gone")
    assert (gone.status_code, gone.json()["detail"], gone.headers["x-why"]) == (410, "gone for good", "it was old")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, PUT")
    assert gone.headers["content-type"] == wrong.headers["content-type"] == MEDIA_TYPE
