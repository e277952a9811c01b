"""Predictions as the preview shows them, made by background jobs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from qosforge.api.backend import SHORT_SECONDS, Backend
from qosforge.api.jobs.preview import policy_digest
from qosforge.api.jobs.queue import JobProgress
from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import compile_intent
from qosforge.deltaq.objective import Outcome
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.device_state.last_known import last_known
from qosforge.errors import TesterError
from qosforge.findings import Finding
from qosforge.intent.models import Intent
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.prediction.predict import predict
from qosforge.prediction.record import SimulatedTime, left_to_run
from qosforge.prediction.today import simulate_today
from qosforge.release import release
from qosforge.reports.evidence import interval, observed, why_open
from qosforge.reports.figures import Figure, figures_of
from qosforge.reports.open_bounds import OpenBounds, open_bounds
from qosforge.reports.table import format_bound
from qosforge.reports.unjudged_trade_offs import (
    UnjudgedTradeOff,
    before_by_measurement,
    before_by_today,
    figures_by_class,
    unjudged_trade_offs,
)
from qosforge.reports.verdict_rows import VerdictRow, rows_by_side
from qosforge.runs.record.run import Run
from qosforge.runs.views.last_measurement import LastMeasurement, last_measurement
from qosforge.tester.measurement.document import Measurement, When
from qosforge.tester.measurement.judging import ClassVerdict, verdicts


@dataclass(frozen=True)
class ComparedRun:
    """The run of the last measurement that a prediction is compared with, and when it was created.

    ``policy`` names its policy where that is another one.
    """

    run_id: str
    at: datetime
    policy: str


@dataclass(frozen=True)
class PredictionView:
    """A prediction: the bounds with what would be seen of each, and the figures by scenario.

    ``compared`` is the run whose measurement stands beside it; ``stands`` says that no device would change, so that
    this is a measurement of the policy itself.
    """

    outcome: Outcome
    rows: tuple[VerdictRow, ...]
    confidences: str
    simulated: tuple[SimulatedTime, ...]
    findings: tuple[Finding, ...]
    titles: Mapping[str, str]
    figures: Mapping[str, tuple[Figure, ...]]
    compared: ComparedRun | None
    trade_offs: tuple[UnjudgedTradeOff, ...]
    """What classes without an objective would pay."""
    stands: bool = False

    amount = staticmethod(format_bound)
    observed = staticmethod(observed)
    interval = staticmethod(interval)
    why_open = staticmethod(why_open)

    @property
    def is_compared(self) -> bool:
        """Whether any bound can be seen beside what was measured."""
        return any("before" in row.sides for row in self.rows)

    @property
    def is_measured(self) -> bool:
        """Whether every bound was measured on what devices hold, which would stay as it is."""
        return self.stands and self.compared is not None and all("before" in row.sides for row in self.rows)

    @property
    def cut_short(self) -> tuple[SimulatedTime, ...]:
        """The scenarios that were simulated for less time than the policy wants them measured."""
        return tuple(each for each in self.simulated if each.seconds < each.wanted)

    @property
    def left_to_run(self) -> SimulatedTime | None:
        """The scenario of which the least was simulated, where a run decides the bounds that are open."""
        return left_to_run(self.simulated, self.findings)

    @property
    def open_bounds(self) -> tuple[OpenBounds, ...]:
        """What keeps bounds open."""
        return open_bounds(self.rows, self._side)

    @property
    def _side(self) -> When:
        return "before" if self.is_measured else "predicted"

    def bounds(self, outcome: Outcome) -> tuple[VerdictRow, ...]:
        """The bounds that come out like this, measured where that holds, else predicted."""
        return tuple(row for row in self.rows if row.sides[self._side].outcome == outcome)


@dataclass(frozen=True)
class PredictionJob:
    """A prediction with the key and the progress of its job."""

    key: str
    progress: JobProgress


def submit_prediction(
    backend: Backend, network: Network, written: PolicySource, policy: str, *, person: str
) -> PredictionJob:
    """Submit the prediction of a policy on the last known configurations, unless it is under way or done.
    ``policy`` is what its text calls it.

    Only the newest prediction of a person waits in the queue.

    Raises:
        TooBusy: too many jobs of this person wait.
        StoreError: an artifact is missing or damaged.
    """
    store = backend.run_requests.store
    known = {name: read.text for name, read in last_known(store, backend.artifacts, network).items()}
    last = last_measurement(store, network, policy)
    parts = [
        release(),
        network.model_dump_json(by_alias=True),
        policy_digest(written),
        {name: text.digest for name, text in known.items()},
        last.artifact if last else "",
    ]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    name = job_key(network.name, key)
    progress = backend.jobs.progress(name)
    if progress is None or progress.state == "failed":
        measured = backend.artifacts.get_text(last.artifact) if last else ""
        progress = backend.jobs.submit(
            name, predict_view, written, network, known, last, measured, person=person, topic="prediction"
        )
    return PredictionJob(key, progress)


def job_key(network: str, key: str) -> str:
    """The key of a prediction's job, which names the network that its reader must be allowed to see."""
    return f"prediction {network} {key}"


