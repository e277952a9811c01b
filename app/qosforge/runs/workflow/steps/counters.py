"""The step that reads the counters of devices: each class and queue that was configured counts its packets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from qosforge.compiler.running_plans import running_plans
from qosforge.deploy.device_driver import DeviceDriver
from qosforge.emulation import emulated_devices, offer_traffic
from qosforge.errors import ServiceError
from qosforge.plan.model import Plan
from qosforge.platforms.base import QueueCount
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.summaries import CountersSummary
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import CountersResult
from qosforge.runs.workflow.steps.prepare import errors_of, load_texts, stop_after
from qosforge.tester.counters.comparison import CounterNote, compare_counters, read_counters
from qosforge.tester.counters.offered_load import expected_counts


def check_counters(context: Context, after: Mapping[str, str]) -> CountersResult:
    """Read the counters of the pushed devices twice; emulated ones are given traffic between the readings.

    A device that counts otherwise than the configuration it gave says is an error, as one that reads back wrong is.
    """
    with context.store.stage(context.run_id, "counters", CountersSummary()) as summary:
        context.observe("counters", "each device's own, by class, twice")
        plans = context.compute_to_end(running_plans, context.network.part(after), load_texts(context, after))
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
        emulated = emulated_devices(context.lab)
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
                due = expected_counts(context.network, plans[name], offers) if name in emulated else None
                found = compare_counters(plans[name], before, outcome.value, due)
                shown = context.fleet.words(name).in_message
                notes += [replace(n, queue=shown(n.queue), message=shown(n.message)) for n in found]
    except ServiceError as error:
        return [], [*errors_of(first), StepError.of(error)]
    return notes, [*errors_of(first), *errors_of(second)]
