"""External testers that may give measurements: their names, public keys and networks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from qosforge.access.tables import TESTERS
from qosforge.access.users import NameTaken, check_name, check_networks
from qosforge.database.connections import Database
from qosforge.errors import InputError, Place


class TesterUnknown(InputError):
    """There is no such tester."""


@dataclass(frozen=True)
class Tester:
    """An external tester. ``public_key``: Ed25519, PEM; ``networks``: where it measures, ``None``: everywhere."""

    name: str
    public_key: str
    networks: tuple[str, ...] | None
    created: datetime
    revoked: datetime | None


def add_tester(
    connection: sa.Connection, name: str, public_key: str, networks: Collection[str] | None, at: datetime
) -> Tester:
    """Register a tester by its public key.

    A name stays taken when its key is revoked: a measurement names its tester for good.

    Raises:
        NameTaken: there is or was one of this name.
        InputError: the key is no Ed25519 public key in PEM, or a name cannot be one.
    """
    check_name(name)
    if networks is not None:
        check_networks(networks)
    chosen = None if networks is None else tuple(sorted(set(networks)))
    tester = Tester(name, _public(public_key), chosen, at, None)
    row = {
        "name": name,
        "public_key": tester.public_key,
        "networks": None if chosen is None else list(chosen),
        "created": at,
    }
    try:
        with connection.begin_nested():
            connection.execute(TESTERS.insert().values(row))
    except sa.exc.IntegrityError as error:
        raise NameTaken(f"there is or was a tester {name}", Place(path="name"), "choose another name") from error
    return tester


def testers(database: Database) -> list[Tester]:
    """Every tester, by name; revoked ones too."""
    with database.read() as connection:
        return [_tester(row) for row in connection.execute(sa.select(TESTERS).order_by(TESTERS.c.name))]


def find_tester(connection: sa.Connection, name: str) -> Tester:
    """The tester of a name.

    Raises:
        TesterUnknown: there is none.
    """
    row = connection.execute(sa.select(TESTERS).where(TESTERS.c.name == name)).one_or_none()
    if row is None:
        raise TesterUnknown("there is no such tester", Place(path="name"), "`qosforge tester list` shows all")
    return _tester(row)


def revoke_tester(connection: sa.Connection, name: str, at: datetime) -> None:
    """Revoke a tester: its measurements are no longer accepted.

    Raises:
        TesterUnknown: there is none.
    """
    find_tester(connection, name)
    connection.execute(
        TESTERS.update().where(TESTERS.c.name == name, TESTERS.c.revoked.is_(None)).values(revoked=at)
    )


def _public(text: str) -> str:
    """The public key of a text, as PEM without anything else.

    A private key is refused even though its public half could be taken: it should not have left its owner.
    """
    wrong = InputError(
        "this is no Ed25519 public key in PEM",
        Place(path="public_key"),
        "`openssl pkey -in key.pem -pubout` writes the public half of a key",
    )
    if "PRIVATE KEY" in text or "-----BEGIN PUBLIC KEY-----" not in text:
        raise wrong
    try:
        key = OKPKey.import_key(text)
        if key.curve_name != "Ed25519" or key.is_private:
            raise wrong
        return key.as_pem(private=False).decode()
    except (JoseError, ValueError, TypeError) as error:
        raise wrong from error


def _tester(row: sa.Row[tuple[object, ...]]) -> Tester:
    found = dict(row._mapping)
    networks = found.pop("networks")
    return Tester(**found, networks=None if networks is None else tuple(networks))
