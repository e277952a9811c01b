"""The counters of a device's classes of network control: what routing protocols send, and nothing unmarked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from qosforge.dscp import CONTROL_DSCP
from qosforge.errors import TesterError
from qosforge.plan.model import Plan
from qosforge.tester.counters.offered_load import CounterKey, OfferedPackets, expected_counts
from qosforge.tester.measurement_plan import MeasurementPlan, PlannedFlow

_SELECTORS = CONTROL_DSCP[::8]
"""The class selectors among them, CS6 and CS7, with which routing protocols send."""
_UDP, _BYTES, _PORT = 17, 100, 4096


def control_counters(plan: MeasurementPlan, held: Mapping[str, Plan]) -> dict[str, frozenset[CounterKey]]:
    """By device the counters that packets of network control move on the ways of a plan's flows.

    ``held`` is what the devices hold. A counter that unmarked packets move, too, tells nothing of control alone; of
    a device that the twin does not model nothing is known.
    """

    def moved(offer: OfferedPackets) -> set[CounterKey]:
        return set(expected_counts(plan.network, held[offer.device], [offer]).packets)

    found: dict[str, set[CounterKey]] = defaultdict(set)
    ways = {(flow.source.name, flow.target.name): flow for scenario in plan.scenarios for flow in scenario.flows}
    offers = {offer for flow in ways.values() for offer in _unmarked(plan, flow) if offer.device in held}
    for offer in offers:
        with suppress(TesterError):
            unmarked = moved(offer)
            for dscp in _SELECTORS:
                found[offer.device] |= moved(replace(offer, dscp=dscp)) - unmarked
    return {device: frozenset(keys) for device, keys in found.items() if keys}


def _unmarked(plan: MeasurementPlan, flow: PlannedFlow) -> Iterator[OfferedPackets]:
    """A packet without a mark at every device on the way of a flow."""
    network, into = plan.network, flow.source.attach[1]
    for device, out in network.path(flow.source.name, flow.target.name):
        yield OfferedPackets(
            device=device,
            into=into,
            out=out,
            packets=1,
            size=_BYTES,
            dscp=0,
            cos=0,
            tagged=False,
            protocol=_UDP,
            source=flow.source.address,
            destination=flow.target.address,
            source_port=_PORT,
            destination_port=_PORT,
        )
        end = network.neighbour((device, out))
        into = end[1][1] if end else into
