"""What Batfish is asked, in the order in which it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BEFORE, AFTER, CLASSES = "before", "after", "classes"
"""The snapshots: the devices before and after the change, and their classes as filters."""


@dataclass(frozen=True)
class Question:
    """A question by its name in Batfish, of a snapshot; ``against`` another one only where they differ.

    It is asked where a text of the snapshots has one of these ``words``; without them always. ``computing`` ones
    look at the whole network, which takes most of the time: they are asked where forwarding may be another one.
    """

    name: str
    of: str = AFTER
    against: str | None = None
    words: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    computing: bool = False


def _change(name: str, *words: str, computing: bool = False) -> Question:
    return Question(name, AFTER, BEFORE, words, computing=computing)


_ASKED = {"action": "permit", "filters": "/QOSFORGE-ASKS-/"}
QUESTIONS: Mapping[str, Question] = {
    "status-before": Question("fileParseStatus", BEFORE),
    "status-after": Question("fileParseStatus"),
    "structures-before": Question("definedStructures", BEFORE),
    "structures-after": Question("definedStructures"),
    "issues-before": Question("initIssues", BEFORE),
    "issues-after": Question("initIssues"),
    "references": Question("undefinedReferences"),
    "references-before": Question("undefinedReferences", BEFORE),
    "interfaces": _change("interfaceProperties"),
    "vlans": _change("switchedVlanProperties", "vlan"),
    "edges": _change("layer3Edges", computing=True),
    "ospf": _change("ospfInterfaceConfiguration", "router ospf"),
    "bgp": _change("bgpPeerConfiguration", "router bgp"),
    "routes": _change("routes", computing=True),
    "reachability": _change("differentialReachability", computing=True),
    "entries": Question("filterLineReachability", words=("access-list",)),
    "class-issues": Question("initIssues", CLASSES),
    "classes": Question("searchFilters", CLASSES, parameters=_ASKED),
}
