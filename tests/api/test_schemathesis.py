"""Made-up requests to every operation of the document: none is answered by a 5xx, or otherwise than it says.

A few requests for each operation, good ones and bad ones; ``QOSFORGE_SCHEMATHESIS_EXAMPLES`` asks for more. What is
made up is the same each time.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as bounds
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.openapi import from_asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from qosforge.api.application import create_app
from qosforge.api.backend import open_backend
from qosforge.api.problems import NOT_INSTALLED
from qosforge.emulation import start_lab
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qosforge.runs.engine.port import WORKFLOW_VERSION
from qosforge.runs.record.tables import EXECUTORS
from qosforge.settings import Settings
from qoslab import control
from tests.api.conftest import Headers, People
from tests.counted import tried
from tests.patience import PATIENCE
from tests.principals import somebody
from tests.run_requests import request_run

pytestmark = pytest.mark.hostile

EXAMPLES = int(os.environ.get("QOSFORGE_SCHEMATHESIS_EXAMPLES", "4"))


def no_error_of_the_server(context: Any, response: Any, case: Any) -> bool | None:
    """No 5xx, but for what says that a part of this machine is not installed."""
    return None if response.status_code == NOT_INSTALLED.status else not_a_server_error(context, response, case)


CHECKS = [
    no_error_of_the_server,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
NETWORK = "infn-fnal"
"""Its two devices run in a lab, so that what asks them is answered."""
POLICY = "remote-control"
"""A policy with one check, which is made short."""


@dataclass(frozen=True)
class Service:
    """A service in this process by its document, an admin of it, and what is there to be found."""

    schema: Any
    admin: Headers
    run_id: str

    def aim(self, case: Any) -> None:
        """Let a good request name what exists: else it would come no further than to what does not."""
        there = {"run_id": self.run_id, "network": NETWORK, "device": "router1"}
        case.path_parameters = {
            name: there.get(name, value) for name, value in (case.path_parameters or {}).items()
        }
        if "/policies/" in case.path:
            case.path_parameters["name"] = POLICY
        if isinstance(case.body, dict) and "network" in case.body:
            case.body |= {"network": NETWORK, "policy": {"name": POLICY}}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("made-up")
    inventories = Path(shutil.copytree(root() / "inventories", folder / "inventories"))  # calls write there
    settings = Settings(
        var_dir=folder / "var",
        compute_processes=1,
        requests_per_minute=1_000_000,
        request_seconds=PATIENCE,
        inventories_dir=inventories,
    )
    with open_backend(settings) as backend, ExitStack() as ended:
        admin = People(backend).admin()
        network, state = backend.networks.network(NETWORK), state_folder(settings.var_dir, NETWORK)
        start_lab(network, inventories / NETWORK, state)
        ended.callback(control.stop, state)
        text = (root() / "examples" / "policies" / f"{POLICY}.yaml").read_text()
        policies = backend.policies.seen_by(somebody("root"))
        policies.store(POLICY, PolicySource(text.replace("seconds: 10", "seconds: 1")), network="*")
        order = request_run(network, load_policy(policies.get(POLICY).written()))
        backend.database.transact(lambda connection: connection.execute(sa.insert(EXECUTORS).values(_executor())))
        run, _ = backend.run_requests.submit(*order, "somebody")
        yield Service(from_asgi("/api/v1/openapi.json", create_app(backend)), admin, run.id)


def _executor() -> dict[str, Any]:
    """The lease of a process that carries out runs: without any the service is not ready, and says so by 503."""
    now = datetime.now(UTC)
    row = {"id": "lease-1", "host": "here", "pid": 1, "workflow_version": WORKFLOW_VERSION}
    return row | {"started": now, "expires": now + timedelta(hours=1)}


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_no_operation_is_surprised(service: Service, mode: GenerationMode) -> None:
    failures: dict[str, str] = {}
    for result in service.schema.get_all_operations():
        operation = result.ok()
        try:
            _try(service, operation, mode)
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE  # an operation without input has no bad one
        except FailureGroup as group:
            failures[operation.label] = str(group)[:1500]
    assert not failures, "\n\n".join(f"{label}: {told}" for label, told in failures.items())


def _try(service: Service, operation: Any, mode: GenerationMode) -> None:
    @seed(5)
    @bounds(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def attempt(case: Any) -> None:
        if mode is GenerationMode.POSITIVE:
            service.aim(case)
        tried("requests with odd values")
        case.call_and_validate(headers=service.admin, checks=CHECKS)

    attempt()
