"""Check of what was imported: intents that compile, and to what their devices hold but for what findings tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.importing.candidate_intent import CandidateIntent, compile_candidate
from qosforge.importing.plan_diff import PlanDifference
from qosforge.importing.running_configuration import RunningConfiguration
from qosforge.importing.search import ScoredCandidate, Search
from qosforge.note import note


def _attaches(difference: PlanDifference) -> bool:
    return difference.place in ("output.policy", "input.policy") and difference.running == "None"


def without_new_policies(
    scored: ScoredCandidate, search: Search, configurations: Mapping[str, RunningConfiguration]
) -> tuple[ScoredCandidate | None, tuple[Finding, ...]]:
    """A candidate for the sides that have a policy already, where its intent would attach one to others, too."""
    added = {(d.device, d.interface, d.direction) for d in scored.differences if _attaches(d)}
    if not added:
        return scored, ()
    findings = tuple(
        note(
            "import-side-left-out",
            Place(device=device, interface=interface, direction=direction, file=configurations[device].file),
            variant="no-policy",
        )
        for device, interface, direction in sorted(added, key=str)
    )
    rest = (
        replace(side, ports=ports)
        for side in scored.candidate.sides
        if (ports := tuple(p for p in side.ports if (side.device, p, side.direction) not in added))
    )
    sides = tuple(rest)
    return (search.score(replace(scored.candidate, sides=sides)) if sides else None), findings


def compile_errors(
    candidate: CandidateIntent, name: str, configurations: Mapping[str, RunningConfiguration]
) -> Iterator[Finding]:
    """Why the intent of a candidate does not compile: each error once for all its interfaces.

    What a device states of itself beside its policies (``max-reserved-bandwidth``) may allow what it serves, and
    what else it runs may stand against a change.
    """
    running = {device: configurations[device].text for device in candidate.devices}
    beside = compile_candidate(candidate, configurations, running)
    fits = beside is not None and not any(beside.errors)
    alone = compile_candidate(candidate, configurations)
    seen: set[tuple[object, ...]] = set()
    for variant, made in (("beside-running" if fits else DEFAULT, alone), ("beside", beside)):
        for device, finding in made.errors if made is not None else ():
            key = (finding.code, device, finding.traffic_class, finding.message)
            if key in seen:
                continue
            seen.add(key)
            yield note(
                "import-does-not-compile",
                Place(
                    device=device or candidate.devices[0],
                    interface=finding.interface,
                    direction=finding.direction,
                    traffic_class=finding.traffic_class,
                    file=configurations[device].file if device else None,
                ),
                variant=variant,
                intent=name,
                reason=f"{finding.code}: {finding.message}",
            )
