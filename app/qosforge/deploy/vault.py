"""Secrets of HashiCorp Vault: its key-value engines (versions 1 and 2), read over HTTP by `hvac`."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import hvac
import requests
from hvac import exceptions

from qosforge.deploy.lookup import Failure, Lookups, call_within, one_line
from qosforge.deploy.secret_source import FromVault
from qosforge.deploy.vault_access import VaultAccess, vault_access
from qosforge.errors import InputError, Place
from qosforge.visible import visible

SECONDS = 20.0
"""Longest time for one secret, with the login before it."""
_TIMEOUTS = (5.0, 10.0)
"""Seconds for a connection, and of silence after it."""

_IS_IT_UP = "is VAULT_ADDR right, and the Vault up?"

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class _Path:
    """A secret in a Vault, whichever of its fields is wanted."""

    mount: str
    path: str
    kv: int

    def __str__(self) -> str:
        return f"{self.mount}/{self.path}"

    @property
    def in_api(self) -> str:
        """As policies and the HTTP interface name it."""
        return f"{self.mount}/{self.path}" if self.kv == 1 else f"{self.mount}/data/{self.path}"


class VaultReader:
    """Reads each secret once, and logs in once; what it read is in memory alone."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Nothing is contacted, and no variable is looked at yet."""
        self._environment = environment
        self._client: hvac.Client | None = None
        self._secrets: Lookups[_Path, Fields] = Lookups(self._look)

    def read(self, source: FromVault, where: Place) -> str:
        """The value of a field.

        Raises:
            InputError: the variables about the Vault are wrong, it does not answer, it refuses, or it has no such
                field.
        """
        path = _Path(source.mount, source.vault, source.kv)
        fields = self._secrets.get(path)
        if isinstance(fields, Failure):
            raise InputError(fields.message, where, fields.hint)
        if source.field not in fields:
            hint = f"vault kv get -mount={source.mount} {source.vault} shows its fields"
            raise InputError(f"the secret {path} has no field {source.field!r}", where, hint)
        value = one_line(fields[source.field])
        if isinstance(value, Failure):
            raise InputError(f"the field {source.field!r} of {path} {value.message}", where, value.hint)
        return value

    def _look(self, path: _Path) -> Fields | Failure:
        access = vault_access(self._environment)
        at = f"the Vault at {access.address}"
        at += f" (namespace {access.namespace})" if access.namespace else ""
        # What libraries say may quote headers and answers, so that none of it is passed on.
        try:
            return call_within(SECONDS, partial(self._fetch, access, path))
        except _Refused as refusal:
            return Failure(f"{at} {refusal.message}", refusal.hint, refusal.everywhere)
        except (requests.Timeout, TimeoutError):
            return Failure(f"{at} does not answer in time", _IS_IT_UP, everywhere=True)
        except requests.RequestException as error:
            return _not_reached(at, error)
        except exceptions.VaultError as error:
            return _refusal(at, error, path)
        except (KeyError, TypeError, AttributeError, ValueError):
            return Failure(f"what answers at {access.address} is no Vault", "correct VAULT_ADDR", everywhere=True)

    def _fetch(self, access: VaultAccess, path: _Path) -> Fields:
        is_new = self._client is None
        if self._client is None:
            self._client = _log_in(access)
        try:
            return _fields(self._client, path)
        except exceptions.Forbidden:
            if _takes_token(self._client):
                hint = f"the token's policies need the capability read on {path.in_api}"
                raise _Refused(f"does not let this token read {path}", hint) from None
            self._client = None
        if is_new:
            raise _Refused(
                "does not take the token: it is expired, revoked or of another Vault",
                "log in again (vault login), or set VAULT_TOKEN to one that is valid",
                everywhere=True,
            )
        # A run may be longer than a token lives, and there may be another by now.
        return self._fetch(access, path)


class _Refused(Exception):
    """The Vault answered, and gave nothing."""

    def __init__(self, message: str, hint: str, *, everywhere: bool = False) -> None:
        super().__init__(message)
        self.message, self.hint, self.everywhere = message, hint, everywhere


