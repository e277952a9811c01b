"""The policy library: policies by name, in immutable versions; shipped policies are version 0.

A policy belongs to one network or to all (`EVERY_NETWORK`), from its first version on; its name is one in the whole
installation. What is done with policies is done as somebody: see `PolicyLibrary.seen_by`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

import sqlalchemy as sa

from qosforge.access.roles import EVERY_NETWORK, Principal, Role
from qosforge.artifacts.store import Artifacts
from qosforge.database.connections import Database
from qosforge.errors import InputError, Place
from qosforge.intent.base import is_name
from qosforge.intent.differences import meant_changes, text_changes
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.policy_source import PolicySource, load_policy, shipped_policies
from qosforge.policy_library.tables import POLICIES
from qosforge.policy_library.trust import owner_text, require_owner, take_over, trusted_on, writer_role
from qosforge.policy_library.versions import (
    LATEST,
    SHIPPED_VERSION,
    Number,
    Policy,
    PolicyDifference,
    PolicyMoved,
    PolicyUnknown,
    PolicyVersion,
    shipped,
)

_HIGHEST = 2**31 - 1
"""The highest number that a database holds as an integer."""
_ATTEMPTS = 20
"""How often a number is tried that others take at the same moment."""


class PolicyLibrary:
    """Policies of an installation; safe to share between threads and processes."""

    def __init__(
        self,
        database: Database,
        artifacts: Artifacts,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.database = database
        self.artifacts = artifacts
        self.now = now

    def seen_by(self, caller: Principal) -> Policies:
        """The policies that a caller sees, and may change as far as the caller's roles go."""
        return Policies(self, caller)


