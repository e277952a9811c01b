"""Whether a run may touch its devices now: it has to stop, or to wait at the gate of its candidate."""

from __future__ import annotations

from qosforge.policy_library.trust import find_distrust
from qosforge.runs.record.leases import LEASE_SECONDS
from qosforge.runs.record.lineage import contributors
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.gate import waits
from qosforge.runs.workflow.results import (
    CheckpointResult,
    GateResult,
    Hindrance,
)


def checkpoint(context: Context, devices: list[str]) -> CheckpointResult:
    """Whether the run has to stop here, and the leases held on if it has not.

    Raises:
        LeaseLost: another run took a device.
    """
    stop = context.stop()
    if stop is None:
        context.store.leases.renew(context.run_id, devices, LEASE_SECONDS)
    return CheckpointResult(stop=stop)


def gate(context: Context, candidate: str) -> GateResult:
    """Whether the candidate may be entered now; if not, as what and for what the run waits."""
    store = context.store
    run = store.get_run(context.run_id)
    decisions = store.decisions.on(run.id)
    wait = waits(
        run,
        candidate,
        rules=context.rules.effective(run.network, context.resolved.approval, context.network.changes),
        emulated=context.lab is not None,
        decisions=decisions,
        contributors=lambda: contributors(store.database, run.id, candidate),
        distrust=find_distrust(
            store.database, context.resolved.policy_name, context.resolved.policy_number, run.network
        ),
        now=store.now(),
    )
    return GateResult(wait=wait)


def find_hindrance(
    context: Context, devices: list[str], candidate: str | None, seconds: int = LEASE_SECONDS
) -> Hindrance | None:
    """What keeps a run from touching devices: it has to stop, or to wait at the gate of its candidate.

    ``None`` when it may, and holds them for so many ``seconds``. It is asked in the step that touches: what an
    earlier step had found may be long ago where a process died in between.

    Raises:
        LeaseLost: another run took a device.
    """
    stop = context.stop()
    if stop is not None:
        return Hindrance(stop=stop)
    wait = gate(context, candidate).wait if candidate is not None else None
    if wait is not None:
        return Hindrance(wait=wait)
    context.store.leases.renew(context.run_id, devices, max(seconds, LEASE_SECONDS))
    return None
