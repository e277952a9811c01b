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
from qosforge.device_state.last_known import store_readings
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.prediction.predict import predict
from qosforge.resources import root
from qosforge.runs.record.summaries import MeasurementSummary
from qosforge.runs.record.tables import RunStatus
from qosforge.settings import Settings
from tests.device_texts import said
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
    assert "delay p99 ≤ 75\u00a0ms" in panel
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
    lost = re.search(r"default</strong> has no objective; predicted: loss <strong>([1-9][0-9.]*)\s%", broken)
    assert lost is not None
    assert ('class="message trade-off warning"><strong aria-hidden="true">▲' in broken) == (float(lost[1]) >= 10)
    assert "(today: not simulated, router1, router3 were never read)" in broken
    silent = predicted(client, session, TEXT[: TEXT.index("verify:")])
    assert "This cannot be predicted" in silent
    assert "there is nothing to predict" in silent
    assert "Predict again" in silent
    refused = predicted(client, session, TEXT.replace("rate: 800 kb/s", "rate: 8000 kb/s"))
    assert "errors stand against remote-control" in refused
    wrong = predicted(
        client, session, TEXT.replace("intent: remote-control", "intent: '<script>alert(1)</script>'")
    )
    # What is wrong with the text is told once, by the editor.
    assert "Not predicted: the policy cannot be compiled." in wrong
    assert '<a href="#problem-list">What is wrong stands above</a>' in wrong
    assert "script" not in wrong


def test_what_only_the_longer_measurement_of_a_run_decides_is_left_to_it(
    client: TestClient, persons: Persons
) -> None:
    session = persons.add("leo", Role.VIEWER, NETWORK).log_in(client)
    text = TEXT.replace('{p99: "${p99}"}', "{p99: 75 ms, p99.9: 90 ms}").replace("seconds: 10", "seconds: 180")
    panel = predicted(client, session, text)
    said = " ".join(re.sub(r"<[^>]+>", "", panel).split())
    left = "1 is left to the run, which measures 180 s (60 s were simulated)"
    assert f"1 of 2 objectives would be met; {left}" in said
    assert 'data-predicted="predicted: 1 of 2 objectives met, 1 left to the run"' in panel
    assert "longer run" not in panel[: panel.index("<table")]
    broken = predicted(client, session, text.replace("p99: 75 ms", "p99: 10 ms"))
    assert "1 objective would be broken" in broken
    assert "60 s of it, where a run measures up to 180 s." in broken


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


def test_what_a_class_without_an_objective_would_lose_stands_beside_what_it_loses_today(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    """Once every device on the way was read; until then it says which were not."""
    session = persons.add("hal", Role.VIEWER, NETWORK).log_in(client)
    network = load_network(root() / "inventories" / NETWORK)
    plain = (
        "interface ATM1/0.108 point-to-point\n pvc 4/108\n!\ninterface FastEthernet0/0\ninterface FastEthernet0/1\n"
    )
    store, artifacts = backend.run_requests.store, backend.artifacts
    policy = TEXT.replace("p99: 75 ms", "p99: 80 ms")

    def read(name: str) -> str:
        store_readings(store, artifacts, network, {name: said(plain, name)}, store.now())
        return " ".join(re.sub(r"<[^>]+>", "", predicted(client, session, policy)).split())

    told = "default has no objective; predicted: loss 31.1 % (today: not simulated, router3 was never read)"
    assert told in read("router1")
    assert re.search(
        r"default has no objective and is worse off: loss 2[0-9.]+ % today → 3[0-9.]+ % predicted", read("router3")
    )


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


def test_a_policy_that_changes_nothing_is_told_as_it_was_measured(
    client: TestClient, persons: Persons, backend: Backend
) -> None:
    store, artifacts = backend.run_requests.store, backend.artifacts
    network = load_network(root() / "inventories" / NETWORK)
    compilation = compile_intent(load_intent(POLICY), network)
    measured = predict(compilation).measurement.model_copy(update={"when": "after", "evidence": "emulated"})
    run = store.create_run(NETWORK, "remote-control", "f" * 64, {})
    with store.stage(run.id, "measure-after", MeasurementSummary()) as summary:
        summary.measurement = artifacts.put_text(measured.model_dump_json())
    store.set_status(run.id, RunStatus.RUNNING)
    store.set_status(run.id, RunStatus.KEPT)
    session = persons.add("eva", Role.VIEWER, NETWORK).log_in(client)

    def words(text: str = TEXT) -> str:
        return " ".join(re.sub(r"<[^>]+>", "", predicted(client, session, text)).split())

    assert "measured by run" not in words(), "the devices do not hold it"
    for device in compilation.devices:
        held = "\n".join(block.text for block in device.blocks)
        store_readings(store, artifacts, network, {device.name: said(held, device.name)}, store.now())
    panel = words()
    assert f"✔ 1 of 1 objectives met, measured by run {run.id[:13]}" in panel
    assert "No device would change, so what was measured then still holds." in panel
    assert "cannot be judged yet" not in panel
    assert "“Now” is" not in panel
    assert "redicted" not in panel
    assert 'data-predicted="measured: 1 of 1 objectives met"' in predicted(client, session)
    # Another policy found the same lines there and measured them: the policy's own measurement counts all the same.
    other = store.create_run(NETWORK, "likewise", "f" * 64, {})
    with store.stage(other.id, "measure-before", MeasurementSummary()) as summary:
        summary.measurement = artifacts.put_text(measured.model_dump_json())
    store.set_status(other.id, RunStatus.RUNNING)
    store.set_status(other.id, RunStatus.NO_CHANGES)
    assert f"measured by run {run.id[:13]}, " in words()
    third = words(TEXT.replace("intent: remote-control", "intent: third"))
    assert f"measured by run {other.id[:13]} of policy likewise," in third
    # What it asks for may change, and what devices hold may not: the measurement is judged anew.
    stricter = words(TEXT.replace("p99: 75 ms", "p99: 10 ms"))
    assert "✘ 1 of 1 objectives not met, measured by run" in stricter
    assert "measured by run" not in words(TEXT.replace("rate: 800 kb/s", "rate: 700 kb/s")), "a device would change"