class Policies:
    """Policies as one caller sees them: those of the caller's networks, and those of all."""

    def __init__(self, library: PolicyLibrary, caller: Principal) -> None:
        self._database = library.database
        self._artifacts = library.artifacts
        self._now = library.now
        self._caller = caller

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        query = sa.select(POLICIES.c.name).distinct().where(self._seen())
        with self._database.read() as connection:
            stored = connection.scalars(query).all()
        return tuple(sorted({*stored, *shipped_policies()}))

    def newest(self) -> tuple[PolicyVersion, ...]:
        """The newest version of every policy, by name."""
        last = sa.select(POLICIES.c.name, sa.func.max(POLICIES.c.number).label("number")).group_by(POLICIES.c.name)
        chosen = last.subquery()
        query = (
            sa.select(POLICIES)
            .join(chosen, (POLICIES.c.name == chosen.c.name) & (POLICIES.c.number == chosen.c.number))
            .where(self._seen())
        )
        with self._database.read() as connection:
            stored = {about.name: about for about in _about(connection, connection.execute(query).all())}
        ours = {name: shipped(name).about for name in shipped_policies() if name not in stored}
        return tuple(version for _, version in sorted({**ours, **stored}.items()))

    def versions(self, name: str) -> tuple[PolicyVersion, ...]:
        """The versions of a policy, newest first.

        Raises:
            PolicyUnknown: there is no such policy.
        """
        query = self._stored(name).order_by(POLICIES.c.number.desc())
        with self._database.read() as connection:
            found = _about(connection, connection.execute(query).all())
        if name in shipped_policies():
            found.append(shipped(name).about)
        if not found:
            raise _unknown(name)
        return tuple(found)

    def get(self, name: str, number: Number = LATEST) -> Policy:
        """A version of a policy.

        Raises:
            PolicyUnknown: there is no such policy, or not this version.
            StoreError: its text is missing or damaged.
        """
        query = self._stored(name)
        if number != LATEST and not SHIPPED_VERSION <= number <= _HIGHEST:
            raise _unknown(name, number)
        if number == LATEST:
            query = query.order_by(POLICIES.c.number.desc()).limit(1)
        else:
            query = query.where(POLICIES.c.number == number)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
            about = _about(connection, [row])[0] if row is not None else None
        if row is not None and about is not None:
            included = {file: self._artifacts.get_text(artifact) for file, artifact in row.included.items()}
            return Policy(about, self._artifacts.get_text(row.text), included)
        if number in (LATEST, SHIPPED_VERSION) and name in shipped_policies():
            return shipped(name)
        raise _unknown(name, None if number == LATEST else number)

    def may_store(self, name: str) -> bool:
        """Whether the caller may store a version of a policy that is seen."""
        network = self.get(name).about.network
        return self._caller.may(writer_role(network), network)

    def take_over(self, name: str, number: int, network: str) -> PolicyVersion:
        """Let a version be run on a network, in the caller's own name; the same again changes nothing.

        Raises:
            PolicyUnknown: there is no such policy, or not this version.
            InputError: it belongs to another network, or ships with qosforge.
            NotAllowed: the caller is no operator of the network.
        """
        self._caller.require(Role.OPERATOR, network)
        about = self.get(name, number).about
        if number == SHIPPED_VERSION:
            raise InputError("a shipped policy may be run on every network", Place(path="number"), "run it")
        require_owner(about, network)
        row = {"name": name, "number": number, "network": network, "by": self._caller.name, "at": self._now()}
        self._database.transact(lambda connection: take_over(connection, row))
        return self.get(name, number).about

    def store(
        self,
        name: str,
        written: PolicySource,
        comment: str = "",
        source: Mapping[str, str] | None = None,
        *,
        network: str | None = None,
        base: int | None = None,
        shadow_shipped: bool = False,
    ) -> tuple[PolicyVersion, bool]:
        """Keep a text as the newest version of a policy; the bool says whether there is a new one.

        Where the newest version has the very same texts, it stays the newest. ``network`` is whose policy it is, to
        be said with its first version; ``base`` the number of the version that the text began from (0: a shipped
        one, or none). ``shadow_shipped`` says that a shipped policy of this name shall be hidden by it.

        Raises:
            NotAllowed: the caller is no operator of its network, or no admin of all where it is of all.
            PolicyMoved: ``base`` is given, and is not the newest version's number.
            InputError, InputErrors: it is no valid intent, sets parameters (a version's values are in its text), is
                one of another name or another network's, or would hide a shipped one without saying so.
        """
        if written.parameters:
            raise InputError("a version has no parameters beside it", hint="write their values into the text")
        loaded = load_policy(written)
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
            "author": self._caller.name,
            "comment": comment,
            "source": dict(source) if source is not None else None,
        }

        def insert(connection: sa.Connection) -> tuple[PolicyVersion, bool]:
            newest = connection.execute(
                sa.select(POLICIES).where(POLICIES.c.name == name).order_by(POLICIES.c.number.desc()).limit(1)
            ).one_or_none()
            owner = self._owner(name, network, newest.network if newest is not None else None, shadow_shipped)
            return self._insert(connection, {**row, "network": owner}, newest, base)

        for attempt in range(_ATTEMPTS):
            try:
                return self._database.transact(insert)
            except sa.exc.IntegrityError:  # another process took the number
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    def _owner(self, name: str, network: str | None, held: str | None, shadow_shipped: bool) -> str:
        """Whose policy a new version is of: ``held`` is whose it is until now. The caller may write there."""
        place = Place(path="network")
        if held is not None and not self._sees(held):
            raise InputError("a network that you do not see has a policy so called", place, "choose another name")
        if network is None and held is None:
            raise InputError(
                f"policy {name!r} is new, and it is not said whose it is",
                place,
                f"name its network; {EVERY_NETWORK} is for all networks, and takes an admin of all",
            )
        if held is not None and network not in (None, held):
            raise InputError(
                f"policy {name!r} belongs to {owner_text(held)}", place, "store the text under another name"
            )
        owner = held if held is not None else str(network)
        self._caller.require(writer_role(owner), owner)
        if held is None and name in shipped_policies():
            if owner != EVERY_NETWORK:
                raise InputError(
                    f"policy {name!r} ships with qosforge for all networks", place, "store it under another name"
                )
            if not shadow_shipped:
                raise InputError(
                    f"policy {name!r} ships with qosforge, and would be hidden by this one on every network",
                    Place(path="shadow_shipped"),
                    "store it under another name, or say that it shall be hidden: shadow_shipped",
                )
        return owner

    def _insert(
        self, connection: sa.Connection, row: dict[str, Any], newest: sa.Row[Any] | None, base: int | None
    ) -> tuple[PolicyVersion, bool]:
        if newest is not None and (newest.text, newest.included) == (row["text"], row["included"]):
            return _about(connection, [newest])[0], False
        last = newest.number if newest is not None else SHIPPED_VERSION
        if base is not None and base != last:
            raise _moved(row["name"], base, _about(connection, [newest])[0] if newest is not None else None)
        made = {**row, "number": last + 1, "at": self._now()}
        stored = connection.execute(sa.insert(POLICIES).values(made).returning(*POLICIES.c)).one()
        return _about(connection, [stored])[0], True

    def _sees(self, network: str) -> bool:
        return network == EVERY_NETWORK or self._caller.may(Role.VIEWER, network)

    def _seen(self) -> sa.ColumnElement[bool]:
        if self._caller.may(Role.VIEWER, EVERY_NETWORK):
            return sa.true()
        return POLICIES.c.network.in_(sorted({EVERY_NETWORK, *self._caller.roles}))

    def _stored(self, name: str) -> sa.Select[Any]:
        """All versions of a policy.

        Raises:
            PolicyUnknown: nothing can be called so (a database may refuse even to look for it).
        """
        if not is_name(name):
            raise _unknown(name)
        return sa.select(POLICIES).where(POLICIES.c.name == name, self._seen())

    def difference(self, name: str, before: Number, after: Number) -> PolicyDifference:
        """What one version of a policy has other than another.

        Raises:
            PolicyUnknown: there is no such policy, or not these versions.
        """
        old, new = self.get(name, before), self.get(name, after)
        labels = tuple(f"{name} version {policy.about.number}" for policy in (old, new))
        meant: list[LoadedIntent] = [load_policy(policy.written()) for policy in (old, new)]
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


def _about(connection: sa.Connection, rows: Sequence[sa.Row[Any]]) -> list[PolicyVersion]:
    trusted = trusted_on(connection, [(row.name, row.number, row.author) for row in rows])
    return [
        PolicyVersion(
            row.name,
            row.number,
            row.version,
            row.author,
            row.comment,
            row.source,
            row.at,
            row.network,
            trusted[row.name, row.number],
        )
        for row in rows
    ]


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
    hint = f"GET /api/v1/policies/{name}/versions has those that there are"
    if number is None:
        hint = "`qosforge --server URL policy list`, or GET /api/v1/policies, has the names"
    return PolicyUnknown(f"there is no {what}", Place(path="policy"), hint)
