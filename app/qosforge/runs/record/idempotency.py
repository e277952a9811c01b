"""Idempotency keys: a request sent again under its key makes no second run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from qosforge.errors import InputError
from qosforge.runs.record.tables import IDEMPOTENCY_KEYS


@dataclass(eq=False)
class KeyReused(InputError):
    """An idempotency key stands for another request already."""


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A key that ``who`` drew for a request; ``request`` is the SHA-256 of what it asks for."""

    who: str
    text: str
    request: str

    def find_run(self, connection: sa.Connection) -> str | None:
        """The id of the run that was made under the key.

        Raises:
            KeyReused: it was made for another request.
        """
        this = (IDEMPOTENCY_KEYS.c.requested_by == self.who) & (IDEMPOTENCY_KEYS.c.key == self.text)
        row = connection.execute(sa.select(IDEMPOTENCY_KEYS).where(this)).one_or_none()
        if row is None:
            return None
        if row.request != self.request:
            raise KeyReused(
                "this idempotency key stands for another request",
                hint=f"draw a new key for a new request; the first one made run {row.run_id}",
            )
        return str(row.run_id)

    def take(self, connection: sa.Connection, run_id: str, at: datetime) -> None:
        """Let the key stand for a run, in the transaction that makes it.

        Raises:
            sqlalchemy.exc.IntegrityError: another process took it meanwhile.
        """
        row = {"requested_by": self.who, "key": self.text, "request": self.request, "run_id": run_id, "at": at}
        connection.execute(sa.insert(IDEMPOTENCY_KEYS).values(row))
