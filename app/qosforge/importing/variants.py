"""Variants of a candidate intent: other words for the same meaning, or fewer words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from qosforge.importing.candidate_intent import CandidateIntent, drop_path
from qosforge.importing.to_intent import IntentData
from qosforge.intent.models import RESERVED_CLASS
from qosforge.plan.model import Plan, ShareUnit

_OPTIONAL = (
    ("treatment", "police"),
    ("treatment", "police", "exceed"),
    ("treatment", "police", "violate"),
    ("treatment", "police", "excess_burst"),
    ("treatment", "police", "burst"),
    ("treatment", "queue_limit"),
    ("treatment", "shape"),
    ("mark", "cos"),
)
"""What a class may do without, where the device has it of itself or it follows from the rest."""


def candidate_variants(candidate: CandidateIntent, plans: Mapping[str, Plan]) -> Iterator[CandidateIntent]:
    """Candidates that may give more of what the devices hold."""
    yield from _own_maps(candidate, plans)
    yield from side_variants(candidate)
    yield from _in_percent(candidate)
    if all(words["name"] != RESERVED_CLASS for words in candidate.classes):
        yield replace(candidate, classes=(*candidate.classes, {"name": RESERVED_CLASS, "mark": {"keep": True}}))
    if candidate.classes:
        # Devices that fill their queues in the order of the classes.
        yield replace(candidate, classes=(*reversed(candidate.classes[:-1]), candidate.classes[-1]))
        first = [c for c in candidate.classes[:-1] if "priority" in c.get("treatment", {})]
        others = [c for c in reversed(candidate.classes[:-1]) if c not in first]
        yield replace(candidate, classes=(*first, *others, candidate.classes[-1]))
    for position, words in enumerate(candidate.classes):
        if words["name"] == RESERVED_CLASS and "mark" not in words:
            yield candidate.with_class(position, {**words, "mark": {"keep": True}})
        for variant in (*_bounded(words), *_capped(words, [plans[device] for device in candidate.devices])):
            yield candidate.with_class(position, variant)
    if candidate.tolerance is None:
        # Where classes share a queue, each has what the device divides among them, and none what it asks for.
        yield replace(candidate, tolerance="100 %")


def _own_maps(candidate: CandidateIntent, plans: Mapping[str, Plan]) -> Iterator[CandidateIntent]:
    """What a trusted CoS stands for, as the devices have it."""
    held = {plans[device].system.cos_to_dscp for device in candidate.devices} - {None, candidate.cos_to_dscp}
    if candidate.cos_to_dscp is None and len(held) == 1:
        yield replace(candidate, cos_to_dscp=held.pop())


def _in_percent(candidate: CandidateIntent) -> Iterator[CandidateIntent]:
    """Weights as whole per cents of what priority leaves: devices hold weights that were rounded from such."""
    weights = [words.get("treatment", {}).get("bandwidth", {}).get("weight", 0) for words in candidate.classes]
    total = sum(weights)
    if total == 0 or sum(map(bool, weights)) > 100:
        return
    parts = [100 * weight / total for weight in weights]
    whole = [max(int(part), 1) if part else 0 for part in parts]
    for at in sorted(range(len(parts)), key=lambda at: whole[at] - parts[at])[: max(100 - sum(whole), 0)]:
        whole[at] += 1
    yield replace(
        candidate,
        classes=tuple(
            {**words, "treatment": {**words["treatment"], "bandwidth": {"remaining_percent": part}}}
            if part
            else words
            for words, part in zip(candidate.classes, whole, strict=True)
        ),
    )


def side_variants(candidate: CandidateIntent) -> Iterator[CandidateIntent]:
    """Inputs that trust instead of recognising, or trust what the platform chooses; outputs that read marks."""
    for position, side in enumerate(candidate.sides):
        if side.direction == "output":
            yield _with_side(candidate, position, by_mark=not side.by_mark)
        elif side.boundary:
            # What an input polices it has to recognise.
            if not any("police" in words.get("treatment", {}) for words in side.classes):
                yield _with_side(candidate, position, boundary=False, trust=None)
        else:
            yield _with_side(candidate, position, trust=None)
            yield _with_side(candidate, position, trust="dscp")


def _with_side(candidate: CandidateIntent, position: int, **change: object) -> CandidateIntent:
    sides = list(candidate.sides)
    sides[position] = replace(sides[position], **change)  # type: ignore[arg-type]
    return replace(candidate, sides=tuple(sides))


def _capped(words: IntentData, plans: Iterable[Plan]) -> Iterator[IntentData]:
    """A class that is first without a cap with a share that the device holds for it without enforcing it."""
    if words.get("treatment", {}).get("priority") is not True:
        return
    for share in dict.fromkeys(share for plan in plans for share in _idle_shares(plan)):
        if 1 <= share <= 100:
            yield {**words, "treatment": {**words["treatment"], "priority": {"percent": share}}}


def _idle_shares(plan: Plan) -> Iterator[int]:
    """Per cents that stand beside strict queues: of the queues themselves, or of those of inputs."""
    if plan.system.input_queues is not None:
        yield from plan.system.input_queues.weights
    for interface in plan.interfaces:
        for queue in interface.egress.scheduler.queues if interface.egress.scheduler else ():
            if queue.priority and not queue.capped and queue.share and queue.share.unit is ShareUnit.PERCENT:
                yield queue.share.value


def _bounded(words: IntentData) -> Iterator[IntentData]:
    """A class that is bounded instead of shaped, or both."""
    treatment = words.get("treatment", {})
    if "shape" in treatment and ("bandwidth" in treatment or "priority" in treatment):
        plain = {key: value for key, value in treatment.items() if key != "shape"}
        yield {**words, "treatment": {**plain, "bounded": True}}
        yield {**words, "treatment": {**treatment, "bounded": True}}
    for position, child in enumerate(treatment.get("children", ())):
        for variant in _bounded(child):
            children = [*treatment["children"][:position], variant, *treatment["children"][position + 1 :]]
            yield {**words, "treatment": {**treatment, "children": children}}


def reduced_variants(candidate: CandidateIntent, *, policers: bool = True) -> Iterator[CandidateIntent]:
    """Candidates with one thing less, each; ``policers`` where policers may be or have that."""
    if candidate.cos_to_dscp is not None:
        yield replace(candidate, cos_to_dscp=None)
    for position, side in enumerate(candidate.sides):
        if side.trust is not None:
            yield _with_side(candidate, position, trust=None)
        if side.policy is not None:
            yield _with_side(candidate, position, policy=None)
    for position, words in enumerate(candidate.classes):
        for variant in _less(words):
            if policers or _policer(words) == _policer(variant):
                yield candidate.with_class(position, variant)


def _policer(words: IntentData) -> object:
    return words.get("treatment", {}).get("police")


def _less(words: IntentData) -> Iterator[IntentData]:
    for path in _OPTIONAL:
        inner = words
        for key in path[:-1]:
            inner = inner.get(key, {})
        if path[-1] in inner:
            yield drop_path(words, path)
    treatment = words.get("treatment", {})
    if isinstance(wred := treatment.get("wred"), dict):
        for less in (*_own_curves(words, wred), *_plainer(wred)):
            yield {**words, "treatment": {**treatment, "wred": less or True}}
    for position, child in enumerate(treatment.get("children", ())):
        for variant in _less(child):
            children = [*treatment["children"][:position], variant, *treatment["children"][position + 1 :]]
            yield {**words, "treatment": {**treatment, "children": children}}


def _own_curves(words: IntentData, wred: IntentData) -> Iterator[IntentData]:
    """The curves of the code points alone that a class matches: others never meet its packets."""
    terms = words.get("match", {}).get("any", [] if "match" in words else [{"dscp": 0}])
    if not terms or any(set(term) != {"dscp"} for term in terms):
        return
    own = [mark for term in terms for mark in (term["dscp"] if isinstance(term["dscp"], list) else [term["dscp"]])]
    kept = [
        {**profile, "dscp": marks}
        for profile in wred.get("profiles", [])
        if (marks := [mark for mark in profile.get("dscp", []) if mark in own])
    ]
    if kept and kept != wred["profiles"]:
        yield {**wred, "profiles": kept}


def _plainer(wred: IntentData) -> Iterator[IntentData]:
    for key in ("weight_exponent", "profiles"):
        if key in wred:
            yield {k: v for k, v in wred.items() if k != key}
    profiles = wred.get("profiles", [])
    for position, profile in enumerate(profiles):
        if len(profiles) > 1:
            yield {**wred, "profiles": [*profiles[:position], *profiles[position + 1 :]]}
        if profile.get("probability") == "10 %":
            plain = {k: v for k, v in profile.items() if k != "probability"}
            yield {**wred, "profiles": [*profiles[:position], plain, *profiles[position + 1 :]]}
