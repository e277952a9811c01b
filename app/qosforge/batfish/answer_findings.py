"""What the answers of Batfish say of a compilation, and of which devices it answered which questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qosforge.batfish.answers import Answers
from qosforge.batfish.filter_findings import class_findings, entry_findings, unread_filters
from qosforge.batfish.forwarding import forwarding_findings
from qosforge.batfish.parse_results import ParseResults, parse_findings, read_parse_results
from qosforge.batfish.question_list import AFTER, BEFORE, QUESTIONS
from qosforge.batfish.reference_findings import reference_findings
from qosforge.batfish.snapshots import DeviceCopies, Snapshots
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.units import listed

_NEEDED = {
    "references": ("references", "references-before"),
    "interfaces, VLANs and neighbours": ("interfaces", "vlans", "edges", "ospf", "bgp"),
    "routes": ("routes",),
    "paths of packets": ("reachability",),
    "access lists": ("entries",),
    "classes": ("classes", "class-issues"),
}
"""What is proven, by the questions that have to be answered for it."""


def answer_findings(
    snapshots: Snapshots,
    document: Mapping[str, Any],
    *,
    require: bool = False,
    excepted: frozenset[str] = frozenset(),
) -> tuple[Finding, ...]:
    """All that the answers say; with ``require``, a device that was not checked is an error, but for ``excepted``.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: they are not understood.
    """
    answers = Answers.read(document)
    readings = read_parse_results(snapshots, answers)
    return (
        *reference_findings(snapshots, readings, answers),
        *forwarding_findings(snapshots, readings, answers),
        *entry_findings(snapshots, answers),
        *class_findings(snapshots, answers),
        *parse_findings(snapshots, readings, excepted=excepted, require=require),
        *_failures(snapshots, answers, excepted=excepted, require=require),
        *_checked(snapshots, readings, answers),
    )


def _failures(
    snapshots: Snapshots, answers: Answers, *, excepted: frozenset[str], require: bool
) -> Iterator[Finding]:
    names = listed(dict.fromkeys(QUESTIONS[key].name for key in answers.failed if key in QUESTIONS))
    if names:
        for copies in snapshots.devices.values():
            required = require and copies.name not in excepted
            place = Place(device=copies.name)
            yield note("batfish-device-not-checked", place, variant="question", question=names, required=required)


def _checked(snapshots: Snapshots, readings: ParseResults, answers: Answers) -> Iterator[Finding]:
    """What was answered of the devices that were read whole, those alike together."""
    together: dict[tuple[str, str], list[str]] = {}
    answered = [what for what, keys in _NEEDED.items() if not any(key in answers.failed for key in keys)]
    for node, copies in snapshots.devices.items():
        if all(readings[side][node].is_whole for side in (BEFORE, AFTER)):
            proven, open_ = _proven(copies, snapshots, answers, answered)
            together.setdefault((listed(proven), listed(open_)), []).append(copies.name)
    for (proven_words, open_words), names in together.items():
        facts: dict[str, Any] = {"devices": listed(names, len(names)), "answered": proven_words}
        if open_words:
            yield note("batfish-checked", variant="partly", unanswered=open_words, **facts)
        else:
            yield note("batfish-checked", **facts)


def _proven(
    copies: DeviceCopies, snapshots: Snapshots, answers: Answers, answered: list[str]
) -> tuple[list[str], list[str]]:
    proven = [what for what in answered if what != "classes"]
    open_ = [what for what in _NEEDED if what not in answered]
    if not copies.known:
        changes = ("interfaces, VLANs and neighbours", "routes", "paths of packets")
        proven = [what for what in proven if what not in changes]
        open_ += [what for what in changes if what not in open_]
    open_ += [f"references of {kind}" for kind in copies.unanswered]
    unread = unread_filters(answers)
    exact, inexact = list[str](), list[str]()
    for policy in snapshots.classes.policies:
        if policy.device == copies.name:
            for each in policy.classes:
                judged = "WIDER" in each.asked and policy.node not in unread and "classes" in answered
                (exact if judged else inexact).append(each.name)
    if exact:
        proven.append(f"classes {listed(dict.fromkeys(exact))}")
    if inexact:
        open_.append(f"exactness of classes {listed(dict.fromkeys(inexact))}")
    return proven, open_
