"""Check that a measurement can reach a verdict: the packets it sends against those that its bounds need."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.deltaq.error_spending import LOOKS, confidence_at
from qosforge.deltaq.objective import least_packets
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.tester.replications import REPLICATIONS, Timing
from qosforge.tester.scenario.traffic import expected_samples
from qosforge.units import format_ratio
from qosforge.validation.context import ValidationContext
from qosforge.validation.verification import judged_flows


def check_evidence(context: ValidationContext) -> Iterator[Finding]:
    """``objective-needs-more-packets``: a warning, for a bound may still be broken by few."""
    intent, document = context.compilation.intent.intent, context.compilation.intent.document
    network = context.compilation.network
    stations = {station.name for station in network.stations}
    for position, check in enumerate(intent.verify):
        if not {check.from_, check.to} <= stations:
            continue  # `check_verification` says so
        seconds = round(Timing.of(check.seconds).seconds * REPLICATIONS[-1])
        for name in check.classes:
            requested = intent.objective_of(check, name)
            counts = [expected_samples(flow, seconds) for flow in judged_flows(context, check, name)]
            if requested is None or not counts:
                continue
            bounds = requested.bounds()
            needed = least_packets(bounds, confidence_at(check.confidence, LOOKS), bounds.episode_packets or 1)
            # How many packets TCP sends is for the network to say, and of a trace for its file.
            sent = sum(count for count in counts if count is not None)
            if None in counts or sent >= needed:
                continue
            yield note(
                "objective-needs-more-packets",
                Place(traffic_class=name, file=document.file, line=document.place(("verify", position)).line),
                requested=f"{needed:,} packets",
                applied=f"about {sent:,}",
                source=check.from_,
                target=check.to,
                seconds=seconds,
                sent=sent,
                needed=needed,
                confidence=format_ratio(check.confidence),
            )
