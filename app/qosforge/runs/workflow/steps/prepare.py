"""Steps before a push: read the devices, compile, validate and make candidates, or reuse the last attempt's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from qosforge.compiler.candidate import Candidate
from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.deploy import transaction
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Outcome
from qosforge.deploy.not_saved import not_saved
from qosforge.deploy.unsaved import read_in_the_way
from qosforge.errors import StoreError
from qosforge.finding_rows import gather_findings
from qosforge.findings import Finding, has_errors
from qosforge.platforms.device_text import DeviceText
from qosforge.platforms.masked_findings import mask_document
from qosforge.runs.record.gathered_errors import gather_errors
from qosforge.runs.record.readings import write_unsaved
from qosforge.runs.record.rollout_record import may_leave_out
from qosforge.runs.record.set_aside import set_aside
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.stop_signal import StopSignal
from qosforge.runs.record.summaries import (
    CompileSummary,
    MeasurementSummary,
    PreparedDevice,
    PrepareSummary,
    ReadSummary,
    ValidateSummary,
)
from qosforge.runs.record.tables import StageOutcome
from qosforge.runs.workflow import rollback
from qosforge.runs.workflow.candidates import compile_run, refuse_unconfirmed, validate_run
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import PreparedChange, ReadResult, ReusedAttempt, SideMeasurement
from qosforge.runs.workflow.steps.lock import scope
from qosforge.runs.workflow.steps.predict import STAGE as PREDICT
from qosforge.runs.workflow.steps.predict import predicted

Json = dict[str, Any]

_REUSED = ("read", "compile", "validate", "prepare", PREDICT)


def errors_of(outcomes: Mapping[str, Outcome[Any]]) -> list[StepError]:
    """The errors of the devices that failed."""
    return [StepError.of(o.error, o.device) for o in outcomes.values() if o.error is not None]


class Stopped(TypedDict, total=False):
    """The part of a result that says that the run has to stop; empty where it has not."""

    stop: StopSignal


def stop_after(context: Context, errors: Sequence[StepError]) -> Stopped:
    """The signal to stop where there are errors: devices may have been left as the run has to end."""
    stop = context.stop() if errors else None
    return {"stop": stop} if stop is not None else {}


def read(context: Context, names: list[str]) -> ReadResult:
    """Read the devices' running configurations.

    None is contacted where the policy needs lines that nobody has accepted. Devices may be left because the run has
    to stop. Where the network's rules let so many fail, these are left out.
    """
    with context.store.stage(context.run_id, "read", ReadSummary(asked=names)) as summary:
        if refusal := _unconfirmed(context):
            summary.text = "; ".join(each.told for each in refusal)
            return ReadResult(running={}, refusal=refusal)
        context.observe("read", f"{len(names)} of {context.fleet.told}")
        context.computing.warm_up()

        def text(name: str, driver: DeviceDriver) -> DeviceText:
            configuration = transaction.running(driver)
            context.report_device(name, "read")
            return configuration

        outcomes = context.on_devices(names, text)
        running = store_texts(context, outcomes)
        errors = errors_of(outcomes)
        result = ReadResult(running=running, errors=errors, **stop_after(context, errors))
        concerned = scope(context)
        if _may_go_on(context, concerned, result):
            left_out = [each for each in errors if each.device in concerned]
            result = ReadResult(running=running, errors=[], left_out=left_out)
            summary.text = "; ".join(each.told for each in gather_errors(errors))
            summary.left_out = left_out
        summary.running, summary.errors = running, result.errors
    return result


def _unconfirmed(context: Context) -> list[StepError]:
    """What refuses a run before any device is contacted."""
    resolved = context.resolved
    if resolved.takes_unconfirmed or not resolved.brings_policy:
        return []
    found = context.compute(refuse_unconfirmed, context.intent, context.network)
    return [
        StepError(
            message=f"{finding.message}: {'; '.join(row.text for row in finding.rows if row.text)}",
            hint=finding.hint or "",
            device=finding.device or "",
        )
        for finding in found
        if not resolved.only or finding.device in resolved.only
    ]


def _may_go_on(context: Context, concerned: Sequence[str], found: ReadResult) -> bool:
    """Whether devices that could not be read are left out: neither a twin of the network nor packets miss any."""
    errors = found.errors
    resolved = context.resolved
    whole = resolved.rollback_of is not None or (resolved.measure and resolved.tester != "external")
    if not errors or found.stop is not None:
        return False
    failed = {each.device for each in errors}
    return may_leave_out(context.network.changes.rollout, concerned, failed, needs_all=whole)


def store_texts(context: Context, outcomes: Mapping[str, Outcome[DeviceText]]) -> dict[str, str]:
    """Artifacts of the configurations that were read, by device."""
    return {n: context.artifacts.put_configuration(o.value) for n, o in outcomes.items() if o.value is not None}


def load_texts(context: Context, running: Mapping[str, str]) -> dict[str, DeviceText]:
    """Configurations by device from their artifacts."""
    return {name: context.configuration(name, artifact) for name, artifact in running.items()}


def recompile(context: Context, running: Mapping[str, str], *, touched: bool) -> Compilation:
    """The compilation against what was read, once more; pure, so that it is the same, and is made once a process.

    ``touched``: devices are, so it comes to its end, and waits behind none that has touched nothing.
    """
    if context.compiled is None or context.compiled[0] != running:
        compute = context.compute_to_end if touched else context.compute
        # No device in scope is left out: all of them were read.
        network = context.network.part(running)
        made = compute(compile_intent, context.intent, network, load_texts(context, running))
        context.compiled = (dict(running), made)
    return context.compiled[1]


def _not_saved(
    context: Context, names: list[str], running: Mapping[str, str], texts: Mapping[str, DeviceText]
) -> tuple[Finding, ...]:
    """Which devices hold something unsaved that a push would stop at: told before one is touched, and kept with
    their readings for the previews that follow.

    One that cannot be read now is read again when it is touched.
    """

    def look(name: str, driver: DeviceDriver) -> tuple[str, ...] | None:
        return read_in_the_way(context.network.device(name), driver, texts[name])

    outcomes = context.on_devices(names, look)
    found = {name: outcome.value for name, outcome in outcomes.items() if outcome.value is not None}
    context.store.database.transact(lambda connection: write_unsaved(connection, context.run_id, running, found))
    return tuple(not_saved(name, lines) for name, lines in found.items() if lines)


def _shown(context: Context, finding: Finding) -> Json:
    """A finding as a document; what it quotes of a device is without secrets."""
    document = finding.model_dump(mode="json")
    if not finding.device:
        return document
    shown: Json = mask_document(document, context.fleet.words(finding.device).shown_document)
    return shown


def prepare_change(context: Context, running: Mapping[str, str]) -> PreparedChange:
    """Compile, validate, make the candidates, and predict what they would do."""
    texts = load_texts(context, running)
    with context.store.stage(context.run_id, "compile", CompileSummary()) as summary:
        context.observe("compile", f"{context.intent.intent.intent} for {context.network.name}")
        names, compiled = context.compute(compile_run, context.intent, context.network, texts)
        summary.devices = list(names)
    with context.store.stage(context.run_id, "validate", ValidateSummary()) as validated:
        context.observe("validate", "own checks and Batfish")
        resolved = context.resolved
        checked = context.compute(
            validate_run,
            compiled,
            strict=resolved.strict,
            accepted=resolved.takes_unconfirmed,
        )
        found = context.check_with_batfish(checked.batfish)
        changed = [name for name, (_, candidate) in checked.devices.items() if not candidate.empty]
        unsaved = _not_saved(context, changed, running, texts) if changed else ()
        gathered = gather_findings((*checked.findings, *found, *unsaved))
        findings = set_aside(gathered, resolved.set_aside)
        shown = [_shown(context, finding) for finding in findings]
        artifact = context.artifacts.put_json(shown)
        refused = has_errors(findings, strict=resolved.strict)
        validated.findings, validated.refused = artifact, refused
    devices: dict[str, PreparedDevice] = {}
    with context.store.stage(context.run_id, "prepare", PrepareSummary()) as prepared:
        for name, (text, made) in {} if refused else checked.devices.items():
            if not resolved.only or name in resolved.only:
                devices[name] = prepare_device(context, text, made)
        candidate = listed(context, devices)
        prepared.devices, prepared.candidate = devices, candidate
    if resolved.measure and not all(device.empty for device in devices.values()):
        predicted(context, compiled)
    refusal = [
        _told(document)
        for document, finding in zip(shown, findings, strict=True)
        if has_errors((finding,), strict=resolved.strict)
    ]
    return PreparedChange(findings=artifact, refused=refused, refusal=refusal, devices=devices, candidate=candidate)


def _told(finding: Json) -> StepError:
    """A finding that stands against the change, as an error; it is one that may be shown."""
    hint = finding["hint"] or "correct the policy by its findings"
    return StepError(message=finding["message"], hint=hint, device=finding["device"] or "")


def prepare_device(context: Context, text: str, candidate: Candidate) -> PreparedDevice:
    """What is prepared for one device, with its texts as artifacts."""
    return PreparedDevice(
        configuration=context.artifacts.put_text(text),
        delta=context.artifacts.put_text(candidate.text),
        inverse=context.artifacts.put_text("\n".join(candidate.inverse)),
        gaps=list(candidate.gaps),
        difference=context.artifacts.put_text("\n".join(candidate.difference)),
        empty=candidate.empty,
    )


def listed(context: Context, devices: Mapping[str, PreparedDevice]) -> str:
    """Artifact that lists every device's delta: what is approved."""
    deltas = {name: context.artifacts.get_text(device.delta) for name, device in devices.items()}
    return context.artifacts.put_json({"version": 1, "devices": deltas})


