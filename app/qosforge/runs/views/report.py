"""A run's report document, put together from its record and artifacts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from qosforge.artifacts.store import ArtifactMissing, Artifacts
from qosforge.findings import Finding
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceWords
from qosforge.reports.line_difference import line_difference
from qosforge.reports.model import (
    DecisionReport,
    DeviceReport,
    PredictionReport,
    RunReport,
    StageReport,
    WaveReport,
)
from qosforge.runs.record.attempts import attempt_start
from qosforge.runs.record.earlier_words import in_present_words
from qosforge.runs.record.expired import RETENTION_STAGE
from qosforge.runs.record.gathered_errors import gather_errors
from qosforge.runs.record.keep_question import question
from qosforge.runs.record.rollout_record import left_out, wave_states
from qosforge.runs.record.run import Run
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import (
    MEASUREMENT_STAGES,
    CompareSummary,
    MeasurementSummary,
    PredictionSummary,
    PreparedDevice,
    PrepareSummary,
    ReadSummary,
    StageSummary,
    ValidateSummary,
)
from qosforge.runs.record.tables import CHANGING, JournalAction
from qosforge.runs.views.trade_offs import run_trade_offs
from qosforge.tester.measurement.changes import ClassChange
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import ClassVerdict

Json = dict[str, Any]
Kind = TypeVar("Kind", bound=StageSummary)


def run_report(
    store: RunStore,
    artifacts: Artifacts,
    run_id: str,
    *,
    measurements: bool = True,
    attempt: int | None = None,
) -> RunReport:
    """The report of a run, as far as its last attempt came, or that ``attempt``; the stages are those of all.

    Of a run whose artifacts the retention took, it is what was left. Without ``measurements``, which are long, it
    has the verdicts on them only.

    Raises:
        InputError: there is no such run.
        StoreError: an artifact of it is missing, and no retention took it.
    """
    run = store.get_run(run_id)
    stages = store.stages(run.id)
    try:
        last = max((stage.run_attempt for stage in stages), default=run.attempt)
        shown = last if attempt is None else attempt
        return _whole(store, artifacts, run, stages, shown, measurements=measurements)
    except ArtifactMissing:
        if not any(stage.name == RETENTION_STAGE for stage in stages):
            raise
        return _remains(store, run, stages)


def last_verdicts(store: RunStore, artifacts: Artifacts, run_id: str) -> tuple[ClassVerdict, ...]:
    """The verdicts of what a run measured last, without the rest of its report; empty where nothing was judged.

    Raises:
        ArtifactCorrupt, ArtifactMissing: they are damaged or gone.
    """
    stages = store.stages(run_id)
    shown = max((stage.run_attempt for stage in stages), default=0)
    last = _last_of([stage for stage in stages if stage.outcome == "done" and stage.run_attempt == shown])
    sides = (_verdicts(artifacts, _measured(last, side)) for side in ("after", "before"))
    return next((found for found in sides if found), ())


def last_findings(store: RunStore, artifacts: Artifacts, run_id: str) -> tuple[Finding, ...]:
    """The findings that a run's last attempt gave, without the rest of its report; empty before it was checked.

    Raises:
        ArtifactCorrupt, ArtifactMissing: they are damaged or gone.
    """
    stages = store.stages(run_id)
    shown = max((stage.run_attempt for stage in stages), default=0)
    return _findings(artifacts, _last_of([stage for stage in stages if stage.run_attempt == shown]))


def _remains(store: RunStore, run: Run, stages: list[Stage]) -> RunReport:
    """Who was touched and how that ended: the journal stays when the artifacts go."""
    actions: dict[str, list[str]] = defaultdict(list)
    for entry in store.journal.entries(run.id):
        actions[entry.device].append(entry.action.value)
    return RunReport(
        **_order(store, run, stages),
        finished=run.updated,
        stages=tuple(_stage(stage) for stage in stages),
        devices=tuple(
            DeviceReport(name=device, platform="", outcome=_outcome(taken, empty=False))
            for device, taken in sorted(actions.items())
        ),
    )


def _whole(
    store: RunStore, artifacts: Artifacts, run: Run, stages: list[Stage], shown: int, *, measurements: bool
) -> RunReport:
    last = _last_of([s for s in stages if s.outcome == "done" and s.run_attempt == shown])
    begun = attempt_start(stages, shown) or run.created
    network = Network.model_validate_json(artifacts.get_text(run.resolved.network_artifact))
    before, after = _measured(last, "before"), _measured(last, "after")
    predicted = _latest(last, PredictionSummary)
    prepared = _latest(last, PrepareSummary)
    findings = _findings(artifacts, last)
    return RunReport(
        **_order(store, run, stages),
        candidate=prepared.candidate or None if prepared else None,
        finished=run.updated if run.status.final else None,
        stages=tuple(_stage(stage) for stage in stages),
        devices=_devices(store, artifacts, run.id, network=network, last=last, findings=findings, since=begun),
        findings=findings,
        before=_measurement(artifacts, before) if measurements else None,
        predicted=_measurement(artifacts, predicted) if measurements else None,
        after=_measurement(artifacts, after) if measurements else None,
        verdicts_before=_verdicts(artifacts, before),
        verdicts_predicted=_verdicts(artifacts, predicted),
        verdicts_after=_verdicts(artifacts, after),
        changes=_changes(artifacts, last),
        prediction=_prediction(predicted),
        unjudged_trade_offs=run_trade_offs(
            artifacts, run.resolved, {"before": before, "predicted": predicted, "after": after}
        ),
        rollout=tuple(
            WaveReport(
                name=wave.name,
                steps=tuple(tuple(step) for step in wave.steps),
                revert_minutes=wave.revert_seconds // 60,
                state=state,
            )
            for wave, state in wave_states(stages, shown)
        ),
        left_out=tuple(left_out(stages, shown)),
    )


def _last_of(stages: Sequence[Stage]) -> dict[str, StageSummary]:
    """The last summary of every stage, by name; what devices hold is that of all waves together."""
    last: dict[str, StageSummary] = {}
    for stage in stages:
        summary, earlier = stage.summary, last.get(stage.name)
        if isinstance(summary, ReadSummary) and isinstance(earlier, ReadSummary):
            summary = summary.model_copy(update={"running": earlier.running | summary.running})
        last[stage.name] = summary
    return last


def _latest(last: Mapping[str, StageSummary], kind: type[Kind]) -> Kind | None:
    return next((summary for summary in last.values() if isinstance(summary, kind)), None)


def _running(last: Mapping[str, StageSummary], stage: str) -> Mapping[str, str]:
    summary = last.get(stage)
    return summary.running if isinstance(summary, ReadSummary) else {}


def _order(store: RunStore, run: Run, stages: list[Stage]) -> Json:
    """What was asked, by whom, and what people decided."""
    questions = {stage.summary.question for stage in stages if isinstance(stage.summary, CompareSummary)}
    return {
        "id": run.id,
        "network": run.network,
        "intent": run.policy,
        "status": run.status.value,
        "started": run.created,
        "created_by": run.requested_by,
        "ticket": run.ticket,
        "accept_unconfirmed": run.resolved.accept_unconfirmed,
        "set_aside": _set_aside(run),
        "source": run.source,
        "rollback_of": run.resolved.rollback_of,
        "rollback_reason": run.resolved.rollback_reason,
        "rolled_back_by": run.rolled_back_by,
        "waits_for": run.waits_for,
        "reason": run.reason,
        "reason_step": run.reason_step,
        "reason_device": run.reason_device,
        "reason_hint": run.reason_hint,
        "outcome": run.outcome,
        "keep": run.resolved.keep,
        "question": question(store, run),
        "decisions": tuple(
            DecisionReport(
                candidate=d.candidate,
                approved=d.approved,
                by=d.by,
                comment=d.comment,
                at=d.at,
                keeping=d.candidate in questions,
            )
            for d in store.decisions.on(run.id)
        ),
    }


def _set_aside(run: Run) -> str:
    aside = run.resolved.set_aside
    return "" if aside is None else f"{aside.told}, by {aside.by}: {aside.reason}"


def _recorded(artifacts: Artifacts, artifact: str) -> list[Json]:
    documents: list[Json] = in_present_words(artifacts.get_json(artifact))
    return documents


def _measured(last: Mapping[str, StageSummary], when: str) -> MeasurementSummary | None:
    """The last measurement on one side of the push: an inconclusive one is followed by longer ones."""
    first = f"{MEASUREMENT_STAGES}{when}"
    found = [
        summary
        for name, summary in last.items()
        if isinstance(summary, MeasurementSummary) and (name == first or name.startswith(f"{first}-"))
    ]
    return found[-1] if found else None


def _measurement(artifacts: Artifacts, summary: MeasurementSummary | None) -> Measurement | None:
    if summary is None or not summary.measurement:  # a prediction may have failed, which its stage tells
        return None
    return Measurement.parse_stored(artifacts.get_text(summary.measurement))


def _verdicts(artifacts: Artifacts, summary: MeasurementSummary | None) -> tuple[ClassVerdict, ...]:
    if summary is None or not summary.verdicts:
        return ()
    return tuple(ClassVerdict.model_validate(entry) for entry in _recorded(artifacts, summary.verdicts))


def _prediction(summary: PredictionSummary | None) -> PredictionReport | None:
    if summary is None or not summary.measurement:
        return None
    findings = summary.findings or ()
    return PredictionReport(
        simulated=summary.simulated or (),
        findings=findings,
        needed_seconds=max((int(f.facts["seconds"]) for f in findings if "seconds" in f.facts), default=None),
        today=summary.today,
    )


def _changes(artifacts: Artifacts, last: Mapping[str, StageSummary]) -> tuple[ClassChange, ...]:
    summary = _latest(last, CompareSummary)
    if summary is None or not summary.changes:
        return ()
    return tuple(ClassChange.model_validate(entry) for entry in _recorded(artifacts, summary.changes))


def _findings(artifacts: Artifacts, last: Mapping[str, StageSummary]) -> tuple[Finding, ...]:
    summary = _latest(last, ValidateSummary)
    if summary is None:
        return ()
    return tuple(Finding.model_validate(entry) for entry in _recorded(artifacts, summary.findings))


def _stage(stage: Stage) -> StageReport:
    seconds = (stage.ended - stage.started).total_seconds() if stage.ended else 0.0
    summary = stage.summary
    text = "; ".join(one.told for one in gather_errors(summary.errors)) or summary.error or summary.text
    return StageReport(
        name=stage.name,
        started=stage.started,
        seconds=seconds,
        outcome=stage.outcome.value if stage.outcome else "running",
        summary=text,
    )


def _devices(
    store: RunStore,
    artifacts: Artifacts,
    run_id: str,
    *,
    network: Network,
    last: Mapping[str, StageSummary],
    findings: tuple[Finding, ...],
    since: datetime,
) -> tuple[DeviceReport, ...]:
    held, pushed = _running(last, "read"), _running(last, "read-back")
    summary = _latest(last, PrepareSummary)
    prepared = summary.devices if summary else {}
    artifacts = artifacts.together(_texts_of_devices(held, pushed, prepared))
    actions: dict[str, list[str]] = defaultdict(list)
    for row in store.journal.entries(run_id):
        if row.at >= since:
            actions[row.device].append(row.action.value)
    found: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        found[finding.device].append(finding)
    reports = []
    for device in network.devices:
        entry = prepared.get(device.name)
        if entry is None:
            continue
        words = DeviceWords(device.name, device.platform)
        original = artifacts.get_configuration(held[device.name], words)
        after = artifacts.get_configuration(pushed[device.name], words) if device.name in pushed else None
        difference = line_difference(original.unmasked, after.unmasked) if after is not None else ""
        shown = (original.words if after is None else after.words.with_secrets_of(original.words)).shown
        reports.append(
            DeviceReport(
                name=device.name,
                platform=device.platform,
                outcome=_outcome(actions[device.name], empty=entry.empty),
                candidate=shown(artifacts.get_text(entry.delta)),
                inverse=shown(artifacts.get_text(entry.inverse)),
                difference=shown(artifacts.get_text(entry.difference)) if entry.difference else "",
                diff=shown(difference),
                configuration=shown(artifacts.get_text(entry.configuration)),
                findings=tuple(found[device.name]),
            )
        )
    return tuple(reports)


def _texts_of_devices(
    held: Mapping[str, str], pushed: Mapping[str, str], prepared: Mapping[str, PreparedDevice]
) -> Iterator[str]:
    """The artifacts that a report shows of its devices; of each there are up to six."""
    for name, entry in prepared.items():
        texts = (
            held.get(name),
            pushed.get(name),
            entry.delta,
            entry.inverse,
            entry.difference,
            entry.configuration,
        )
        yield from filter(None, texts)


def _outcome(actions: list[str], *, empty: bool) -> str:
    if actions:
        if actions[-1] == JournalAction.UNDONE and not CHANGING.intersection(actions):
            return "not changed"
        return actions[-1].replace("_", " ")
    return "nothing to change" if empty else "not touched"
