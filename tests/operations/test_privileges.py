"""What the documentation grants to a service is what it needs."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import make_url

from qosforge.errors import StoreError
from qosforge.executor.executor import Executor
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import JournalAction
from qosforge.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"


def execute(url: str, *statements: str) -> None:
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_service_works_with_the_privileges_that_are_documented(postgres_url: str, tmp_path: Path) -> None:
    def executor(url: str) -> Executor:
        return Executor(Settings(var_dir=tmp_path / "var", database_url=url), lambda _stage, _line: None)

    owner = executor(postgres_url)
    owner.start()  # the engine's tables are made by who may
    assert owner.stop()
    user = f"service_{uuid4().hex}"
    execute(postgres_url, f"CREATE USER {user}")
    url = make_url(postgres_url).set(username=user).render_as_string(hide_password=False)
    with pytest.raises(StoreError, match="permission denied") as refused:
        RunStore(url)
    assert "grant" in str(refused.value.hint)
    (grants,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    execute(postgres_url, *grants.replace("qosforge_service", user).strip().rstrip(";").split(";"))
    service = executor(url)
    service.start()
    try:
        run = service.store.create_run("campus", "policy", "f" * 64, {})
        service.store.journal.append(run.id, "r1", JournalAction.TOUCHING)
        service.dispatcher.tick()
    finally:
        assert service.stop()
