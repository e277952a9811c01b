"""Tables of users and of what they may do. Secrets are stored as hashes only."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.database.schema import METADATA, NAME, SEQUENCE, UtcDateTime

_HASH = sa.String(64)
_ID = sa.String(36)

USERS = sa.Table(
    "users",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("name", NAME, nullable=False, unique=True),
    sa.Column("password_hash", sa.String(255)),
    sa.Column("issuer", sa.String(255)),
    sa.Column("subject", sa.String(255)),
    sa.Column("disabled", sa.Boolean, nullable=False),
    sa.Column("created", UtcDateTime, nullable=False),
    sa.UniqueConstraint("issuer", "subject"),
)
"""``issuer`` and ``subject`` are those of an OpenID Connect provider, where the user logs in by one."""

GRANTS = sa.Table(
    "grants",
    METADATA,
    sa.Column("user_id", _ID, sa.ForeignKey("users.id"), primary_key=True),
    sa.Column("network", NAME, primary_key=True),
    sa.Column("role", sa.String(16), nullable=False),
)
"""A role on one network, or on every network where ``network`` is ``*``."""

TOKENS = sa.Table(
    "tokens",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("user_id", _ID, sa.ForeignKey("users.id"), nullable=False, index=True),
    sa.Column("name", NAME, nullable=False),
    sa.Column("hash", _HASH, nullable=False, unique=True),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("networks", sa.JSON),
    sa.Column("parent", _ID),
    sa.Column("created", UtcDateTime, nullable=False),
    sa.Column("expires", UtcDateTime, nullable=False),
    sa.Column("revoked", UtcDateTime),
    sa.Column("last_used", UtcDateTime),
)
"""``role`` and ``networks`` (null: all) bound what the token may do, whatever its user may. ``parent`` is the token
that made it, if one did: it goes when that one is revoked. ``last_used`` is to a minute (null: never, as far as it
was kept).
"""

SESSIONS = sa.Table(
    "web_sessions",
    METADATA,
    sa.Column("hash", _HASH, primary_key=True),
    sa.Column("user_id", _ID, sa.ForeignKey("users.id"), nullable=False, index=True),
    sa.Column("created", UtcDateTime, nullable=False),
    sa.Column("expires", UtcDateTime, nullable=False),
    sa.Column("ended", UtcDateTime),
    sa.Column("address", sa.String(64)),
    sa.Column("browser", sa.String(64)),
    sa.Column("system", sa.String(64)),
)
"""``expires`` is the idle end, put off by use; the absolute one counts from ``created``. ``address`` used it last;
this, ``browser`` and ``system`` go with the session's end.
"""

BROWSERS = sa.Table(
    "known_browsers",
    METADATA,
    sa.Column("hash", _HASH, primary_key=True),
    sa.Column("user_id", _ID, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("created", UtcDateTime, nullable=False),
)
"""Browsers in which users logged in, by the hash of a cookie that opens nothing."""

TESTERS = sa.Table(
    "testers",
    METADATA,
    sa.Column("name", NAME, primary_key=True),
    sa.Column("public_key", sa.Text, nullable=False),
    sa.Column("networks", sa.JSON),
    sa.Column("created", UtcDateTime, nullable=False),
    sa.Column("revoked", UtcDateTime),
)
"""External testers that may give measurements, by their public keys (Ed25519, PEM)."""

ACTION_LENGTH = 64
"""Characters of what was asked that a row of the log holds; longer ones are cut."""

CALLS = sa.Table(
    "calls",
    METADATA,
    sa.Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("actor", NAME, nullable=False),
    sa.Column("credential", sa.String(64), nullable=False),
    sa.Column("action", sa.String(ACTION_LENGTH), nullable=False),
    sa.Column("network", NAME, nullable=False),
    sa.Column("resource", sa.String(255), nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("request_id", sa.String(64), nullable=False),
    sa.Column("detail", sa.JSON, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False, server_default=""),
    sa.Column("reason", sa.String(255), nullable=False, server_default=""),
    sa.Index("ix_calls_kind_seq", "kind", "seq"),
    sqlite_autoincrement=True,
)
"""The log of every mutating call; the database itself refuses changes to it. ``credential`` says by what the actor
was known (``token:<id>``, ``session``, ``local``), ``action`` what was asked (``POST /api/v1/runs``), ``kind`` what
it is about (`qosforge.access.call_kinds`), ``reason`` why it was refused or failed, as its caller was told.
"""

LOGIN_ADDRESSES = sa.Table(
    "login_addresses",
    METADATA,
    sa.Column("seq", SEQUENCE, primary_key=True, autoincrement=False),
    sa.Column("at", UtcDateTime, nullable=False, index=True),
    sa.Column("address", sa.String(64), nullable=False),
)
"""From which address the login of a row (``seq``) of the log failed. It tells of people, and is deleted after
`qosforge.access.audit_log.ADDRESS_KEPT`: a row of the log itself never is.
"""

OPEN_CALLS = sa.Table(
    "open_calls",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("at", UtcDateTime, nullable=False, index=True),
    sa.Column("actor", NAME, nullable=False),
    sa.Column("credential", sa.String(64), nullable=False),
    sa.Column("action", sa.String(ACTION_LENGTH), nullable=False),
    sa.Column("network", NAME, nullable=False),
    sa.Column("resource", sa.String(255), nullable=False),
    sa.Column("request_id", sa.String(64), nullable=False),
)
"""Calls that are about to change something and have no row in the log yet: what a process that died left here goes
into the log, too.
"""
