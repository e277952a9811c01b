"""Drift on a schedule, over the interface and on the page of a network."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.backend import Backend
from qosforge.device_state.drift_watch import DeviceDrift, DriftResult, claim_check, record_check
from qosforge.web.site import create_site
from tests.api.conftest import Headers, People
from tests.web.people import Persons

DRIFT = "/api/v1/networks/campus/drift"


def found(backend: Backend) -> None:
    """A look that found drift."""
    claimed = claim_check(backend.database)
    assert claimed is not None
    look = DriftResult(backend.access.now(), 2, {"r1": DeviceDrift(3, "d" * 64)}, {"r2": "no answer"}, ["r3"])
    record_check(backend.database, claimed[1], look)


@pytest.fixture
def near(people: People) -> Headers:
    """An admin of the campus alone."""
    return people.headers("near", Role.ADMIN, "campus")


def test_an_admin_of_the_network_says_how_often(
    client: TestClient, backend: Backend, people: People, near: Headers
) -> None:
    first = client.get(DRIFT, headers=near).json()
    assert (first["minutes"], first["state"], first["looked"]) == (None, "unknown", None)
    set_ = client.put(DRIFT, json={"minutes": 60}, headers=near).json()
    assert (set_["minutes"], set_["due"] is not None) == (60, True)
    found(backend)
    seen = client.get(DRIFT, headers=people.headers("eve", Role.VIEWER, "campus")).json()
    assert (seen["state"], seen["drifted"]["r1"]["count"], seen["unread"], seen["uncompared"]) == (
        "drifted",
        3,
        {"r2": "no answer"},
        ["r3"],
    )
    metrics = client.get("/api/v1/metrics", headers=near).text
    assert 'qosforge_drift_networks{state="drifted"} 1.0' in metrics
    assert "qosforge_drift_devices 1.0" in metrics
    assert "qosforge_drift_oldest_look_timestamp_seconds" in metrics
    assert '"r1"' not in metrics
    assert client.put(DRIFT, json={"minutes": None}, headers=near).json()["due"] is None
    assert 'qosforge_drift_networks{state="drifted"} 0.0' in client.get("/api/v1/metrics", headers=near).text


@pytest.mark.parametrize(
    "body", [{"minutes": 4}, {"minutes": 10081}, {"minutes": "60"}, {}, {"minutes": 60, "x": 1}]
)
def test_what_is_no_interval_is_refused(client: TestClient, near: Headers, body: dict[str, object]) -> None:
    assert client.put(DRIFT, json=body, headers=near).status_code == 422


def test_others_do_not_say_how_often(client: TestClient, people: People) -> None:
    for name, role, network in (("ann", Role.APPROVER, "campus"), ("far", Role.ADMIN, "itesm")):
        headers = people.headers(name, role, network)
        assert client.put(DRIFT, json={"minutes": 60}, headers=headers).status_code == 403


def test_the_page_shows_state_and_time_and_takes_the_interval(backend: Backend) -> None:
    with TestClient(create_site(backend)) as site:
        session = Persons(backend).add("near", Role.ADMIN, "campus").log_in(site)
        assert "the service does not look by itself" in site.get("/networks/campus?tab=checks").text
        told = site.put("/networks/campus/drift", data={"minutes": "60"}, headers=session).text
        assert "The service looks for drift by itself." in told
        assert 'value="60"' in told
        found(backend)
        page = site.get("/networks/campus?tab=checks").text
        assert "3 places are not as the last run left them" in page
        assert "No answer" in page
        assert "then every 60 minutes" in page
        assert "It looks no more." in site.put("/networks/campus/drift", data={"minutes": ""}, headers=session).text
        Persons(backend).add("eve", Role.VIEWER, "campus").log_in(site)
        page = site.get("/networks/campus?tab=checks").text
        assert "3 places are" in page
        assert 'hx-put="/networks/campus/drift"' not in page


def test_every_device_is_read_where_an_operator_asks(client: TestClient, backend: Backend, people: People) -> None:
    headers = people.headers("olga", Role.OPERATOR, "campus")
    assert client.post(DRIFT, headers=headers).status_code == 202
    claimed = claim_check(backend.database)
    assert claimed is not None
    assert claimed[0] == "campus"
    assert client.post(DRIFT, headers=people.headers("eve", Role.VIEWER, "campus")).status_code == 403
    with TestClient(create_site(backend)) as site:
        session = Persons(backend).add("oskar", Role.OPERATOR, "campus").log_in(site)
        record_check(backend.database, claimed[1], DriftResult(backend.access.now(), 0))
        assert "Reading begins." not in site.get("/networks/campus").text
        assert "Reading begins." in site.post("/networks/campus/read", headers=session).text
        assert "Reading begins." in site.get("/networks/campus").text
        assert claim_check(backend.database) is not None
        Persons(backend).add("viewer", Role.VIEWER, "campus").log_in(site)
        assert "Read all devices" not in site.get("/networks/campus").text
