"""A served instance as a process of its own, and what is needed to ask it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.tokens import create_token
from qosforge.access.users import add_user, find_user, grant
from qosforge.database.connections import Database
from qosforge.settings import Settings

_START_SECONDS = 60


def command(*arguments: str) -> list[str]:
    """The command line of this very application."""
    return [sys.executable, "-c", "from qosforge.cli.entry import main; main()", *arguments]


def environment(settings: Settings) -> dict[str, str]:
    """For processes of the installation that ``settings`` describe."""
    return {
        **os.environ,
        "QOSFORGE_VAR_DIR": str(settings.var_dir),
        "QOSFORGE_INVENTORIES_DIR": str(settings.inventories_dir),
        "QOSFORGE_DATABASE_URL": settings.database_url,
        "QOSFORGE_RUN_CONCURRENCY": str(settings.run_concurrency),
        "QOSFORGE_REQUESTS_PER_MINUTE": str(10**9),
    }


@contextmanager
def serve(settings: Settings, log: Path) -> Iterator[int]:
    """A served instance; its port."""
    settings.make_var_dir()
    with log.open("wb") as said:
        server = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            command("serve", "--port", "0"), env=environment(settings), stdout=said, stderr=said
        )
    try:
        yield _port(server, log)
    finally:
        server.terminate()
        server.wait(60)


def _port(server: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
        time.sleep(0.1)
    raise RuntimeError(f"the service did not begin: {log.read_text(encoding='utf-8')}")


def viewer_token(settings: Settings, name: str = "bench") -> str:
    """A token of somebody new who may look at everything."""
    with closing(Database(settings.database_url)) as database, database.write() as connection:
        now = datetime.now(UTC)
        add_user(connection, name, now)
        grant(connection, name, EVERY_NETWORK, Role.VIEWER)
        owner = find_user(connection, name)
        return create_token(connection, owner, name, Role.VIEWER, None, at=now, life=timedelta(days=1))[1]
