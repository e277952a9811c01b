"""What holds for every route."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from qosforge.api.docs import needs_of
from qosforge.api.middleware.headers import RequestIdAndSecurityHeaders

PUBLIC = {
    "/api/v1/health",
    "/api/v1/ready",
    "/api/v1/version",
    "/api/v1/login",
    "/api/v1/login/oidc",
    "/api/v1/login/oidc/callback",
    "/api/v1/logout",
}

SIGNED = {"/api/v1/runs/{run_id}/measurements/{side}"}
"""Called by external testers, who are known by signatures."""


def test_every_route_but_the_public_ones_needs_a_role(backend: Backend) -> None:
    app = create_app(backend)
    needed = needs_of(app)
    for path, operations in app.openapi()["paths"].items():
        for method, operation in operations.items():
            public = path in PUBLIC | SIGNED
            assert public == ((path, method) not in needed), f"{method} {path}"
            assert public == ("x-role" not in operation), f"{method} {path}"


def test_operations_have_names_of_their_own_and_say_what_they_do(backend: Backend) -> None:
    operations = [op for ops in create_app(backend).openapi()["paths"].values() for op in ops.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert all(operation.get("description") for operation in operations)


def test_titles_of_operations_are_written_for_people(backend: Backend) -> None:
    """A route without a title has the name of its function there."""
    document = create_app(backend).openapi()
    operations = [op for ops in document["paths"].values() for op in ops.values()]
    unwritten = [
        op["operationId"] for op in operations if op["summary"] == op["operationId"].replace("_", " ").title()
    ]
    assert unwritten == []
    titles = [operation["summary"] for operation in operations]
    assert len(titles) == len(set(titles))
    assert all(len(title) <= 50 and title[0].isupper() and not title.endswith(".") for title in titles)
    assert {tag for op in operations for tag in op["tags"]} == {tag["name"] for tag in document["tags"]}
    assert all(len(operation["tags"]) == 1 for operation in operations)


def test_schemas_have_short_names_of_their_own(backend: Backend) -> None:
    """Where two classes have one name, FastAPI names them by their modules, and generators of clients stumble."""
    names = set(create_app(backend).openapi()["components"]["schemas"])
    assert {"RunDetail", "ObjectiveVerdict", "Verdict", "Problem"} <= names
    assert [name for name in names if not re.fullmatch(r"[A-Z][A-Za-z]{1,29}", name)] == []


@pytest.mark.parametrize(("public", "server"), [(None, "/"), ("https://net.example/qos/", "/qos")])
def test_the_document_says_where_the_service_is(backend: Backend, public: str | None, server: str) -> None:
    settings = backend.settings.model_copy(update={"public_url": public})
    document = create_app(replace(backend, settings=settings)).openapi()
    assert [each["url"] for each in document["servers"]] == [server]


def test_every_answer_carries_an_id_and_the_security_headers(client: TestClient) -> None:
    for answer in (client.get("/api/v1/health"), client.get("/nowhere"), client.post("/api/v1/health")):
        assert len(answer.headers["x-request-id"]) == 32
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "strict-transport-security" not in answer.headers  # not over TLS
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("offered", "taken"), [("trail-0123456789", True), ("short", False), ("a b;c=d/..", False)]
)
def test_a_usable_request_id_is_kept(client: TestClient, offered: str, taken: bool) -> None:
    answer = client.get("/api/v1/health", headers={"X-Request-Id": offered})
    assert (answer.headers["x-request-id"] == offered) is taken


def test_an_unknown_address_is_a_problem(client: TestClient) -> None:
    answer = client.get("/api/v1/nothing")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:qosforge:problem:not-found"
    assert answer.json()["instance"] == "urn:qosforge:request:" + answer.headers["x-request-id"]


def test_the_page_loads_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(parts) == 4
    for part in parts:
        answer = client.get(f"/api/v1/{part}")
        assert answer.status_code == 200
        assert len(answer.content) > 100
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "http" not in policy
    assert "<script>" not in page.text
    assert client.get("/api/v1/docs/redoc.standalone.js").status_code == 404
    assert client.get("/api/v1/docs/..%2F__init__.py").status_code == 404


def test_every_operation_declares_the_problems_it_may_answer(backend: Backend) -> None:
    document = create_app(backend).openapi()
    assert document["openapi"].startswith("3.1")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            declared = set(operation["responses"])
            assert declared >= {"429", "500", "503", "504"}, f"{method} {path}"
            if "x-role" in operation:
                assert declared >= {"401", "403"}, f"{method} {path}"
            if "requestBody" in operation:
                assert declared >= {"400", "413", "422"}, f"{method} {path}"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1"])
def test_a_redirect_never_names_the_host_that_was_asked_for(client: TestClient, host: str) -> None:
    answer = client.get("/api/v1/runs/?limit=3", headers={"Host": host}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/api/v1/runs?limit=3")


@pytest.mark.parametrize(
    ("path", "local"),
    [
        ("//evil.example/x", "/evil.example/x"),
        ("/\\evil.example/x", "/evil.example/x"),
        ("/\t/evil.example/x", "/evil.example/x"),
        ("?a=1", "/?a=1"),
        ("/x//y?to=//z#part", "/x//y?to=//z#part"),
    ],
)
def test_a_redirect_within_the_service_leads_to_no_other_host(path: str, local: str) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"location", f"http://testserver{path}".encode())]
        await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body"})

    answer = TestClient(RequestIdAndSecurityHeaders(application)).get("/", follow_redirects=False)
    assert answer.headers["location"] == local


def test_over_tls_this_host_alone_is_bound_to_it(backend: Backend) -> None:
    with TestClient(create_app(backend), base_url="https://qos.example") as client:
        answer = client.get("/api/v1/health")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
