"""Login by an OpenID Connect provider: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0).

Nothing is stored between the two halves of a login: state, nonce and code verifier derive from one secret that
the browser keeps in a cookie, so only the browser that began a login can end it.
"""

from __future__ import annotations

import hmac
import os
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core.claims import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from qosforge.access.credentials import derive_secret
from qosforge.access.roles import NotAuthenticated
from qosforge.errors import InputError, Place, ServiceError
from qosforge.page_addresses import service_address
from qosforge.settings import Settings
from qosforge.variables import SecretVariable

CALLBACK = "/api/v1/login/oidc/callback"

_SECONDS = 10  # for an answer of the provider
_KEPT = timedelta(hours=1)  # the provider's document and keys
_AWAY = timedelta(seconds=10)  # how long a provider that did not answer is not asked again
_LEEWAY = 60  # seconds that its clock may be from ours
_ALGORITHMS = ("RS256", "PS256", "ES256", "Ed25519", "EdDSA")  # by a public key only: never `none`, never an HMAC
_SECRET = SecretVariable.OIDC_CLIENT_SECRET
_AGAIN = "begin the login again"


@dataclass(frozen=True)
class _ProviderKeys:
    """The metadata and keys of a provider, and when they were fetched."""

    metadata: Mapping[str, Any]
    keys: KeySet
    at: datetime


