"""A query parameter that is not known is told, and a misspelt one with what was probably meant."""

from __future__ import annotations

from starlette.testclient import TestClient

from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from tests.api.conftest import People


def test_what_is_not_known_is_reported(backend: Backend) -> None:
    admin = People(backend).admin()
    with TestClient(create_app(backend)) as client:
        assert client.get("/api/v1/runs?verdict=broken&limit=5", headers=admin).status_code == 200
        told = client.get("/api/v1/runs?verdct=broken&after=1&after=2", headers=admin)
        bare = client.get("/api/v1/networks?x=1", headers=admin)
    assert told.status_code == 422
    assert told.json()["errors"][0]["hint"] == "did you mean 'verdict'?"
    assert [e["path"] for e in told.json()["errors"]] == ["query.verdct", "query.after"]
    assert bare.status_code == 422
    assert bare.json()["errors"][0]["hint"] == "this address takes no parameters"
