"""Retention drops what old runs left behind, and nothing that anything may still need."""

from __future__ import annotations

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.artifacts.store import ArtifactMissing, DatabaseArtifacts, FileArtifacts
from qosforge.artifacts.tables import ARTIFACTS
from qosforge.audit.file_audits import begin_file_audit, end_file_audit
from qosforge.audit.tables import FILE_AUDITS
from qosforge.database.connections import Database
from qosforge.errors import InputError
from qosforge.operations.artifact_store import FileArtifactCollection, TableArtifactCollection
from qosforge.operations.retention import duration, retain
from qosforge.runs.record.invalid_state import InvalidState
from qosforge.runs.record.run import Run
from qosforge.runs.record.status_events import next_attempt_columns
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary
from qosforge.runs.record.tables import EVENTS, IDEMPOTENCY_KEYS, UNFINISHED, JournalAction, RunStatus
from qosforge.runs.requests.requests import RunRequests
from qosforge.runs.views.report import run_report
from qosforge.settings import Settings
from tests.runs.support import WHY

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
KEEP = timedelta(days=90)


class House:
    """A store whose clock is set by hand, and artifacts as old as the clock said."""

    def __init__(self, folder: Path) -> None:
        self.now = NOW
        self.url = f"sqlite:///{folder / 'runs.sqlite'}"
        self.store = RunStore(self.url, now=lambda: self.now)
        self.database = Database(self.url)
        self.artifacts = FileArtifacts(folder / "artifacts")
        self.folder = folder / "artifacts"

    def put(self, text: str) -> str:
        artifact = self.artifacts.put_text(text)
        os.utime(self.folder / artifact[:2] / artifact[2:], (self.now.timestamp(),) * 2)
        return artifact

    def held(self, artifact: str) -> bool:
        return (self.folder / artifact[:2] / artifact[2:]).exists()

    def run(
        self, days: float, status: RunStatus, texts: list[str], network: str = "campus"
    ) -> tuple[str, list[str]]:
        """A run that began ``days`` ago and came to ``status`` within the hour."""
        self.now = NOW - timedelta(days=days)
        ids = [self.put(text) for text in texts]
        run = self.store.create_run(network, "policy", "f" * 64, {"network": ids[0], "more": {"a": ids[1:2]}})
        running = {f"r{number}": artifact for number, artifact in enumerate(ids[2:])}
        with self.store.stage(run.id, "read", ReadSummary(running=running)):
            pass
        self.now += timedelta(minutes=5)
        if status is not RunStatus.PENDING:
            self.store.set_status(run.id, status, reason=WHY)
        with self.database.write() as connection:
            connection.execute(sa.insert(EVENTS).values(run_id=run.id, kind="stage", data={}, at=self.now))
            connection.execute(
                sa.insert(IDEMPOTENCY_KEYS).values(
                    requested_by="ann", key=run.id, request="e" * 64, run_id=run.id, at=self.now
                )
            )
        self.now = NOW
        return run.id, ids

    def retain(self, *, dry_run: bool = False):
        return retain(self.database, FileArtifactCollection(self.folder), KEEP, NOW, dry_run=dry_run)

    def close(self) -> None:
        self.store.close()
        self.database.close()


@pytest.fixture
def house(tmp_path: Path):
    made = House(tmp_path)
    yield made
    made.close()


def test_what_an_old_run_left_goes_and_its_record_stays(house: House) -> None:
    old, its = house.run(200, RunStatus.ROLLED_BACK, ["n", "i", "r1"])
    house.store.journal.append(old, "r1", JournalAction.TOUCHING, before=its[2])
    house.store.journal.append(old, "r1", JournalAction.UNDONE)
    young, kept = house.run(3, RunStatus.ROLLED_BACK, ["n2", "i", "r2"])
    planned = house.retain(dry_run=True)
    assert all(map(house.held, its))
    done = house.retain()
    assert (planned.runs, planned.artifacts, planned.events, planned.keys) == (
        (done.runs, done.artifacts, done.events, done.keys)
    )
    assert (done.runs, done.artifacts, done.keys) == ((old,), 2, 1)
    assert done.events > 0
    assert house.store.events.after(old, 0, 100) == []
    assert house.store.events.after(young, 0, 100) != []
    assert [house.held(artifact) for artifact in its] == [False, True, False]  # "i" is the young run's, too
    assert all(map(house.held, kept))
    assert len(house.store.journal.entries(old)) == 2
    report = run_report(house.store, house.artifacts, old)
    assert [(device.name, device.outcome) for device in report.devices] == [("r1", "not changed")]
    assert report.stages[-1].name == "retention"
    assert report.stages[-1].started == NOW
    again = house.retain()
    assert (again.runs, again.artifacts, again.events, again.keys) == ((), 0, 0, 0)
    assert young not in done.runs


