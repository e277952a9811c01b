"""Runs on this machine: carried out, recovered, measured. It takes seconds to import."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from qosforge.cli.account import account
from qosforge.cli.options import load
from qosforge.cli.output import print_json, print_problems, require_writable
from qosforge.cli.reports import Reports
from qosforge.cli.run_options import RunOptions
from qosforge.cli.run_output import (
    exit_code,
    expected_json,
    print_end,
    print_measurement,
    print_report,
    run_json,
    shown_path,
)
from qosforge.cli.terminal import out, progress
from qosforge.compiler.running_plans import running_plans
from qosforge.deploy import read_devices
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.route import Route, route_to
from qosforge.deploy.sessions import Sessions
from qosforge.emulation import emulated_devices, with_lab_stations
from qosforge.errors import EngineBusy
from qosforge.executor.service import RunEnd, Service, open_service
from qosforge.intent.models import Intent
from qosforge.inventory.models import Network
from qosforge.keep_rule import in_words
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.requests.resolve import RunDocuments, keep_rule
from qosforge.settings import load_settings
from qosforge.tester import twin_measurement
from qosforge.tester.evidence_parts import EvidenceParts, Part, join_evidence
from qosforge.tester.measurable import require_checks, require_traffic
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.export import measured_packets, require_format, write_packets
from qosforge.tester.measurement.judging import overall_outcome, verdicts
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.network_under_test import devices_under_test
from qosforge.tester.permission import most_loaded
from qosforge.tester.plugins import measure_packets
from qosforge.tester.probes.tester import TESTER as PROBES
from qosforge.tester.probes.tester import seconds_taken
from qosforge.tester.twin import TESTER as TWIN
from qosforge.tester.watch import Watch
from qosforge.units import counted


@contextmanager
def _own_service() -> Iterator[Service]:
    """The service of this process, for a command that a service elsewhere could carry out, too.

    Raises:
        EngineBusy: on SQLite, another process owns the engine; the hint tells of both ways.
        StoreError: the store cannot be opened.
    """
    with ExitStack() as opened:
        try:
            service = opened.enter_context(open_service(load_settings(), progress))
        except EngineBusy as busy:
            hint = f"where it is a service, name that with --server URL; else {busy.hint}"
            raise EngineBusy(busy.message, busy.where, hint) from None
        yield service


def start(run_options: RunOptions, reports: Reports, as_json: bool) -> None:
    """Start a run and carry it out to its end, or until it has to wait, and exit by what came of it."""
    loaded, network = load(run_options.policy, run_options.network, run_options.parameters)
    request = run_options.request()
    with _own_service() as service:
        _report_recovered(service.recover())
        if request.measure:
            rule = keep_rule(network, loaded.intent.keep)
            progress("keep rule", f"{rule}: {in_words(rule)}")
        finished = service.run(request, RunDocuments(network, loaded), account())
    report = finished.report
    reports.run(report)
    result = finished.result
    errors, waits_for = [error.document() for error in result.errors], result.waits_for
    path = finished.page if isinstance(finished.page, Path) else None
    if as_json:
        print_json(run_json(report, errors, str(path) if path else None) | {"waits_for": waits_for})
    else:
        print_report(report)
        print_problems(errors)
        print_end(report, shown_path(path) if path else f"not written: {finished.page}")
    if waits_for:
        approve = f"qosforge approve {finished.run_id}" if report.status == RunStatus.NEEDS_APPROVAL else ""
        progress("waits", f"for {waits_for}")
        progress("next", " and then ".join(filter(None, [approve, "qosforge recover, which goes on with it"])))
    sys.exit(exit_code(result.status, result.verdict, failed=bool(errors), left_out=bool(report.left_out)))


def _report_recovered(ended: list[RunEnd]) -> None:
    for entry in ended:
        progress("recover", f"run {entry.run} was unfinished: {entry.status}")


def measure(run_options: RunOptions, tester: str, packets: Path | None, as_json: bool) -> None:
    """Measure what the devices do now: by the twin of what they hold, or by packets that a tester sends."""
    loaded, net = load(run_options.policy, run_options.network, run_options.parameters)
    require_traffic(net)
    require_checks(loaded)
    if packets is not None:
        # Told now rather than after the measurement.
        require_format(packets)
        require_writable(packets)
    judged = (
        _measure_twin(loaded.intent, net, run_options.seed)
        if tester == TWIN
        else _measure_packets(loaded.intent, net, tester, run_options.seed)
    )
    if packets is not None:
        write_packets(measured_packets(judged.measurement), packets)
    if as_json:
        print_json(
            {
                "outcome": judged.outcome,
                "verdicts": [v.model_dump(mode="json") for v in judged.verdicts],
                "measurement": judged.measurement.model_dump(mode="json"),
                **expected_json(judged.measurement, None),
            }
        )
    else:
        print_measurement(judged.measurement, judged.verdicts)
    sys.exit(0 if judged.outcome == "met" else 1)


def _measure_twin(intent: Intent, net: Network, seed: int) -> twin_measurement.JudgedMeasurement:
    settings = load_settings()
    route = route_to(settings, net)
    with Fleet(net, route, Sessions(settings.device_limits, settings.device_sessions)) as fleet:
        devices = devices_under_test(intent, net)
        progress("read", f"{counted(len(devices or net.devices), 'device')}: {route.told}")
        texts = read_devices.read_running(fleet, devices)
    progress("measure", "twin of the configuration read back")
    return twin_measurement.measure_until_conclusive(intent, net, texts, seed=seed)


def _measure_packets(intent: Intent, net: Network, tester: str, seed: int) -> twin_measurement.JudgedMeasurement:
    """Have packets sent wherever the whole way is real; the twin stands in for the rest."""
    route = route_to(load_settings(), net)
    net = with_lab_stations(net, route.lab)
    parts = EvidenceParts.of(intent, net, emulated_devices(route.lab))
    measured = _send(parts.real, tester, seed, route) if parts.real else None
    simulated = None
    if parts.emulated:
        progress("evidence", parts.told)
        simulated = _measure_twin(parts.emulated.intent, parts.emulated.network, seed).measurement
    joined = join_evidence(measured, simulated)
    found = verdicts(intent, net, joined)
    return twin_measurement.JudgedMeasurement(joined, found, overall_outcome(found), 0.0)


def _send(part: Part, tester: str, seed: int, route: Route) -> Measurement:
    """What packets show of a part; what they will load is told before."""
    plan = MeasurementPlan.of(part.intent, part.network, seed)
    for scenario in plan.scenarios:
        # Only probes begin anew: others measure in one go.
        lasting = plan.told_seconds(scenario) if tester == PROBES else f"{scenario.seconds} s"
        flows = counted(len(scenario.flows), "flow")
        progress("measure", f"{scenario.name}: {flows} for {lasting}, by {tester}")
    if tester == PROBES:
        progress("measure", f"takes about {seconds_taken(plan):.0f} s in all")
    for load_of_link in most_loaded(plan):
        progress("load", str(load_of_link))
    settings = load_settings()
    with Fleet(part.network, route, Sessions(settings.device_limits, settings.device_sessions)) as fleet:
        texts, errors = read_devices.read_each(fleet, devices_under_test(part.intent, part.network))
        watch = Watch.of(plan, running_plans(part.network, texts), fleet.run)
        for told in watch.begin(sorted(texts), errors):
            progress("watch", told)
        return measure_packets(tester, plan, "before", ssh_options=route.ssh_options, watch=watch)


def recover(as_json: bool) -> None:
    """Finish every run that may go on."""
    with open_service(load_settings(), progress, recovers=True) as service:
        ended = service.recover()
    if as_json:
        print_json([entry.model_dump(mode="json") for entry in ended])
    elif not ended:
        out.print("nothing to recover")
    for entry in ended if not as_json else ():
        out.print(f"run {entry.run}: {entry.status.replace('_', ' ')}")
        print_problems(error.document() for error in entry.errors)
    sys.exit(3 if any(entry.status in (RunStatus.NEEDS_RECOVERY, RunStatus.FAILED) for entry in ended) else 0)
