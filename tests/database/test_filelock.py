from __future__ import annotations

import os
from pathlib import Path

import pytest

from qosforge.database.filelock import FileLock, hold_lock
from qosforge.errors import StoreError
from tests.runs.support import Spawn

HOLD = """
import sys
from pathlib import Path
from qosforge.database.filelock import FileLock
assert FileLock(Path(sys.argv[1])).try_acquire()
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_lock_has_one_holder_who_can_be_named(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.try_acquire()
    assert not second.try_acquire()
    assert second.holder() == os.getpid()
    first.release()
    assert second.try_acquire()
    second.release()


def test_a_killed_holder_leaves_no_lock(tmp_path: Path, spawn: Spawn) -> None:
    child = spawn(HOLD, tmp_path / "lock")
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    lock = FileLock(tmp_path / "lock")
    assert not lock.try_acquire()
    assert lock.holder() == child.pid
    child.kill()
    child.wait(timeout=60)
    assert lock.try_acquire()
    lock.release()


def test_waiting_for_a_lock_ends(tmp_path: Path) -> None:
    with (
        hold_lock(tmp_path / "lock", 0),
        pytest.raises(StoreError, match=f"process {os.getpid()} has held this lock"),
        hold_lock(tmp_path / "lock", 0.1),
    ):
        pass
    with hold_lock(tmp_path / "lock", 0):
        pass


def test_a_lock_file_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot open the lock file"):
        FileLock(tmp_path / "missing" / "lock").try_acquire()


def test_releasing_what_is_not_held_is_harmless(tmp_path: Path) -> None:
    FileLock(tmp_path / "lock").release()
