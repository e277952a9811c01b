"""What all parts of a scenario, and all parts of a result, have in common."""

from __future__ import annotations

import msgspec

VERSION = 1
"""The version of the twin's JSON that these models write and read."""


class ScenarioPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of a scenario: what has the twin's default is not written."""


class ReportPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a result."""
