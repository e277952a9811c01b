"""The engine's own record in its database: checks that it can be trusted, and queries of its workflows."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any, NoReturn

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, Serializer
from dbos._serialization import DefaultSerializer

from qosforge.errors import Place, StoreError
from qosforge.runs.engine import json_records
from qosforge.runs.engine.port import UnfinishedWorkflow, WorkflowState

SCHEMA = "dbos"
"""Where the engine's tables are in a PostgreSQL database."""

UNFINISHED = ["PENDING", "ENQUEUED", "DELAYED"]
"""The statuses of workflows that have not ended."""

_HINT = "something else wrote into it: move it away, and settle the devices from the run store"


class JsonSerializer(Serializer):
    """Our own encoding, as the engine takes it."""

    def name(self) -> str:
        """What stands beside every record."""
        return json_records.NAME

    def serialize(self, data: Any) -> str:
        """See `json_records.encode`."""
        return json_records.encode(data)

    def deserialize(self, serialized_data: str) -> Any:
        """See `json_records.decode`."""
        return json_records.decode(serialized_data)


def dbos_config(url: sa.URL, version: str, executor: str) -> DBOSConfig:
    """The engine's configuration: its record at ``url``, our encoding, and nothing that we do not use."""
    return {
        "name": "qosforge",
        "system_database_url": url.render_as_string(hide_password=False),
        "dbos_system_schema": SCHEMA,
        "use_listen_notify": False,
        "application_version": version,
        "executor_id": executor,
        "serializer": JsonSerializer(),
        "enable_otlp": False,
        "log_level": "ERROR",
        # We send no notifications; the default of 1 s would only make every close that slow.
        "notification_listener_polling_interval_sec": 0.1,
    }


def reject_foreign_records(url: sa.URL, place: Place) -> None:
    """Refuse a record with values in another encoding than ours.

    Raises:
        StoreError: some value says that it is a pickle, or anything else.
        sqlalchemy.exc.SQLAlchemyError: it cannot be read.
    """
    schema = None if url.get_backend_name() == "sqlite" else SCHEMA
    engine = sa.create_engine(url)
    try:
        with engine.connect() as connection:
            for (_, table), columns in sa.inspect(connection).get_multi_columns(schema=schema).items():
                if "serialization" not in {column["name"] for column in columns}:
                    continue
                encoding: sa.ColumnClause[str] = sa.column("serialization")
                values = sa.table(table, encoding, schema=schema)
                found = connection.scalar(
                    sa.select(encoding).select_from(values).where(encoding != json_records.NAME)
                )
                if found is not None:
                    raise StoreError(
                        f"the engine's record holds {found} data in {table}, which is never read", place, _HINT
                    )
    finally:
        engine.dispose()


def disable_unpickling() -> None:
    """Take from the engine, in this process, its way to unpickle: a value chooses its decoder by name."""

    def refuse(_text: str) -> NoReturn:
        raise StoreError("the engine's record holds py_pickle data, which is never read", hint=_HINT)

    DefaultSerializer.deserialize = staticmethod(refuse)  # type: ignore[assignment,method-assign]


def silence_console_log() -> None:
    """Keep the engine from adding a console handler of its own: it adds one only where there is none."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def unfinished_workflows() -> list[UnfinishedWorkflow]:
    """Every workflow that has not ended, of all versions and executors."""
    return [
        UnfinishedWorkflow(
            status.workflow_id,
            status.name,
            status.app_version or "",
            status.executor_id or "",
            status.status == "PENDING",
        )
        for status in DBOS.list_workflows(status=UNFINISHED, load_input=False, load_output=False)
    ]


def workflow_state(workflow_id: str) -> WorkflowState:
    """What the engine's record says of a workflow."""
    status = DBOS.get_workflow_status(workflow_id)
    if status is None:
        return WorkflowState.UNKNOWN
    if status.status in UNFINISHED:
        return WorkflowState.UNFINISHED
    if status.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        return WorkflowState.EXHAUSTED
    return WorkflowState.ENDED if status.status in ("SUCCESS", "ERROR") else WorkflowState.ABANDONED


def move_enqueued(system: Any, workflow_id: str, queue: str) -> None:
    """Put a workflow that waits in a queue into another one; ``system`` is the engine's own database."""
    # The engine's own way would also put back one that was taken meanwhile: it would run twice.
    table = system.tables.workflow_status
    waits = (table.c.workflow_uuid == workflow_id) & (table.c.status == "ENQUEUED")
    with system.engine.begin() as connection:
        connection.execute(sa.update(table).where(waits).values(queue_name=queue))


def count_recovery(system: Any, workflow_id: str, more: int) -> None:
    """Change how often a workflow counts as recovered: not where its process lets go of it, or it waits."""
    table = system.tables.workflow_status
    counted = (table.c.workflow_uuid == workflow_id) & (table.c.recovery_attempts + more >= 0)
    # Where the record is away, the count stays: a run is given up sooner or later, and never carried out twice.
    with suppress(sa.exc.SQLAlchemyError), system.engine.begin() as connection:
        changed = table.c.recovery_attempts + more
        connection.execute(sa.update(table).where(counted).values(recovery_attempts=changed))
