"""Check an intent's verifications: stations and traffic exist, and objectives are physically possible."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.findings import Finding, Severity
from qosforge.intent.models import Verify
from qosforge.inventory.models import TrafficFlow
from qosforge.tester.scenario.traffic import flow_classes, scenario_of
from qosforge.units import format_seconds, listed
from qosforge.validation.context import ValidationContext
from qosforge.validation.framing import HEADERS
from qosforge.validation.minimum import ProbePacket, configured, lone_delay, options


def check_verification(context: ValidationContext) -> Iterator[Finding]:
    """``verify-unknown-station``, ``verify-no-path``, ``verify-no-traffic`` and ``objective-below-minimum``."""
    for position, check in enumerate(context.compilation.intent.intent.verify):
        yield from _check(context, position, check)


def _check(context: ValidationContext, position: int, check: Verify) -> Iterator[Finding]:
    network, intent = context.compilation.network, context.compilation.intent.intent
    document = context.compilation.intent.document
    line = document.place(("verify", position)).line

    def finding(code: str, severity: Severity, message: str, hint: str, name: str | None = None) -> Finding:
        return Finding(
            code=code,
            severity=severity,
            message=message,
            traffic_class=name,
            file=document.file,
            line=line,
            hint=hint,
        )

    if not network.traffic:
        # Whoever only pushes wants no verdict, and a measuring run is not begun without traffic.
        hint = "qosforge network stations, then qosforge network traffic, or describe them by hand"
        lacking = "no traffic" if network.stations else "no stations and no traffic"
        message = f"{network.name} describes {lacking}: this check cannot be judged"
        yield finding("verify-no-traffic", Severity.WARNING, message, hint)
        return
    stations = [station.name for station in network.stations]
    unknown = [name for name in (check.from_, check.to) if name not in stations]
    for name in unknown:
        hint = f"known: {', '.join(stations)}"
        yield finding("verify-unknown-station", Severity.ERROR, f"no station is called {name!r}", hint)
    if unknown:
        return
    pair = f"{check.from_} and {check.to}"
    try:
        network.path(check.from_, check.to)
    except ValueError:
        message = f"no links connect {pair}"
        yield finding("verify-no-path", Severity.ERROR, message, "add the missing link to links.yaml")
        return
    scenario = scenario_of(network, check)
    if scenario is None:
        hint = "add a scenario to traffic.yaml that has this pair under 'between'"
        yield finding("verify-no-traffic", Severity.ERROR, f"no traffic is described between {pair}", hint)
        return
    hint = f"add a flow of the class to scenario {scenario.name} in traffic.yaml"
    for name in check.classes:
        if not judged_flows(context, check, name):
            message = f"scenario {scenario.name} has no flow of the class from {check.from_} to {check.to}"
            yield finding("verify-no-traffic", Severity.ERROR, message, hint, name)
    for name in check.beside:
        taken = {each for flow in scenario.flows for each in flow_classes(intent, flow, network)}
        if taken.isdisjoint(intent.within(name)):
            message = f"scenario {scenario.name} has no flow of the class to run beside"
            yield finding("verify-no-traffic", Severity.WARNING, message, hint, name)
    for name in check.classes:
        if (problem := _below_minimum(context, check, name)) is not None:
            yield problem.model_copy(update={"file": document.file, "line": line})


def judged_flows(context: ValidationContext, check: Verify, name: str) -> list[TrafficFlow]:
    """Flows of a class, and of those that divide it, that the verdict of a check rests on; of those described as
    one as many as are of the class."""
    intent = context.compilation.intent.intent
    network = context.compilation.network
    scenario = scenario_of(network, check)
    found = []
    for flow in scenario.flows if scenario else ():
        if (flow.from_, flow.to) == (check.from_, check.to):
            within = intent.within(name)
            count = sum(each in within for each in flow_classes(intent, flow, network))
            if count:
                found.append(flow.model_copy(update={"count": count}))
    return found


def _below_minimum(context: ValidationContext, check: Verify, name: str) -> Finding | None:
    """A warning, not an error: the measurement decides."""
    objective = context.compilation.intent.intent.objective_of(check, name)
    if objective is None or not objective.delay:
        return None
    packets = [_smallest_packet(flow) for flow in judged_flows(context, check, name)] or [ProbePacket(HEADERS)]
    ways = configured(context, check.from_, check.to)
    minimum, packet = min(((lone_delay(ways, each), each) for each in packets), key=lambda pair: pair[0])
    quantile, bound = min(objective.delay.items(), key=lambda entry: entry[1])
    if bound >= minimum:
        return None
    pair = f"from {check.from_} to {check.to}"
    alone = f"take {format_seconds(minimum)} for a packet of {packet.ip_bytes} bytes"
    lower = [option for option in options(context, ways, packets) if option.seconds < minimum]
    keeping = next((option for option in lower if option.seconds <= bound), None)
    if keeping is not None:
        where = listed(f"{device} {port}" for device, port in keeping.ports)
        message = (
            f"as it is configured the links alone {alone} {pair}; with '{keeping.key}' at {where} it is "
            f"{format_seconds(keeping.seconds)}"
        )
        hint = f"add '{keeping.key}' to link_efficiency for {where}, or raise the bound above the minimum"
    else:
        best = min(lower, key=lambda option: option.seconds, default=None)
        even = f", and {format_seconds(best.seconds)} with '{best.key}'" if best is not None else ""
        message = f"no configuration can keep this objective {pair}: the links alone {alone}{even}"
        hint = "raise the bound above the minimum, or give the path faster links"
    return Finding(
        code="objective-below-minimum",
        severity=Severity.WARNING,
        message=message,
        traffic_class=name,
        requested=f"{quantile} of {format_seconds(bound)}",
        applied=f"at least {format_seconds(minimum)}",
        hint=hint,
    )


def _smallest_packet(flow: TrafficFlow) -> ProbePacket:
    return ProbePacket(smallest(flow), flow.is_rtp)


def smallest(flow: TrafficFlow) -> int:
    """IP bytes of the smallest packet a flow may send: a video frame's or a TCP stream's rest can be tiny."""
    return flow.source.ip_bytes if flow.source.kind in ("cbr", "poisson") else min(HEADERS, flow.source.ip_bytes)


def minimum_delay(context: ValidationContext, source: str, target: str, ip_bytes: int) -> float:
    """Seconds that serialisation and propagation of every link between two stations take, nothing else waiting.

    From the first bit sent to the last bit received of a packet with RTP headers, as the network is configured.

    Raises:
        KeyError: a station is unknown.
        ValueError: there is no path.
    """
    return lone_delay(configured(context, source, target), ProbePacket(ip_bytes))
