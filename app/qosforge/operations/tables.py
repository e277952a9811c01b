"""Every table of the store."""

from __future__ import annotations

import sqlalchemy as sa

# Tables join the metadata when they are imported.
import qosforge.access.tables
import qosforge.artifacts.tables
import qosforge.audit.tables
import qosforge.device_state.tables
import qosforge.policy_library.tables
import qosforge.runs.record.tables
import qosforge.sweeps.tables
import qosforge.webhooks.tables  # noqa: F401
from qosforge.database.schema import METADATA


def every_table() -> list[sa.Table]:
    """The tables of the newest revision; those that others refer to come before them."""
    return METADATA.sorted_tables
