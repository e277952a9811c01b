"""Names and ids of the workflows of runs: which run, and which attempt at it, a workflow carries out."""

from __future__ import annotations

from qosforge.runs.record.ids import new_run_id
from qosforge.runs.record.run import Run

WORKFLOW = "loop"
SETTLE = "settle"


def workflow_id(run: Run) -> str:
    """The engine's id of a run's present attempt: the run's own, and from the second on with its number."""
    return run.id if run.attempt == 1 else f"{run.id}:{run.attempt}"


def run_of(workflow: str) -> tuple[str, int]:
    """The run and its attempt that a workflow carries out."""
    run_id, _, attempt = workflow.partition(":")
    return run_id, int(attempt or 1)


def settling_id(run_id: str) -> str:
    """A new id for a workflow that settles the devices of a run."""
    return f"{SETTLE}:{run_id}:{new_run_id()}"


def run_named(workflow: str) -> str:
    """The run that a workflow is about, whatever it does with it; another id where it is about none."""
    return settled_by(workflow) or run_of(workflow)[0]


def settled_by(workflow: str) -> str | None:
    """The run whose devices a workflow settles; ``None`` if it does something else."""
    kind, _, rest = workflow.partition(":")
    return rest.partition(":")[0] if kind == SETTLE else None
