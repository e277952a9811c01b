"""Which class of an intent a flow belongs to, by the intent's own words."""

from __future__ import annotations

from app.intent.models import RESERVED_CLASS, Intent, MatchTerm, Verify
from app.inventory.models import Network, TrafficFlow, TrafficScenario


def flow_class(intent: Intent, flow: TrafficFlow) -> str:
    """The class that the intent gives a flow, seen as it leaves its station."""
    for entry in intent.classes:
        if entry.match and any(_matches(term, flow) for term in entry.match.any):
            return entry.name
    return RESERVED_CLASS


def _matches(term: MatchTerm, flow: TrafficFlow) -> bool:
    return (
        (not term.application or flow.application in term.application)
        and (not term.dscp or flow.dscp in term.dscp)
        and (not term.cos or flow.cos in term.cos)
    )


def scenario_of(network: Network, check: Verify) -> TrafficScenario | None:
    """The traffic scenario that verifies a pair of stations."""
    pair = (check.from_, check.to)
    return next((s for s in network.traffic if pair in s.between), None)
