"""An external tester gives its measurement to a run, as the manual says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from joserfc.jwk import OKPKey
from starlette.testclient import TestClient

from qosforge.access.audit_log import calls_page
from qosforge.access.tables import TESTERS
from qosforge.api.backend import Backend
from qosforge.intent.policy_source import load_policy
from qosforge.resources import root
from qosforge.runs.record.tables import EXTERNAL_MEASUREMENTS, RunStatus
from qosforge.runs.workflow.external_tester import EXTERNAL_TESTER_SECONDS, waiting_for
from qosforge.tester.measurement.document import Measurement
from tests.principals import somebody
from tests.run_requests import request_run
from tests.tester.outside_document import document, web

Give = Callable[..., Any]


def _manual() -> dict[str, Any]:
    """What the Python of the manual defines."""
    text = (root() / "docs" / "rest-runs.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    return names


@pytest.fixture
def run_id(backend: Backend) -> str:
    """A run that waits for a measurement after its push."""
    intent = load_policy(backend.policies.seen_by(somebody("ann")).get("campus-collaboration").written())
    order = request_run(backend.networks.network("campus"), intent, tester="external")
    run, _ = backend.run_requests.submit(*order, "ann")
    due = backend.run_requests.store.now() + timedelta(seconds=EXTERNAL_TESTER_SECONDS)
    waiting = {"status": RunStatus.RUNNING.value, "waits_for": waiting_for("after"), "due": due}
    backend.run_requests.store.change(run.id, lambda _run, _connection: waiting)
    return run.id


@pytest.fixture
def give(client: TestClient, backend: Backend, run_id: str, tmp_path: Path) -> Give:
    """Give a measurement, signed as the manual says; ``changed`` is done to the body after it was signed."""
    pem = tmp_path / "tester.pem"
    key = OKPKey.generate_key("Ed25519")
    pem.write_bytes(key.as_pem(private=True))
    public = key.as_pem(private=False).decode()
    with backend.database.write() as connection:
        for name, networks in (("probe1", ["campus"]), ("elsewhere", ["itesm"])):
            row = {
                "name": name,
                "public_key": public,
                "networks": networks,
                "created": backend.run_requests.store.now(),
            }
            connection.execute(sa.insert(TESTERS).values(row))
    sign = _manual()["sign"]

    def put(
        tester: str = "probe1",
        side: str = "after",
        signed_for: str = "",
        changed: bytes = b"",
        at: str = "",
        **fields: Any,
    ) -> Any:
        body = _measurement(**{"when": side} | fields)
        signature = sign(body, str(pem), tester, signed_for or run_id, side)
        headers = {"X-JWS-Signature": signature, "Content-Type": "application/json"}
        path = f"/api/v1/runs/{at or run_id}/measurements/{side}"
        return client.put(path, content=body + changed, headers=headers)

    return put


def _measurement(**fields: Any) -> bytes:
    given = {"evidence": "measured", "tester": "probe", "seed": 1, "delay_reference": "first bit to first bit"}
    return Measurement(**given | {"scenarios": ()} | fields).model_dump_json().encode()


def _kept(backend: Backend) -> list[tuple[str, str]]:
    with backend.database.read() as connection:
        return [(row.side, row.tester) for row in connection.execute(sa.select(EXTERNAL_MEASUREMENTS))]


def test_a_signed_measurement_is_taken_once(give: Give, backend: Backend, run_id: str) -> None:
    for _ in range(2):
        answer = give()
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"run": run_id, "side": "after", "tester": "probe1"}
    assert _kept(backend) == [("after", "probe1")]
    assert "another measurement" in give(seed=2).json()["detail"]
    calls = calls_page(backend.database, None)
    assert [(call.actor, call.network, call.status) for call in calls] == [
        ("probe1", "campus", 200),
        ("probe1", "campus", 200),
        ("probe1", "campus", 409),
    ]
    assert calls[0].credential == "tester:probe1"


@pytest.mark.parametrize(
    ("how", "status", "said"),
    [
        ({"signed_for": "019a0000-0000-7000-8000-000000000001"}, 401, "another run"),
        ({"changed": b" "}, 401, "over this body"),
        ({"tester": "nobody"}, 401, "no tester"),
        ({"tester": "elsewhere"}, 403, "not registered for network campus"),
        ({"when": "before"}, 422, "before"),
        ({"evidence": "emulated"}, 422, "emulated"),
        ({"side": "before"}, 409, "does not wait"),
    ],
)
def test_what_does_not_fit_is_refused(
    give: Give, backend: Backend, how: dict[str, Any], status: int, said: str
) -> None:
    answer = give(**how)
    assert answer.status_code == status, answer.text
    assert said in answer.json()["detail"]
    assert _kept(backend) == []


def test_every_fault_is_reported_by_its_place_and_hint(
    client: TestClient, backend: Backend, run_id: str, tmp_path: Path, give: Give
) -> None:
    given = document()
    web(given)["mean_delay_ps"] += 10**9
    given["scenarios"][0]["flows"][1]["samples"][3][0] = 1
    pem, sign = tmp_path / "tester.pem", _manual()["sign"]
    body = json.dumps(given).encode()
    headers = {
        "X-JWS-Signature": sign(body, str(pem), "probe1", run_id, "after"),
        "Content-Type": "application/json",
    }
    answer = client.put(f"/api/v1/runs/{run_id}/measurements/after", content=body, headers=headers)
    assert answer.status_code == 422, answer.text
    told = {error["path"]: error for error in answer.json()["errors"]}
    assert set(told) == {
        "body.scenarios.0.flows.0.mean_delay_ps",
        "body.scenarios.0.flows.1.samples.3",
    }
    assert "flow files: not in the order of sending" in told["body.scenarios.0.flows.1.samples.3"]["message"]
    assert all(error["hint"].startswith(("give it of", "order samples")) for error in told.values())
    assert _kept(backend) == []


def test_a_measurement_is_for_a_run_by_its_whole_id(give: Give, backend: Backend, run_id: str) -> None:
    assert give(at=run_id[:13], signed_for=run_id[:13]).status_code == 404
    assert _kept(backend) == []


def test_without_a_signature_nobody_gives_any(client: TestClient, backend: Backend, run_id: str) -> None:
    path = f"/api/v1/runs/{run_id}/measurements/after"
    answer = client.put(path, content=_measurement(when="after"), headers={"Content-Type": "application/json"})
    assert answer.status_code == 401
    assert "X-JWS-Signature" in answer.json()["errors"][0]["hint"]
    assert client.put(path, json={"when": "after"}).status_code == 401
    assert _kept(backend) == []
