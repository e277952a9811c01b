"""Tables of the policy library."""

from __future__ import annotations

import sqlalchemy as sa

from qosforge.database.schema import ARTIFACT_ID, METADATA, NAME, UtcDateTime

POLICIES = sa.Table(
    "policies",
    METADATA,
    sa.Column("name", NAME, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("version", ARTIFACT_ID, nullable=False, index=True),
    sa.Column("text", ARTIFACT_ID, nullable=False),
    sa.Column("included", sa.JSON, nullable=False),
    sa.Column("author", NAME, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("source", sa.JSON),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("network", NAME, nullable=False, server_default="*"),
)
"""Versions of policies, numbered from 1 by policy. ``version`` is the hash of the canonical form, ``text`` the
artifact of what was written, ``included`` the artifacts of its includes by name. ``network`` is whose policy it is
(``*``: of all), the same for every version of a name.
"""

POLICY_TAKEOVERS = sa.Table(
    "policy_takeovers",
    METADATA,
    sa.Column("name", NAME, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("network", NAME, primary_key=True),
    sa.Column("by", NAME, primary_key=True),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.ForeignKeyConstraint(["name", "number"], ["policies.name", "policies.number"]),
)
"""Versions of policies for which an operator of a network stands there, though somebody else wrote them."""
