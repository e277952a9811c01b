"""Search for candidate intents that compile to the running plans; every candidate is compiled to score it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from qosforge.errors import QosforgeError
from qosforge.importing.candidate_intent import CandidateIntent, compile_candidate, drop_invalid, hosts_of
from qosforge.importing.left_out import LeftOut
from qosforge.importing.merging import MergedClasses, by_mark, by_name
from qosforge.importing.observed import NoteUnmappedAt, ObservedSide, efficiency_of, observe_sides
from qosforge.importing.plan_diff import PlanDifference, changed_system, find_differences
from qosforge.importing.running_configuration import RunningConfiguration
from qosforge.importing.slow_links import rules
from qosforge.importing.switches import is_switch, list_readings, switch_sides, with_rates
from qosforge.importing.to_intent import IntentData, NoteUnmapped
from qosforge.importing.variants import candidate_variants, reduced_variants, side_variants
from qosforge.inventory.models import DeviceRole
from qosforge.plan.model import InterfacePlan, Plan
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.base import platform

NO_INTENT = 1_000_000_000
"""What counts for a candidate that is no intent, against the weights of differences."""


@dataclass(frozen=True)
class ScoredCandidate:
    """A candidate with the differences that it leaves, their cost, and how many errors it has."""

    candidate: CandidateIntent
    differences: tuple[PlanDifference, ...]
    cost: int
    refused: int

    @property
    def rank(self) -> tuple[int, int]:
        """What is least of the best one: the cost, and of candidates of one cost the errors."""
        return self.cost, self.refused

    @property
    def failures(self) -> int:
        """How much of it an image refuses, or does otherwise."""
        return self.refused + sum(difference.loses for difference in self.differences)

    def loses(self, side: ObservedSide) -> bool:
        """Whether a port of a side loses a class, a policer, a mark or a condition of a match."""
        return any(
            d.loses and (d.device, d.direction) == (side.device, side.direction) and d.interface in side.ports
            for d in self.differences
        )


class Search:
    """The search for candidate intents of some configurations."""

    def __init__(
        self,
        configurations: Mapping[str, RunningConfiguration],
        left_out: Mapping[str, LeftOut],
        note: NoteUnmappedAt,
    ) -> None:
        """``left_out`` are the sides of each device that no candidate is for."""
        self._configurations = configurations
        self._left_out = left_out
        self._note = note
        self._plans = {name: entry.plan for name, entry in configurations.items()}
        self._scored: dict[str, ScoredCandidate] = {}

    def find_candidates(self) -> tuple[ScoredCandidate, ...]:
        """One candidate for as many sides as agree, in the order of the configurations."""
        found: list[ScoredCandidate] = []
        for name, entry in self._configurations.items():
            self._scored.clear()  # those of other devices do not come again
            for own in self._device(name, entry):
                for position, other in enumerate(found):
                    joined = self._together(other, own)
                    if joined is not None:
                        found[position] = joined
                        break
                else:
                    found.append(own)
        return tuple(found)

    def score(self, candidate: CandidateIntent) -> ScoredCandidate:
        """A candidate with its rules for slow links, and what its compilation lacks.

        The ways to read, join and improve sides come to one candidate again and again: it is compiled once.
        """
        key = repr(candidate)
        if key not in self._scored:
            self._scored[key] = self._compiled(candidate)
        return self._scored[key]

    def _compiled(self, candidate: CandidateIntent) -> ScoredCandidate:
        candidate = replace(candidate, efficiency=self._efficiency(candidate))
        made = compile_candidate(candidate, self._configurations)
        lacking = find_differences(candidate.sides, made.devices if made else None, self._plans)
        cost = sum(d.weight for d in lacking) + (0 if made is not None else NO_INTENT)
        refused = sum(1 for _ in made.errors) if made is not None else 0
        return ScoredCandidate(candidate, lacking, cost, refused)

    def _efficiency(self, candidate: CandidateIntent) -> tuple[IntentData, ...]:
        links = []
        devices = {
            h.device.name: h.device for h in hosts_of(candidate.sides, candidate.images, self._configurations)
        }
        for side in candidate.sides:
            if side.direction == "input" or devices[side.device].role not in (DeviceRole.EDGE, DeviceRole.MIDDLE):
                continue
            for port in side.ports:
                known, plan = devices[side.device].interface(port), self._plans[side.device].interface(port)
                if plan is not None:
                    usable = min(known.usable, side.shape or known.usable)
                    efficiency = efficiency_of(plan, self._about(replace(side, ports=(port,))))
                    links.append((known.encapsulation.value, usable, efficiency))
        return rules(links)

    # -- one device ------------------------------------------------------------------------------------------
    def _device(self, name: str, entry: RunningConfiguration) -> Iterator[ScoredCandidate]:
        ways = [self._grouped(entry, found) for found in self._sides(name, entry)]
        best = min(ways, key=_badness)
        for group in best:
            yield from self._apart(self._improved(self._best_image(group, entry)))

    def _apart(self, scored: ScoredCandidate) -> tuple[ScoredCandidate, ...]:
        """Sides that lose nothing apart from those in their direction that do, where neither needs the other."""
        if _suit(scored, scored):
            return (scored,)
        losing = [scored.loses(side) for side in scored.candidate.sides]
        parts = [
            self.score(replace(scored.candidate, sides=sides))
            for wanted in (False, True)
            if (sides := tuple(s for s, lost in zip(scored.candidate.sides, losing, strict=True) if lost is wanted))
        ]
        costs, errors = (sum(part.cost for part in parts), sum(part.refused for part in parts))
        return tuple(parts) if costs <= scored.cost and errors <= scored.refused else (scored,)

    def _grouped(self, entry: RunningConfiguration, sides: Iterable[ObservedSide]) -> list[ScoredCandidate]:
        """The sides of one device in as few candidates as they go."""
        groups: list[ScoredCandidate] = []
        for side in sorted(sides, key=lambda s: (s.direction == "input", -len(s.classes))):
            images = {entry.device: entry.images[0]}
            classes = tuple(drop_invalid(words, self._about(side, words["name"])) for words in side.classes)
            own = self._best_image(self.score(CandidateIntent(classes, (side,), images=images)), entry)
            for position, group in enumerate(groups):
                joined = self._joined(group, own)
                if joined is not None:
                    groups[position] = joined
                    break
            else:
                groups.append(own)
        return groups

    def _about(self, side: ObservedSide, name: str | None = None) -> NoteUnmapped:
        return lambda what: self._note(side.device, ", ".join(side.ports), side.direction, name, what)

    def _sides(self, name: str, entry: RunningConfiguration) -> Iterator[tuple[ObservedSide, ...]]:
        """The configured sides of a device that are not left out, in each way that they can be read."""
        left_out = self._left_out[name]
        for found in self._every_side(name, entry, left_out.without(entry.plan)):
            rest = ((side, left_out.rest(side)) for side in found)
            yield tuple(replace(side, ports=ports) for side, ports in rest if ports)

    def _every_side(self, name: str, entry: RunningConfiguration, plan: Plan) -> Iterator[tuple[ObservedSide, ...]]:
        if not is_switch(plan):
            sides, tunnels = observe_sides(name, plan.interfaces, self._note), plan.system.inside_tunnels or ()
            # Nothing tells by which of the outputs what is in a tunnel leaves.
            yield tuple(replace(s, tunnels=tunnels) if s.direction == "output" else s for s in sides)
            return
        every = [ObservedSide(name, tuple(i.name for i in plan.interfaces), "output")]
        known = {i.name: i for h in hosts_of(every, {}, self._configurations) for i in h.device.interfaces}
        usual = {
            port: factory for port in known if (factory := self._usual(entry, port, known[port].rate)) is not None
        }
        changed = changed_system(plan, entry.images[0])
        whole = with_rates(plan, {port: i.rate for port, i in known.items()})
        for reading in list_readings(plan):
            yield tuple(switch_sides(whole, changed, usual, reading, self._note))

    def _usual(self, entry: RunningConfiguration, port: str, speed: int) -> InterfacePlan | None:
        """A port as the platform leaves it where nobody asks for anything; None where it has no such port."""
        interface_request = InterfaceRequest.model_validate(
            {"name": port, "rate": speed, "usable": speed, "framing": "ethernet"}
        )
        request = DeviceRequest(
            device=entry.device,
            platform=entry.platform,
            image=entry.images[0],
            role=entry.family.role,
            intent="none",
            tolerance=0.05,
            classes=(ClassRequest(name="default"),),
            interfaces=(interface_request,),
            applications={},
        )
        try:
            return platform(entry.platform).lower(request, None).plan.interface(port)
        except QosforgeError:
            return None

    def _best_image(self, scored: ScoredCandidate, entry: RunningConfiguration) -> ScoredCandidate:
        """The candidate with the image that refuses or loses least of it, then gives most of what the device holds.

        A guess must not stand against what a device has: of what no image takes the configuration is the proof.
        """
        best = scored
        for image in entry.images[1:]:
            if not any(best.rank):
                break
            tried = self.score(replace(best.candidate, images={**best.candidate.images, entry.device: image}))
            best = min(best, tried, key=lambda known: (known.failures, known.cost))
        return best

    # -- joining ---------------------------------------------------------------------------------------------
    def _joined(self, group: ScoredCandidate, own: ScoredCandidate) -> ScoredCandidate | None:
        """Both in one candidate, where that lacks nothing that the two do not."""
        best: ScoredCandidate | None = None
        for merged in self._ways(group.candidate, own.candidate):
            both = CandidateIntent(
                merged.classes,
                self._marked(
                    (*group.candidate.sides, *own.candidate.sides), merged.by_mark or _marks(group.candidate)
                ),
                images={**group.candidate.images, **own.candidate.images},
                guessed=(*group.candidate.guessed, *own.candidate.guessed, *merged.guessed),
            )
            for images in ({}, group.candidate.images, own.candidate.images):
                judged = self.score(replace(both, images={**both.images, **images}))
                if _is_better(judged, best, group, own):
                    best = judged
            # Inputs that choose queues by marks are the outputs' own where they trust instead of recognising.
            for variant in side_variants(both) if best is None else ():
                judged = self.score(variant)
                if _is_better(judged, best, group, own):
                    best = judged
        return best if best is not None and best.cost <= group.cost + own.cost else None

    def _ways(self, group: CandidateIntent, own: CandidateIntent) -> Iterator[MergedClasses]:
        named = by_name(group.classes, own.classes)
        if named is not None:
            yield named
        if own.sides[0].direction == "input" and not any(s.direction == "input" for s in group.sides):
            marked = by_mark(group.classes, own.classes)
            if marked is not None:
                yield marked

    @staticmethod
    def _marked(sides: Iterable[ObservedSide], marks: bool) -> tuple[ObservedSide, ...]:
        return tuple(replace(s, by_mark=marks) if s.direction == "output" else s for s in sides)

    def _together(self, one: ScoredCandidate, other: ScoredCandidate) -> ScoredCandidate | None:
        """Candidates of two devices as one, where their classes agree."""
        if _marks(one.candidate) != _marks(other.candidate) or not _suit(one, other):
            return None
        merged = by_name(one.candidate.classes, other.candidate.classes)
        if merged is None:
            return None
        images = {**one.candidate.images, **other.candidate.images}
        guessed = tuple(dict.fromkeys((*one.candidate.guessed, *other.candidate.guessed)))
        both = CandidateIntent(
            merged.classes, (*one.candidate.sides, *other.candidate.sides), images=images, guessed=guessed
        )
        judged = self.score(both)
        return judged if judged.cost <= one.cost + other.cost and _adds_nothing(judged, one, other) else None

    # -- improving -------------------------------------------------------------------------------------------
    def _improved(self, scored: ScoredCandidate) -> ScoredCandidate:
        """The candidate with other words where those give more, and without what changes nothing."""
        if scored.cost >= NO_INTENT:
            return scored
        position = 0
        while any(scored.rank) and position < len(others := [*candidate_variants(scored.candidate, self._plans)]):
            tried = self.score(others[position])
            if tried.rank < scored.rank:
                scored = tried
            else:
                position += 1
        return self._pruned(scored)

    def _pruned(self, scored: ScoredCandidate) -> ScoredCandidate:
        position, kept = 0, scored
        # A policer that makes no difference is one that the device has of itself, or one that is lost.
        lost = any(difference.loses for difference in scored.differences)
        while True:
            rest = [*reduced_variants(scored.candidate, policers=not lost)]
            if position >= len(rest) and scored is kept:
                return scored
            if position >= len(rest):
                position, kept = 0, scored  # what went may have been what another thing was needed for
                continue
            tried = self.score(rest[position])
            if tried.rank <= scored.rank:
                scored = tried
            else:
                position += 1


def _badness(groups: Sequence[ScoredCandidate]) -> tuple[bool, int, int]:
    """What is least of the best way to read a device: no intent at all, errors, and the cost."""
    cost = sum(group.cost for group in groups)
    return cost >= NO_INTENT, sum(group.refused for group in groups), cost


def _is_better(judged: ScoredCandidate, best: ScoredCandidate | None, *parts: ScoredCandidate) -> bool:
    """Whether a candidate joins others without lacking more than they do, and is the best one so far."""
    fits = judged.cost < NO_INTENT and _adds_nothing(judged, *parts)
    return fits and (best is None or judged.cost < best.cost)


def _adds_nothing(joined: ScoredCandidate, *parts: ScoredCandidate) -> bool:
    """Whether a candidate lacks nothing that none of those lacks which it joins."""
    lacking = [difference for part in parts for difference in part.differences]
    return all(any(map(difference.is_part_of, lacking)) for difference in joined.differences)


def _suit(one: ScoredCandidate, other: ScoredCandidate) -> bool:
    """Whether sides in one direction all lose something, or nothing: what loses nothing can be pushed by itself."""
    return all(
        one.loses(a) == other.loses(b)
        for a in one.candidate.sides
        for b in other.candidate.sides
        if a.direction == b.direction
    )


def _marks(candidate: CandidateIntent) -> bool:
    return any(side.by_mark for side in candidate.sides)
