"""Login by an OpenID Connect provider, against a real one on loopback."""

from __future__ import annotations

import hmac
import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from joserfc.util import urlsafe_b64encode

from qosforge.access import oidc
from qosforge.access.credentials import new_secret
from qosforge.access.oidc import Provider, open_provider
from qosforge.access.roles import NotAuthenticated
from qosforge.errors import InputError, ServiceError
from qosforge.settings import Settings
from tests.access.provider import CLIENT, SECRET, IdentityProvider, Signer, serving, sign
from tests.stopwatch import Stopwatch

PUBLIC_URL = "https://qos.example.net"


@pytest.fixture(scope="module")
def key() -> RSAKey:
    return RSAKey.generate_key(2048, auto_kid=True)


@pytest.fixture
def identity(key: RSAKey) -> Iterator[IdentityProvider]:
    with serving(key) as provider:
        yield provider


@pytest.fixture
def provider(identity: IdentityProvider) -> Provider:
    return Provider(identity.issuer, CLIENT, SECRET, PUBLIC_URL)


def visit(url: str) -> dict[str, str]:
    """What a browser brings back from the provider."""
    answer = httpx2.get(url)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["Location"])
    assert f"{back.scheme}://{back.netloc}{back.path}" == f"{PUBLIC_URL}/api/v1/login/oidc/callback"
    return dict(parse_qsl(back.query))


def test_a_login_gives_the_subject(provider: Provider, identity: IdentityProvider) -> None:
    secret = new_secret()
    url = provider.begin(secret)
    asked = dict(parse_qsl(urlsplit(url).query))
    assert (asked["response_type"], asked["scope"], asked["code_challenge_method"]) == ("code", "openid", "S256")
    assert secret not in url
    assert provider.finish(secret, visit(url)) == identity.subject
    provider.begin(new_secret())
    assert identity.asked.count("/keys") == 1  # what it says of itself is kept


def test_another_browser_cannot_end_the_login(provider: Provider) -> None:
    back = visit(provider.begin(new_secret()))
    for secret, answer in ((new_secret(), back), (new_secret(), {"code": back["code"]}), (new_secret(), {})):
        with pytest.raises(NotAuthenticated, match="not begun by this browser"):
            provider.finish(secret, answer)


def test_a_code_counts_once_and_for_its_own_login(provider: Provider) -> None:
    first, second = new_secret(), new_secret()
    back = visit(provider.begin(first))
    other = visit(provider.begin(second))
    with pytest.raises(NotAuthenticated, match="does not take the code: invalid_grant"):  # PKCE
        provider.finish(second, {**other, "code": back["code"]})
    provider.finish(first, back)
    with pytest.raises(NotAuthenticated, match="does not take the code: invalid_grant"):
        provider.finish(first, back)


@pytest.mark.parametrize(
    ("answer", "why"),
    [({"error": "access_denied"}, "refused the login"), ({"code": "x", "iss": "https://evil.example"}, "another")],
)
def test_a_refusal_of_the_provider_is_reported(provider: Provider, answer: dict[str, str], why: str) -> None:
    secret = new_secret()
    state = dict(parse_qsl(urlsplit(provider.begin(secret)).query))["state"]
    with pytest.raises(NotAuthenticated, match=why):
        provider.finish(secret, {"state": state, **answer})


def changed(**claims: Any) -> Signer:
    return lambda right, key: sign(right | claims, key)


def without(name: str) -> Signer:
    return lambda right, key: sign({k: v for k, v in right.items() if k != name}, key)


def by_another_key(claims: dict[str, Any], key: RSAKey) -> str:
    other = RSAKey.generate_key(2048)
    return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, other)


def by_hand(header: dict[str, str], claims: dict[str, Any], signature: Callable[[bytes], bytes]) -> str:
    """A token that no library would sign."""
    signed = b".".join(urlsafe_b64encode(json.dumps(part).encode()) for part in (header, claims))
    return b".".join([signed, urlsafe_b64encode(signature(signed))]).decode()


def unsigned(claims: dict[str, Any], key: RSAKey) -> str:
    return by_hand({"alg": "none"}, claims, lambda _signed: b"")


def by_hmac(claims: dict[str, Any], key: RSAKey) -> str:
    """The public key taken for a shared secret: the classical confusion of algorithms."""
    pem = key.as_pem(private=False)
    return by_hand({"alg": "HS256", "kid": str(key.kid)}, claims, lambda signed: hmac.digest(pem, signed, "sha256"))


