"""The prediction in the preview: begun by who may see the network, fetched until it is ready, and told."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.prediction.predict import predict
from qosforge.resources import root
from qosforge.runs.record.summaries import MeasurementSummary
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from tests.web.people import Persons

PATH = "/preview/prediction"
NETWORK = "infn-fnal"
POLICY = root() / "examples" / "policies" / "remote-control.yaml"
TEXT = POLICY.read_text(encoding="utf-8")
Session = dict[str, str]


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """One for the module: the process that predicts takes seconds to begin."""
    with open_backend(Settings(var_dir=tmp_path_factory.mktemp("predictions") / "var")) as made:
        yield made


def predicted(client: TestClient, session: Session, text: str = TEXT) -> str:
    """The panel, once it needs no more waiting."""
    panel = client.post(PATH, data={"network": NETWORK, "text": text}, headers=session).text
    deadline = time.monotonic() + 60
    while found := re.search(r'hx-get="([^"]+)"[^>]* hx-trigger="every 1s"', panel):
        assert time.monotonic() < deadline
        time.sleep(0.1)
        answer = client.get(html.unescape(found[1]), headers=session)
        assert answer.status_code in (200, 204)
        panel = answer.text or panel
    return panel


def test_a_prediction_is_waited_for_and_shown_with_its_curves(client: TestClient, persons: Persons) -> None:
    session = persons.add("ann", Role.VIEWER, NETWORK).log_in(client)
    begun = client.post(PATH, data={"network": NETWORK, "text": TEXT}, headers=session)
    assert begun.status_code == 200
    assert "No device is asked" in begun.text or "waits for its turn" in begun.text
    panel = predicted(client, session)
    assert "Every objective would be met" in panel
    assert "delay p99 ≤ 75 ms" in panel
    assert "infn→vme" in panel
    assert "✔ met" in panel
    assert ">Now<" not in panel  # nobody measured this network
    assert "style=" not in panel
    address = re.search(r'hx-get="([^"]+/figures[^"]+)"', panel)
    assert address is not None
    figures = client.get(html.unescape(address[1]), headers=session)
    assert figures.status_code == 200
    assert figures.text.count("<figure") == 2  # what every class gets, and ΔQ of the one that is judged
    assert "predicted" in figures.text
    assert client.get(html.unescape(address[1]).replace("one-way", "none"), headers=session).status_code == 404


def test_what_is_broken_is_said_first_and_what_cannot_be_predicted_with_its_reason(
    client: TestClient, persons: Persons
) -> None:
    session = persons.add("bob", Role.VIEWER, NETWORK).log_in(client)
    broken = predicted(client, session, TEXT.replace("p99: 75 ms", "p99: 10 ms"))
    assert "1 objective would be broken" in broken
    assert 'data-predicted="predicted: 1 objective broken"' in broken
    assert re.search(r"default</strong> has no objective; predicted: loss <strong>[1-9][0-9.]* %", broken)
    assert "(today: not simulated)" in broken
    silent = predicted(client, session, TEXT[: TEXT.index("verify:")])
    assert "This cannot be predicted" in silent
    assert "there is nothing to predict" in silent
    assert "Predict again" in silent
    refused = predicted(client, session, TEXT.replace("rate: 800 kb/s", "rate: 8000 kb/s"))
    assert "errors stand against remote-control" in refused
    wrong = predicted(
        client, session, TEXT.replace("intent: remote-control", "intent: '<script>alert(1)</script>'")
    )
    assert "This cannot be predicted" in wrong
    assert "<script>" not in wrong


def test_only_who_sees_the_network_begins_or_sees_a_prediction(client: TestClient, persons: Persons) -> None:
    ann = persons.add("cid", Role.VIEWER, NETWORK).log_in(client)
    done = predicted(client, ann)
    address = re.search(r'hx-get="([^"]+/figures[^"]+)"', done)
    assert address is not None
    key = re.search(r"key=([0-9a-f]{64})", done)
    assert key is not None
    assert (
        client.post(PATH, data={"network": NETWORK, "text": TEXT}, headers={"HX-Request": "true"}).status_code
        == 403
    )
    eve = persons.add("eve", Role.ADMIN, "campus").log_in(client)
    assert client.post(PATH, data={"network": NETWORK, "text": TEXT}, headers=eve).status_code == 403
    for path in (f"{PATH}?network={NETWORK}&key={key[1]}", html.unescape(address[1])):
        assert client.get(path, headers=eve).status_code == 403
    borrowed = client.get(f"{PATH}?network=campus&key={key[1]}", headers=eve)
    assert "made room for a newer one" in borrowed.text  # the key is of another network's


def test_the_last_measurement_of_what_devices_hold_stands_beside_it(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    store, artifacts = backend.run_requests.store, backend.artifacts
    compilation = compile_intent(load_intent(POLICY), load_network(root() / "inventories" / NETWORK))
    measured = predict(compilation).measurement.model_copy(update={"when": "after", "evidence": "emulated"})
    run = store.create_run(NETWORK, "remote-control", "f" * 64, {})
    with store.stage(run.id, "measure-after", MeasurementSummary()) as summary:
        summary.measurement = artifacts.put_text(measured.model_dump_json())
    store.set_status(run.id, RunStatus.RUNNING)
    store.set_status(run.id, RunStatus.KEPT)
    session = persons.add("dan", Role.VIEWER, NETWORK).log_in(client)
    panel = predicted(client, session, TEXT.replace("p99: 75 ms", "p99: 70 ms"))
    assert ">Now<" in panel
    assert f'href="/runs/{run.id}"' in panel
    assert re.search(r"\b7\d(\.\d)? ms", panel)
    unlike = TEXT.replace("name: robin", "name: other").replace("[robin]", "[other]")
    assert ">Now<" not in predicted(client, session, unlike)
