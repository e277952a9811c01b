"""Values that JSON can write down and nothing behind it can hold."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.api.conftest import People

pytestmark = pytest.mark.hostile

_BODY = '{"network": "campus", "policy": {"name": "campus-collaboration", "parameters": {"x": %s}}}'
_SWEEP = '{"network": "campus", "policy": {"name": "campus-collaboration"}, "parameters": {"x": [%s]}}'


@pytest.mark.parametrize("value", ["[" * 900 + "1" + "]" * 900, '{"a": 1}', "null", "[]", '[{"a": [1]}]'])
@pytest.mark.parametrize(("path", "body"), [("/compile", _BODY), ("/runs", _BODY), ("/sweeps", _SWEEP)])
def test_a_parameter_is_a_plain_value(client: TestClient, people: People, path: str, body: str, value: str) -> None:
    headers = people.admin() | {"Content-Type": "application/json"}
    answer = client.post(f"/api/v1{path}", content=body % value, headers=headers)
    assert answer.status_code == 422
    assert "no value of a parameter" in answer.json()["detail"]


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"])
def test_a_moment_is_one_that_a_store_can_hold(client: TestClient, people: People, moment: str) -> None:
    headers = people.admin()
    body = {"network": "campus", "policy": {"name": "campus-collaboration"}}
    late = {**body, "not_before": "9999-12-31T23:59:59Z", "timeout_seconds": 30 * 24 * 3600}
    assert client.get("/api/v1/runs", params={"since": moment}, headers=headers).status_code == 422
    assert client.post("/api/v1/runs", json={**body, "not_before": moment}, headers=headers).status_code == 422
    assert client.post("/api/v1/runs", json=late, headers=headers).status_code == 422
