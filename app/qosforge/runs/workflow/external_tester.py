"""Measurements that an external tester gives for a run, accepted only while the run waits for them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from qosforge.artifacts.store import Artifacts
from qosforge.errors import InputError, Place, TesterError
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.runs.record.events import EventKind
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import EXTERNAL_MEASUREMENTS, RunStatus
from qosforge.tester.measurement.document import Measurement, Side
from qosforge.tester.measurement.judging import ClassVerdict, verdicts

EXTERNAL_TESTER_SECONDS = 600.0
"""How long a run waits for an outside measurement: well below the time after which devices go back by themselves.
"""


def waiting_for(when: Side) -> str:
    """What a run that waits for a measurement says it waits for."""
    return f"an outside measurement {when} the push"


def awaited_side(run: Run) -> Side | None:
    """The side of the push of which a run waits for a measurement now."""
    sides: tuple[Side, ...] = ("before", "after")
    if run.status is not RunStatus.RUNNING:
        return None
    return next((side for side in sides if run.waits_for == waiting_for(side)), None)


def judged(loaded: LoadedIntent, network: Network, measurement: Measurement) -> tuple[ClassVerdict, ...]:
    """The verdicts on an outside measurement.

    Raises:
        TesterError: it lacks a scenario, or samples of a flow that is judged.
    """
    try:
        return verdicts(loaded.intent, network, measurement)
    except (KeyError, ValueError) as error:
        raise TesterError(f"the measurement cannot be judged: {error.args[0]}") from error


def receive(
    store: RunStore, artifacts: Artifacts, run: Run, side: Side, *, tester: str, document: Measurement
) -> None:
    """Take in a measurement; the same one again changes nothing.

    Raises:
        InputError: it is of the other side, or of something that nobody measured.
        InvalidState: the run does not wait for it, or another one came first.
    """
    if document.when != side:
        raise InputError(f"the measurement says {document.when}, and was given as {side}", Place(path="when"))
    if document.evidence != "measured":
        raise InputError(
            f"an outside measurement is not {document.evidence}",
            Place(path="evidence"),
            "give what packets on a wire did: evidence 'measured'",
        )
    artifact = artifacts.put_text(document.model_dump_json())

    def take(now: Run, connection: sa.Connection) -> Mapping[str, Any] | None:
        if now.status is not RunStatus.RUNNING or now.waits_for != waiting_for(side) or now.due is None:
            raise InvalidState(f"run {now.id} does not wait for {waiting_for(side)}", hint="look at the run")
        this = (EXTERNAL_MEASUREMENTS.c.run_id == now.id) & (EXTERNAL_MEASUREMENTS.c.side == side)
        held = connection.execute(sa.select(EXTERNAL_MEASUREMENTS).where(this)).one_or_none()
        if held is not None and held.at >= now.due - timedelta(seconds=EXTERNAL_TESTER_SECONDS):
            if (held.measurement, held.tester) != (artifact, tester):
                raise InvalidState(
                    f"{held.tester} gave another measurement {side} the push", hint="the first counts"
                )
            return None
        connection.execute(sa.delete(EXTERNAL_MEASUREMENTS).where(this))  # of an earlier attempt
        row = {"run_id": now.id, "side": side, "tester": tester, "measurement": artifact, "at": store.now()}
        connection.execute(sa.insert(EXTERNAL_MEASUREMENTS).values(row))
        store.events.write(connection, now.id, EventKind.MEASUREMENT, {"side": side, "tester": tester})
        return None

    store.change(run.id, take)


def received(store: RunStore, run_id: str, side: Side, since: datetime) -> str | None:
    """Artifact of the measurement that came for a side of a run since a moment."""
    table = EXTERNAL_MEASUREMENTS
    query = sa.select(table.c.measurement).where(
        table.c.run_id == run_id, table.c.side == side, table.c.at >= since
    )
    return store.database.query(lambda connection: connection.scalar(query))