def test_a_lost_artifact_that_no_retention_took_is_an_error(house: House) -> None:
    run, ids = house.run(200, RunStatus.FAILED, ["n"])
    (house.folder / ids[0][:2] / ids[0][2:]).unlink()
    with pytest.raises(ArtifactMissing):
        run_report(house.store, house.artifacts, run)


def test_files_that_people_gave_go_after_a_day(house: House) -> None:
    old, young = "0" * 32, "1" * 32
    for audit_id, days in ((young, 0), (old, 2)):
        begin_file_audit(house.database, audit_id, "ann" + audit_id, NOW - timedelta(days=days))
        end_file_audit(house.database, audit_id, files=b"enable secret")

    def kept() -> set[str]:
        with house.database.read() as connection:
            return set(connection.scalars(sa.select(FILE_AUDITS.c.id)))

    house.retain(dry_run=True)
    assert kept() == {old, young}
    house.retain()
    assert kept() == {young}


def test_who_had_the_last_word_on_a_device_stays_whole(house: House) -> None:
    first, lost = house.run(300, RunStatus.KEPT, ["a", "b", "c"])
    _, changed = house.run(250, RunStatus.KEPT, ["d", "e", "f", "g"])  # of two devices, 0 and 1
    looked, its = house.run(200, RunStatus.NO_CHANGES, ["h", "i", "j"])  # of device 0
    _, others = house.run(280, RunStatus.KEPT, ["k", "l", "m"], network="wan")
    house.run(100, RunStatus.ROLLED_BACK, ["n", "o", "p"])  # says nothing
    done = house.retain()
    assert first in done.runs
    assert looked not in done.runs
    assert all(map(house.held, [*changed, *its, *others]))
    assert not any(map(house.held, lost))


def test_what_was_confirmed_last_on_a_device_can_be_rolled_back(house: House) -> None:
    first, its = house.run(300, RunStatus.KEPT, ["a", "b", "c"])
    house.store.journal.append(first, "r1", JournalAction.TOUCHING, before=its[2])
    house.store.journal.append(first, "r1", JournalAction.CONFIRMED)
    house.run(200, RunStatus.NO_CHANGES, ["d", "e", "f"])
    house.retain()
    assert all(map(house.held, its))


def test_a_run_without_its_artifacts_is_not_begun_again(house: House) -> None:
    failed, _ = house.run(300, RunStatus.FAILED, ["a", "b", "c"])
    kept, _ = house.run(250, RunStatus.KEPT, ["d", "e", "f"])
    house.run(200, RunStatus.KEPT, ["g", "h", "i"])
    assert set(house.retain().runs) == {failed, kept}
    run_requests = RunRequests(Settings(), house.store, house.artifacts)
    with pytest.raises(InvalidState, match="gave up what it had read and prepared on 2026-06-01"):
        run_requests.retry(failed, "ann")
    with pytest.raises(InvalidState, match="gave up"):
        run_requests.roll_back(kept, "ann")
    assert house.store.get_run(failed).status is RunStatus.FAILED


def test_a_run_that_an_unfinished_one_undoes_stays_whole(house: House) -> None:
    first, its = house.run(300, RunStatus.KEPT, ["a", "b", "c"])
    house.run(200, RunStatus.KEPT, ["d", "e", "f"])
    house.store.create_run("campus", "policy", "f" * 64, {"undo_of": first})
    house.retain()
    assert all(map(house.held, its))


def test_an_artifact_stored_again_is_new(house: House) -> None:
    _, its = house.run(200, RunStatus.FAILED, ["a", "b"])
    house.artifacts.put_text("a")  # by a run that has not named it in a row yet
    house.retain()
    assert [house.held(artifact) for artifact in its] == [True, False]


def test_an_artifact_renewed_while_it_is_taken_is_put_back(house: House) -> None:
    artifact = house.put("a")
    assert FileArtifactCollection(house.folder).drop([artifact], NOW - timedelta(days=1)) == 0
    assert house.artifacts.get_text(artifact) == "a"
    assert FileArtifactCollection(house.folder).drop([artifact, "0" * 64], NOW + timedelta(days=1)) == 1


