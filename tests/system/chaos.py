"""Processes of the service that are killed at random moments while many people ask it for runs."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import sqlalchemy as sa

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.tokens import create_token
from qosforge.access.users import add_user, find_user, grant
from qosforge.database.connections import Database
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JOURNAL, RUNS, UNFINISHED, JournalAction
from tests.patience import PATIENCE

from .command import Command
from .crowd import Crowd
from .vault import Vault

SEED = int(os.environ.get("QOSFORGE_CHAOS_SEED", "1"))
ROUNDS = int(os.environ.get("QOSFORGE_CHAOS_ROUNDS", "1"))
SEEDS = range(SEED, SEED + ROUNDS)
"""Each test is repeated with these: moments and victims follow from them, as far as processes are repeatable."""

RUNS_ASKED = 50
CANCELLED = (0, 9, 22, 39)
"""Runs, by number, that somebody cancels as soon as all are asked for."""

_AGAIN_SECONDS = 0.5
_PATIENCE = 150.0


@dataclass
class Installation:
    """An address, and the environment of every process that belongs to it."""

    crowd: Crowd | Vault
    url: str
    """Of the database."""
    more: Mapping[str, str] = field(default_factory=dict)
    """What its processes have in their environment beside the usual."""
    port: int = field(init=False)
    commands: list[Command] = field(default_factory=list)
    client: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        with closing(Database(self.url)) as database:
            token = database.transact(_operator)
        self.client = httpx2.Client(
            base_url=f"http://127.0.0.1:{self.port}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
            limits=httpx2.Limits(max_connections=None),
        )

    def serve(self) -> Command:
        """Start the interface; it listens some time later."""
        return self.command("serve", "--port", str(self.port))

    def worker(self) -> Command:
        """Start a worker."""
        return self.command("worker")

    def command(self, *arguments: str) -> Command:
        """A command in the environment of this installation."""
        environment = {
            "QOSFORGE_VAR_DIR": str(self.crowd.var),
            "QOSFORGE_INVENTORIES_DIR": str(self.crowd.inventories),
            "QOSFORGE_DATABASE_URL": self.url,
            "QOSFORGE_COMPUTE_PROCESSES": "1",
            **self.more,
        }
        folder = self.crowd.folder / "printed" / f"{len(self.commands)}-{arguments[0]}"
        self.commands.append(Command(arguments, environment, folder))
        return self.commands[-1]

    def close(self) -> None:
        """Kill what still lives."""
        self.client.close()
        for command in self.commands:
            command.kill()

    def ready(self) -> bool:
        """Whether the interface answers."""
        try:
            return bool(self.client.get("/ready").status_code == 200)
        except httpx2.HTTPError:
            return False

    def post(self, path: str, body: Mapping[str, Any] | None = None, key: str | None = None) -> httpx2.Response:
        """Ask until it answers: whatever is down comes back, and a key makes asking again harmless."""
        headers = {} if key is None else {"Idempotency-Key": key}
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                answer = self.client.post(path, json=body, headers=headers)
                if answer.status_code not in (429, 503):
                    return answer
                last = answer.text
            except httpx2.HTTPError as error:
                last = repr(error)
            assert time.monotonic() < deadline, last
            time.sleep(_AGAIN_SECONDS)

    def place(self, orders: list[dict[str, Any]]) -> list[str]:
        """Ask for every run twice at once, under the same key; the ids, in the order of ``orders``."""

        def ask(number: int) -> str:
            answer = self.post("/runs", orders[number], f"order-{number}")
            assert answer.status_code in (200, 201), answer.text
            return str(answer.json()["id"])

        with ThreadPoolExecutor(RUNS_ASKED) as pool:
            asked: list[tuple[Future[str], Future[str]]] = [
                (pool.submit(ask, number), pool.submit(ask, number)) for number in range(len(orders))
            ]
            made = [(first.result(), second.result()) for first, second in asked]
        assert [first for first, _ in made] == [second for _, second in made], "one key, one run"
        return [first for first, _ in made]

    def place_and_cancel(self, orders: list[dict[str, Any]]) -> list[str]:
        """Ask for the runs, and then think better of some."""
        ids = self.place(orders)
        for number in CANCELLED:
            answer = self.post(f"/runs/{ids[number]}/cancel")
            assert answer.status_code in (202, 409), answer.text  # 409: it is over already
        return ids


def _operator(connection: sa.Connection) -> str:
    now = datetime.now(UTC)
    add_user(connection, "crowd", now)
    grant(connection, "crowd", EVERY_NETWORK, Role.OPERATOR)
    return create_token(connection, find_user(connection, "crowd"), "t", Role.OPERATOR, None, at=now)[1]


@dataclass
class Watch:
    """Looks into the store from outside."""

    store: RunStore

    def unfinished(self) -> int:
        """Runs asked for that are not over."""
        query = sa.select(sa.func.count()).where(RUNS.c.status.in_(sorted(UNFINISHED)))
        return int(self.store.database.query(lambda connection: connection.scalar(query)) or 0)

    def all_over(self) -> bool:
        """Whether every run that was asked for is over."""
        count = sa.select(sa.func.count()).select_from(RUNS)
        asked = self.store.database.query(lambda connection: connection.scalar(count))
        return asked == RUNS_ASKED and self.unfinished() == 0

    def wait_over(self, seconds: float = 180) -> None:
        """Wait until every run is over; the test fails when it never is."""
        deadline = time.monotonic() + seconds
        while not self.all_over():
            assert time.monotonic() < deadline, [
                (run.id, run.network, run.status, run.attempt, run.waits_for)
                for run in self.store.unfinished_runs()
            ]
            time.sleep(0.3)

    def moment(self, random: Random) -> None:
        """Wait for a random moment: of the clock, or just after the journal says that a device was touched so."""
        if random.random() < 0.4:
            time.sleep(random.uniform(0.1, 4))
            return
        action = random.choice(
            [JournalAction.TOUCHING, JournalAction.TOUCHING, JournalAction.ARMED, JournalAction.CONFIRMED]
        )
        pause = random.uniform(0, 0.4)
        count = sa.select(sa.func.count()).where(JOURNAL.c.action == action.value)
        seen = self.store.database.query(lambda connection: connection.scalar(count))
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and seen == self.store.database.query(
            lambda connection: connection.scalar(count)
        ):
            time.sleep(0.02)
        time.sleep(pause)


def in_background(work: Callable[[], list[str]]) -> Future[list[str]]:
    """Do it beside the killing."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    pool.shutdown(wait=False)
    return future


def wait_until(condition: Callable[[], bool], what: str, seconds: float = PATIENCE, *, every: float = 0.05) -> None:
    """Look every so many seconds until it holds; the test fails when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(every)


def sqlite_url(var: Path) -> str:
    """URL of the store that a run directory has by itself."""
    return f"sqlite:///{var / 'runs.sqlite'}"
