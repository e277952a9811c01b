"""Steps that measure: the tester on what devices hold, external measurements, and the counters of devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.emulation import is_emulated, offer_traffic, with_lab_stations
from qosforge.errors import ServiceError
from qosforge.plan.model import Plan
from qosforge.platforms.base import QueueCount
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import CountersSummary, MeasurementSummary
from qosforge.runs.workflow import live
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.external_tester import judged
from qosforge.runs.workflow.results import CountersResult, SideMeasurement
from qosforge.runs.workflow.steps.prepare import errors_of, load_texts, stop_after
from qosforge.tester.counters.comparison import CounterNote, compare_counters, read_counters
from qosforge.tester.counters.offered_load import expected_counts
from qosforge.tester.measurement.document import Measurement, Side
from qosforge.tester.measurement.judging import overall_outcome, verdicts
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.network_under_test import network_under_test
from qosforge.tester.plugins import measure_packets
from qosforge.tester.probes.tester import TESTER as PROBES
from qosforge.tester.replications import REPLICATIONS, next_look_seconds


def measure_with_twin(
    context: Context, running: Mapping[str, str], when: Side, look: int, earlier: str | None
) -> SideMeasurement:
    """Run the twin on the running configurations, and judge; ``earlier`` is the artifact of the look before."""
    name = look_stage(when, look)
    with context.store.stage(context.run_id, name, MeasurementSummary()) as summary:
        in_all = f", {REPLICATIONS[look - 1]} simulations in all" * (look > 1)
        context.observe(name, f"twin of the configuration read back{in_all}")
        text = context.artifacts.get_text(earlier) if earlier else None
        network = network_under_test(context.intent.intent, context.network)
        named = {device.name for device in network.devices}
        judged = context.compute(
            live.measure,
            context.intent.intent,
            network,
            load_texts(context, {name: text for name, text in running.items() if name in named}),
            seed=context.resolved.seed,
            when=when,
            look=look,
            earlier=Measurement.parse_stored(text) if text else None,
        )
        summary.measurement = context.artifacts.put_text(judged.measurement.model_dump_json())
        summary.verdicts = context.artifacts.put_json([v.model_dump(mode="json") for v in judged.verdicts])
        summary.outcome = judged.outcome
        further = next_look_seconds(look, judged.cpu_seconds) if judged.outcome == "inconclusive" else None
        most = context.computing.seconds
        more = further is not None and further <= most
        told = _spent(judged)
        if further is not None and not more:
            told += f", and more would take longer than the {most:,.0f} s that a computation may"
        summary.text = told
    return SideMeasurement(
        measurement=summary.measurement, verdicts=summary.verdicts, outcome=judged.outcome, more=more
    )


def _spent(judged: live.JudgedMeasurement) -> str:
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


def measure_with_probes(context: Context, when: Side) -> SideMeasurement:
    """Send what the policy verifies as packets between the hosts of stations, and judge it.

    Done again, it is measured again: what was sent before is part of nothing.
    """
    with context.store.stage(context.run_id, f"measure-{when}", MeasurementSummary()) as summary:
        network = with_lab_stations(context.network, context.lab)
        plan = MeasurementPlan.of(context.intent.intent, network, context.resolved.seed)
        seconds = sum(scenario.seconds for scenario in plan.scenarios)
        context.observe(f"measure-{when}", f"packets between the hosts of stations, for {seconds} s")
        measurement = measure_packets(PROBES, plan, when, ssh_options=context.route(context.lab).ssh_options)
        found = verdicts(context.intent.intent, network, measurement)
        summary.measurement = context.artifacts.put_text(measurement.model_dump_json())
        summary.verdicts = context.artifacts.put_json([v.model_dump(mode="json") for v in found])
        summary.outcome = overall_outcome(found)
        summary.text = f"real packets for {seconds} s"
    return SideMeasurement(measurement=summary.measurement, verdicts=summary.verdicts, outcome=summary.outcome)


def check_counters(context: Context, after: Mapping[str, str]) -> CountersResult:
    """Read the counters of the pushed devices twice; an emulated network is given traffic between the readings.

    A device that counts otherwise than the configuration it gave says is an error, as one that reads back wrong is.
    """
    with context.store.stage(context.run_id, "counters", CountersSummary()) as summary:
        context.observe("counters", "each device's own, by class, twice")
        plans = context.compute_to_end(live.running_plans, context.network.part(after), load_texts(context, after))
        notes, errors = _counted(context, plans)
        for note in notes:
            if note.contradiction:
                context.record(note.device, "failed", note=note.message)
                hint = "the device does not do what its configuration says: look at the feature on its image"
                errors.append(StepError(message=note.message, hint=hint, device=note.device))
        silent = sorted({note.device for note in notes if not note.queue})
        told = sum(bool(note.queue) for note in notes)
        text = f"{told} classes and queues of {len(after) - len(silent)} devices counted"
        if silent:
            text += f"; no counters by class: {', '.join(silent)}"
        artifact = context.artifacts.put_json([note.document() for note in notes])
        summary.notes, summary.errors, summary.text = artifact, errors, text
    return CountersResult(notes=artifact, errors=errors, **stop_after(context, errors))


def _counted(context: Context, plans: Mapping[str, Plan]) -> tuple[list[CounterNote], list[StepError]]:
    def reading(name: str, driver: DeviceDriver) -> tuple[QueueCount, ...]:
        return read_counters(driver, plans[name])

    first = context.on_devices(plans, reading)
    try:
        emulated = context.lab is not None and is_emulated(context.network, context.lab)
        offers = offer_traffic(context.network, context.lab) if context.lab and emulated else ()

        def reading_again(name: str, driver: DeviceDriver) -> tuple[QueueCount, ...]:
            counts = reading(name, driver)
            context.report_device(name, "counted")
            return counts

        again = [name for name, outcome in first.items() if outcome.error is None]
        second = context.on_devices(again, reading_again)
        notes: list[CounterNote] = []
        for name, outcome in second.items():
            before = first[name].value
            if before is not None and outcome.value is not None:
                due = expected_counts(context.network, plans[name], offers) if emulated else None
                found = compare_counters(plans[name], before, outcome.value, due)
                shown = context.fleet.words(name).in_message
                notes += [replace(n, queue=shown(n.queue), message=shown(n.message)) for n in found]
    except ServiceError as error:
        return [], [*errors_of(first), StepError.of(error)]
    return notes, [*errors_of(first), *errors_of(second)]
