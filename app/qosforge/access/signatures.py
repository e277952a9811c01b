"""Signatures of external testers: who gave a measurement, for which side of which run, and when.

A detached JSON Web Signature (RFC 7515, appendix F) over the exact bytes of the body, by Ed25519 (RFC 8037; its
name is of RFC 9864, and ``EdDSA`` is understood). The protected header says what it is for, so that it is worth
nothing elsewhere:

    {"alg": "Ed25519", "typ": "qosforge-measurement+jws", "kid": "<tester>",
     "run": "<run id>", "side": "after", "iat": <seconds since 1970>}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from joserfc.registry import HeaderParameter, is_int, is_str

from qosforge.access.roles import NotAllowed, NotAuthenticated
from qosforge.access.tables import TESTERS
from qosforge.database.connections import Database

TYPE = "qosforge-measurement+jws"
"""Explicit type (RFC 8725, section 3.11): a signature made for something else is no measurement's."""

OLDEST = timedelta(minutes=5)
AHEAD = timedelta(minutes=1)
"""How far a tester's clock may be from ours: a signature lives as long as it takes to send it."""

_HINT = "sign as docs/rest-runs.md says"


@dataclass(frozen=True)
class Signer:
    """An external tester, known by its signature; ``networks`` is ``None`` for one of every network."""

    name: str
    networks: tuple[str, ...] | None

    def require(self, network: str) -> None:
        """Make sure that it is registered for a network.

        Raises:
            NotAllowed: it is not.
        """
        if self.networks is not None and network not in self.networks:
            raise NotAllowed(
                f"tester {self.name} is not registered for network {network}",
                hint="ask an admin to register it for this network",
            )


class _Registry(jws.JWSRegistry):
    """Knows the header parameters above and no others: a signer brings no key of its own."""

    max_header_length = 1024  # a tester's name alone may have 128 characters, each of several bytes

    def __init__(self) -> None:
        super().__init__(algorithms=["Ed25519"])
        self.header_registry = {
            "alg": HeaderParameter("algorithm", is_str, required=True),
            "typ": HeaderParameter("type", is_str, required=True),
            "kid": HeaderParameter("tester", is_str, required=True),
            "run": HeaderParameter("run id", is_str, required=True),
            "side": HeaderParameter("side of the push", is_str, required=True),
            "iat": HeaderParameter("signed at", is_int, required=True),
        }

    def get_alg(self, name: str) -> Any:
        # The older name stands for any Edwards curve; here it is this one.
        return super().get_alg("Ed25519" if name == "EdDSA" else name)


_REGISTRY = _Registry()


class Signatures:
    """Checks what external testers sign, against the keys that admins registered."""

    def __init__(self, database: Database, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now

    def verify(self, signature: str, body: bytes, run_id: str, side: str) -> Signer:
        """The tester that signed exactly ``body``, now, for one side (``before`` or ``after``) of one run.

        Raises:
            NotAuthenticated: it is no signature, not of a known tester, not of this body, for another run or side,
                or too old.
        """
        if len(parts := signature.split(".")) != 3 or parts[1]:
            raise NotAuthenticated("this is not a detached signature: header..signature", hint=_HINT)
        try:
            found = jws.extract_compact(signature.encode("ascii"), body, _REGISTRY)
            header = found.headers()
            _REGISTRY.check_header(header)
        except (JoseError, ValueError, TypeError) as error:
            # Other than a `JoseError`: not ASCII, or the header is no JSON object.
            raise NotAuthenticated(
                f"this is no measurement's signature: {_error_text(error)}", hint=_HINT
            ) from error
        tester = self._tester(header["kid"])
        self._check_bytes(found, tester.public_key)
        self._check_purpose(header, run_id, side)
        return Signer(tester.name, None if tester.networks is None else tuple(tester.networks))

    def _tester(self, name: str) -> sa.Row[Any]:
        with self._database.read() as connection:
            row = connection.execute(sa.select(TESTERS).where(TESTERS.c.name == name)).one_or_none()
        if row is None:
            raise NotAuthenticated("no tester has this name", hint="ask an admin to register its key")
        if row.revoked is not None:
            raise NotAuthenticated(f"the key of tester {name} was revoked", hint="ask an admin to register another")
        return row

    def _check_bytes(self, found: jws.CompactSignature, public_key: str) -> None:
        try:
            good = jws.validate_compact(found, OKPKey.import_key(public_key), registry=_REGISTRY)
        except (JoseError, ValueError) as error:
            raise NotAuthenticated(f"the signature cannot be checked: {_error_text(error)}", hint=_HINT) from error
        if not good:
            raise NotAuthenticated(
                "the signature is not this tester's over this body",
                hint="sign the bytes that are sent, with the key whose public half is registered",
            )

    def _check_purpose(self, header: dict[str, Any], run_id: str, side: str) -> None:
        if header["typ"] != TYPE:
            raise NotAuthenticated(f"the signature is for something else: its type is not {TYPE}", hint=_HINT)
        if header["run"] != run_id:
            raise NotAuthenticated("the signature is for another run", hint="sign for this one")
        if header["side"] != side:
            raise NotAuthenticated("the signature is for the other side of the push", hint="sign for this one")
        now, signed = self._now().timestamp(), header["iat"]
        if not now - OLDEST.total_seconds() <= signed <= now + AHEAD.total_seconds():
            when = "too long ago" if signed < now else "in the future"
            raise NotAuthenticated(f"the signature was made {when}", hint="sign anew, and set the tester's clock")


def _error_text(error: Exception) -> str:
    return error.description if isinstance(error, JoseError) else "it cannot be read"
