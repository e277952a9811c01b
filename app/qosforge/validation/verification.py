"""Check an intent's verifications: stations and traffic exist, and objectives are physically possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.models import Verify
from qosforge.inventory.models import TrafficFlow
from qosforge.note import note
from qosforge.tester.scenario.traffic import scenario_of
from qosforge.units import format_seconds, listed
from qosforge.validation.context import ValidationContext
from qosforge.validation.framing import HEADERS
from qosforge.validation.minimum import ProbePacket, configured, lone_delay, options

MOST_NAMED = 8
"""End hosts that a finding names."""


def check_verification(context: ValidationContext) -> Iterator[Finding]:
    """``verify-unknown-station``, ``verify-no-path``, ``verify-no-traffic`` and ``objective-below-minimum``."""
    checks = context.compilation.intent.intent.verify
    if checks and not context.compilation.network.traffic:
        yield _unmeasurable(context, checks)
        return
    for position, check in enumerate(checks):
        yield from _check(context, position, check)


def _unmeasurable(context: ValidationContext, checks: Sequence[Verify]) -> Finding:
    """That a network describes no traffic: said once of all checks, a warning.

    Whoever only pushes wants no verdict, and a run that measures by itself is not begun without traffic.
    """
    network, document = context.compilation.network, context.compilation.intent.document
    stations = {station.name for station in network.stations}
    missing = [n for n in dict.fromkeys(n for c in checks for n in (c.from_, c.to)) if n not in stations]
    names = listed(missing, MOST_NAMED)
    return note(
        "verify-no-traffic",
        Place(file=document.file, line=document.place(("verify",)).line),
        variant="no-stations" if missing else "none-described",
        network=network.name,
        **({"names": names} if missing else {}),
    )


def _check(context: ValidationContext, position: int, check: Verify) -> Iterator[Finding]:
    network, intent = context.compilation.network, context.compilation.intent.intent
    document = context.compilation.intent.document
    line = document.place(("verify", position)).line

    place = Place(file=document.file, line=line)
    stations = [station.name for station in network.stations]
    unknown = [name for name in (check.from_, check.to) if name not in stations]
    for name in unknown:
        yield note("verify-unknown-station", place, name=name, stations=", ".join(stations))
    if unknown:
        return
    pair = {"source": check.from_, "target": check.to}
    try:
        network.path(check.from_, check.to)
    except ValueError:
        yield note("verify-no-path", place, **pair)
        return
    scenario = scenario_of(network, check)
    if scenario is None:
        yield note("verify-no-traffic", place, variant="between", **pair)
        return
    for name in check.classes:
        if not judged_flows(context, check, name):
            of_class = replace(place, traffic_class=name)
            yield note("verify-no-traffic", of_class, variant="of-class", scenario=scenario.name, **pair)
    for name in check.beside:
        taken = {each for flow in scenario.flows for each in context.flow_classes(flow)}
        if taken.isdisjoint(intent.within(name)):
            of_class = replace(place, traffic_class=name)
            yield note("verify-no-traffic", of_class, variant="beside", scenario=scenario.name)
    for name in check.classes:
        if (problem := _below_minimum(context, check, name, replace(place, traffic_class=name))) is not None:
            yield problem


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
            count = sum(each in within for each in context.flow_classes(flow))
            if count:
                found.append(flow.model_copy(update={"count": count}))
    return found


def _below_minimum(context: ValidationContext, check: Verify, name: str, place: Place) -> Finding | None:
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
    lower = [option for option in options(context, ways, packets) if option.seconds < minimum]
    keeping = next((option for option in lower if option.seconds <= bound), None)
    best = min(lower, key=lambda option: option.seconds, default=None)
    facts: dict[str, Any] = {"minimum": format_seconds(minimum), "bytes": packet.ip_bytes}
    if keeping is not None:
        ports = listed(f"{device} {port}" for device, port in keeping.ports)
        facts |= {"variant": "option", "option": keeping.key, "ports": ports}
        facts |= {"seconds": format_seconds(keeping.seconds)}
    elif best is not None:
        facts |= {"variant": "even-with", "option": best.key, "seconds": format_seconds(best.seconds)}
    return note(
        "objective-below-minimum",
        place,
        requested=f"{quantile} of {format_seconds(bound)}",
        applied=f"at least {format_seconds(minimum)}",
        source=check.from_,
        target=check.to,
        minimum_seconds=minimum,
        requested_seconds=bound,
        **facts,
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
