"""A served instance with a lab of two routers, and a Git repository of policies as a project has it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qosforge.access.roles import Role
from qosforge.access.tokens import create_token
from qosforge.access.users import add_user, find_user, grant
from qosforge.client.connection import Connection
from qosforge.database.connections import Database
from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.settings import Settings
from qoslab import control
from tests.checkout import PYTHONPATH
from tests.parts import need
from tests.patience import PATIENCE

from .pipelines import ROOT

NETWORK = "infn-fnal"
POLICY = ROOT / "examples" / "policies" / "remote-control.yaml"


@dataclass
class Instance:
    """A service: its address, and a token for each role."""

    environment: dict[str, str]
    log: Path
    tokens: dict[str, str]
    url: str = ""
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; again at the same port."""
        port = self.url.rpartition(":")[2] or "0"
        command = [sys.executable, "-c", "from qosforge.cli.entry import main; main()", "serve", "--port", port]
        with self.log.open("w") as log:
            self._process = subprocess.Popen(command, env=self.environment, stderr=log, stdout=log)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self._process.poll() is None:
            for line in self.log.read_text().splitlines():
                entry: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
                if "url" in entry:
                    self.url = str(entry["url"]).removesuffix("/api/v1")
                    return
            time.sleep(0.1)
        raise AssertionError(f"it does not serve:\n{self.log.read_text()}")

    def stop(self) -> None:
        """Let it end in order."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def project(self) -> dict[str, str]:
        """What a project has as variables and secrets."""
        return {
            "QOSFORGE_SERVER": self.url,
            "QOSFORGE_VIEWER_TOKEN": self.tokens["viewer"],
            "QOSFORGE_OPERATOR_TOKEN": self.tokens["operator"],
        }

    def connect(self, role: str) -> Connection:
        return Connection(self.url, self.tokens[role])


def _tokens(settings: Settings) -> dict[str, str]:
    """Somebody of each role, with a token."""
    found: dict[str, str] = {}
    with closing(Database(settings.database_url)) as database:
        now = datetime.now(UTC)
        for role in (Role.VIEWER, Role.OPERATOR, Role.APPROVER):

            def make(connection: Any, role: Role = role) -> str:
                add_user(connection, f"a-{role}", now)
                grant(connection, f"a-{role}", NETWORK, role)
                owner = find_user(connection, f"a-{role}")
                return create_token(connection, owner, "ci", role, [NETWORK], at=now)[1]

            found[role] = database.transact(make)
    return found


@pytest.fixture(scope="session")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """The service on SQLite; its network asks for an approval of every change."""
    place = tmp_path_factory.mktemp("instance")
    folder = place / "inventories" / NETWORK
    shutil.copytree(ROOT / "inventories" / NETWORK, folder)
    (folder / "changes.yaml").write_text("approval: four_eyes\n")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("QOSFORGE_")},
        "PYTHONPATH": PYTHONPATH,
        "QOSFORGE_VAR_DIR": str(place / "var"),
        "QOSFORGE_INVENTORIES_DIR": str(folder.parent),
        "QOSFORGE_LOG_FORMAT": "json",
        "QOSFORGE_COMPUTE_PROCESSES": "1",
        # A measurement looks less often where a request has little time, as it has on a busy machine.
        "QOSFORGE_REQUEST_SECONDS": "120",
    }
    settings = Settings(var_dir=place / "var", inventories_dir=folder.parent)
    settings.make_var_dir()
    network, state = load_network(folder), state_folder(settings.var_dir, NETWORK)
    start_lab(network, folder, state, 1.0)
    tokens = _tokens(settings)
    made = Instance(environment, place / "log", tokens)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        control.clean(state)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone of a repository with the policy of the examples, as a runner checks it out."""
    need("git")
    made = tmp_path / "project"
    (made / "policies").mkdir(parents=True)
    shutil.copy(POLICY, made / "policies")
    git(made, "init", "-q")
    git(made, "remote", "add", "origin", "https://ci:secret@git.example.org/net/policies.git")
    commit(made)
    return made


def git(folder: Path, *arguments: str) -> str:
    """What a Git command prints."""
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder: Path) -> None:
    """Commit everything."""
    git(folder, "add", "policies")
    git(folder, "commit", "-qm", "change")


class Approver(threading.Thread):
    """Somebody who approves the next run that waits for it; ``approved`` is that run as it was looked at."""

    def __init__(self, instance: Instance, *, restart: bool = False) -> None:
        """With ``restart`` the service is restarted before."""
        super().__init__(daemon=True)
        self._instance = instance
        self._restart = restart
        self.approved: dict[str, Any] | None = None
        self.start()

    def run(self) -> None:
        deadline = time.monotonic() + 120
        with self._instance.connect("approver") as connection:
            while time.monotonic() < deadline and self.approved is None:
                waiting = connection.get("/runs", {"status": "needs_approval"})["runs"]
                if waiting and self._restart:
                    self._instance.stop()
                    self._instance.start()
                for run in waiting:
                    detail = connection.get(f"/runs/{run['id']}")
                    approval = {"candidate": detail["candidate"], "comment": "to see what it does"}
                    connection.post(f"/runs/{run['id']}/approve", approval)
                    self.approved = detail
                time.sleep(0.3)