def predict_view(
    written: PolicySource,
    network: Network,
    running: Mapping[str, DeviceText],
    last: LastMeasurement | None,
    measured: str,
) -> PredictionView:
    """Predict, and draw what comes out beside the last measurement of the network.

    Raises:
        InputError: the policy is no valid intent, or verifies nothing.
        RefusedError: errors stand against it.
        TesterError: the twin cannot simulate this.
    """
    require_installed(network)
    compilation = compile_intent(load_policy(written), network, running)
    begun = time.monotonic()
    prediction = predict(compilation, running)
    took = time.monotonic() - begun
    today = simulate_today(compilation, running, prediction.timings, took=took, within=SHORT_SECONDS)
    before = _comparable(prediction.measurement, measured) if last else None
    found = prediction.verdicts
    now = _judge(compilation.intent.intent, network, before) if before else ()
    figures = figures_of([*([before] if before else []), prediction.measurement], found, judged_only=True)
    titles = {each.name: each.title for each in prediction.measurement.scenarios}
    return PredictionView(
        outcome=prediction.outcome,
        rows=rows_by_side({"predicted": found, "before": now}),
        confidences=", ".join(sorted({f"{each.verdict.confidence * 100:g} %" for each in found})),
        simulated=prediction.simulated,
        findings=prediction.findings,
        titles=titles,
        figures={name: tuple(one for one in figures if one.scenario == name) for name in titles},
        trade_offs=unjudged_trade_offs(
            compilation.intent.intent.classes,
            before_by_measurement(before)
            if before and not any(each.figures for each in today)
            else before_by_today(today),
            figures_by_class(prediction.measurement),
        ),
        compared=_compared_run(last.run, compilation.intent.intent.intent) if last and before else None,
        stands=all(
            device.name in running and make_candidate(device, running[device.name]).empty
            for device in compilation.devices
        ),
    )


def _compared_run(run: Run, policy: str) -> ComparedRun:
    return ComparedRun(run.id, run.created, "" if run.policy == policy else run.policy)


def _comparable(prediction: Measurement, measured: str) -> Measurement | None:
    """The part of a measurement that a prediction has, too: the same classes on the same paths."""
    found = Measurement.parse_stored(measured)
    flows = {(s.name, f.traffic_class, f.path) for s in prediction.scenarios for f in s.flows}
    scenarios = tuple(
        each.model_copy(
            update={"flows": tuple(f for f in each.flows if (each.name, f.traffic_class, f.path) in flows)}
        )
        for each in found.scenarios
    )
    kept = tuple(each for each in scenarios if each.flows)
    return found.model_copy(update={"when": "before", "scenarios": kept}) if kept else None


def _judge(intent: Intent, network: Network, measurement: Measurement) -> tuple[ClassVerdict, ...]:
    """What the objectives say of a measurement, which may be of other scenarios and classes."""
    names = {each.name for each in measurement.scenarios}
    checks = tuple(check for check in intent.verify if _scenario(network, check.from_, check.to) in names)
    try:
        found = verdicts(intent.model_copy(update={"verify": checks}), network, measurement)
    except TesterError:  # it kept no samples of a class that is judged now
        return ()
    return tuple(each for each in found if all(bound.n for bound in each.verdict.bounds))


def _scenario(network: Network, source: str, target: str) -> str | None:
    return next((each.name for each in network.traffic if (source, target) in each.between), None)
