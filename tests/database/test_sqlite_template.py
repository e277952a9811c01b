"""What most tests work on is what migrations make."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from qosforge.database import connections
from qosforge.database.connections import Database
from tests import sqlite_template


def _dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as plain:
        return list(plain.iterdump())


def test_a_copied_database_is_a_migrated_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Database(f"sqlite:///{tmp_path / 'migrated.sqlite'}").close()
    calls = []
    migrate = connections.migrate
    monkeypatch.setattr(sqlite_template, "_MIGRATE", lambda made: (calls.append(made), migrate(made)))
    monkeypatch.setattr(sqlite_template, "_STATEMENTS", [])
    sqlite_template.install(monkeypatch)
    for name in ("first", "second", "third"):
        Database(f"sqlite:///{tmp_path / name}").close()
    assert len(calls) == 1
    dumps = [_dump(tmp_path / name) for name in ("migrated.sqlite", "first", "second", "third")]
    assert len(dumps[0]) > 50
    assert dumps[1:] == [dumps[0]] * 3
