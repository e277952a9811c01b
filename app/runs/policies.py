"""Policies by name, in versions that never change: those of the database, and the shipped ones as version 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import PurePosixPath
from typing import Any, Literal

import sqlalchemy as sa

from app.database.connections import Database
from app.errors import InputError, Place
from app.intent.base import is_name
from app.intent.differences import Change, meant_changes, text_changes
from app.intent.loader import LoadedIntent
from app.intent.written import Written, load_written, shipped_policies
from app.runs.artifacts import Artifacts
from app.runs.tables import POLICIES

LIBRARY_VERSION = 0
"""The number of a shipped policy, which nobody can replace."""
LATEST: Literal["latest"] = "latest"
Number = int | Literal["latest"]

_HIGHEST = 2**31 - 1
"""The highest number that a database holds as an integer."""
_ATTEMPTS = 20
"""How often a number is tried that others take at the same moment."""


@dataclass(eq=False)
class PolicyUnknown(InputError):
    """There is no such policy, or not this version."""


@dataclass(eq=False)
class PolicyMoved(InputError):
    """Somebody stored another version since the one that the text began from."""

    newest: PolicyVersion | None = None


@dataclass(frozen=True)
class PolicyVersion:
    """One version. ``version`` is the hash of the intent's canonical form; ``at`` and ``author`` are empty for a
    shipped one; ``source`` is the Git commit that it came from (``repository``, ``commit``, ``path``).
    """

    name: str
    number: int
    version: str
    author: str
    comment: str
    source: dict[str, str] | None
    at: datetime | None


@dataclass(frozen=True)
class Policy:
    """A version with its text, byte for byte, and the texts that it includes by their names beside it."""

    about: PolicyVersion
    text: str
    included: Mapping[str, str]

    def written(self, parameters: Mapping[str, Any] | None = None) -> Written:
        """It as an intent that is handed over, with values for parameters."""
        return Written(self.text, f"{self.about.name}.yaml", self.included, parameters or {})


@dataclass(frozen=True)
class PolicyDifference:
    """What one version has other than another: as a unified diff of the texts, and by what they mean."""

    before: PolicyVersion
    after: PolicyVersion
    text: str
    changes: tuple[Change, ...]


class Policies:
    """Policies of an installation; safe to share between threads and processes."""

    def __init__(
        self,
        database: Database,
        artifacts: Artifacts,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._artifacts = artifacts
        self._now = now

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        with self._database.read() as connection:
            stored = connection.scalars(sa.select(POLICIES.c.name).distinct()).all()
        return tuple(sorted({*stored, *shipped_policies()}))

    def newest(self) -> tuple[PolicyVersion, ...]:
        """The newest version of every policy, by name."""
        last = sa.select(POLICIES.c.name, sa.func.max(POLICIES.c.number).label("number")).group_by(POLICIES.c.name)
        chosen = last.subquery()
        query = sa.select(POLICIES).join(
            chosen, (POLICIES.c.name == chosen.c.name) & (POLICIES.c.number == chosen.c.number)
        )
        with self._database.read() as connection:
            stored = {row.name: _about(row) for row in connection.execute(query)}
        shipped = {name: _shipped(name).about for name in shipped_policies() if name not in stored}
        return tuple(version for _, version in sorted({**shipped, **stored}.items()))

    def versions(self, name: str) -> tuple[PolicyVersion, ...]:
        """The versions of a policy, newest first.

        Raises:
            PolicyUnknown: there is no such policy.
        """
        query = _stored(name).order_by(POLICIES.c.number.desc())
        with self._database.read() as connection:
            found = [_about(row) for row in connection.execute(query)]
        if name in shipped_policies():
            found.append(_shipped(name).about)
        if not found:
            raise _unknown(name)
        return tuple(found)

    def get(self, name: str, number: Number = LATEST) -> Policy:
        """A version of a policy.

        Raises:
            PolicyUnknown: there is no such policy, or not this version.
            StoreError: its text is missing or damaged.
        """
        query = _stored(name)
        if number != LATEST and not LIBRARY_VERSION <= number <= _HIGHEST:
            raise _unknown(name, number)
        if number == LATEST:
            query = query.order_by(POLICIES.c.number.desc()).limit(1)
        else:
            query = query.where(POLICIES.c.number == number)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        if row is not None:
            included = {file: self._artifacts.get_text(artifact) for file, artifact in row.included.items()}
            return Policy(_about(row), self._artifacts.get_text(row.text), included)
        if number in (LATEST, LIBRARY_VERSION) and name in shipped_policies():
            return _shipped(name)
        raise _unknown(name, None if number == LATEST else number)

    def store(
        self,
        name: str,
        written: Written,
        author: str,
        comment: str = "",
        source: Mapping[str, str] | None = None,
        *,
        base: int | None = None,
    ) -> tuple[PolicyVersion, bool]:
        """Keep a text as the newest version of a policy; the bool says whether there is a new one.

        Where the newest version has the very same texts, it stays the newest. ``base`` is the number of the version
        that the text began from (0: a shipped one, or none).

        Raises:
            PolicyMoved: ``base`` is given, and is not the newest version's number.
            InputError, InputErrors: it is no valid intent, sets parameters (a version's values are in its text), or
                is one of another name.
        """
        if written.parameters:
            raise InputError("a version has no parameters beside it", mend="write their values into the text")
        loaded = load_written(written)
        if loaded.intent.intent != name:
            where = loaded.document.place(("intent",))
            raise InputError(f"the intent is not called {name!r}", where, "store it under its own name")
        text = self._artifacts.put_text(written.text)
        included = {
            file: self._artifacts.put_text(body) for file, body in beside(written.file, loaded.included).items()
        }
        row = {
            "name": name,
            "version": loaded.version,
            "text": text,
            "included": included,
            "author": author,
            "comment": comment,
            "source": dict(source) if source is not None else None,
        }
        for attempt in range(_ATTEMPTS):
            try:
                return self._database.transact(lambda connection: self._insert(connection, row, base))
            except sa.exc.IntegrityError:  # another process took the number
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    def _insert(
        self, connection: sa.Connection, row: dict[str, Any], base: int | None
    ) -> tuple[PolicyVersion, bool]:
        newest = connection.execute(
            sa.select(POLICIES).where(POLICIES.c.name == row["name"]).order_by(POLICIES.c.number.desc()).limit(1)
        ).one_or_none()
        if newest is not None and (newest.text, newest.included) == (row["text"], row["included"]):
            return _about(newest), False
        last = newest.number if newest is not None else LIBRARY_VERSION
        if base is not None and base != last:
            raise _moved(row["name"], base, _about(newest) if newest is not None else None)
        number = last + 1
        made = {**row, "number": number, "at": self._now()}
        return _about(connection.execute(sa.insert(POLICIES).values(made).returning(*POLICIES.c)).one()), True

    def difference(self, name: str, before: Number, after: Number) -> PolicyDifference:
        """What one version of a policy has other than another.

        Raises:
            PolicyUnknown: there is no such policy, or not these versions.
        """
        old, new = self.get(name, before), self.get(name, after)
        labels = tuple(f"{name} version {policy.about.number}" for policy in (old, new))
        meant: list[LoadedIntent] = [load_written(policy.written()) for policy in (old, new)]
        return PolicyDifference(
            old.about,
            new.about,
            text_changes(old.text, new.text, labels[0], labels[1]),
            meant_changes(meant[0].intent, meant[1].intent),
        )


def beside(file: str, included: Mapping[str, str]) -> dict[str, str]:
    """What an intent includes, by names that hold wherever the intent is put."""
    folder = PurePosixPath(file).parent
    return {
        str(PurePosixPath(name).relative_to(folder)) if PurePosixPath(name).is_relative_to(folder) else name: text
        for name, text in included.items()
    }


@cache
def _shipped(name: str) -> Policy:
    text = shipped_policies()[name]
    loaded = load_written(Written(text, f"{name}.yaml"))
    about = PolicyVersion(name, LIBRARY_VERSION, loaded.version, "", "shipped with qosforge", None, None)
    return Policy(about, text, dict(loaded.included))


def _about(row: sa.Row[Any]) -> PolicyVersion:
    return PolicyVersion(row.name, row.number, row.version, row.author, row.comment, row.source, row.at)


def _stored(name: str) -> sa.Select[Any]:
    """All versions of a policy.

    Raises:
        PolicyUnknown: nothing can be called so (a database may refuse even to look for it).
    """
    if not is_name(name):
        raise _unknown(name)
    return sa.select(POLICIES).where(POLICIES.c.name == name)


def _moved(name: str, base: int, newest: PolicyVersion | None) -> PolicyMoved:
    now = f"{newest.author} stored version {newest.number}" if newest else "there is no stored version"
    return PolicyMoved(
        f"policy {name!r} has moved on since version {base}: {now}",
        Place(path="base"),
        "look at what changed, then store on top of the newest version",
        newest,
    )


def _unknown(name: str, number: int | None = None) -> PolicyUnknown:
    what = f"policy {name[:64]!r}" if number is None else f"version {number} of policy {name[:64]!r}"
    mend = "GET /api/v1/policies has the names" if number is None else f"GET /api/v1/policies/{name}/versions"
    return PolicyUnknown(f"there is no {what}", Place(path="policy"), mend)
