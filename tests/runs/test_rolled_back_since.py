"""Kept runs whose change was rolled back later, as lists tell them."""

from __future__ import annotations

from pathlib import Path

from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.views.summary import summary_of
from tests.runs.support import WHY


def test_a_kept_run_names_the_run_that_rolled_it_back_while_that_holds(tmp_path: Path) -> None:
    with RunStore(f"sqlite:///{tmp_path / 'runs.sqlite'}") as store:

        def kept(rolls_back: str | None = None, status: RunStatus = RunStatus.KEPT) -> str:
            params = {"undo_of": rolls_back} if rolls_back else {}
            run = store.create_run("campus", "gold", "f" * 64, params)
            store.set_status(run.id, status, reason=WHY if status is RunStatus.FAILED else None)
            return run.id

        def told() -> dict[str, str | None]:
            return {one.id: one.rolled_back_by for one in map(summary_of, store.list_runs())}

        first, other = kept(), kept()
        failed = kept(first, RunStatus.FAILED)
        assert told() == dict.fromkeys((first, other, failed))
        back = kept(first)
        assert told() == dict.fromkeys((other, failed, back)) | {first: back}
        again = kept(back)  # brings the change again
        assert told()[first] is None
        assert told()[back] == again
