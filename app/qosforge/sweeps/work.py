"""Periodic work on sweeps: executors enqueue open points and measure those that they take."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from qosforge.artifacts.store import Artifacts
from qosforge.errors import QosforgeError
from qosforge.findings import Severity
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.models import Network
from qosforge.prediction.predict import Prediction, predict
from qosforge.preview.policy_check import check_policy
from qosforge.runs.engine.computing import Computing
from qosforge.runs.engine.port import Engine, JsonObject, WorkflowState
from qosforge.sweeps.sweeps import PointOutcome, Sweeps

WORKFLOW = "sweep-point"
SWEEPS_QUEUE = "sweeps"

_log = logging.getLogger(__name__)


@dataclass
class SweepWork:
    """Measures points of sweeps in this process, and sees to it that every point is measured by some process."""

    sweeps: Sweeps
    artifacts: Artifacts
    engine: Engine
    computing: Computing

    def register(self) -> None:
        """Make the workflow known to the engine; before its launch."""
        self.engine.register(WORKFLOW, self._workflow)

    def tick(self) -> None:
        """Queue the points that no workflow carries yet; whatever is done may be done twice.

        Raises:
            StoreError: the database is away.
        """
        waiting = self.sweeps.open_points()
        if not waiting:
            return
        known = {entry.workflow_id for entry in self.engine.unfinished()}
        for sweep_id, number in waiting:
            # Of another version none is known by this name: what an upgrade outlived begins anew.
            workflow_id = f"point:{sweep_id}:{number}:{self.engine.version}"
            if workflow_id in known:
                continue
            self.engine.enqueue(WORKFLOW, workflow_id, {"sweep": sweep_id, "number": number}, SWEEPS_QUEUE)
            if self.engine.state(workflow_id) in (
                WorkflowState.ENDED,
                WorkflowState.ABANDONED,
                WorkflowState.EXHAUSTED,
            ):
                self._failed(sweep_id, number, "its workflow ended without saying how")

    def _workflow(self, _workflow_id: str, params: JsonObject) -> JsonObject:
        return self.engine.run_step("measure", self.measure_point, params["sweep"], params["number"])

    def measure_point(self, sweep_id: str, number: int) -> JsonObject:
        """Measure a point and record what came of it: ``{"outcome": …}``. Its result depends on the point alone."""
        try:
            network, written, seed = self.sweeps.point_input(sweep_id, number)
            prediction = self.computing.run(sweep_id, lambda: None, _predicted, written, network, seed)
            if isinstance(prediction, str):
                self.sweeps.end(sweep_id, number, PointOutcome.REJECTED, self.engine.executor, error=prediction)
                return {"outcome": PointOutcome.REJECTED.value}
        except QosforgeError as error:
            self._failed(sweep_id, number, str(error))
            return {"outcome": PointOutcome.FAILED.value}
        outcome = PointOutcome(prediction.outcome)
        result = self.artifacts.put_json(_document(prediction))
        self.sweeps.end(sweep_id, number, outcome, self.engine.executor, result=result)
        return {"outcome": outcome.value}

    def _failed(self, sweep_id: str, number: int, why: str) -> None:
        _log.warning("point %s of sweep %s failed: %s", number, sweep_id, why)
        self.sweeps.end(sweep_id, number, PointOutcome.FAILED, self.engine.executor, error=why)


def _predicted(written: PolicySource, network: Network, seed: int) -> Prediction | str:
    """What is predicted for a point; or the errors that stand against it."""
    checked = check_policy(load_policy(written), network)
    errors = [f for f in checked.findings if f.severity is Severity.ERROR]
    if errors:
        return "; ".join(dict.fromkeys(f"{f.code} on {f.device or 'the network'}" for f in errors))
    return predict(checked.compilation, seed=seed, at_most_seconds=None)


def _document(prediction: Prediction) -> JsonObject:
    return {
        "outcome": prediction.outcome,
        "evidence": "predicted",
        "verdicts": [verdict.model_dump(mode="json") for verdict in prediction.verdicts],
        "measurement": prediction.measurement.model_dump(mode="json"),
    }
