"""Previews over HTTP where several processes are free: made in shares, and the same as by one process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from qosforge.access.roles import Role
from qosforge.api.application import create_app
from qosforge.api.backend import Backend, open_backend
from qosforge.settings import Settings
from tests.api.conftest import People

V1 = "/api/v1"


class Service:
    """A service with some computing processes, and a viewer who asks it."""

    def __init__(self, opened: ExitStack, folder: Path, processes: int) -> None:
        settings = Settings(var_dir=folder, compute_processes=processes)
        self.backend: Backend = opened.enter_context(open_backend(settings))
        self._client = opened.enter_context(TestClient(create_app(self.backend)))
        self._headers = People(self.backend).headers("ana", Role.VIEWER, "campus")

    def compile(self, policy: dict[str, Any], **more: object) -> tuple[int, bytes, str | None]:
        body = {"network": "campus", "policy": policy, **more}
        answer = self._client.post(f"{V1}/compile", headers=self._headers, json=body)
        return answer.status_code, answer.content, answer.headers.get("etag")


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    """One with a single process, and one with three."""
    with ExitStack() as opened:
        yield (
            Service(opened, tmp_path_factory.mktemp("one"), 1),
            Service(opened, tmp_path_factory.mktemp("three"), 3),
        )


@pytest.mark.parametrize("more", [{}, {"strict": True}, {"devices": ["r1", "s2950", "e300", "r2", "b56", "r3"]}])
@pytest.mark.parametrize("policy", ["rfc4594-12", "campus-collaboration"])
def test_several_processes_give_what_one_gives(
    services: tuple[Service, Service], policy: str, more: dict[str, object]
) -> None:
    one, three = services
    assert three.compile({"name": policy}, **more) == one.compile({"name": policy}, **more)
    assert len(three.backend.previews._compute.pids) > 1  # it was made in shares


def test_what_is_wrong_with_a_policy_is_told_the_same(services: tuple[Service, Service]) -> None:
    wrong = {"text": "version: 1\nintent: broken\nclasses: [{name: a}]\n"}
    refused = [service.compile(wrong) for service in services]
    assert [status for status, *_ in refused] == [422, 422]
    told, same = (json.loads(body)["errors"] for _, body, _ in refused)
    assert told == same
    assert told != []
