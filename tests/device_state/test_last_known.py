"""What devices were last known to hold, by the stored runs of a network."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from qosforge.artifacts.store import ArtifactMissing, FileArtifacts
from qosforge.device_state.last_known import LastKnown, last_known, store_readings
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.resources import root
from qosforge.runs.record.expired import RETENTION_STAGE
from qosforge.runs.record.readings import devices_not_saved, last_unsaved, write_unsaved
from qosforge.runs.record.reason import RECOVER, Reason
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import ReadSummary, parse_summary
from qosforge.runs.record.tables import JournalAction, RunStatus
from tests.database.migrating import bring_up, take_back
from tests.device_texts import opened, said, said_by
from tests.runs.support import Clock


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(root() / "inventories" / "campus")


@pytest.fixture
def artifacts(tmp_path: Path) -> FileArtifacts:
    return FileArtifacts(tmp_path / "artifacts")


class Boxes:
    """Readings of devices as runs leave them, a minute apart."""

    def __init__(self, store: RunStore, artifacts: FileArtifacts, clock: Clock) -> None:
        self._store, self._artifacts, self._clock = store, artifacts, clock

    def run(self, network: str = "campus") -> Run:
        return self._store.create_run(network, "p", "f" * 64, {})

    def read(self, run: Run, stage: str, texts: dict[str, str], **more: object) -> None:
        self._clock.forward(60)
        running = {device: self._artifacts.put_text(text) for device, text in texts.items()}
        with self._store.stage(run.id, stage, parse_summary(stage, {"running": running, "errors": [], **more})):
            pass


@pytest.fixture
def boxes(store: RunStore, artifacts: FileArtifacts, clock: Clock) -> Boxes:
    return Boxes(store, artifacts, clock)


def _texts(store: RunStore, artifacts: FileArtifacts, network: Network) -> dict[str, str]:
    return opened({name: read.text for name, read in last_known(store, artifacts, network).items()})


def test_boxes_that_no_run_has_read_are_left_out(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes
) -> None:
    assert last_known(store, artifacts, network) == {}
    boxes.read(boxes.run("elsewhere"), "read", {"r1": "of another network's r1"})
    assert last_known(store, artifacts, network) == {}


def test_the_newest_reading_of_each_box_counts(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes, clock: Clock
) -> None:
    run = boxes.run()
    boxes.read(run, "read", {"r1": "before", "r2": "before", "s2950": "before"})
    boxes.read(run, "read-back", {"r1": "after", "r2": "after"})
    boxes.read(run, "rollback", {"r2": "restored"})
    assert _texts(store, artifacts, network) == {"r1": "after", "r2": "restored", "s2950": "before"}
    assert last_known(store, artifacts, network)["r2"] == LastKnown("r2", said("restored"), run.id, clock())


def test_an_older_run_that_read_later_counts(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes
) -> None:
    waited, quick = boxes.run(), boxes.run()
    boxes.read(waited, "read", {"r1": "one"})
    boxes.read(quick, "read", {"r1": "two"})
    boxes.read(waited, "read-back", {"r1": "three"})
    assert _texts(store, artifacts, network) == {"r1": "three"}


def test_what_an_attempt_took_over_is_no_reading(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes
) -> None:
    run = boxes.run()
    boxes.read(run, "read", {"r1": "one"})
    boxes.read(run, "read-back", {"r1": "two"})
    boxes.read(run, "read", {"r1": "one"}, taken_over=1)
    assert _texts(store, artifacts, network) == {"r1": "two"}


def test_a_failed_reading_does_not_count(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes
) -> None:
    boxes.read(boxes.run(), "read", {"r1": "one"})
    run = boxes.run()
    with pytest.raises(OSError, match="gone"), store.stage(run.id, "read", ReadSummary()):
        raise OSError("gone")
    assert _texts(store, artifacts, network) == {"r1": "one"}


def test_what_a_person_had_read_counts_until_something_newer(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes, clock: Clock
) -> None:
    boxes.read(boxes.run(), "read", {"r1": "one", "r2": "one"})
    clock.forward(60)
    store_readings(store, artifacts, network, said_by({"r1": "two", "r3": "two"}), clock())
    assert last_known(store, artifacts, network)["r1"] == LastKnown("r1", said("two"), None, clock())
    late = clock()
    boxes.read(boxes.run(), "read", {"r3": "three"})
    store_readings(store, artifacts, network, said_by({"r3": "too late"}), late)
    assert _texts(store, artifacts, network) == {"r1": "two", "r2": "one", "r3": "three"}


def test_what_was_not_saved_is_known_until_the_device_is_read_again(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes, clock: Clock
) -> None:
    """Of a reading that says nothing of it, it is not known: that is not the same as nothing."""

    def unsaved() -> dict[str, tuple[str, ...] | None]:
        return {name: read.unsaved for name, read in last_known(store, artifacts, network).items()}

    texts, lines = said_by({"r1": "one", "r2": "one", "r3": "one"}), ("+hostname one", "-hostname none")
    store_readings(store, artifacts, network, texts, clock(), unsaved={"r1": lines, "r2": ()})
    assert unsaved() == {"r1": lines, "r2": (), "r3": None}
    clock.forward(-60)
    store_readings(store, artifacts, network, texts, clock(), unsaved={"r1": ("+too late",)})
    assert unsaved()["r1"] == lines
    clock.forward(120)
    run = boxes.run()
    boxes.read(run, "read", {"r1": "one", "r2": "one"})
    assert unsaved() == {"r1": None, "r2": None, "r3": None}
    held = {device: artifacts.put_text("one") for device in ("r1", "r2", "r3")}
    found = {"r1": lines, "r2": (), "r3": ("+nothing that this run read",)}
    store.database.transact(lambda connection: write_unsaved(connection, run.id, held, found))
    assert unsaved() == {"r1": lines, "r2": (), "r3": None}
    assert last_unsaved(store.database, "campus", ["r1", "r2", "r3"]) == {"r1": lines}
    assert devices_not_saved(store.database) == {"campus": ("r1",)}
    boxes.read(run, "read-back", {"r1": "two"})
    store.database.transact(lambda connection: write_unsaved(connection, run.id, held, {"r1": ("+too late",)}))
    assert unsaved() == {"r1": None, "r2": (), "r3": None}
    assert last_unsaved(store.database, "campus", ["r1", "r2", "r3"]) == {}
    assert devices_not_saved(store.database) == {}


def test_lines_that_a_run_entered_and_has_yet_to_save_are_not_told_as_not_saved(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes, clock: Clock
) -> None:
    """Whoever reads a device that a run is at must not be told to save the run's change."""
    run, before = boxes.run(), artifacts.put_text("before")
    store.set_status(run.id, RunStatus.RUNNING)
    store.journal.append(run.id, "r1", JournalAction.TOUCHING, before=before, delta=before, inverse=before)

    def unsaved(at: datetime) -> dict[str, tuple[str, ...] | None]:
        texts, lines = said_by({"r1": "entered", "r2": "entered"}), ("+entered",)
        store_readings(store, artifacts, network, texts, at, unsaved={"r1": lines, "r2": lines})
        return {name: read.unsaved for name, read in last_known(store, artifacts, network).items()}

    assert unsaved(clock()) == {"r1": None, "r2": ("+entered",)}
    clock.forward(60)
    store.set_status(run.id, RunStatus.NEEDS_RECOVERY, reason=Reason("r1 is away", "rollback", RECOVER, "r1"))
    assert unsaved(clock()) == {"r1": None, "r2": ("+entered",)}
    clock.forward(60)
    began = clock()
    clock.forward(1)
    store.set_status(run.id, RunStatus.ROLLED_BACK, reason=Reason("r1 was away", "rollback", RECOVER))
    assert unsaved(began) == {"r1": None, "r2": ("+entered",)}
    clock.forward(60)
    assert unsaved(clock()) == {"r1": ("+entered",), "r2": ("+entered",)}