@pytest.mark.parametrize(
    "signer",
    [
        pytest.param(changed(iss="https://evil.example"), id="issuer"),
        pytest.param(changed(aud=["another"]), id="audience"),
        pytest.param(changed(aud=[CLIENT, "another"]), id="several audiences without a party"),
        pytest.param(changed(azp="another"), id="party"),
        pytest.param(changed(exp=1), id="expired"),
        pytest.param(changed(nbf=2**40), id="not yet"),
        pytest.param(changed(nonce="another"), id="nonce"),
        pytest.param(changed(at_hash="AAAAAAAAAAAAAAAAAAAAAA"), id="hash of the access token"),
        pytest.param(changed(sub=""), id="empty subject"),
        pytest.param(changed(sub=["a"]), id="subject that is no text"),
        pytest.param(changed(sub="x" * 256), id="long subject"),
        *(pytest.param(without(name), id=f"no {name}") for name in ("iss", "aud", "exp", "iat", "sub", "nonce")),
        pytest.param(by_another_key, id="another key"),
        pytest.param(unsigned, id="unsigned"),
        pytest.param(by_hmac, id="by the public key"),
        pytest.param(lambda _claims, _key: "x.y.z", id="no token"),
        pytest.param(lambda _claims, _key: "", id="empty"),
    ],
)
def test_an_id_token_that_does_not_hold_is_refused(
    provider: Provider, identity: IdentityProvider, signer: Signer
) -> None:
    identity.signer = signer
    secret = new_secret()
    back = visit(provider.begin(secret))
    with pytest.raises(NotAuthenticated, match="ID token"):
        provider.finish(secret, back)


def test_a_provider_may_change_its_keys(identity: IdentityProvider) -> None:
    moment = datetime.now(UTC)
    provider = Provider(identity.issuer, CLIENT, SECRET, PUBLIC_URL, lambda: moment)
    provider.begin(new_secret())
    identity.change_key()
    secret = new_secret()
    moment += timedelta(minutes=2)
    assert provider.finish(secret, visit(provider.begin(secret))) == identity.subject


def test_the_wrong_secret_is_not_taken(identity: IdentityProvider) -> None:
    provider = Provider(identity.issuer, CLIENT, "wrong", PUBLIC_URL)
    secret = new_secret()
    with pytest.raises(NotAuthenticated, match="invalid_client"):
        provider.finish(secret, visit(provider.begin(secret)))


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"issuer": "https://evil.example"}, "another name"),
        ({"token_endpoint": "http://id.example.net/token"}, "TLS"),
        ({"jwks_uri": "file:///etc/passwd"}, "TLS"),
        ({"authorization_endpoint": None}, "no URL"),
        ({"issuer": None}, "another name"),
        ({"jwks_uri": "http://127.0.0.1:1/keys"}, "does not answer"),
    ],
)
def test_a_provider_that_is_not_what_it_should_be_is_not_used(
    provider: Provider,
    identity: IdentityProvider,
    metadata: dict[str, Any],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(oidc, "_AWAY", timedelta(0))  # else it is asked again after a while only
    identity.metadata = metadata
    with pytest.raises(ServiceError, match=why):
        provider.begin(new_secret())
    identity.metadata = {}
    assert provider.begin(new_secret())


def test_a_silent_provider_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc, "_SECONDS", 0.5)
    now = datetime.now(UTC)
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(8) as threads:
        issuer = f"http://127.0.0.1:{silent.getsockname()[1]}"
        provider = Provider(issuer, CLIENT, None, PUBLIC_URL, now=lambda: now)
        watch = Stopwatch()
        tries = [threads.submit(provider.begin, new_secret()) for _ in range(8)]
        for one in tries:
            with pytest.raises(ServiceError, match="does not answer"):
                one.result()
        assert watch.seconds < 1.9  # each for itself: four seconds
        now += timedelta(seconds=11)
        begun = time.monotonic()
        with pytest.raises(ServiceError, match="does not answer"):
            provider.begin(new_secret())
        assert time.monotonic() - begun > 0.4  # it is asked again


def test_settings_make_a_provider(identity: IdentityProvider, tmp_path: Path) -> None:
    settings = Settings(var_dir=tmp_path, oidc_issuer=identity.issuer, oidc_client_id=CLIENT, public_url=PUBLIC_URL)
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    for environment in (
        {"QOSFORGE_OIDC_CLIENT_SECRET": SECRET},
        {"QOSFORGE_OIDC_CLIENT_SECRET_FILE": str(tmp_path / "secret")},
    ):
        provider = open_provider(settings, environment)
        assert provider is not None
        secret = new_secret()
        assert provider.finish(secret, visit(provider.begin(secret))) == identity.subject
    assert SECRET not in repr(settings)
    assert open_provider(Settings(var_dir=tmp_path), {}) is None


def test_settings_that_make_none_are_reported(tmp_path: Path) -> None:
    issuer = "https://id.example.net"
    with pytest.raises(InputError, match="QOSFORGE_OIDC_CLIENT_ID"):
        open_provider(Settings(var_dir=tmp_path, oidc_issuer=issuer), {})
    with pytest.raises(InputError, match="QOSFORGE_PUBLIC_URL"):
        open_provider(Settings(var_dir=tmp_path, oidc_issuer=issuer, oidc_client_id=CLIENT), {})
    whole = Settings(var_dir=tmp_path, oidc_issuer=issuer, oidc_client_id=CLIENT, public_url=PUBLIC_URL)
    with pytest.raises(InputError, match="cannot be read"):
        open_provider(whole, {"QOSFORGE_OIDC_CLIENT_SECRET_FILE": str(tmp_path / "missing")})
