"""What a run would break by its prediction: told in lists of runs that wait, and approved only with a reason."""

from __future__ import annotations

from pydantic import TypeAdapter

from qosforge.artifacts.store import Artifacts
from qosforge.errors import InputError, Place
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PredictionSummary
from qosforge.runs.requests.retry_conditions import last_summary
from qosforge.tester.measurement.judging import ClassVerdict

_VERDICTS = TypeAdapter(tuple[ClassVerdict, ...])


def predicted_verdicts(store: RunStore, artifacts: Artifacts, run: Run) -> tuple[ClassVerdict, ...]:
    """What is predicted of what a run would do now; empty where nothing was.

    Raises:
        ArtifactCorrupt, ArtifactMissing: the prediction's verdicts are damaged or gone.
    """
    summary = last_summary(store, run, "predict")
    if not isinstance(summary, PredictionSummary) or not summary.verdicts:
        return ()
    return _VERDICTS.validate_json(artifacts.get_text(summary.verdicts))


def require_reason(store: RunStore, run: Run, comment: str) -> None:
    """Make sure that who approves what is predicted to break objectives says why.

    Raises:
        InputError: the comment is empty.
    """
    if not comment.strip() and _breaking(store, run) is not None:
        raise InputError(
            "the change is predicted to break objectives",
            Place(path="comment"),
            "say in a comment why it is approved all the same",
        )


def _breaking(store: RunStore, run: Run) -> PredictionSummary | None:
    """The prediction for what a run would do now, where it shows that objectives would be broken."""
    summary = last_summary(store, run, "predict")
    return summary if isinstance(summary, PredictionSummary) and summary.outcome == "broken" else None
