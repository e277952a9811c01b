"""Steps before a push: read the devices, compile, validate and make candidates, or reuse the last attempt's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.configtree import Gap
from qosforge.deploy import transaction
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Outcome
from qosforge.deploy.not_saved import not_saved
from qosforge.deploy.unsaved import read_in_the_way
from qosforge.errors import StoreError
from qosforge.findings import Finding, has_errors
from qosforge.platforms.device_text import DeviceText
from qosforge.runs.record.readings import TAKEN_OVER
from qosforge.runs.record.tables import StageOutcome
from qosforge.runs.workflow import rollback
from qosforge.runs.workflow.candidates import compile_run, validate_run
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.steps.predict import STAGE as PREDICT
from qosforge.runs.workflow.steps.predict import predicted
from qosforge.runs.workflow.steps.wait import scope

Json = dict[str, Any]

_REUSED = ("read", "compile", "validate", "prepare", PREDICT)


def errors_of(outcomes: Mapping[str, Outcome[Any]]) -> list[Json]:
    """The errors of the devices that failed, as documents."""
    return [{**o.error.document(), "device": o.device} for o in outcomes.values() if o.error is not None]


def errors_and_stop(context: Context, outcomes: Mapping[str, Outcome[Any]]) -> Json:
    """``errors`` of the devices that failed, and ``stop`` where they may have been left as the run has to end."""
    errors = errors_of(outcomes)
    stop = context.stop() if errors else None
    return {"errors": errors, **({"stop": stop} if stop else {})}


def read(context: Context, names: list[str]) -> Json:
    """Read the devices' running configurations.

    Returns:
        ``running`` and ``errors``; ``stop`` where devices were left because the run has to end. Where the network's
        rules let so many fail, the errors are ``left_out`` instead.
    """
    with context.store.stage(context.run_id, "read") as summary:
        context.observe("read", f"{len(names)} of {context.fleet.told}")
        context.computing.warm_up()

        def text(name: str, driver: DeviceDriver) -> DeviceText:
            configuration = transaction.running(driver)
            context.report_device(name, "read")
            return configuration

        outcomes = context.on_devices(names, text)
        running = store_texts(context, outcomes)
        found = errors_and_stop(context, outcomes)
        concerned = scope(context)
        if _may_go_on(context, concerned, found):
            summary["text"] = "; ".join(f"{each['device']}: {each['message']}" for each in found["errors"])
            found = {"errors": [], "left_out": [each for each in found["errors"] if each["device"] in concerned]}
        summary |= {"running": running, **found}
    return {"running": running, **found}


def _may_go_on(context: Context, concerned: Sequence[str], found: Json) -> bool:
    """Whether devices that could not be read are left out. A twin is of the whole network, so it misses none."""
    errors = found["errors"]
    resolved = context.resolved
    whole = resolved.rollback_of is not None or (resolved.measure and resolved.tester == "twin")
    if not errors or "stop" in found or whole:
        return False
    missing = len({each["device"] for each in errors} & set(concerned))
    return missing < len(concerned) and missing <= context.network.changes.rollout.may_fail(len(concerned))


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


def _not_saved(context: Context, names: list[str], texts: Mapping[str, DeviceText]) -> tuple[Finding, ...]:
    """Which devices hold something unsaved that a push would stop at: told before one is touched.

    One that cannot be read now is read again when it is touched.
    """

    def look(name: str, driver: DeviceDriver) -> tuple[str, ...]:
        return read_in_the_way(context.network.device(name), driver, texts[name])

    outcomes = context.on_devices(names, look)
    return tuple(not_saved(name, outcome.value) for name, outcome in outcomes.items() if outcome.value)


def _shown(context: Context, finding: Finding) -> Json:
    """A finding as a document; what it quotes of a device is without secrets."""
    document = finding.model_dump(mode="json")
    shown: Json = context.fleet.words(finding.device).shown_document(document) if finding.device else document
    return shown


def prepare_change(context: Context, running: Mapping[str, str]) -> Json:
    """Compile, validate, make the candidates, and predict what they would do."""
    texts = load_texts(context, running)
    with context.store.stage(context.run_id, "compile") as summary:
        context.observe("compile", f"{context.intent.intent.intent} for {context.network.name}")
        names, compiled = context.compute(compile_run, context.intent, context.network, texts)
        summary["devices"] = list(names)
    with context.store.stage(context.run_id, "validate") as summary:
        context.observe("validate", "own checks and Batfish")
        resolved = context.resolved
        checked = context.compute(
            validate_run,
            compiled,
            strict=resolved.strict,
            batfish_host=resolved.batfish_host,
            batfish_port=resolved.batfish_port,
            require_batfish=resolved.require_batfish,
        )
        changed = [name for name, (_, candidate) in checked.devices.items() if not candidate.empty]
        findings = (*checked.findings, *(_not_saved(context, changed, texts) if changed else ()))
        artifact = context.artifacts.put_json([_shown(context, finding) for finding in findings])
        refused = has_errors(findings, strict=resolved.strict)
        summary |= {"findings": artifact, "refused": refused}
    devices: dict[str, Json] = {}
    with context.store.stage(context.run_id, "prepare") as summary:
        for name, (text, made) in {} if refused else checked.devices.items():
            if not resolved.only or name in resolved.only:
                devices[name] = entry(context, text, made.text, made.inverse, made.gaps)
        candidate = listed(context, devices)
        summary |= {"devices": devices, "candidate": candidate}
    if resolved.measure and not all(entry["empty"] for entry in devices.values()):
        predicted(context, compiled)
    refusal = [_told(f) for f in findings if has_errors((f,), strict=resolved.strict)]
    told = {"findings": artifact, "refused": refused, "refusal": refusal}
    return {**told, "devices": devices, "candidate": candidate}


def _told(finding: Finding) -> Json:
    """A finding that stands against the change, as an error."""
    device = finding.device or ""
    return {
        "message": finding.message,
        "hint": finding.hint or "correct the policy by its findings",
        "device": device,
    }


def entry(context: Context, text: str, delta: str, inverse: Sequence[str], gaps: Sequence[Gap] = ()) -> Json:
    """What is prepared for one device, with its texts as artifacts."""
    return {
        "configuration": context.artifacts.put_text(text),
        "delta": context.artifacts.put_text(delta),
        "inverse": context.artifacts.put_text("\n".join(inverse)),
        "gaps": [vars(gap) for gap in gaps],
        "empty": not delta,
    }


def listed(context: Context, devices: Mapping[str, Json]) -> str:
    """Artifact that lists every device's delta: what is approved."""
    deltas = {name: context.artifacts.get_text(prepared["delta"]) for name, prepared in devices.items()}
    return context.artifacts.put_json({"version": 1, "devices": deltas})


