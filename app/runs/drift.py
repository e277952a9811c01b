"""Drift: what a box holds now, against what it held when a run's change on it was kept."""

from __future__ import annotations

from dataclasses import dataclass

from app.compiler.candidate import differences
from app.inventory.models import Network
from app.plan.model import Plan
from app.platforms.base import platform
from app.runs.artifacts import Artifacts
from app.runs.contents import Kind, contents
from app.runs.store import Run, RunStore
from app.runs.tables import RunStatus

MOST_RUNS = 200
"""Runs of a kind that are looked through for one that knows the box."""


@dataclass(frozen=True)
class Drift:
    """Where a box differs, in words. ``run`` is the one that its state is compared with: the last that was kept, or
    found nothing to do; without one there is nothing to compare with.
    """

    run: Run | None
    differences: tuple[str, ...]


def held_plan(network: Network, device: str, text: str) -> Plan:
    """What a configuration of a box amounts to, with what was not understood of it."""
    entry = network.device(device)
    return platform(entry.platform, device).parse(text, device, entry.image)


def drift(store: RunStore, artifacts: Artifacts, network: Network, device: str, text: str) -> Drift:
    """Compare what a box holds now with what a run left on it.

    Raises:
        StoreError: the run's artifact is missing or damaged.
    """
    found = _last(store, network.name, device)
    if found is None:
        return Drift(None, ())
    run, artifact = found
    before = held_plan(network, device, artifacts.get_text(artifact))
    return Drift(run, differences(before, held_plan(network, device, text)))


def _last(store: RunStore, network: str, device: str) -> tuple[Run, str] | None:
    """The last run that settled what a box should hold, and what the box said it held then."""
    runs = [
        run
        for status in (RunStatus.KEPT, RunStatus.NOTHING_TO_DO)
        for run in store.list_runs(limit=MOST_RUNS, networks=[network], status=status)
    ]
    for run in sorted(runs, key=lambda run: run.id, reverse=True):
        named = {content.name: content.id for content in contents(store, run.id)}
        for kind in (Kind.READ_BACK, Kind.RUNNING):  # a box without a change was only read
            if (artifact := named.get(f"{kind.value}/{device}")) is not None:
                return run, artifact
    return None
