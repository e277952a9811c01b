"""The client: one service and one token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self
from urllib.parse import quote

from pydantic import BaseModel

from qosforge_client.connection import Connection
from qosforge_client.models import InlinePolicy, NamedPolicy, Policy, PolicyVersion, Preview
from qosforge_client.runs import Runs


class _Policies(BaseModel):
    policies: tuple[PolicyVersion, ...]


class _Versions(BaseModel):
    versions: tuple[PolicyVersion, ...]


class Policies:
    """The policies of a service (`Client.policies`). Every method raises `QosforgeClientError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def newest(self) -> tuple[PolicyVersion, ...]:
        """The newest version of every policy, by name."""
        return self._connection.read(_Policies, "GET", "/policies").policies

    def versions(self, name: str) -> tuple[PolicyVersion, ...]:
        """The versions of a policy, newest first."""
        return self._connection.read(_Versions, "GET", _path(name, "versions")).versions

    def get(self, name: str, number: int | None = None) -> Policy:
        """A version of a policy with its text; without ``number`` the newest."""
        parts = () if number is None else ("versions", str(number))
        return self._connection.read(Policy, "GET", _path(name, *parts))

    def store(
        self,
        name: str,
        text: str,
        *,
        network: str | None = None,
        comment: str = "",
        included: Mapping[str, str] | None = None,
        base: int | None = None,
    ) -> PolicyVersion:
        """Store a text as the newest version; one that is the newest already is given as it is.

        ``network``: whose policy it is, ``*`` that of all; a stored policy stays where it is. ``included`` has the
        texts of includes by name. ``base``: the number of the version that the text began from: where another one
        is the newest by now, `Conflict` is raised.
        """
        body = {
            "text": text,
            "network": network,
            "comment": comment,
            "included": dict(included or {}),
            "base": base,
        }
        return self._connection.read(PolicyVersion, "POST", _path(name, "versions"), body=body)


class Client:
    """A service at ``url`` (https, or http of this machine) with a token of ``qosforge token create``.

    ``seconds``: the longest to wait for one answer. ``allow_plain_http``: let the token travel unencrypted to
    another machine.

    Raises:
        ValueError: the address or the token cannot be one, or the token would travel unencrypted.
    """

    def __init__(self, url: str, token: str, *, seconds: float = 120.0, allow_plain_http: bool = False) -> None:
        self._connection = Connection(url, token, seconds=seconds, allow_plain_http=allow_plain_http)
        self.policies = Policies(self._connection)
        self.runs = Runs(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._connection.close()

    def preview(
        self,
        network: str,
        policy: InlinePolicy | NamedPolicy,
        *,
        devices: Sequence[str] = (),
        live: bool = False,
        strict: bool = False,
    ) -> Preview:
        """What a policy would do to a network, or to some of its devices. Nothing is changed.

        ``live``: read the devices, and tell what would be entered into each. Findings do not fail the call: `good`
        says whether any stands against a push.

        Raises:
            QosforgeClientError: the policy cannot be read, the service told another problem, or is not reached.
        """
        body = {
            "network": network,
            "policy": policy.model_dump(mode="json"),
            "devices": list(devices),
            "live": live,
            "strict": strict,
        }
        return self._connection.read(Preview, "POST", "/compile", body=body)


def _path(name: str, *parts: str) -> str:
    return "/".join(("/policies", quote(name, safe=""), *parts))
