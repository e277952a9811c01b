"""The step that predicts what a change would do, before a device is touched."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping

import structlog

from qosforge.compiler.running_plans import running_plans
from qosforge.errors import QosforgeError
from qosforge.intent.models import every_class
from qosforge.packed import Packed
from qosforge.prediction.predict import MOST_SECONDS, Prediction, predict
from qosforge.prediction.projected_state import project_state
from qosforge.prediction.record import Today
from qosforge.prediction.today import not_simulated, simulate_today
from qosforge.runs.record.stop_signal import RunStopped
from qosforge.runs.record.summaries import PredictionSummary
from qosforge.runs.record.tables import StageOutcome
from qosforge.runs.workflow.candidates import RunCompilation
from qosforge.runs.workflow.context import Context
from qosforge.tester.network_under_test import devices_under_test
from qosforge.tester.replications import REPLICATIONS, Timing

STAGE = "predict"

_LOG = structlog.get_logger(__name__)


def predicted(context: Context, compiled: Packed[RunCompilation]) -> None:
    """Predict what is to be pushed, for who approves it and to hold against what is measured.

    A prediction that fails stops nothing: the stage says why, and the measurements judge. An attempt that would
    push the same plans as an earlier one, as after an approval, takes over what that one predicted.
    """
    with context.store.stage(context.run_id, STAGE, PredictionSummary()) as summary:
        try:
            subject = summary.of = context.compute(_subject, compiled)
            earlier = _earlier(context, subject)
            if earlier is not None:
                context.observe(STAGE, "the same as in an earlier attempt")
                summary.measurement, summary.verdicts = earlier.measurement, earlier.verdicts
                summary.outcome, summary.measuring_seconds = earlier.outcome, earlier.measuring_seconds
                summary.simulated, summary.findings = earlier.simulated, earlier.findings
                summary.today = earlier.today
                summary.text = "the same as in an earlier attempt"
                return
            context.observe(STAGE, "twin of what is to be pushed")
            begun = time.monotonic()
            prediction = context.compute(predict_run, compiled, context.resolved.seed)
            took = time.monotonic() - begun
        except RunStopped:
            raise
        except QosforgeError as error:
            summary.text = f"nothing is predicted: {error}"
            return
        except Exception:  # noqa: BLE001  a fault of ours, which the log tells, must not cost the run
            _LOG.exception("prediction failed", run_id=context.run_id)
            summary.text = "nothing is predicted: qosforge has a fault; the log of its executor says which"
            return
        summary.measurement = context.artifacts.put_text(prediction.measurement.model_dump_json())
        summary.verdicts = context.artifacts.put_json([v.model_dump(mode="json") for v in prediction.verdicts])
        summary.outcome = prediction.outcome
        summary.text = _told(prediction)
        summary.simulated, summary.findings = prediction.simulated, prediction.findings
        summary.measuring_seconds = round(_measuring(prediction, took), 1)
        summary.today = _today(context, compiled, prediction, took)


def _today(context: Context, compiled: Packed[RunCompilation], prediction: Prediction, took: float) -> Today:
    """What classes without an objective get now; the prediction stands whatever becomes of this.

    It costs no more than the prediction did, and both together end within the time of one computation.
    """
    if all(each.objective for each in every_class(context.intent.intent.classes)):
        return ()
    timings, seed, within = prediction.timings, context.resolved.seed, context.computing.seconds
    context.observe(STAGE, "twin of what the devices hold now")
    try:
        return context.compute(today_of_run, compiled, timings, seed, took=took, within=within)
    except RunStopped:
        raise
    except QosforgeError as error:
        return not_simulated(timings, error.message)
    except Exception:  # noqa: BLE001  a fault of ours, as above
        _LOG.exception("simulating today failed", run_id=context.run_id)
        return not_simulated(timings, "qosforge has a fault; the log of its executor says which")


def _measuring(prediction: Prediction, took: float) -> float:
    """Seconds that the last look of a measurement comes to, by those that simulating took here."""
    simulated = sum(each.seconds for each in prediction.simulated)
    wanted = sum(each.wanted for each in prediction.simulated) * REPLICATIONS[-1] / REPLICATIONS[0]
    return took * wanted / simulated if simulated else 0.0


def _told(prediction: Prediction) -> str:
    """How long was simulated, where that is less than the policy wants measured, and what nothing would decide."""
    cut = [s for s in prediction.simulated if s.seconds < s.wanted]
    told = ["cut short: " + ", ".join(f"{s.scenario} {s.seconds} of {s.wanted} s" for s in cut)] if cut else []
    return "; ".join([*told, *(f"{f.traffic_class}: {f.message}; {f.hint}" for f in prediction.findings)])


def _earlier(context: Context, subject: str) -> PredictionSummary | None:
    for stage in reversed(context.store.stages(context.run_id)):
        found = stage.summary
        if not isinstance(found, PredictionSummary) or stage.outcome is not StageOutcome.DONE:
            continue
        if found.of == subject and found.measurement:
            return found
    return None


def predict_run(compiled: Packed[RunCompilation], seed: int) -> Prediction:
    """What is to be expected of what was compiled."""
    return predict(compiled.value().compilation, compiled.value().running, seed=seed)


def today_of_run(
    compiled: Packed[RunCompilation], timings: Mapping[str, Timing], seed: int, *, took: float, within: float
) -> Today:
    """What classes without an objective get by what the devices held when the run read them."""
    made = compiled.value()
    return simulate_today(made.compilation, made.running, timings, seed=seed, took=took, within=within)


def _subject(compiled: Packed[RunCompilation]) -> str:
    """What a prediction depends on, as a hash; intent, network and seed are the run's own and stay."""
    compilation, running = compiled.value().compilation, compiled.value().running
    found = hashlib.sha256(f"{MOST_SECONDS}".encode())
    devices = devices_under_test(compilation.intent.intent, compilation.network)
    held = {name: text for name, text in running.items() if name in devices}
    # What is to be, and what is: both are simulated.
    for plan in (
        *project_state(compilation, running, devices).values(),
        *running_plans(compilation.network, held).values(),
    ):
        found.update(plan.model_dump_json(exclude={"unknown"}).encode())
    # Shorter than the address of an artifact, which it must not be taken for.
    return found.hexdigest()[:32]
