"""What a token may do to its user's other credentials, how many there are, and how often all of them call."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.access.sessions import open_session
from qosforge.access.tokens import MOST_TOKENS, create_token
from qosforge.access.users import add_user, find_user
from qosforge.api.application import create_app
from qosforge.api.backend import Backend
from tests.api.conftest import Headers, People

pytestmark = pytest.mark.hostile

TOKENS = "/api/v1/tokens"


def bound(backend: Backend, user: str, role: Role, life: timedelta = timedelta(days=1)) -> tuple[str, Headers]:
    """Another token of a user, with its id."""
    with backend.database.write() as connection:
        made, text = create_token(
            connection, find_user(connection, user), "bound", role, None, at=backend.access.now(), life=life
        )
    return made.id, {"Authorization": f"Bearer {text}"}


def test_a_token_revokes_itself_and_what_it_made_alone(
    client: TestClient, people: People, backend: Backend
) -> None:
    whole = people.headers("ann", Role.OPERATOR, "campus")
    other, _ = bound(backend, "ann", Role.OPERATOR)
    scraper, scraping = bound(backend, "ann", Role.VIEWER)
    for headers in (scraping, whole):
        refused = client.delete(f"{TOKENS}/{other}", headers=headers)
        assert refused.status_code == 403
        assert "log in" in refused.json()["errors"][0]["hint"]
    child = client.post(TOKENS, headers=whole, json={"name": "job", "role": "viewer"}).json()
    assert client.delete(f"{TOKENS}/{child['id']}", headers=whole).status_code == 204
    assert client.delete(f"{TOKENS}/{scraper}", headers=scraping).status_code == 204
    assert client.delete(f"{TOKENS}/{other}", headers=people.admin()).status_code == 204


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_a_token_ends_no_session(client: TestClient, people: People, backend: Backend, role: Role) -> None:
    people.headers("ann", Role.OPERATOR, "campus")
    _, headers = bound(backend, "ann", role)
    with backend.database.read() as connection:
        owner = find_user(connection, "ann").id
    cookie = backend.database.transact(lambda connection: open_session(connection, owner, backend.access.now()))
    (session,) = client.get("/api/v1/me/sessions", headers=headers).json()
    for path in ("/api/v1/me/sessions", f"/api/v1/me/sessions/{session['id']}"):
        assert client.delete(path, headers=headers).status_code == 403
    assert backend.access.session(cookie).name == "ann"


def test_a_user_has_so_many_tokens_at_once(client: TestClient, people: People, backend: Backend) -> None:
    ann = people.headers("ann", Role.OPERATOR, "campus")
    made = [bound(backend, "ann", Role.VIEWER, timedelta(seconds=1e-6))[0]]  # it is over already
    made += [bound(backend, "ann", Role.VIEWER)[0] for _ in range(MOST_TOKENS - 1)]
    refused = client.post(TOKENS, headers=ann, json={"name": "one more", "role": "viewer"})
    assert refused.status_code == 422
    assert f"has {MOST_TOKENS} tokens" in refused.json()["detail"]
    assert client.delete(f"{TOKENS}/{made[-1]}", headers=people.admin()).status_code == 204
    assert client.post(TOKENS, headers=ann, json={"name": "one more", "role": "viewer"}).status_code == 201


def left(client: TestClient, headers: Headers) -> int:
    """How many requests its caller may still make at once, as an answer tells."""
    told = client.get("/api/v1/me", headers=headers).headers["ratelimit"]
    return int(told.partition("r=")[2].partition(";")[0])


def test_all_tokens_of_a_user_share_one_rate(people: People, backend: Backend) -> None:
    people.headers("ann", Role.OPERATOR, "campus")
    other = people.headers("ben", Role.VIEWER)
    tokens = [bound(backend, "ann", Role.VIEWER)[1] for _ in range(3)]
    # One request comes back in a minute: none while the test runs, so that the counts are exact.
    slow = replace(backend, settings=backend.settings.model_copy(update={"requests_per_minute": 1}))
    with TestClient(create_app(slow)) as client:
        for headers in (*tokens, other):  # a credential counts for its user from its second call on
            left(client, headers)
        assert [left(client, headers) for headers in tokens] == [9, 8, 7]
        assert left(client, other) == 9


def test_who_is_a_user_is_not_told_to_operators(client: TestClient, people: People, backend: Backend) -> None:
    ann = people.headers("ann", Role.OPERATOR, "campus")
    backend.database.transact(lambda connection: add_user(connection, "zoe", backend.access.now()))
    answers = [
        client.post(TOKENS, headers=ann, json={"name": "n", "role": "viewer", "user": user})
        for user in ("zoe", "nobody")
    ]
    assert {answer.status_code for answer in answers} == {403}
    assert len({answer.json()["detail"] for answer in answers}) == 1
