"""Request and response bodies of the routes about users, tokens and testers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StrictInt, StringConstraints
from pydantic.config import JsonDict

from qosforge.access.audit_log import LoggedCall
from qosforge.access.passwords import LONGEST, SHORTEST
from qosforge.access.roles import Role
from qosforge.access.tokens import LONGEST_LIFE, USUAL_LIFE

_REQUEST = ConfigDict(extra="forbid")

_KEY = (  # RFC 8410: always these twelve bytes, then the key
    r"^-----BEGIN PUBLIC KEY-----\r?\nMCowBQYDK2VwAyEA[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="
    r"\r?\n-----END PUBLIC KEY-----(\r?\n)?$"
)
_KEY_EXAMPLE = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
"""  # RFC 8037, appendix A.2

_VISIBLE = r"^[^\x00-\x1f\x7f]+$"

UserName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._@-]{0,63}$")]
NetworkName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
DeviceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
NetworkOrAll = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9._-]{0,127})$")]
Line = Annotated[str, StringConstraints(max_length=128, pattern=r"^[^\x00-\x1f\x7f]*$")]

# A body with a NUL is refused before it is looked at; of a secret, pydantic checks no pattern.
_WRITABLE: JsonDict = {"pattern": r"^[^\x00]*$"}
_PASSWORD = Field(max_length=LONGEST, json_schema_extra=_WRITABLE, examples=["several words of my own"])
Password = Annotated[SecretStr, _PASSWORD]
NewPassword = Annotated[SecretStr, Field(min_length=SHORTEST), _PASSWORD]

Networks = Annotated[list[NetworkName] | None, Field(min_length=1, max_length=1000)]
"""Where something counts; null: everywhere."""


class Me(BaseModel):
    """Who calls, and what the credential may do by network (``*``: all).

    ``csrf`` is what mutating calls of a web session carry in the header ``X-CSRF-Token``; null for a token.
    """

    name: str = Field(examples=["ann"])
    credential: str = Field(examples=["token:3a57c0effa218cf2", "session"])
    roles: dict[str, Role] = Field(examples=[{"campus": "operator"}])
    csrf: str | None


class SessionView(BaseModel):
    """An open web session. ``used``: when last, to a minute; ``ends``: when, unless it is used before;
    ``current``: whether it is the one that asks; ``browser`` and ``system``: of the login; ``address``: of the
    last use.
    """

    id: str = Field(examples=["9f86d081884c7d65"])
    begun: datetime
    used: datetime
    ends: datetime
    address: str | None = Field(examples=["192.0.2.7"])
    browser: str | None = Field(examples=["Firefox"])
    system: str | None = Field(examples=["Linux"])
    current: bool


class LoginCredentials(BaseModel):
    """A user's name and password."""

    model_config = _REQUEST

    name: UserName = Field(examples=["ann"])
    password: Password


class PasswordChange(BaseModel):
    """The caller's current password and the new one."""

    model_config = _REQUEST

    current: Password
    new: NewPassword


class Identity(BaseModel):
    """Who a user is at an OpenID Connect provider."""

    model_config = _REQUEST

    issuer: str = Field(pattern=_VISIBLE, max_length=255, examples=["https://id.example.net"])
    subject: str = Field(pattern=_VISIBLE, max_length=255, examples=["24400320"])


class NewUser(BaseModel):
    """A new user, without any role; with ``identity`` one who logs in by an OpenID Connect provider."""

    model_config = _REQUEST

    name: UserName = Field(examples=["ann"])
    identity: Identity | None = None


class PasswordSetting(BaseModel):
    """A user's new password; null removes it."""

    model_config = _REQUEST

    password: NewPassword | None


class Grant(BaseModel):
    """The role to grant on the network of the path."""

    model_config = _REQUEST

    role: Role


class NewToken(BaseModel):
    """A new token: its highest role, its networks and its lifetime.

    ``networks`` null: wherever its user may do something. ``user``: whose it is, by default the caller's.
    """

    model_config = _REQUEST

    name: Line = Field(default="", examples=["pipeline of campus/qos"])
    role: Role
    networks: Networks = Field(default=None, examples=[["campus"]])
    days: StrictInt = Field(default=USUAL_LIFE.days, ge=1, le=LONGEST_LIFE.days)
    user: UserName | None = None


class TokenView(BaseModel):
    """A token without its secret."""

    model_config = ConfigDict(from_attributes=True)

    id: str = Field(examples=["3a57c0effa218cf2"])
    user: str
    name: str
    role: Role
    networks: list[str] | None
    created: datetime
    expires: datetime
    revoked: datetime | None
    last_used: datetime | None = Field(description="When it was last let in, to a minute; null: never.")


class CreatedToken(TokenView):
    """A new token with its text, which is shown only once."""

    token: str = Field(examples=["qf_3a57c0effa218cf2_…"])


class UserView(BaseModel):
    """A user, with the roles that the caller may manage."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    disabled: bool
    has_password: bool
    issuer: str | None
    subject: str | None
    created: datetime
    roles: dict[str, Role] = Field(examples=[{"campus": "operator"}])


class NewTester(BaseModel):
    """A new external tester, with its public key (Ed25519, PEM)."""

    model_config = _REQUEST

    name: UserName = Field(examples=["probe-1"])
    public_key: str = Field(pattern=_KEY, examples=[_KEY_EXAMPLE])
    networks: Networks = Field(default=None, examples=[["campus"]])


class TesterView(BaseModel):
    """An external tester."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    public_key: str
    networks: list[str] | None
    created: datetime
    revoked: datetime | None


class CallPage(BaseModel):
    """A part of the audit log, oldest first; ``next``: what to ask for ``after`` to read on, null at its end."""

    calls: list[LoggedCall]
    next: int | None
