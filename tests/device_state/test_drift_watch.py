"""Which network is looked at next and by whom, and what webhooks are told of what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from qosforge.device_state.drift_watch import (
    LEASE,
    DeviceDrift,
    DriftResult,
    DriftState,
    any_check_due,
    claim_check,
    drift_watch,
    drift_watches,
    postpone_check,
    record_check,
    request_check,
    set_drift_interval,
)
from qosforge.device_state.tables import DRIFT_WATCHES
from qosforge.errors import InputError
from qosforge.runs.record.store import RunStore
from qosforge.webhooks.messages import DATA, EventType
from qosforge.webhooks.registry import WebhookSpec, add_webhook
from qosforge.webhooks.signing import SigningKey
from qosforge.webhooks.tables import DELIVERIES
from qosforge.webhooks.targets import AllowList

EARLY = datetime(2004, 6, 1, tzinfo=UTC)


@pytest.fixture
def live(store_url: str) -> Iterator[RunStore]:
    """A store whose clock is the database's, more or less."""
    with RunStore(store_url) as store:
        yield store


def watch(store: RunStore, network: str, minutes: int | None = 60) -> None:
    """Have a network looked at, at once."""
    database = store.database
    database.transact(lambda c: set_drift_interval(c, network, minutes, database.now(c)))


def hurry(store: RunStore, **values: object) -> None:
    """Let every network that is looked at be due."""
    update = sa.update(DRIFT_WATCHES).where(DRIFT_WATCHES.c.minutes.is_not(None)).values(due=EARLY, **values)
    store.database.transact(lambda connection: connection.execute(update))


def look(store: RunStore, drifted: Mapping[str, str], unread: Mapping[str, str] | None = None) -> EventType | None:
    """Take a look that finds this: a digest by device."""
    hurry(store)
    claimed = claim_check(store.database)
    assert claimed is not None
    found = {device: DeviceDrift(2, digest) for device, digest in drifted.items()}
    return record_check(store.database, claimed[1], DriftResult(store.now(), 3, found, unread or {}, ("r9",)))


def test_a_network_is_looked_at_only_where_it_is_wanted(live: RunStore) -> None:
    assert (drift_watch(live.database, "campus").minutes, any_check_due(live.database)) == (None, False)
    watch(live, "campus")
    assert any_check_due(live.database)
    watch(live, "campus", None)
    assert not any_check_due(live.database)
    assert claim_check(live.database) is None


def test_a_network_is_looked_at_once_where_somebody_asks(live: RunStore) -> None:
    database = live.database
    database.transact(lambda c: request_check(c, "campus", database.now(c)))
    assert drift_watch(database, "campus").is_under_way(live.now())
    claimed = claim_check(database)
    assert claimed is not None
    postpone_check(database, claimed[1], timedelta(0))  # a run is at its devices
    claimed = claim_check(database)
    assert claimed is not None, "it is still wanted"
    assert drift_watch(database, "campus").is_under_way(live.now())
    record_check(database, claimed[1], DriftResult(live.now(), 3))
    seen = drift_watch(database, "campus")
    assert (seen.minutes, seen.due, seen.looked is not None) == (None, None, True)
    assert not seen.is_under_way(live.now())
    assert not any_check_due(database)
    watch(live, "campus")
    database.transact(lambda c: request_check(c, "campus", database.now(c)))
    assert drift_watch(database, "campus").minutes == 60, "the schedule stays"


@pytest.mark.parametrize("minutes", [0, 4, 10081, -5])
def test_neither_too_often_nor_too_seldom(live: RunStore, minutes: int) -> None:
    with pytest.raises(InputError, match="so often, or so seldom"):
        watch(live, "campus", minutes)


def test_one_process_looks_at_a_network_at_a_time(live: RunStore, store_url: str) -> None:
    for name in ("campus", "itesm"):
        watch(live, name)

    def claim(_: int) -> tuple[str, str] | None:
        with RunStore(store_url) as other:
            return claim_check(other.database)

    with ThreadPoolExecutor(6) as threads:
        claimed = [each for each in threads.map(claim, range(6)) if each is not None]
    assert sorted(network for network, _ in claimed) == ["campus", "itesm"]
    assert not any_check_due(live.database)


def test_who_dies_as_it_looks_leaves_it_to_another(live: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    watch(live, "campus")
    dead = claim_check(live.database)
    assert dead is not None
    now = live.database.now
    monkeypatch.setattr(live.database, "now", lambda connection: now(connection) + LEASE)
    taken = claim_check(live.database)
    assert taken is not None
    assert taken[0] == "campus"
    assert record_check(live.database, dead[1], DriftResult(live.now(), 1, {"r1": DeviceDrift(1, "a")})) is None
    assert drift_watch(live.database, "campus").looked is None
    postpone_check(live.database, taken[1], timedelta(minutes=1))
    assert not any_check_due(live.database)


def test_drift_is_told_when_it_comes_changes_and_goes(live: RunStore, tmp_path: Path) -> None:
    spec, key = WebhookSpec("http://127.0.0.1:9/"), SigningKey("k" * 32)
    allowed = AllowList(["127.0.0.1"])
    live.database.transact(lambda c: add_webhook(c, "chat", spec, allowed, key=key, at=live.now()))
    watch(live, "campus")
    assert look(live, {}) is None
    assert drift_watch(live.database, "campus").state is DriftState.IN_STEP
    assert look(live, {"r1": "a"}) is EventType.DRIFT_FOUND
    assert look(live, {"r1": "a"}) is None
    assert look(live, {"r1": "b"}) is EventType.DRIFT_CHANGED
    assert look(live, {"r1": "b", "r2": "c"}) is EventType.DRIFT_CHANGED
    assert look(live, {"r2": "c"}, {"r1": "no answer"}) is None  # it is taken to be as it was
    seen = drift_watch(live.database, "campus")
    assert (seen.state, sorted(seen.drifted)) == (DriftState.DRIFTED, ["r1", "r2"])
    assert seen.unread == {"r1": "no answer"}
    assert seen.uncompared == ("r9",)
    assert seen.looked is not None
    assert seen.due is not None
    assert seen.due - seen.looked == timedelta(minutes=60)
    assert look(live, {}) is EventType.DRIFT_GONE
    query = sa.select(DELIVERIES.c.type, DELIVERIES.c.data).order_by(DELIVERIES.c.seq)
    with live.database.read() as connection:
        told = list(connection.execute(query))
    assert [row.type for row in told] == ["drift.found", "drift.changed", "drift.changed", "drift.gone"]
    assert told[2].data == {
        "network": "campus",
        "devices": {"r1": 2, "r2": 2},
        "unread": [],
        "page": "/networks/campus",
    }
    for row in told:
        DATA[EventType(row.type)].model_validate(row.data)


def test_what_is_no_more_looked_at_is_not_begun_again_by_a_look_under_way(live: RunStore) -> None:
    watch(live, "campus")
    claimed = claim_check(live.database)
    assert claimed is not None
    watch(live, "campus", None)
    record_check(live.database, claimed[1], DriftResult(live.now(), 1))
    (seen,) = drift_watches(live.database)
    assert (seen.due, seen.minutes, seen.state) == (None, None, DriftState.IN_STEP)
    assert claim_check(live.database) is None