class Provider:
    """One provider, discovered when it is first needed; safe to share between threads."""

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str | None,
        public_url: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """``client_secret``: ``None`` for a public client, which PKCE alone protects."""
        self.issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._redirect_uri = service_address(public_url, CALLBACK)
        self._now = now
        self._tls = ssl.create_default_context()  # read once: it takes longer than a call
        self._lock = threading.Lock()
        self._known: _ProviderKeys | None = None
        self._away: tuple[tuple[str, Place, str], datetime] | None = None

    def begin(self, secret: str) -> str:
        """Where to send the browser that keeps ``secret``.

        Raises:
            ServiceError: the provider cannot be asked, or is not what it should be.
        """
        with self._client() as client:
            url, _ = client.create_authorization_url(
                self._provider_keys().metadata["authorization_endpoint"],
                state=derive_secret(secret, "state"),
                nonce=derive_secret(secret, "nonce"),
                code_verifier=derive_secret(secret, "pkce"),
            )
        return str(url)

    def finish(self, secret: str, answer: Mapping[str, str]) -> str:
        """The subject that logged in, from the parameters with which the provider sent the browser back.

        Raises:
            NotAuthenticated: the login is not this browser's, was refused, or the ID token does not hold.
            ServiceError: the provider cannot be asked, or is not what it should be.
        """
        if not hmac.compare_digest(answer.get("state", "").encode(), derive_secret(secret, "state").encode()):
            raise NotAuthenticated("this login was not begun by this browser", hint=_AGAIN)
        # RFC 9207: a provider that names itself in its answer must be this one.
        if answer.get("iss", self.issuer) != self.issuer:
            raise NotAuthenticated("the answer is another provider's", hint=_AGAIN)
        if "code" not in answer:
            raise NotAuthenticated("the provider refused the login", hint=_AGAIN)
        token = self._token(answer["code"], derive_secret(secret, "pkce"))
        return self._subject(token, derive_secret(secret, "nonce"))

    def _token(self, code: str, verifier: str) -> Mapping[str, Any]:
        endpoint = self._provider_keys().metadata["token_endpoint"]
        try:
            with self._client() as client:
                token: Mapping[str, Any] = client.fetch_token(
                    endpoint, grant_type="authorization_code", code=code, code_verifier=verifier
                )
        except OAuthError as error:
            raise NotAuthenticated(f"the provider does not take the code: {error.error}", hint=_AGAIN) from error
        except (httpx2.HTTPError, ValueError) as error:
            raise self._trouble("the token endpoint does not answer as it should") from error
        return token

    def _subject(self, token: Mapping[str, Any], nonce: str) -> str:
        try:
            found = self._decode(str(token.get("id_token", "")))
            claims = CodeIDToken(
                found.claims,
                found.header,
                {"iss": {"value": self.issuer}, "aud": {"value": self._client_id}},
                {"nonce": nonce, "client_id": self._client_id, "access_token": token.get("access_token")},
            )
            claims.validate(now=int(self._now().timestamp()), leeway=_LEEWAY)
        except (JoseError, ValueError, TypeError) as error:
            reason = error.description if isinstance(error, JoseError) else "it cannot be read"
            raise NotAuthenticated(f"the provider's ID token does not hold: {reason}", hint=_AGAIN) from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:  # its length by Core 1.0, section 2
            raise NotAuthenticated("the provider's ID token names no subject", hint=_AGAIN)
        return subject

    def _decode(self, id_token: str) -> jwt.Token:
        try:
            return jwt.decode(id_token, self._provider_keys().keys, algorithms=_ALGORITHMS)
        except InvalidKeyIdError:  # the provider may have changed its keys
            return jwt.decode(id_token, self._provider_keys(timedelta(minutes=1)).keys, algorithms=_ALGORITHMS)

    def _provider_keys(self, oldest: timedelta = _KEPT) -> _ProviderKeys:
        with self._lock:
            if self._known is not None and self._now() - self._known.at <= oldest:
                return self._known
            # Who waited for the lock is not to wait for the same silence once more: requests would pile up.
            if self._away is not None and self._now() - self._away[1] < _AWAY:
                raise ServiceError(*self._away[0])
            try:
                self._known, self._away = self._discover(), None
            except ServiceError as error:
                self._away = (error.message, error.where, error.hint), self._now()
                raise
            return self._known

    def _discover(self) -> _ProviderKeys:
        """OpenID Connect Discovery 1.0, section 4."""
        try:
            with httpx2.Client(timeout=_SECONDS, verify=self._tls) as client:
                url = self.issuer.rstrip("/") + "/.well-known/openid-configuration"
                metadata = client.get(self._safe(url)).raise_for_status().json()
                if metadata["issuer"] != self.issuer:
                    raise self._trouble("it calls itself by another name")
                for name in ("authorization_endpoint", "token_endpoint"):
                    self._safe(metadata[name])
                keys = client.get(self._safe(metadata["jwks_uri"])).raise_for_status().json()
                return _ProviderKeys(metadata, KeySet.import_key_set(keys), self._now())
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._trouble("it does not answer") from error
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise self._trouble("its document or its keys cannot be read") from error

    def _safe(self, url: object) -> str:
        if not isinstance(url, str):
            raise self._trouble("its document has no URL where there should be one")
        parts = urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise self._trouble(f"{url} is not protected by TLS")
        return url

    def _client(self) -> OAuth2Client:
        return OAuth2Client(
            self._client_id,
            self._client_secret,
            scope="openid",
            redirect_uri=self._redirect_uri,
            code_challenge_method="S256",
            timeout=_SECONDS,
            verify=self._tls,
        )

    def _trouble(self, what: str) -> ServiceError:
        return ServiceError(
            f"the login provider cannot be used: {what}",
            Place(path="QOSFORGE_OIDC_ISSUER"),
            "check the issuer's URL, and that the provider runs",
        )


def open_provider(settings: Settings, environment: Mapping[str, str] = os.environ) -> Provider | None:
    """The provider that the settings name, ``None`` where they name none.

    Its secret comes from the environment (``QOSFORGE_OIDC_CLIENT_SECRET``) or from the file that
    ``QOSFORGE_OIDC_CLIENT_SECRET_FILE`` names.

    Raises:
        InputError: a setting is missing, or the file cannot be read.
    """
    if settings.oidc_issuer is None:
        return None
    for name in ("oidc_client_id", "public_url"):
        if getattr(settings, name) is None:
            raise InputError(
                "a login by a provider needs this setting",
                Place(path=f"QOSFORGE_{name.upper()}"),
                "set it, or unset QOSFORGE_OIDC_ISSUER",
            )
    return Provider(
        settings.oidc_issuer, str(settings.oidc_client_id), _secret(environment), str(settings.public_url)
    )


def _secret(environment: Mapping[str, str]) -> str | None:
    path = environment.get(_SECRET.file)
    if not path:
        return environment.get(_SECRET) or None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise InputError(
            "the file of the client's secret cannot be read",
            Place(file=path),
            f"let the service's user read the file that {_SECRET.file} names",
        ) from error
