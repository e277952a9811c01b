"""What an external tester signs counts once for what it was signed for, and for nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc import jws
from joserfc.jwk import OKPKey
from joserfc.util import urlsafe_b64encode

from qosforge.access.roles import NotAllowed, NotAuthenticated
from qosforge.access.signatures import TYPE, Signatures, Signer
from qosforge.access.tables import TESTERS
from qosforge.database.connections import Database

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUN = "019a0000-0000-7000-8000-000000000001"
OTHER_RUN = "019a0000-0000-7000-8000-000000000002"
BODY = json.dumps({"measured": "ΔQ"}).encode()
KEY = OKPKey.generate_key("Ed25519")

Sign = Callable[..., str]


@pytest.fixture(scope="module")
def signatures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signatures]:
    database = Database(f"sqlite:///{tmp_path_factory.mktemp('signatures') / 'runs.sqlite'}")

    def row(name: str, key: OKPKey, networks: list[str] | None, *, revoked: bool = False) -> dict[str, Any]:
        return {
            "name": name,
            "public_key": key.as_pem(private=False).decode(),
            "networks": networks,
            "created": NOW,
            "revoked": NOW if revoked else None,
        }

    with database.write() as connection:
        for each in (
            row("probe1", KEY, ["campus"]),
            row("everywhere", KEY, None),
            row("elsewhere", KEY, ["itesm"]),
            row("lost", KEY, None, revoked=True),
            row("other-key", OKPKey.generate_key("Ed25519"), None),
        ):
            connection.execute(sa.insert(TESTERS).values(each))
    yield Signatures(database, lambda: NOW)
    database.close()


def sign(body: bytes = BODY, *, alg: str = "Ed25519", signed: datetime = NOW, **header: Any) -> str:
    """A detached signature; ``header`` replaces what stands in it, and ``None`` leaves it out."""
    stated = {
        "alg": alg,
        "typ": TYPE,
        "kid": "probe1",
        "run": RUN,
        "side": "after",
        "iat": int(signed.timestamp()),
    } | header
    kept = {name: value for name, value in stated.items() if value is not None}
    protected, payload = (urlsafe_b64encode(part).decode() for part in (json.dumps(kept).encode(), body))
    private = KEY.private_key
    assert isinstance(private, Ed25519PrivateKey)
    signature = urlsafe_b64encode(private.sign(f"{protected}.{payload}".encode())).decode()
    return f"{protected}..{signature}"


@pytest.mark.parametrize("alg", ["Ed25519", "EdDSA"])
@pytest.mark.parametrize("tester", ["probe1", "everywhere"])
def test_a_good_signature_names_its_tester(signatures: Signatures, tester: str, alg: str) -> None:
    assert signatures.verify(sign(kid=tester, alg=alg), BODY, RUN, "after").name == tester


@pytest.mark.parametrize("size", [200_000, 5_000_000])
def test_long_measurements_can_be_signed(signatures: Signatures, size: int) -> None:
    body = b"x" * size
    assert signatures.verify(sign(body), body, RUN, "after").name == "probe1"


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        (sign(run=OTHER_RUN), "another run"),
        (sign(side="before"), "other side"),
        (sign(signed=NOW - timedelta(minutes=6)), "too long ago"),
        (sign(signed=NOW + timedelta(minutes=2)), "in the future"),
        (sign(iat=10**40), "in the future"),
        (sign(iat=None), "iat"),
        (sign(iat="now"), "iat"),
        (sign(run=None), "run"),
        (sign(typ="JWT"), "something else"),
        (sign(typ=None), "typ"),
        (sign(kid="nobody"), "no tester"),
        (sign(kid=None), "kid"),
        (sign(kid="lost"), "revoked"),
        (sign(kid="other-key"), "not this tester's"),
        (sign(b"another body"), "not this tester's"),
        (sign(jku="https://example.org/keys"), "jku"),
        (sign(b64=False, crit=["b64"]), "b64|crit|not this tester's"),
        (sign(level="high"), "level"),
        ("", "detached"),
        ("ä..b", "cannot be read"),
        ("a.b.c", "detached"),
        ("..", "no measurement's signature"),
        ("bm8..bm8", "no measurement's signature"),
        (jws.serialize_compact({"alg": "Ed25519"}, BODY, KEY, algorithms=["Ed25519"]), "detached"),
    ],
)
def test_what_is_wrong_with_a_signature_is_reported(signatures: Signatures, signature: str, reason: str) -> None:
    with pytest.raises(NotAuthenticated, match=reason) as refused:
        signatures.verify(signature, BODY, RUN, "after")
    assert refused.value.hint


def test_a_signer_brings_no_key_of_its_own(signatures: Signatures) -> None:
    with pytest.raises(NotAuthenticated, match="jwk"):
        signatures.verify(sign(jwk=KEY.as_dict(private=False)), BODY, RUN, "after")


@pytest.mark.parametrize("alg", ["none", "HS256", "ES256"])
def test_other_algorithms_are_refused(signatures: Signatures, alg: str) -> None:
    with pytest.raises(NotAuthenticated, match=alg):
        signatures.verify(sign(alg=alg), BODY, RUN, "after")


def test_a_tester_is_of_some_networks_or_of_all(signatures: Signatures) -> None:
    signatures.verify(sign(), BODY, RUN, "after").require("campus")
    signatures.verify(sign(kid="everywhere"), BODY, RUN, "after").require("campus")
    elsewhere = signatures.verify(sign(kid="elsewhere"), BODY, RUN, "after")
    assert elsewhere == Signer("elsewhere", ("itesm",))
    with pytest.raises(NotAllowed, match="not registered for network campus"):
        elsewhere.require("campus")
