"""Steps that measure: the tester on what devices hold, and external measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from qosforge.compiler.running_plans import running_plans
from qosforge.emulation import emulated_devices, with_lab_stations
from qosforge.runs.record.summaries import MeasurementSummary
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.external_tester import judged
from qosforge.runs.workflow.results import SideMeasurement
from qosforge.runs.workflow.steps.prepare import load_texts
from qosforge.tester import twin_measurement
from qosforge.tester.evidence_parts import EvidenceParts, Part, join_evidence
from qosforge.tester.measurement.document import Measurement, Side
from qosforge.tester.measurement.judging import ClassVerdict, overall_outcome, verdicts
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.network_under_test import devices_under_test, network_under_test
from qosforge.tester.permission import most_loaded
from qosforge.tester.plugins import measure_packets
from qosforge.tester.probes.tester import TESTER as PROBES
from qosforge.tester.probes.tester import seconds_taken
from qosforge.tester.replications import REPLICATIONS, next_look_seconds
from qosforge.tester.watch import Watch


def measure_with_twin(
    context: Context, running: Mapping[str, str], when: Side, look: int, earlier: str | None
) -> SideMeasurement:
    """Run the twin on the running configurations, and judge; ``earlier`` is the artifact of the look before."""
    name = look_stage(when, look)
    with context.store.stage(context.run_id, name, MeasurementSummary()) as summary:
        whole = Part(context.intent.intent, context.network)
        judged = _simulate(context, whole, running, when=when, look=look, earlier=_stored(context, earlier))
        _record(context, summary, judged.measurement, judged.verdicts)
        more, summary.text = _further(context, judged, look)
    return SideMeasurement(
        measurement=summary.measurement, verdicts=summary.verdicts, outcome=judged.outcome, more=more
    )


def measure_with_probes(
    context: Context, running: Mapping[str, str], when: Side, look: int, earlier: str | None
) -> SideMeasurement:
    """Send what the policy verifies as packets between the hosts of stations, and judge it.

    On paths through emulated devices the twin simulates what these hold; further looks are its alone. Done again,
    packets are sent again: what was sent before is part of nothing.
    """
    name = look_stage(when, look)
    with context.store.stage(context.run_id, name, MeasurementSummary()) as summary:
        network = with_lab_stations(context.network, context.lab)
        parts = EvidenceParts.of(context.intent.intent, network, emulated_devices(context.lab))
        before = _stored(context, earlier)
        told, more = [], False
        measured = before.part("measured") if before else None
        if before is None and parts.real is not None:
            measured, times = _send(context, parts.real, running, when, name)
            told.append(f"real packets: {times}")
        judged = None
        if parts.emulated is not None:
            simulated = before.part("emulated") if before else None
            judged = _simulate(context, parts.emulated, running, when=when, look=look, earlier=simulated)
            more, spent = _further(context, judged, look)
            told += [spent, parts.told]
        joined = join_evidence(measured, judged.measurement if judged else None)
        found = verdicts(context.intent.intent, network, joined)
        _record(context, summary, joined, found)
        summary.text = "; ".join(told)
    outcome = overall_outcome(found)
    more = more and outcome == "inconclusive"
    return SideMeasurement(measurement=summary.measurement, verdicts=summary.verdicts, outcome=outcome, more=more)


def _send(
    context: Context, part: Part, running: Mapping[str, str], when: Side, stage: str
) -> tuple[Measurement, str]:
    """What packets showed of a part, and for how long they were sent, in words.

    What they load, and what stops them, is told before. Devices on their ways are looked at meanwhile.
    """
    plan = MeasurementPlan.of(part.intent, part.network, context.resolved.seed)
    times = ", ".join(f"{scenario.name} for {plan.told_seconds(scenario)}" for scenario in plan.scenarios)
    taken = f"which takes about {seconds_taken(plan):.0f} s"
    context.observe(stage, f"packets between the hosts of stations: {times}, {taken}")
    on_ways = devices_under_test(part.intent, part.network)
    passed = on_ways & running.keys()
    texts = load_texts(context, {name: running[name] for name in sorted(passed)})
    held = context.compute_to_end(running_plans, context.network.part(passed), texts)
    watch = Watch.of(plan, held, partial(context.on_devices, stoppable=False))
    for told in (*map(str, most_loaded(plan)), *watch.begin(sorted(passed), on_ways - passed)):
        context.observe(stage, told)
    ssh_options = context.route(context.lab).ssh_options
    return measure_packets(PROBES, plan, when, ssh_options=ssh_options, watch=watch), times


def _simulate(
    context: Context, part: Part, running: Mapping[str, str], *, when: Side, look: int, earlier: Measurement | None
) -> twin_measurement.JudgedMeasurement:
    """What the twin of the configurations read back shows of a part."""
    in_all = f", {REPLICATIONS[look - 1]} simulations in all" * (look > 1)
    context.observe(look_stage(when, look), f"twin of the configuration read back{in_all}")
    network = network_under_test(part.intent, part.network)
    named = {device.name for device in network.devices}
    return context.compute(
        twin_measurement.measure,
        part.intent,
        network,
        load_texts(context, {name: text for name, text in running.items() if name in named}),
        seed=context.resolved.seed,
        when=when,
        look=look,
        earlier=earlier,
    )


def _stored(context: Context, artifact: str | None) -> Measurement | None:
    return Measurement.parse_stored(context.artifacts.get_text(artifact)) if artifact else None


def _record(
    context: Context, summary: MeasurementSummary, measurement: Measurement, found: Sequence[ClassVerdict]
) -> None:
    summary.measurement = context.artifacts.put_text(measurement.model_dump_json())
    summary.verdicts = context.artifacts.put_json([v.model_dump(mode="json") for v in found])
    summary.outcome = overall_outcome(found)


def _further(context: Context, judged: twin_measurement.JudgedMeasurement, look: int) -> tuple[bool, str]:
    """Whether the twin looks again, and what it spent; says so where a further look would take too long."""
    further = next_look_seconds(look, judged.cpu_seconds) if judged.outcome == "inconclusive" else None
    most = context.computing.seconds
    told = _spent(judged)
    if further is not None and further > most:
        return False, f"{told}, and more would take longer than the {most:,.0f} s that a computation may"
    return further is not None, told


def _spent(judged: twin_measurement.JudgedMeasurement) -> str:
    """What a look cost, and that more would be looked at."""
    simulations = max(each.replications for each in judged.measurement.scenarios)
    most = f" of up to {REPLICATIONS[-1]}" if judged.outcome == "inconclusive" else ""
    return f"{simulations} simulations{most}, {judged.cpu_seconds:.1f} s of processor time"


def look_stage(when: Side, look: int) -> str:
    """What the stage of a look is called."""
    return f"measure-{when}" if look == 1 else f"measure-{when}-look-{look}"


def judge_external(context: Context, artifact: str, when: Side) -> SideMeasurement:
    """Judge a measurement that an external tester gave."""
    with context.store.stage(context.run_id, f"measure-{when}", MeasurementSummary()) as summary:
        measurement = Measurement.model_validate_json(context.artifacts.get_text(artifact))
        context.observe(f"measure-{when}", f"what {measurement.tester} measured")
        found = judged(context.intent, context.network, measurement)
        outcome = overall_outcome(found)
        summary.measurement = artifact
        summary.verdicts = context.artifacts.put_json([v.model_dump(mode="json") for v in found])
        summary.outcome = outcome
    return SideMeasurement(measurement=artifact, verdicts=summary.verdicts, outcome=outcome)