def _log_in(access: VaultAccess) -> hvac.Client:
    session = requests.Session()
    # Neither ~/.netrc nor a proxy that a variable names may get hold of a token.
    session.trust_env = False
    session.verify = access.verify
    client = hvac.Client(
        url=access.address,
        token=access.token,
        session=session,
        verify=access.verify,
        timeout=_TIMEOUTS,
        namespace=access.namespace,
        allow_redirects=False,  # requests would send the token to whatever host is named
    )
    if access.role is not None:
        role = access.role
        try:
            answer = client.auth.approle.login(role.role, role.secret, use_token=False, mount_point=role.mount)
        except (exceptions.InvalidRequest, exceptions.Unauthorized, exceptions.Forbidden, exceptions.InvalidPath):
            raise _Refused(
                "refuses the login by AppRole",
                "check role id and secret id (one may be used up or expired), and VAULT_APPROLE_MOUNT",
                everywhere=True,
            ) from None
        client.token = _document(answer)["auth"]["client_token"]
    return client


def _fields(client: hvac.Client, path: _Path) -> Fields:
    if path.kv == 1:
        answer = client.secrets.kv.v1.read_secret(path.path, mount_point=path.mount)
    else:
        answer = client.secrets.kv.v2.read_secret_version(
            path.path, mount_point=path.mount, raise_on_deleted_version=True
        )
    data = _document(answer)["data"]
    fields = data if path.kv == 1 else data["data"]
    if not isinstance(fields, dict):
        raise TypeError
    return fields


def _document(answer: object) -> dict[str, Any]:
    """The JSON object of an answer; `hvac` gives anything else that is no error as the response itself."""
    if isinstance(answer, dict):
        return answer
    if isinstance(answer, requests.Response) and answer.is_redirect:
        host = visible(urlsplit(answer.headers["location"]).hostname or "another path")
        raise _Refused(f"sends elsewhere, to {host}", "set VAULT_ADDR to the active server", everywhere=True)
    raise TypeError


def _takes_token(client: hvac.Client) -> bool:
    """Whether a token is valid: what may not be read and what is expired have the same status."""
    try:
        client.auth.token.lookup_self()
    except exceptions.Forbidden:
        return False
    return True


def _refusal(at: str, error: exceptions.VaultError, path: _Path) -> Failure:
    """What a status of Vault's means (its API documentation, "HTTP status codes")."""
    match error:
        case exceptions.InvalidPath():
            other = 1 if path.kv == 2 else 2
            return Failure(
                f"{at} has no secret {path}, or its newest version is deleted",
                f"give the path without the mount and without data/; for an engine of version {other}, kv: {other}",
            )
        case exceptions.VaultDown():
            return Failure(f"{at} is sealed, or down", "unseal it (vault status tells)", everywhere=True)
        case exceptions.VaultNotInitialized():
            return Failure(f"{at} is not initialised", "vault operator init", everywhere=True)
        case exceptions.RateLimitExceeded():
            return Failure(f"{at} has too many requests", "try again later", everywhere=True)
    return Failure(f"{at} failed: {type(error).__name__}", "look at the Vault's own log", everywhere=True)


def _not_reached(at: str, error: requests.RequestException) -> Failure:
    for inner in _causes(error):
        if isinstance(inner, ssl.SSLCertVerificationError):
            told = f"the certificate of {at.removeprefix('the ')} is not good: {inner.verify_message}"
            return Failure(told, "set VAULT_CACERT to its authority's certificate", everywhere=True)
        if isinstance(inner, OSError) and not isinstance(inner, requests.RequestException) and inner.strerror:
            return Failure(f"{at} is not reached: {inner.strerror}", _IS_IT_UP, everywhere=True)
    return Failure(f"{at} is not reached", _IS_IT_UP, everywhere=True)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error of `requests` with what it came from: in `urllib3` that is a reason, an argument or a cause."""
    inner: BaseException | None = error
    while inner is not None:
        yield inner
        inside = [getattr(inner, "reason", None), *inner.args, inner.__cause__]
        inner = next((one for one in inside if isinstance(one, BaseException)), None)