@pytest.mark.parametrize("text", ["", "90", "0d", "d", "-3d", "1.5d", "90 months"])
def test_a_time_to_keep_is_reported_in_whole_hours_days_or_weeks(text: str) -> None:
    with pytest.raises(InputError, match="no time to keep"):
        duration(text)


def test_times_to_keep() -> None:
    assert duration("90d") == timedelta(days=90)
    assert duration("2w") == timedelta(days=14)
    with pytest.raises(InputError):
        retain(None, None, timedelta.max, NOW)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def migrated():
    with TemporaryDirectory() as folder:
        House(Path(folder)).close()
        yield Path(folder)


RUN = st.tuples(
    st.floats(0, 400),
    st.sampled_from(list(RunStatus)),
    st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=5),
    st.sampled_from(["campus", "wan"]),
    st.booleans(),
)


@settings(max_examples=15, deadline=None)
@given(made=st.lists(RUN, max_size=8))
def test_nothing_goes_that_a_run_may_still_need(migrated: Path, made: list) -> None:
    with TemporaryDirectory() as scratch:
        shutil.copytree(migrated, scratch, dirs_exist_ok=True)
        house = House(Path(scratch))
        needed: set[str] = set()
        last: dict[tuple[str, int], list[str]] = {}
        for days, status, texts, network, opened in sorted(made, key=lambda entry: -entry[0]):
            run, ids = house.run(days, status, texts, network)
            if opened:
                house.store.journal.append(run, "r1", JournalAction.TOUCHING, before=ids[0], delta=ids[1])
            if status in UNFINISHED or opened or days < 90:
                needed.update(ids)
            if status in (RunStatus.KEPT, RunStatus.NO_CHANGES):
                last |= {(network, box): ids for box in range(len(ids) - 2)}
        needed.update(*last.values())
        house.retain()
        assert all(map(house.held, needed))
        for touch in house.store.journal.open_touches():
            assert house.artifacts.get_text(touch.before)
        house.close()


def test_rows_of_a_server_are_tidied_as_files_are(postgres_url: str) -> None:
    database = Database(postgres_url)
    artifacts = DatabaseArtifacts(database)
    with RunStore(postgres_url, now=lambda: NOW - timedelta(days=200)) as store:
        ids = [artifacts.put_text(text) for text in ("a", "b", "c")]
        over = store.create_run("campus", "policy", "f" * 64, {"network": ids[0]})
        store.set_status(over.id, RunStatus.FAILED, reason=WHY)
    with RunStore(postgres_url, now=lambda: NOW) as store:
        store.create_run("campus", "policy", "f" * 64, {"network": ids[1]})
    with database.write() as connection:
        connection.execute(sa.update(ARTIFACTS).values(at=NOW - timedelta(days=200)))
    artifacts.put_text("c")
    done = retain(database, TableArtifactCollection(database), KEEP, NOW)
    assert (done.runs, done.artifacts, done.bytes) == ((over.id,), 1, 1)
    assert [artifacts.get_text(artifact) for artifact in ids[1:]] == ["b", "c"]
    with pytest.raises(ArtifactMissing):
        artifacts.get_text(ids[0])
    database.close()


def test_a_run_that_is_retried_meanwhile_keeps_what_it_needs(postgres_url: str, tmp_path: Path) -> None:
    with RunStore(postgres_url, now=lambda: NOW - timedelta(days=200)) as store, ThreadPoolExecutor(2) as pool:
        run = store.create_run("campus", "policy", "f" * 64, {})
        store.set_status(run.id, RunStatus.FAILED, reason=WHY)
        looked, go = threading.Event(), threading.Event()

        def retry(now: Run, _connection: sa.Connection) -> dict[str, Any]:
            looked.set()  # as a retry does, it has found what the run needs
            go.wait(60)
            return next_attempt_columns("read", now)

        retrying = pool.submit(store.change, run.id, retry)
        assert looked.wait(60)
        retaining = pool.submit(retain, store.database, TableArtifactCollection(store.database), KEEP, NOW)
        with suppress(TimeoutError):
            retaining.result(1)
        go.set()
        assert retrying.result(60).status is RunStatus.PENDING
        assert retaining.result(60).runs == ()
        assert [stage.name for stage in store.stages(run.id)] == []
