"""Assign classes to the queues of a port: two priority levels, and the weighted queues beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.requested import requested_shares
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_9000.marks import ClassMarks
from qosforge.platforms.ios_switch.grouping import best_groups
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.queues import scheduled_rates

_SAME = 1e-9


@dataclass(frozen=True)
class QueueGroup:
    """The classes of one queue; ``level`` is that of a priority queue."""

    classes: tuple[ClassRequest, ...]
    level: int | None = None

    @property
    def is_default(self) -> bool:
        """Whether it serves what no class takes."""
        return any(c.is_default for c in self.classes)


def group_classes(request: DeviceRequest, marks: Mapping[str, ClassMarks], notes: Notes) -> tuple[QueueGroup, ...]:
    """The queues of every scheduled port: priority levels first, that of everything else last."""
    levels = _levels(request, notes)
    weighted = [c for c in request.classes if not c.treatment.priority]
    count = CAPABILITIES.queues.value - len(levels)
    groups: list[tuple[ClassRequest, ...]] = [(c,) for c in weighted]
    if len(groups) > count:
        groups = _merge_classes(request, weighted, count, marks)
        _note_merged(request, groups, notes)
    made = [QueueGroup(tuple(c for c in weighted if c in group)) for group in groups]
    order = {c.name: position for position, c in enumerate(weighted)}
    made.sort(key=lambda group: (group.is_default, order[group.classes[0].name]))
    return (*levels, *made)


def _levels(request: DeviceRequest, notes: Notes) -> list[QueueGroup]:
    """The first priority class has level 1 to itself, all others share level 2."""
    first = [c for c in request.classes if c.treatment.priority]
    levels = [QueueGroup((c,), level) for level, c in enumerate(first[:1], 1)]
    rest = tuple(first[1:])
    if rest:
        levels.append(QueueGroup(rest, 2))
    if len(rest) > 1:
        uncapped = [c.name for c in rest if c.treatment.priority and not c.treatment.priority.capped]
        together = " + ".join(c.name for c in rest)
        most = CAPABILITIES.queues.priority_levels
        notes.note(
            "queues-exceeded" if uncapped else "classes-merged",
            direction="output",
            requested=f"{len(first)} priority levels",
            applied=f"{most} priority levels"
            + (f"; {', '.join(uncapped)} may take the cap of the others" if uncapped else ", one cap for both"),
            variant="priority-levels",
            groups=together,
        )
    return levels


def _merge_classes(
    request: DeviceRequest, classes: Sequence[ClassRequest], count: int, marks: Mapping[str, ClassMarks]
) -> list[tuple[ClassRequest, ...]]:
    """The way to share queues that is within the tolerance (else errs least), then has the fewest classes beside
    another kind, then leaves the most classes alone."""
    shares = {tuple(shares[c.name] for c in classes) for shares in _shares_at_rates(request)}
    needs = tuple(_Need(_kinds(marks[c.name]), _is_apart(c)) for c in classes)
    groups = _best_merge(tuple(sorted(shares)), needs, count, request.tolerance)
    return sorted(
        (tuple(classes[at] for at in sorted(group)) for group in groups), key=lambda g: classes.index(g[0])
    )


@dataclass(frozen=True)
class _Need:
    """What a class needs of a queue that it shares: one of its kinds, or to be alone."""

    kinds: frozenset[str]
    apart: bool


@lru_cache(maxsize=256)
def _best_merge(
    shares: tuple[tuple[float, ...], ...], needs: tuple[_Need, ...], count: int, tolerance: float
) -> tuple[tuple[int, ...], ...]:
    """The classes of each of ``count`` queues by their places in ``needs``.

    ``shares`` are those of the link that the classes ask for, at each rate at which they differ. Results are kept
    by value: devices whose ports have other names and rates mostly ask for the same.
    """

    def price(group: tuple[int, ...]) -> tuple[float, int, int]:
        if len(group) < 2:
            return 0.0, 0, 0
        mixed = not frozenset.intersection(*(needs[at].kinds for at in group)) or any(
            needs[at].apart for at in group
        )
        error = max(sum(at_rate[at] for at in group) - at_rate[one] for at_rate in shares for one in group)
        return round(error, 9), len(group) if mixed else 0, len(group)

    def cost(prices: Sequence[tuple[float, int, int]]) -> tuple[float, int, int, float]:
        error, mixed, merged = 0.0, 0, 0
        for its_error, its_mixed, its_merged in prices:
            error = its_error if its_error > error else error
            mixed += its_mixed
            merged += its_merged
        return max(error - tolerance - _SAME, 0.0), mixed, merged, error

    def at_least(
        found: tuple[float, int, int, float], prices: Sequence[tuple[float, int, int]], placed: int
    ) -> tuple[float, int, int, float]:
        # Whoever finds no free queue any more joins somebody.
        must_join = len(needs) - placed - (count - len(prices))
        return found[0], found[1], found[2] + max(must_join, 0), found[3]

    heaviest = sorted(range(len(needs)), key=lambda at: -max(at_rate[at] for at_rate in shares))
    return best_groups(heaviest, count, price, cost, at_least)


def _shares_at_rates(request: DeviceRequest) -> list[Mapping[str, float]]:
    return [requested_shares(request.classes, rate) for rate in scheduled_rates(request)]


def _largest_error(groups: Iterable[Sequence[ClassRequest]], requested: Iterable[Mapping[str, float]]) -> float:
    """By how much of the link a class may miss its share to the classes beside it in its queue."""
    errors = (sum(at[c.name] for c in g) - at[one.name] for at in requested for g in groups for one in g)
    return max(errors, default=0.0)


def _kinds(marks: ClassMarks) -> frozenset[str]:
    """The kinds that a class may be of."""
    table = {kind: listed.dscp for kind, listed in CAPABILITIES.kinds.items()}
    points = frozenset(marks.points)
    if points and points <= table["scavenger"]:
        return frozenset({"scavenger"})
    if points and points <= table["signalling"]:
        return frozenset({"control", "data"})
    if points and points <= table["control"] | table["signalling"]:
        return frozenset({"control"})
    return frozenset({"data"})


def _is_apart(entry: ClassRequest) -> bool:
    """Whether what is asked of a class would hold for the others of its queue too."""
    return bool(entry.treatment.shape or entry.treatment.bounded)


def _note_merged(request: DeviceRequest, groups: Sequence[Sequence[ClassRequest]], notes: Notes) -> None:
    error = _largest_error(groups, _shares_at_rates(request))
    bearable = error <= request.tolerance + _SAME and not any(
        len(group) > 1 and any(map(_is_apart, group)) for group in groups
    )
    together = "; ".join(" + ".join(c.name for c in g) for g in groups if len(g) > 1)
    notes.note(
        "classes-merged" if bearable else "queues-exceeded",
        direction="output",
        requested=f"{sum(len(g) for g in groups)} weighted queues",
        applied=f"{len(groups)} weighted queues, a share may be wrong by {100 * error:.3g} points of the link",
        variant="weighted-queues",
        groups=together,
        queues=len(groups),
    )


def whole_percents(parts: Sequence[float]) -> list[int]:
    """Whole per cents, at least 1 each, that add up to 100 and come nearest to parts of any unit."""
    total = sum(parts) or 1.0
    exact = [100 * part / total for part in parts]
    whole = [max(int(value + _SAME), 1) for value in exact]
    while sum(whole) != 100:
        # The largest remainder gets what is left; what is too much is taken where it is missed least.
        step = 1 if sum(whole) < 100 else -1
        fit = [i for i in range(len(whole)) if whole[i] + step >= 1]
        chosen = min(fit, key=lambda i: (abs(whole[i] + step - exact[i]) - abs(whole[i] - exact[i]), -whole[i]))
        whole[chosen] += step
    return whole
