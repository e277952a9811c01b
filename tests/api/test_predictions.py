"""Predictions over HTTP: what a policy would do, for everybody who may see the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.prediction.predict import predict
from qosforge.reports.prediction import PredictionDocument, prediction_document
from qosforge.resources import root
from qosforge.settings import Settings
from tests.api.conftest import Headers, People

V1 = "/api/v1"
POLICY = root() / "examples" / "policies" / "remote-control.yaml"
WISH: dict[str, Any] = {"network": "infn-fnal", "policy": {"text": POLICY.read_text(encoding="utf-8")}}


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    with open_backend(Settings(var_dir=tmp_path_factory.mktemp("predictions"), compute_processes=1)) as made:
        yield made


@pytest.fixture(scope="module")
def client(backend: Backend) -> Iterator[TestClient]:
    with TestClient(create_app(backend)) as made:
        yield made


@pytest.fixture(scope="module")
def viewer(backend: Backend) -> Headers:
    return People(backend).headers("ana", Role.VIEWER, "infn-fnal")


def test_a_prediction_is_what_this_release_predicts_itself(client: TestClient, viewer: Headers) -> None:
    answer = client.post(f"{V1}/predictions", headers=viewer, json={**WISH, "seed": 7, "at_most_seconds": 5})
    assert answer.status_code == 200
    compilation = compile_intent(load_intent(POLICY), load_network(root() / "inventories" / "infn-fnal"))
    ours = prediction_document(predict(compilation, seed=7, at_most_seconds=5))
    # A policy that was sent has another name than the file.
    findings = tuple(finding.model_copy(update={"file": "policy.yaml"}) for finding in ours.findings)
    named = ours.model_copy(update={"findings": findings})
    assert PredictionDocument.model_validate_json(answer.content) == named
    told = answer.json()
    assert told["simulated"] == [{"scenario": "one-way", "seconds": 24, "wanted": 10}]
    assert (told["measurement"]["when"], told["measurement"]["evidence"]) == ("predicted", "predicted")


def test_what_cannot_be_predicted_is_a_problem_that_says_why(client: TestClient, viewer: Headers) -> None:
    text = WISH["policy"]["text"]
    silent = {**WISH, "policy": {"text": text[: text.index("verify:")]}}
    answer = client.post(f"{V1}/predictions", headers=viewer, json=silent)
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "verify")
    greedy = {**WISH, "policy": {"text": text.replace("rate: 800 kb/s", "rate: 8000 kb/s")}}
    answer = client.post(f"{V1}/predictions", headers=viewer, json=greedy)
    assert answer.status_code == 422
    assert "nothing to predict" in answer.json()["detail"]
    assert answer.json()["findings"]
    for wrong in ({"at_most_seconds": 0}, {"at_most_seconds": 3601}, {"seed": -1}):
        assert client.post(f"{V1}/predictions", headers=viewer, json={**WISH, **wrong}).status_code == 422


def test_a_network_that_is_not_seen_is_not_predicted(client: TestClient, viewer: Headers) -> None:
    other = {"network": "campus", "policy": {"name": "campus-collaboration"}}
    assert client.post(f"{V1}/predictions", headers=viewer, json=other).status_code == 403
