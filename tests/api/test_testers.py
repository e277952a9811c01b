from __future__ import annotations

import pytest
from joserfc.jwk import OKPKey
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from tests.api.conftest import People

TESTERS = "/api/v1/testers"


@pytest.fixture(scope="module")
def public_key() -> str:
    return OKPKey.generate_key("Ed25519").as_pem(private=False).decode()


def test_testers_are_registered_and_revoked_by_admins_of_their_networks(
    client: TestClient, people: People, public_key: str
) -> None:
    root, local = people.admin(), people.headers("local", Role.ADMIN, "campus")
    order = {"name": "probe", "public_key": public_key, "networks": ["campus"]}
    assert client.post(TESTERS, json=order, headers=local).status_code == 201
    assert client.post(TESTERS, json=order, headers=local).status_code == 409
    for networks in (None, ["lab"], ["campus", "lab"]):
        wider = {"name": "wide", "public_key": public_key, "networks": networks}
        assert client.post(TESTERS, json=wider, headers=local).status_code == 403
    everywhere = {"name": "wide", "public_key": public_key}
    assert client.post(TESTERS, json=everywhere, headers=root).status_code == 201
    elsewhere = {"name": "other", "public_key": public_key, "networks": ["lab"]}
    assert client.post(TESTERS, json=elsewhere, headers=root).status_code == 201
    assert [tester["name"] for tester in client.get(TESTERS, headers=local).json()] == ["probe", "wide"]
    assert client.delete(f"{TESTERS}/wide", headers=local).status_code == 403
    assert client.delete(f"{TESTERS}/probe", headers=local).status_code == 204
    assert client.get(TESTERS, headers=local).json()[0]["revoked"] is not None
    assert client.delete(f"{TESTERS}/nobody", headers=root).status_code == 404


def test_a_private_key_is_refused(client: TestClient, people: People) -> None:
    key = OKPKey.generate_key("Ed25519").as_pem(private=True).decode()
    answer = client.post(TESTERS, json={"name": "probe", "public_key": key}, headers=people.admin())
    assert answer.status_code == 422
    assert key.splitlines()[1] not in answer.text


def test_testers_are_for_admins(client: TestClient, people: People, public_key: str) -> None:
    ann = people.headers("ann", Role.APPROVER)
    order = {"name": "probe", "public_key": public_key}
    assert client.post(TESTERS, json=order, headers=ann).status_code == 403
