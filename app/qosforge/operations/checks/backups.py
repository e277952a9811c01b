"""The check of how old the last backup is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import sqlalchemy as sa

from qosforge.access.tables import CALLS
from qosforge.operations.backup import BACKUP_ACTION
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState
from qosforge.runs.record.tables import RUNS

_OLD = timedelta(days=7)
_HINT = "qosforge backup create FILE, daily; it records itself in the audit log"


def check_backup(context: CheckContext) -> Iterator[CheckResult]:
    """A backup was made within a week, where there are runs to lose."""
    with context.store() as connection:
        if connection is None:
            yield CheckResult("backup", CheckState.GOOD, "nothing to back up yet")
            return
        query = (
            sa.select(CALLS.c.at, CALLS.c.resource)
            .where(CALLS.c.action == BACKUP_ACTION, CALLS.c.status == 200)
            .order_by(CALLS.c.seq.desc())
            .limit(1)
        )
        last = connection.execute(query).one_or_none()
        runs = connection.scalar(sa.select(sa.exists().select_from(RUNS)))
    if last is None:
        state = CheckState.WARNING if runs else CheckState.GOOD
        yield CheckResult("backup", state, "none is recorded", _HINT if runs else "")
        return
    age = context.now() - last.at
    told = f"{last.resource}, {age.days} days ago" if age.days else f"{last.resource}, {last.at:%Y-%m-%d %H:%M} UTC"
    yield CheckResult(
        "backup", CheckState.WARNING if age > _OLD else CheckState.GOOD, told, _HINT if age > _OLD else ""
    )
