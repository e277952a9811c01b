"""Metrics of runs that end and of their stages, in the process in which they do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

from qosforge.runs.record.attempts import attempt_start
from qosforge.telemetry.metrics import NETWORK, PROCESS

if TYPE_CHECKING:
    from qosforge.runs.record.run import Run
    from qosforge.runs.record.stages import Stage

_STAGE_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
_RUN_SECONDS = (1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)

_OUTCOMES = Counter(
    "qosforge_run_outcomes",
    "Attempts at runs that ended or stopped half-way, by their status then.",
    (NETWORK, "outcome"),
    registry=PROCESS,
)
_VERDICTS = Counter(
    "qosforge_run_verdicts", "Runs that ended with a verdict.", (NETWORK, "verdict"), registry=PROCESS
)
_FAILURES = Counter(
    "qosforge_device_failures",
    "Devices that failed in a run, or could not be read in a look for drift, each once.",
    (NETWORK, "during"),
    registry=PROCESS,
)
_RUNS = Histogram(
    "qosforge_run_duration_seconds",
    "From the first stage of a run's last attempt to its end; neither the queue nor an approval counts.",
    ("outcome",),
    buckets=_RUN_SECONDS,
    registry=PROCESS,
)
_STAGES = Histogram(
    "qosforge_stage_duration_seconds",
    "Stages of runs from begin to end.",
    ("stage", "outcome"),
    buckets=_STAGE_SECONDS,
    registry=PROCESS,
)


def count_end(run: Run, stages: Sequence[Stage]) -> None:
    """Count a run that ended or stopped half-way; ``stages`` are all of the run's."""
    _OUTCOMES.labels(run.network, run.status.value).inc()
    if run.verdict is not None:
        _VERDICTS.labels(run.network, run.verdict.value).inc()
    last = [stage for stage in stages if stage.run_attempt == run.attempt]
    failed = {error.device for stage in last for error in stage.summary.errors if error.device}
    count_device_failures(run.network, "run", failed)
    begun = attempt_start(stages, run.attempt)
    if begun is not None:
        _RUNS.labels(run.status.value).observe((run.updated - begun).total_seconds())


def count_stage(stage: Stage) -> None:
    """Count a stage that ended."""
    if stage.ended is not None and stage.outcome is not None:
        seconds = (stage.ended - stage.started).total_seconds()
        _STAGES.labels(stage.name, stage.outcome.value).observe(seconds)


def count_device_failures(network: str, during: str, devices: Collection[str]) -> None:
    """Count devices of a network that failed ``during`` a ``run`` or a look for ``drift``."""
    if devices:
        _FAILURES.labels(network, during).inc(len(devices))
