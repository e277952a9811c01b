"""Sweeps: one policy with many parameter values, each measured on the twin of its own compiled plans.

No device is touched or read: the evidence is ``predicted``. A sweep is rows; executors measure its points.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict

from qosforge.artifacts.store import Artifacts, canonical_json
from qosforge.database.connections import Database
from qosforge.errors import InputError, Place
from qosforge.expansion import combine
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.models import Network
from qosforge.runs.record.ids import new_run_id
from qosforge.runs.record.tables import SCHEMA_VERSION
from qosforge.sweeps.tables import SWEEP_POINTS, SWEEPS
from qosforge.tester.measurable import require_checks

MOST_POINTS = 1000
"""Points of one sweep."""
MOST_VALUES = 64
"""Values of one parameter, and seeds."""


class PointOutcome(StrEnum):
    """What came of a point: the verdict on all objectives together, or why there is none."""

    MET = "met"
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"
    REJECTED = "rejected"
    """Error findings stand against it."""
    FAILED = "failed"
    """It is no valid intent with these values, or the twin cannot measure it."""


@dataclass(eq=False)
class SweepUnknown(InputError):
    """There is no such sweep, or not this point of it."""


@dataclass(frozen=True)
class NewSweep:
    """What a sweep is asked for: every combination of the values of ``parameters``, under every seed."""

    network: Network
    written: PolicySource
    parameters: Mapping[str, Sequence[Any]]
    seeds: Sequence[int] = (1,)


class Sweep(BaseModel):
    """A sweep with the number of its points, and of those that ended."""

    model_config = ConfigDict(frozen=True)

    id: str
    network: str
    policy: str
    created_by: str
    created: datetime
    points: int
    ended: int


@dataclass(frozen=True)
class SweepPoint:
    """A point: its parameters and seed, and what came of it; ``result`` is an artifact with all figures."""

    sweep_id: str
    number: int
    parameters: dict[str, Any]
    seed: int
    executor: str | None
    ended: datetime | None
    outcome: PointOutcome | None
    result: str | None
    error: str


class Sweeps:
    """The rows of sweeps; safe to share between threads and processes."""

    def __init__(
        self,
        database: Database,
        artifacts: Artifacts,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._artifacts = artifacts
        self._now = now

    def submit(self, order: NewSweep, who: str) -> Sweep:
        """Record a sweep; executors take up its points.

        Raises:
            InputError, InputErrors: the policy is no valid intent with the first values, judges nothing, or the
                sweep has no point or too many.
        """
        combinations = _combinations(order)
        first = load_policy(_with(order.written, combinations[0]["parameters"]))
        require_checks(first)
        put = self._artifacts.put_text
        sweep = {
            "id": new_run_id(),
            "network": order.network.name,
            "policy": first.intent.intent,
            "requested_by": who,
            "params": {
                "network": put(order.network.model_dump_json(by_alias=True)),
                "text": put(order.written.text),
                "file": order.written.file,
                "included": {name: put(text) for name, text in order.written.included.items()},
                "parameters": dict(order.written.parameters),
            },
            "created": self._now(),
            "schema_version": SCHEMA_VERSION,
        }
        points = [
            {"sweep_id": sweep["id"], "number": number, "params": params}
            for number, params in enumerate(combinations, 1)
        ]

        def write(connection: sa.Connection) -> None:
            # An attempt whose answer was lost may have written it already.
            if connection.scalar(sa.select(SWEEPS.c.id).where(SWEEPS.c.id == sweep["id"])) is None:
                connection.execute(sa.insert(SWEEPS).values(sweep))
                connection.execute(sa.insert(SWEEP_POINTS), points)
                self._database.announce(connection)

        self._database.transact(write)
        return self.get(str(sweep["id"]))

    def get(self, sweep_id: str) -> Sweep:
        """A sweep by its id.

        Raises:
            SweepUnknown: there is none.
        """
        found = self._sweeps(SWEEPS.c.id == sweep_id)
        if not found:
            raise SweepUnknown("there is no such sweep", Place(path="sweep_id"), "GET /api/v1/sweeps lists them")
        return found[0]

    def newest(self, networks: Collection[str] | None, before: str | None = None, limit: int = 50) -> list[Sweep]:
        """The newest sweeps of networks (``None``: of all), newest first, before a sweep."""
        wanted = [SWEEPS.c.network.in_(sorted(networks))] if networks is not None else []
        return self._sweeps(*wanted, *([SWEEPS.c.id < before] if before is not None else []), limit=limit)

    def points(self, sweep_id: str) -> list[SweepPoint]:
        """The points of a sweep, by number."""
        query = sa.select(SWEEP_POINTS).where(SWEEP_POINTS.c.sweep_id == sweep_id).order_by(SWEEP_POINTS.c.number)
        with self._database.read() as connection:
            return [_point(row) for row in connection.execute(query)]

    def point(self, sweep_id: str, number: int) -> SweepPoint:
        """A point of a sweep.

        Raises:
            SweepUnknown: there is none of this number.
        """
        found = [point for point in self.points(sweep_id) if point.number == number]
        if not found:
            raise SweepUnknown("the sweep has no such point", Place(path="number"), "points are numbered from 1")
        return found[0]

    def any_open(self) -> bool:
        """Whether a point has no outcome yet."""
        found = sa.select(sa.exists().where(SWEEP_POINTS.c.outcome.is_(None)))
        return bool(self._database.query(lambda connection: connection.scalar(found)))

    def open_points(self, limit: int = 500) -> list[tuple[str, int]]:
        """Points that have no outcome yet, the oldest sweeps' first."""
        query = (
            sa.select(SWEEP_POINTS.c.sweep_id, SWEEP_POINTS.c.number)
            .where(SWEEP_POINTS.c.outcome.is_(None))
            .order_by(SWEEP_POINTS.c.sweep_id, SWEEP_POINTS.c.number)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [(row.sweep_id, row.number) for row in connection.execute(query)]

    def point_input(self, sweep_id: str, number: int) -> tuple[Network, PolicySource, int]:
        """What a point is to measure: network, policy with its values, and seed.

        Raises:
            SweepUnknown: there is no such point.
            StoreError: an artifact is missing or damaged.
        """
        with self._database.read() as connection:
            params = connection.execute(sa.select(SWEEPS.c.params).where(SWEEPS.c.id == sweep_id)).scalar_one()
        point = self.point(sweep_id, number)
        text = self._artifacts.get_text
        written = PolicySource(
            text(params["text"]),
            params["file"],
            {name: text(artifact) for name, artifact in params["included"].items()},
            params["parameters"],
        )
        return (
            Network.model_validate_json(text(params["network"])),
            _with(written, point.parameters),
            point.seed,
        )

    def end(
        self,
        sweep_id: str,
        number: int,
        outcome: PointOutcome,
        executor: str,
        *,
        result: str | None = None,
        error: str = "",
    ) -> None:
        """Record what came of a point; the first to say so is believed."""
        change = (
            sa.update(SWEEP_POINTS)
            .where(
                SWEEP_POINTS.c.sweep_id == sweep_id,
                SWEEP_POINTS.c.number == number,
                SWEEP_POINTS.c.outcome.is_(None),
            )
            .values(outcome=outcome.value, executor=executor, ended=self._now(), result=result, error=error)
        )
        self._database.transact(lambda connection: connection.execute(change))

    def _sweeps(self, *wanted: sa.ColumnElement[bool], limit: int = 1) -> list[Sweep]:
        counted = (
            sa.select(SWEEPS, sa.func.count().label("points"), sa.func.count(SWEEP_POINTS.c.outcome).label("over"))
            .join(SWEEP_POINTS, SWEEP_POINTS.c.sweep_id == SWEEPS.c.id)
            .where(*wanted)
            .group_by(SWEEPS.c.id)
            .order_by(SWEEPS.c.id.desc())
            .limit(limit)
        )
        shown = [column for column in counted.selected_columns if column.name != "params"]
        query = counted.with_only_columns(*shown)
        with self._database.read() as connection:
            return [
                Sweep(
                    id=row.id,
                    network=row.network,
                    policy=row.policy,
                    created_by=row.requested_by,
                    created=row.created,
                    points=row.points,
                    ended=row.over,
                )
                for row in connection.execute(query)
            ]


def _combinations(order: NewSweep) -> list[dict[str, Any]]:
    for name, values in (*order.parameters.items(), ("seeds", order.seeds)):
        if not 1 <= len(values) <= MOST_VALUES:
            raise InputError(f"{name} has {len(values)} values", hint=f"give 1 to {MOST_VALUES}")
        try:
            canonical_json(list(values))
        except ValueError:
            raise InputError(f"{name} has a value that is no number", hint="give a finite one") from None
    count = len(order.seeds)
    for values in order.parameters.values():
        count *= len(values)
    if count > MOST_POINTS:
        raise InputError(f"the sweep has {count:,} points", hint=f"ask for at most {MOST_POINTS:,}")
    names = sorted(order.parameters)
    return [
        {"parameters": dict(zip(names, values, strict=True)), "seed": seed}
        for values in combine(*(order.parameters[name] for name in names))
        for seed in order.seeds
    ]


def _with(written: PolicySource, parameters: Mapping[str, Any]) -> PolicySource:
    return PolicySource(written.text, written.file, written.included, {**written.parameters, **parameters})


def _point(row: sa.Row[Any]) -> SweepPoint:
    outcome = None if row.outcome is None else PointOutcome(row.outcome)
    params = row.params
    return SweepPoint(
        row.sweep_id,
        row.number,
        params["parameters"],
        params["seed"],
        row.executor,
        row.ended,
        outcome,
        row.result,
        row.error,
    )
