"""Policies as cards: what each is for, what its classes get, and where it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from qosforge.dscp import dscp_label
from qosforge.errors import QosforgeError
from qosforge.intent.match import PROTOCOLS, Match, MatchTerm
from qosforge.intent.models import Intent, ObjectiveSpec, Scope, TrafficClass
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.policy_library.groups import STARTING_POINTS
from qosforge.policy_library.library import Policies
from qosforge.policy_library.versions import PolicyVersion
from qosforge.runs.record.outlines import RunOutline
from qosforge.units import format_ratio, format_seconds
from qosforge.web.views.class_colours import class_colour
from qosforge.web.views.network_runs import NetworkPolicy
from qosforge.web.views.share_words import share_text

_KEPT_IN_MIND = 512
_WHOLE = 100.0
_STRICT_PART = 12.0
"""How wide a class without a number is drawn, in per cent: strict priority, or no share at all."""


@dataclass(frozen=True)
class ClassShare:
    """A class at the first level of a policy: its share in words, and where it is drawn, in per cent of the bar.

    ``traffic`` is which packets belong to it, in words; empty where it is what no other class takes.
    ``first`` says that it is served before others; ``marks`` are what tells it in a packet; ``objective`` is what
    it must keep, in words.
    """

    name: str
    description: str
    colour: int
    traffic: str
    share: str
    first: bool
    marks: str
    objective: str
    x: float
    width: float


@dataclass(frozen=True)
class ScopeWords:
    """Where a policy applies: in which ``direction``, and the ports by what selects them, label and values."""

    direction: Literal["input", "output"]
    selectors: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CheckWords:
    """What is measured from one end host to another: classes that are judged, and those that load the path."""

    path: str
    classes: str
    beside: str


@dataclass(frozen=True)
class PolicySummary:
    """What a policy is for, its classes, where it applies and what a run of it measures; ``problem`` says why they
    are not known.
    """

    description: str = ""
    classes: tuple[ClassShare, ...] = ()
    scopes: tuple[ScopeWords, ...] = ()
    checks: tuple[CheckWords, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class PolicyCard:
    """A policy in a list, with its last run on every network, newest first.

    ``in_force`` are the networks that hold it; ``ran_last`` says whether a run of it is the newest of a network.
    """

    about: PolicyVersion
    summary: PolicySummary
    runs: tuple[RunOutline, ...]
    in_force: frozenset[str] = frozenset()
    ran_last: bool = False

    @property
    def is_unfinished(self) -> bool:
        """Whether a run of it waits, is under way, or stands half-way."""
        return any(not run.status.final for run in self.runs)

    @property
    def is_active(self) -> bool:
        """Whether a network holds it, is about to, or saw it last."""
        return bool(self.in_force) or self.is_unfinished or self.ran_last


def policy_cards(
    policies: Policies,
    abouts: Sequence[PolicyVersion],
    runs: Mapping[str, tuple[RunOutline, ...]],
    held: Mapping[str, NetworkPolicy],
) -> list[PolicyCard]:
    """Policies as cards, by the last ``runs`` of all of them, by their names, and by what every network holds."""
    newest: dict[str, str] = {}
    for run in (run for each in runs.values() for run in each):
        newest[run.network] = max(run.id, newest.get(run.network, ""))
    return [
        PolicyCard(
            about,
            policy_summary(policies, about),
            mine := runs.get(about.name, ()),
            frozenset(run.network for run in mine if held[run.network].name == about.name),
            any(run.id == newest[run.network] for run in mine),
        )
        for about in abouts
    ]


@dataclass(frozen=True)
class PolicyGroups:
    """The policies of a list: those that stand or wait on a network, whose-ever they are; of the others those that
    people stored, those to start from, and those that papers describe.
    """

    active: tuple[PolicyCard, ...]
    own: tuple[PolicyCard, ...]
    starting_points: tuple[PolicyCard, ...]
    papers: tuple[PolicyCard, ...]

    @classmethod
    def of(cls, cards: Sequence[PolicyCard]) -> PolicyGroups:
        """The cards by group."""
        others = [card for card in cards if not card.is_active]
        shipped = {card.about.name: card for card in others if card.about.at is None}
        return cls(
            active=tuple(card for card in cards if card.is_active),
            own=tuple(card for card in others if card.about.at is not None),
            starting_points=tuple(shipped[name] for name in STARTING_POINTS if name in shipped),
            papers=tuple(card for name, card in shipped.items() if name not in STARTING_POINTS),
        )


def policy_summary(policies: Policies, about: PolicyVersion) -> PolicySummary:
    """What a version is for, and its classes; where it cannot be read, the reason."""
    try:
        policy = policies.get(about.name, about.number)
        written = policy.written()
        return _summary(written.text, written.file, tuple(sorted(written.included.items())))
    except QosforgeError as error:
        return PolicySummary(problem=error.message)


@lru_cache(_KEPT_IN_MIND)
def _summary(text: str, file: str, included: tuple[tuple[str, str], ...]) -> PolicySummary:
    intent = load_policy(PolicySource(text, file, dict(included))).intent
    return PolicySummary(
        intent.description,
        tuple(_shares(intent)),
        tuple(ScopeWords(scope.direction, tuple(_selectors(scope))) for scope in intent.apply),
        tuple(
            CheckWords(check.path.replace("→", " → "), ", ".join(check.classes), ", ".join(check.beside))
            for check in intent.verify
        ),
    )


def _selectors(scope: Scope) -> Iterator[tuple[str, str]]:
    for name in scope.selectors:
        yield name, ", ".join(str(value) for value in getattr(scope, name))


def _shares(intent: Intent) -> Iterator[ClassShare]:
    parts = _parts(intent.classes)
    scale = _WHOLE / max(sum(parts), 1.0)
    x = 0.0
    for number, (entry, part) in enumerate(zip(intent.classes, parts, strict=True)):
        width = round(part * scale, 2)
        yield ClassShare(
            name=entry.name,
            description=entry.description,
            colour=class_colour(number + 1),
            traffic=_traffic(entry.match) if entry.match else "",
            share=share_text(entry),
            first=entry.treatment.priority is not None,
            marks=_marks(entry),
            objective=_objective_text(entry.objective) if entry.objective else "",
            x=round(x, 2),
            width=width,
        )
        x += width


def _traffic(match: Match) -> str:
    parts = [" or ".join(map(_term, match.any)), *map(_term, match.all)]
    taken = " and ".join(part for part in parts if part)
    return f"{taken}, not {' nor '.join(map(_term, match.none))}".lstrip(", ") if match.none else taken


def _term(term: MatchTerm) -> str:
    """One alternative, such as ``TCP, destination port 80, 8000-8080``."""
    found = []
    for name in term.set_fields:
        values = ", ".join(_matched(name, value) for value in getattr(term, name))
        label = {"application": "", "protocol": "", "dscp": "DSCP ", "cos": "CoS "}.get(
            name, f"{name.replace('_', ' ')} "
        )
        found.append(f"{label}{values}")
    return ", ".join(found)


def _matched(name: str, value: object) -> str:
    if isinstance(value, tuple):
        first, last = value
        return str(first) if first == last else f"{first}-{last}"
    if name == "protocol":
        return next((word.upper() for word, number in PROTOCOLS.items() if number == value), f"protocol {value}")
    return dscp_label(value) if name == "dscp" and isinstance(value, int) else str(value)


def _marks(entry: TrafficClass) -> str:
    """The DSCP or precedence, and the CoS, that the class carries behind the edge; without one, the DSCPs it is
    recognised by.
    """
    carried = []
    if entry.mark is not None and entry.mark.dscp is not None:
        carried.append(dscp_label(entry.mark.dscp))
    if entry.mark is not None and entry.mark.precedence is not None:
        carried.append(f"precedence {entry.mark.precedence}")
    if entry.mark is not None and entry.mark.cos is not None:
        carried.append(f"CoS {entry.mark.cos}")
    if carried:
        return ", ".join(carried)
    terms = (*entry.match.any, *entry.match.all) if entry.match else ()
    return ", ".join(dict.fromkeys(dscp_label(code) for term in terms for code in term.dscp))


def _parts(classes: Sequence[TrafficClass]) -> list[float]:
    """The part of the link that each class is drawn with, in per cent: what it asks for, else an even part of the
    rest. Rates and weights are drawn as parts of what their sum is, for the rate of the link is not known.
    """
    priority = [entry.treatment.priority for entry in classes]
    first = sum(float(one.percent or 0) for one in priority if one)
    shares = [entry.treatment.bandwidth for entry in classes]
    whole = float(sum((one.rate or 0) + (one.weight or 0) for one in shares if one)) or 1.0
    found: list[float | None] = []
    for one, share in zip(priority, shares, strict=True):
        if one is not None:
            found.append(float(one.percent) if one.percent else _STRICT_PART)
        elif share is None:
            found.append(None)
        elif share.percent is not None:
            found.append(float(share.percent))
        elif share.remaining_percent is not None:
            found.append(share.remaining_percent * (_WHOLE - first) / _WHOLE)
        else:
            found.append(((share.rate or 0) + (share.weight or 0)) / whole * (_WHOLE - first))
    left = _WHOLE - sum(part or 0.0 for part in found)
    even = max(left / max(found.count(None), 1), _STRICT_PART)
    return [even if part is None else part for part in found]


def _objective_text(spec: ObjectiveSpec) -> str:
    requested = spec.resolved()
    delay = [f"delay {name} {format_seconds(bound)}" for name, bound in requested.delay.items()]
    jitter = [f"jitter {format_seconds(bound)}" for bound in (requested.variation or {}).values()]
    loss = [f"loss {format_ratio(requested.loss)}"] if requested.loss is not None else []
    return ", ".join((*delay, *jitter, *loss))
