"""The engine's own record in its database: that it can be trusted, and that nothing in it is ever unpickled."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

import sqlalchemy as sa
from dbos import Serializer
from dbos._serialization import DefaultSerializer

from qosforge.errors import Place, StoreError
from qosforge.runs.engine import json_records

SCHEMA = "dbos"
"""Where the engine's tables are in a PostgreSQL database."""

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
