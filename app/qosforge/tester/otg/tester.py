"""The tester ``otg``: a plan's flows by a traffic generator that speaks Open Traffic Generator over HTTP.

It counts frames, and tells of delay the smallest, the mean and the largest: the delay of no single packet. The
verdict allows for all delays that have these (:mod:`qosforge.deltaq.delay_figures`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from qosforge.errors import InputError, NotInstalled, Place, TesterError
from qosforge.inventory.probes import OtgController, OtgPort
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult, Side
from qosforge.tester.measurement.protocol_checks import WAITED_SECONDS
from qosforge.tester.measurement_plan import MeasurementPlan, PlannedFlow, PlannedScenario
from qosforge.tester.otg.configuration import otg_configuration, stations_ports
from qosforge.tester.permission import require_permission

TESTER = "otg"
_SPARE_SECONDS = 30.0
_NS_PS = 1_000
T = TypeVar("T")


def _snappi() -> Any:
    try:
        return import_module("snappi")
    except ModuleNotFoundError:
        raise NotInstalled("the tester otg lacks snappi", hint="pip install 'qosforge[otg]'") from None


@dataclass(frozen=True)
class OtgTester:
    """Sends what a plan describes by the traffic generator that ``probes.yaml`` names."""

    look_seconds: float = 0.5
    waited_seconds: float = WAITED_SECONDS

    def measure(self, plan: MeasurementPlan, when: Side) -> Measurement:
        """Carry a plan out, scenario after scenario, in real time.

        Raises:
            InputError: no traffic generator is named, or packets may not be sent.
            NotInstalled: snappi is missing.
            TesterError: the traffic generator refuses something, or does not answer.
        """
        controller = plan.network.probes.otg
        if controller is None:
            place = Place(file="probes.yaml", path="otg")
            raise InputError("no traffic generator is named", place, "give its `controller` and `ports`")
        ports = stations_ports(plan, controller)
        require_permission(plan, plan.network.probes.permission)
        snappi = _snappi()
        api = snappi.api(location=controller.controller, transport="http", verify=controller.verify)
        run = _Run(snappi, api, controller, self.look_seconds, self.waited_seconds, plan.meanwhile)
        results = [run.result(scenario, ports) for scenario in plan.scenarios]
        return Measurement(
            when=when,
            evidence="measured",
            tester=TESTER,
            seed=plan.seed,
            delay_reference="from the last bit sent to the first bit received (store and forward, RFC 1242)",
            scenarios=tuple(results),
        )


@dataclass(frozen=True)
class _Run:
    """Scenarios on a traffic generator, one after the other."""

    snappi: Any
    api: Any
    controller: OtgController
    look_seconds: float
    waited_seconds: float
    meanwhile: Callable[[], None]

    def result(self, scenario: PlannedScenario, ports: Mapping[str, OtgPort]) -> ScenarioResult:
        """Configure it, send, and read the counts."""
        configuration = otg_configuration(self.snappi, scenario, ports)
        self._asked("takes the configuration", lambda: self.api.set_config(configuration))
        self._change("protocol", "all", "start")
        try:
            self._change("traffic", "flow_transmit", "start")
            self._await_end(scenario)
        finally:
            self._change("traffic", "flow_transmit", "stop")
        time.sleep(self.waited_seconds)
        found = self._metrics()
        return ScenarioResult(
            name=scenario.name,
            title=scenario.title,
            seconds=scenario.seconds,
            warm_up_seconds=0,
            waited_seconds=self.waited_seconds,
            flows=tuple(self._flow_result(flow, found, scenario.seconds) for flow in scenario.flows),
        )

    def _change(self, part: str, what: str, state: str) -> None:
        change = self.snappi.ControlState()
        getattr(getattr(change, part), what).state = state
        self._asked(f"takes {state} of its {part}", lambda: self.api.set_control_state(change))

    def _await_end(self, scenario: PlannedScenario) -> None:
        end = time.monotonic() + scenario.seconds + _SPARE_SECONDS
        while any(metric.transmit != "stopped" for metric in self._metrics().values()):
            if time.monotonic() > end:
                raise self._error(f"still sends {_SPARE_SECONDS:.0f} s after scenario {scenario.name} should end")
            self.meanwhile()
            time.sleep(self.look_seconds)

    def _metrics(self) -> dict[str, Any]:
        request = self.snappi.MetricsRequest()
        request.flow.flow_names = []
        answer = self._asked("tells its counts", lambda: self.api.get_metrics(request))
        return {metric.name: metric for metric in answer.flow_metrics}

    def _flow_result(self, flow: PlannedFlow, found: Mapping[str, Any], seconds: int) -> FlowResult:
        metric = found.get(flow.name)
        if metric is None:
            raise self._error(f"tells nothing of flow {flow.name}")
        sent, delivered = int(metric.frames_tx or 0), int(metric.frames_rx or 0)
        if not sent or delivered > sent:
            raise self._error(f"tells of {sent} frames of flow {flow.name} sent, and of {delivered} received")
        bits = flow.described.source.ip_bytes * 8
        latency = [metric.latency.minimum_ns, metric.latency.average_ns, metric.latency.maximum_ns]
        least, mean, most = (
            (math.floor(latency[0] * _NS_PS), round(latency[1] * _NS_PS), math.ceil(latency[2] * _NS_PS))
            if delivered and None not in latency
            else (None, None, None)
        )
        return FlowResult(
            name=flow.name,
            traffic_class=flow.traffic_class,
            kind=flow.described.application or "other",
            path=flow.path,
            sent=sent,
            delivered=delivered,
            lost=sent - delivered,
            min_delay_ps=least,
            mean_delay_ps=mean,
            max_delay_ps=most,
            throughput_bps=round(delivered * bits / seconds),
            offered_bps=round(sent * bits / seconds),
        )

    def _asked(self, what: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except Exception as error:  # noqa: BLE001  snappi raises whatever its transport and the other side say
            raise self._error(f"no longer answers, or does not take what it is asked ({what}: {error})") from None

    def _error(self, message: str) -> TesterError:
        hint = "look at its log, and whether it knows the ports of probes.yaml"
        return TesterError(f"the traffic generator at {self.controller.controller} {message}", hint=hint)
