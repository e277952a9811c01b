"""Whether the engine's record in its database can be trusted."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.errors import Place, StoreError
from qosforge.runs.engine import json_records

SCHEMA = "dbos"
"""Where the engine's tables are in a PostgreSQL database."""
FOREIGN_HINT = "something else wrote into it: move it away, and settle the devices from the run store"


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
                        f"the engine's record holds {found} data in {table}, which is never read",
                        place,
                        FOREIGN_HINT,
                    )
    finally:
        engine.dispose()