def prepare_rollback(context: Context, running: Mapping[str, str]) -> PreparedChange:
    """Work out the rollback of a run: from what the devices hold to what they held before it.

    Raises:
        InvalidState: a later run's change stands on a device.
    """
    devices: dict[str, PreparedDevice] = {}
    with context.store.stage(context.run_id, "prepare", PrepareSummary()) as prepared:
        context.observe("prepare", f"the rollback of run {context.resolved.rollback_of}")
        for name, way in rollback.rollback_changes(context, running).items():
            # What is put back, not all that the device held: viewers read it.
            devices[name] = prepare_device(context, way.text, way)
        candidate = listed(context, devices)
        prepared.devices, prepared.candidate = devices, candidate
    return PreparedChange(refused=False, devices=devices, candidate=candidate)


def reuse(context: Context, start: str) -> ReusedAttempt:
    """Take over what the last attempt read and prepared (and measured, to begin at the push).

    Nothing is assumed of the devices: one that does not read as it did then is refused when it is touched.

    Raises:
        StoreError: the last attempt did not come that far.
    """
    earlier = [
        stage
        for stage in context.store.stages(context.run_id)
        if stage.run_attempt < context.attempt and stage.outcome is StageOutcome.DONE
    ]
    last = {stage.name: stage for stage in earlier}
    measured = [stage for name, stage in last.items() if name.startswith("measure-before")]
    taken = {name: last[name] for name in _REUSED if name in last}
    if start == "push" and measured:
        taken["measure-before"] = measured[-1]
    if not {"read", "prepare"} <= taken.keys():
        raise StoreError(f"run {context.run_id} has nothing to begin at {start} with", hint="retry it from read")
    for name, stage in taken.items():
        with context.store.stage(context.run_id, name, stage.summary.model_copy(deep=True)) as summary:
            context.observe(name, f"taken over from attempt {stage.run_attempt}")
            summary.text = f"taken over from attempt {stage.run_attempt}"
            summary.taken_over = stage.run_attempt
    held, prepared = taken["read"].summary, taken["prepare"].summary
    assert isinstance(held, ReadSummary)
    assert isinstance(prepared, PrepareSummary)
    before = taken["measure-before"].summary if "measure-before" in taken else None
    return ReusedAttempt(
        running=held.running,
        prepared=PreparedChange(refused=False, devices=prepared.devices, candidate=prepared.candidate),
        before=_measured(before) if isinstance(before, MeasurementSummary) else None,
    )


def _measured(summary: MeasurementSummary) -> SideMeasurement:
    assert summary.outcome is not None
    return SideMeasurement(measurement=summary.measurement, verdicts=summary.verdicts, outcome=summary.outcome)
