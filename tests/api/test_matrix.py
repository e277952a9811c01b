"""Every route of the interface, tried by everybody: exactly those get in whom the route's role names."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.access.tables import TOKENS, USERS
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.api.problems import NOT_INSTALLED
from qosforge.intent.policy_source import load_policy
from qosforge.policy_library.versions import shipped
from qosforge.resources import root
from qosforge.settings import Settings
from tests.api.conftest import Headers, People
from tests.api.test_application import PUBLIC, SIGNED
from tests.counted import tried
from tests.run_requests import request_run

pytestmark = pytest.mark.hostile

OWN, OTHER = "campus", "itesm"
PREFIX = "/api/v1"
PLACES = {"artifact": "0" * 64, "number": "1", "side": "after"}
"""What stands for a part of a path: what is not here is called ``nothing``, and is not there."""
POLICY = {"policy": {"name": "campus-collaboration"}}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", f"{PREFIX}/compile"): POLICY,
    ("post", f"{PREFIX}/validate"): POLICY,
    ("post", f"{PREFIX}/runs"): POLICY,
    ("post", f"{PREFIX}/measurements"): POLICY,
    ("post", f"{PREFIX}/predictions"): POLICY,
    ("post", f"{PREFIX}/sweeps"): POLICY,
    ("post", f"{PREFIX}/policies/{{name}}/versions"): {"text": "version: 1\nintent: nothing\napply: []\n"},
    ("post", f"{PREFIX}/policies/{{name}}/versions/{{number}}/take-over"): {},
}
"""Requests that are good but for the network that they name."""
EVERYWHERE = {
    ("post", f"{PREFIX}/networks"),
    ("get", f"{PREFIX}/networks/{{network}}/sync"),
    ("post", f"{PREFIX}/networks/{{network}}/sync"),
    ("post", f"{PREFIX}/networks/{{network}}/devices"),
    ("delete", f"{PREFIX}/networks/{{network}}/devices/{{device}}"),
    ("post", f"{PREFIX}/users"),
    ("post", f"{PREFIX}/users/{{name}}/disable"),
    ("post", f"{PREFIX}/users/{{name}}/enable"),
    ("put", f"{PREFIX}/users/{{name}}/password"),
    *((method, f"{PREFIX}/webhooks") for method in ("get", "post")),
    *((method, f"{PREFIX}/webhooks/{{name}}") for method in ("get", "put", "delete")),
    *(("post", f"{PREFIX}/webhooks/{{name}}/{act}") for act in ("enable", "disable", "secret", "test")),
    ("get", f"{PREFIX}/webhooks/{{name}}/deliveries"),
    ("post", f"{PREFIX}/webhooks/{{name}}/deliveries/{{delivery}}/redeliver"),
}
"""What concerns no network alone: it takes the role on every one."""
PERSONAL = {
    ("delete", f"{PREFIX}/me/sessions"),
    ("delete", f"{PREFIX}/me/sessions/{{session}}"),
}
"""What a token never does, whatever its role."""


@dataclass(frozen=True)
class Route:
    """One operation of the document."""

    method: str
    path: str
    operation: dict[str, Any]

    @property
    def role(self) -> Role:
        """The role that it needs."""
        return Role(self.operation["x-role"])

    @property
    def bound(self) -> bool:
        """Whether its path names a network, by itself or through a run."""
        return "{network}" in self.path or "{run_id}" in self.path

    def at(self, network: str, run_id: str) -> str:
        """Its path on a network."""
        known = PLACES | {"network": network, "run_id": run_id}
        return re.sub(r"{(\w+)}", lambda part: known.get(part[1], "nothing"), self.path)


@dataclass
class World:
    """A service with a run on each of two networks, and everybody who may or may not call."""

    client: TestClient
    runs: dict[str, str]
    routes: list[Route]
    strangers: dict[str, Headers]
    wide: dict[Role, Headers]
    """By role on every network."""
    near: dict[Role, Headers]
    """By role on the own network."""
    far: dict[Role, Headers]
    """By role on the other one."""
    schemas: dict[str, Any]

    def call(self, route: Route, network: str, headers: Headers, body: Any = None) -> tuple[int, str]:
        """Status of a route's answer, and its detail where it is a problem."""
        path = route.at(network, self.runs[network])
        sent = {"json": {} if body is None else body} if "requestBody" in route.operation else {}
        tried("calls of a route by a role, or by nobody (authorisation)")
        answer = self.client.request(route.method, path, headers=headers, follow_redirects=False, **sent)
        problem = answer.headers.get("content-type") == "application/problem+json"
        return answer.status_code, answer.json()["detail"] if problem else ""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("matrix")
    inventories = Path(shutil.copytree(root() / "inventories", folder / "inventories"))  # calls may write there
    settings = Settings(var_dir=folder / "var", compute_processes=1, inventories_dir=inventories)
    with open_backend(settings) as backend, TestClient(create_app(backend)) as client:
        people = People(backend)
        intent = load_policy(shipped("campus-collaboration").written())
        orders = {name: request_run(backend.networks.network(name), intent, measure=False) for name in (OWN, OTHER)}
        runs = {name: backend.run_requests.submit(*order, "somebody")[0].id for name, order in orders.items()}
        document = client.get(f"{PREFIX}/openapi.json").json()
        routes = [
            Route(method, path, operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
            if path not in PUBLIC | SIGNED
        ]
        strangers: dict[str, Headers] = {
            "no credential": {},
            "garbage": {"Authorization": "Bearer qf_0000000000000000_garbage"},
            "another scheme": {"Authorization": "Basic cm9vdDpyb290"},
            "a made-up session": {"Cookie": "qosforge=made-up; __Host-qosforge=made-up"},
            "expired": people.headers("late", Role.ADMIN, lasts=timedelta(seconds=-1)),
            "revoked": people.headers("gone", Role.ADMIN),
            "disabled": people.headers("off", Role.ADMIN),
        }
        _end(backend)
        wide = {role: people.headers(f"wide-{role}", role) for role in Role}
        near = {role: people.headers(f"near-{role}", role, OWN) for role in Role}
        far = {role: people.headers(f"far-{role}", role, OTHER) for role in Role}
        yield World(client, runs, routes, strangers, wide, near, far, document["components"]["schemas"])


def _end(backend: Backend) -> None:
    def write(connection: sa.Connection) -> None:
        of_gone = sa.select(USERS.c.id).where(USERS.c.name == "gone").scalar_subquery()
        connection.execute(sa.update(TOKENS).where(TOKENS.c.user_id == of_gone).values(revoked=datetime.now(UTC)))
        connection.execute(sa.update(USERS).where(USERS.c.name == "off").values(disabled=True))

    backend.database.transact(write)


def unseen(status: int, detail: str) -> bool:
    """Whether an answer is that of a run that does not exist."""
    return status == 404 and detail == "there is no such run"


def test_every_route_says_its_role(world: World) -> None:
    assert len(world.routes) > 10
    assert [f"{route.method} {route.path}" for route in world.routes if "x-role" not in route.operation] == []


def test_strangers_get_in_nowhere(world: World) -> None:
    let_in = [
        (who, route.method, route.path, status)
        for route in world.routes
        for who, headers in world.strangers.items()
        if (status := world.call(route, OWN, headers)[0]) != 401
    ]
    assert let_in == []


def test_a_role_on_every_network_opens_exactly_the_routes_that_it_covers(world: World) -> None:
    assert _wrongly_treated(world, world.wide, world.routes) == []


def test_so_does_one_on_the_network_except_where_it_takes_every_network(world: World) -> None:
    inside = [route for route in world.routes if (route.method, route.path) not in EVERYWHERE]
    assert len(inside) == len(world.routes) - len(EVERYWHERE)
    assert _wrongly_treated(world, world.near, inside) == []
    outside = [route for route in world.routes if route not in inside]
    assert {world.call(route, OWN, world.near[Role.ADMIN])[0] for route in outside} == {403}


def _wrongly_treated(world: World, callers: dict[Role, Headers], routes: list[Route]) -> list[tuple[Any, ...]]:
    """Callers that a route let in and should not have, or the other way round."""
    wrong = []
    for route in routes:
        for role, headers in callers.items():
            status, detail = world.call(route, OWN, headers)
            assert status < 500 or status == NOT_INSTALLED.status, (route.path, detail)
            through = status not in (401, 403) and not unseen(status, detail)
            personal = (route.method, route.path) in PERSONAL
            if through != (role.covers(route.role) and not personal):
                wrong.append((role.value, route.method, route.path, route.role.value, status, detail))
    return wrong


def test_a_role_on_another_network_opens_nothing_of_this_one(world: World) -> None:
    wrong = []
    for route in (route for route in world.routes if route.bound):
        for role, headers in world.far.items():
            status, detail = world.call(route, OWN, headers)
            if status != 403 and not unseen(status, detail):
                wrong.append((role.value, route.method, route.path, status, detail))
    assert wrong == []


def test_a_network_in_a_body_is_looked_at_as_one_in_a_path(world: World) -> None:
    naming = [route for route in world.routes if _names_a_network(world, route)]
    assert {(route.method, route.path) for route in naming} == BODIES.keys()
    wrong = []
    for route in naming:
        for role, headers in world.far.items():
            body = BODIES[route.method, route.path] | {"network": OWN}
            status, detail = world.call(route, OWN, headers, body)
            if status != 403:
                wrong.append((role.value, route.method, route.path, status, detail))
    assert wrong == []


def _names_a_network(world: World, route: Route) -> bool:
    content = route.operation.get("requestBody", {}).get("content", {})
    reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    return "network" in world.schemas.get(reference.rpartition("/")[2], {}).get("properties", {})
