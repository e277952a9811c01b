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
from qosforge.device_state.last_known import store_readings
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.prediction.predict import predict
from qosforge.prediction.today import simulate_today
from qosforge.reports.prediction import PredictionDocument, prediction_document
from qosforge.resources import root
from qosforge.settings import Settings
from tests.api.conftest import Headers, People
from tests.device_texts import said_by

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
    predicted = predict(compilation, seed=7, at_most_seconds=5)
    today = simulate_today(compilation, {}, predicted.timings)
    ours = prediction_document(predicted, compilation.intent.intent.classes, today)
    # A policy that was sent has another name than the file.
    findings = tuple(finding.model_copy(update={"file": "policy.yaml"}) for finding in ours.findings)
    named = ours.model_copy(update={"findings": findings})
    assert PredictionDocument.model_validate_json(answer.content) == named
    told = answer.json()
    assert told["simulated"] == [{"scenario": "one-way", "seconds": 24, "wanted": 10}]
    assert (told["measurement"]["when"], told["measurement"]["evidence"]) == ("predicted", "predicted")


def test_what_the_devices_said_last_stands_beside_what_is_predicted(
    client: TestClient, viewer: Headers, backend: Backend
) -> None:
    network = load_network(root() / "inventories" / "infn-fnal")
    ports = "interface FastEthernet0/0\ninterface FastEthernet0/1\n"
    plain = f"interface ATM1/0.108 point-to-point\n pvc 4/108\n!\n{ports}"
    store = backend.run_requests.store
    read = said_by({device.name: plain for device in network.devices})
    store_readings(store, backend.artifacts, network, read, store.now())
    told = client.post(f"{V1}/predictions", headers=viewer, json={**WISH, "at_most_seconds": 5}).json()
    (paid,) = told["unjudged_trade_offs"]
    (figure,) = paid["figures"]
    assert (paid["name"], paid["known"], figure["path"]) == ("default", "simulated", "infn→fnal")
    (today,) = told["today"]
    assert (today["scenario"], today["unread"], today["why"]) == ("one-way", [], "")
    assert {"loss": figure["before"]}.items() <= today["figures"][0].items()
    assert 0.2 < figure["before"] < figure["after"] - 0.02


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