def test_of_readings_of_an_earlier_release_it_is_not_known_what_was_not_saved(
    store: RunStore, artifacts: FileArtifacts, network: Network, clock: Clock, store_url: str
) -> None:
    store_readings(store, artifacts, network, said_by({"r1": "one"}), clock(), unsaved={"r1": ("+hostname one",)})
    take_back(store.database, "0019")
    bring_up(store_url)
    with RunStore(store_url) as newer:
        read = last_known(newer, artifacts, network)["r1"]
        assert (opened({"r1": read.text}), read.at, read.unsaved) == ({"r1": "one"}, clock(), None)
        store_readings(newer, artifacts, network, said_by({"r1": "one"}), clock(), unsaved={"r1": ()})
        assert last_known(newer, artifacts, network)["r1"].unsaved == ()


def test_a_missing_artifact_is_told(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes
) -> None:
    run = boxes.run()
    with store.stage(run.id, "read", ReadSummary(running={"r1": "0" * 64})):
        pass
    with pytest.raises(ArtifactMissing):
        last_known(store, artifacts, network)


def test_a_box_is_known_by_its_network(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes
) -> None:
    boxes.read(boxes.run(), "read", {"r1": "here", "taken-away": "no longer in the inventory"})
    boxes.read(boxes.run("elsewhere"), "read", {"r1": "there"})
    assert _texts(store, artifacts, network) == {"r1": "here"}


def test_an_older_store_is_looked_through_once(
    store: RunStore, artifacts: FileArtifacts, network: Network, boxes: Boxes, store_url: str
) -> None:
    run = boxes.run()
    boxes.read(run, "read", {"r1": "before", "s2950": "before"})
    boxes.read(run, "read-back", {"r1": "after"})
    boxes.read(run, "read", {"r1": "before"}, taken_over=1, text="taken over from attempt 1")
    given_up = boxes.run()
    boxes.read(given_up, "read", {"r1": "gone", "r2": "gone"})
    boxes.read(given_up, RETENTION_STAGE, {})
    take_back(store.database, "0002")
    bring_up(store_url)
    with RunStore(store_url) as newer:
        assert _texts(newer, artifacts, network) == {"r1": "after", "s2950": "before"}
