"""What all tables share: the metadata with its naming convention, and the type of a moment."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment, stored as ISO 8601 text in UTC with microseconds: it sorts as text."""

    impl = sa.String(32)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> str | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone cannot be stored")
        return value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value)


METADATA = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

ARTIFACT_ID = sa.String(64)
"""SHA-256 of an artifact's bytes, in hexadecimal."""

RUN_ID = sa.String(36)
"""A UUID in canonical text form."""

NAME = sa.String(128)
"""A name that people give: of a network, a device, a policy, a user."""

SEQUENCE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A growing number that the database gives: SQLite grows only its own integers."""
