"""Integrity of artifacts: whether those that rows refer to exist undamaged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from qosforge.artifacts.tables import ARTIFACTS
from qosforge.errors import QosforgeError, StoreError
from qosforge.operations.references import Reference, expired, references

_MOST_TOLD = 20
_BATCH = 500


@dataclass(frozen=True, slots=True)
class ArtifactIntegrity:
    """Ids of intact and of damaged artifacts."""

    good: frozenset[str]
    damaged: frozenset[str] = frozenset()


@dataclass(eq=False)
class BackupIncomplete(StoreError):
    """Rows refer to artifacts that are missing or damaged: a backup would not hold them.

    Its problems are one for each artifact, the first twenty of them.
    """

    lacks: tuple[Reference, ...] = ()
    damaged: frozenset[str] = frozenset()

    def problems(self) -> list[QosforgeError]:
        told: list[QosforgeError] = [
            StoreError(describe(one, damaged=one.artifact in self.damaged), self.where, self.hint)
            for one in self.lacks[:_MOST_TOLD]
        ]
        more = len(self.lacks) - _MOST_TOLD
        return [*told, StoreError(f"and {more} more artifacts", self.where, self.hint)] if more > 0 else told

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems())


def describe(lack: Reference, *, damaged: bool) -> str:
    """Describe a missing or damaged artifact."""
    owner = f" of {lack.named_by}" if lack.named_by else ""
    return f"artifact {lack.artifact}{owner} is {'damaged' if damaged else 'missing'}"


def missing_references(connection: sa.Connection, good: Collection[str]) -> tuple[Reference, ...]:
    """References to artifacts that are not in ``good``; those that retentions expired do not count."""
    named = references(connection, expired(connection))
    return tuple(one for artifact, one in sorted(named.items()) if artifact not in good)


def check_rows(connection: sa.Connection) -> ArtifactIntegrity:
    """Check the artifacts of a PostgreSQL database; the server computes their hashes itself."""
    if not sa.inspect(connection).has_table(ARTIFACTS.name):
        return ArtifactIntegrity(frozenset())
    digest = sa.func.encode(sa.func.sha256(ARTIFACTS.c.data), "hex")
    query = sa.select(ARTIFACTS.c.id, (digest == ARTIFACTS.c.id).label("good"))
    good: set[str] = set()
    damaged: set[str] = set()
    for row in connection.execute(query.execution_options(yield_per=_BATCH)):
        (good if row.good else damaged).add(row.id)
    return ArtifactIntegrity(frozenset(good), frozenset(damaged))
