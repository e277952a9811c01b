"""How much a run would change: for lists of runs that wait to be approved."""

from __future__ import annotations

from typing import NamedTuple

from qosforge.artifacts.store import Artifacts
from qosforge.reports.gathered_changes import difference_or_lines, gather_changes
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PreparedDevice, PrepareSummary
from qosforge.runs.requests.retry_conditions import last_summary


class ChangeSize(NamedTuple):
    """How many devices change, and how many lines their configurations gain and lose together."""

    devices: int
    added: int
    removed: int


def change_size(store: RunStore, artifacts: Artifacts, run: Run) -> ChangeSize | None:
    """The size of what a run prepared; ``None`` where its attempt has prepared nothing yet."""
    prepared = last_summary(store, run, "prepare")
    if not isinstance(prepared, PrepareSummary) or not prepared.devices:
        return None
    changed = {name: one for name, one in prepared.devices.items() if not one.empty}
    gathered = gather_changes((name, _difference(artifacts, one)) for name, one in changed.items())
    return ChangeSize(
        len(changed),
        sum(each.added * len(each.devices) for each in gathered),
        sum(each.removed * len(each.devices) for each in gathered),
    )


def _difference(artifacts: Artifacts, device: PreparedDevice) -> tuple[str, ...]:
    if device.difference:
        return difference_or_lines(artifacts.get_text(device.difference).splitlines(), ())
    return difference_or_lines((), artifacts.get_text(device.delta).splitlines())