def prepare_rollback(context: Context, running: Mapping[str, str]) -> Json:
    """Work out the rollback of a run: from what the devices hold to what they held before it.

    Raises:
        InvalidState: a later run's change stands on a device.
    """
    devices: dict[str, Json] = {}
    with context.store.stage(context.run_id, "prepare") as summary:
        context.observe("prepare", f"the rollback of run {context.resolved.rollback_of}")
        for name, (there, back) in rollback.rollback_changes(context, running).items():
            # What is put back, not all that the device held: viewers read it.
            devices[name] = entry(context, there, there, back)
        candidate = listed(context, devices)
        summary |= {"devices": devices, "candidate": candidate}
    return {"refused": False, "devices": devices, "candidate": candidate}


def reuse(context: Context, start: str) -> Json:
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
        with context.store.stage(context.run_id, name) as summary:
            context.observe(name, f"taken over from attempt {stage.run_attempt}")
            summary |= {
                **stage.summary,
                "text": f"taken over from attempt {stage.run_attempt}",
                TAKEN_OVER: stage.run_attempt,
            }
    prepared = taken["prepare"].summary
    before = taken["measure-before"].summary if "measure-before" in taken else None
    return {
        "running": taken["read"].summary["running"],
        "prepared": {"refused": False, "devices": prepared["devices"], "candidate": prepared["candidate"]},
        "before": {key: before[key] for key in ("measurement", "verdicts", "outcome")} if before else None,
    }
