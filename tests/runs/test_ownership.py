"""One process carries out the runs of a SQLite store, whatever run directory it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.errors import EngineBusy
from qosforge.executor.executor import Executor
from qosforge.resources import root
from qosforge.runs.engine.ownership import owner_of
from qosforge.settings import Settings
from tests.system.command import Command

from .support import Spawn

SERVE = """
import sys
from pathlib import Path
from qosforge.executor.executor import Executor
from qosforge.settings import Settings
executor = Executor(Settings(var_dir=Path(sys.argv[1]), database_url=sys.argv[2]), lambda stage, line: None)
executor.start()
print("started", flush=True)
sys.stdin.readline()
executor.stop()
"""


def _start(var_dir: Path, url: str) -> None:
    executor = Executor(Settings(var_dir=var_dir, database_url=url), lambda _stage, _line: None)
    try:
        executor.start()
    finally:
        executor.stop()


@pytest.mark.parametrize("linked", [False, True])
def test_a_second_owner_of_a_store_is_refused(tmp_path: Path, spawn: Spawn, linked: bool) -> None:
    store = tmp_path / "one" / "runs.sqlite"
    first = spawn(SERVE, tmp_path / "one", f"sqlite:///{store}")
    assert first.stdout is not None
    assert first.stdout.readline() == "started\n"
    assert owner_of(store) == first.pid
    name = store
    if linked:
        name = tmp_path / "link.sqlite"
        name.symlink_to(store)
    with pytest.raises(EngineBusy, match=f"process {first.pid} owns the run engine of this store") as caught:
        _start(tmp_path / "two", f"sqlite:///{name}")
    assert caught.value.where.file == str(name)
    assert caught.value.hint.startswith("wait until its run has ended")
    var = {"QOSFORGE_VAR_DIR": str(tmp_path / "three"), "QOSFORGE_DATABASE_URL": f"sqlite:///{name}"}
    policy = root() / "policies" / "campus-collaboration.yaml"
    for words, hint in (
        (["run", str(policy)], "where it is a service, name that with --server URL; else wait until"),
        (["recover"], "wait until its run has ended"),  # which has no such option
    ):
        refused = Command(words, var, tmp_path / words[0]).wait()
        assert refused.code == EngineBusy.exit_code
        told = f"process {first.pid} owns the run engine of this store {hint}"
        assert told in " ".join(refused.stderr.split()), refused.stderr
    first.kill()
    first.wait(timeout=60)
    assert owner_of(store) is None
    _start(tmp_path / "two", f"sqlite:///{name}")


def test_one_run_directory_has_one_record_whatever_the_store(tmp_path: Path, spawn: Spawn) -> None:
    first = spawn(SERVE, tmp_path, f"sqlite:///{tmp_path / 'a.sqlite'}")
    assert first.stdout is not None
    assert first.stdout.readline() == "started\n"
    with pytest.raises(EngineBusy, match=f"process {first.pid} owns the run engine"):
        _start(tmp_path, f"sqlite:///{tmp_path / 'b.sqlite'}")


def test_two_stores_in_one_folder_have_an_owner_each(tmp_path: Path, spawn: Spawn) -> None:
    first = spawn(SERVE, tmp_path / "one", f"sqlite:///{tmp_path / 'a.sqlite'}")
    assert first.stdout is not None
    assert first.stdout.readline() == "started\n"
    _start(tmp_path / "two", f"sqlite:///{tmp_path / 'b.sqlite'}")
    assert owner_of(tmp_path / "b.sqlite") is None
