"""Choose the queue of each class in a queue set, and rate every queue set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Queue, Scheduler
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.requested import requested_shares
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES, queue_sets, scheduler
from qosforge.platforms.nortel_5510.priorities import complete_marks, pick_mark, stated_marks
from qosforge.platforms.share_fidelity import format_percent
from qosforge.queue_assignment.shape import Demand, QueueShape
from qosforge.queue_assignment.shares import divide_queues
from qosforge.queue_assignment.solver import assign_queues, join_labelled

_WORTH = 0.005
"""Another queue set is named when it comes nearer by at least this part of the link."""


@dataclass(frozen=True)
class Choice:
    """Queues of the classes in a queue set; ``shares`` are what the weighted ones get, priority at its cap.

    ``error`` is the largest distance from what was asked (parts of the link rate); ``fits`` says that every
    weighted class has a weighted queue, ``merged`` which of them share one. ``cos_of`` are the 802.1p priorities by
    which the device tells the queues, none where too few are left.
    """

    queue_set: int
    queue_of: Mapping[str, int]
    control: int
    shares: Mapping[str, float]
    error: float
    fits: bool
    cos_of: Mapping[str, tuple[int, ...]]
    merged: tuple[tuple[str, ...], ...] = ()

    def badness(self, tolerance: float) -> tuple[bool, int, float]:
        """What is compared between queue sets: whether the error is bearable, merged classes, the error."""
        merged = sum(len(group) - 1 for group in self.merged)
        return self.error > tolerance, merged, round(self.error, 9)


@cache
def _shape(queue_set: int) -> QueueShape:
    """The queues of a queue set, which the device tells by the 802.1p priority."""
    queues = scheduler(queue_set).queues
    weighted = [q for q in queues if not q.priority]
    return QueueShape(
        weighted=tuple(q.number for q in weighted),
        strict=(queues[0].number,),
        weights=tuple(map(_weight, weighted)),
        labels=8,
    )


def _demands(classes: Sequence[ClassRequest], requested: Mapping[str, float]) -> tuple[Demand, ...]:
    """What the classes demand; classes with priority share no 802.1p priority with others."""
    given = _priorities_first(classes)
    return tuple(
        Demand(
            c.name,
            (requested[c.name],),
            priority=c.treatment.priority is not None,
            labels=frozenset(given.get(c.name, ())),
        )
        for c in classes
    )


def choose(classes: Sequence[ClassRequest], queue_set: int, rate: int, bearable: float = inf) -> Choice:
    """The assignment with the smallest largest share error; ``rate`` in bits per second.

    Where classes have to share queues, none with an error above ``bearable`` is looked for.
    """
    requested = requested_shares(classes, rate)
    queues = scheduler(queue_set).queues
    first = [c.name for c in classes if c.treatment.priority]
    rest = [c.name for c in classes if not c.treatment.priority]
    given = _priorities_first(classes)
    weighted = [q for q in queues if not q.priority]
    left = 1 - sum(requested[name] for name in first)
    found = assign_queues(_shape(queue_set), _demands(classes, requested), bearable)
    queue_of = dict(found.queue_of)
    if not found.fits:
        queue_of |= dict.fromkeys(rest, queues[-1].number)
        alone = len(rest) == 1 and (not first or len(queues) > 1)
        shares = dict.fromkeys(rest, left) if alone else {name: requested[name] for name in rest}
        error = abs(left - requested[rest[0]]) if alone else 1.0
        cos_of = complete_marks(classes, given, queue_of)
        return Choice(queue_set, queue_of, queues[-1].number, shares, error, alone, cos_of)
    members = {queue_of[names[0]]: names for names in found.groups}
    serving = {q.number: _weight(q) for q in weighted if q.number in members}
    by_queue = {number: left * weight / sum(serving.values()) for number, weight in serving.items()}
    idle = [q for q in weighted if q.number not in members]
    reserved = set(CAPABILITIES.control_cos.value)
    like = [q for q in weighted if any(reserved & set(given.get(n, ())) for n in members.get(q.number, ()))]
    # Network control gets a weighted queue of its own, else goes with a class of its kind, or where most room is.
    control = max(idle or like or weighted, key=_weight)
    return Choice(
        queue_set=queue_set,
        queue_of=queue_of,
        control=control.number,
        shares=divide_queues({name: requested[name] for name in rest}, queue_of, by_queue),
        error=found.error,
        fits=True,
        cos_of=complete_marks(classes, given, queue_of),
        merged=found.merged,
    )


def keeps_apart(classes: Sequence[ClassRequest], queue_set: int) -> bool:
    """Whether a queue set has a weighted queue for each class that has no priority."""
    return sum(c.treatment.priority is None for c in classes) <= len(_shape(queue_set).weighted)


def best(classes: Sequence[ClassRequest], rate: int, tolerance: float) -> Choice | None:
    """The best choice over all queue sets and assignments; None where no set fits.

    Within the tolerance one that keeps more classes apart is better than one with a smaller error.
    """
    requested = requested_shares(classes, rate)
    units = join_labelled(_demands(classes, requested))
    wanted = sorted(sum(d.shares[0] for d in unit) for unit in units)
    apart: dict[int, list[int]] = {}
    for queue_set in queue_sets():
        weighted = len(_shape(queue_set).weighted)
        apart.setdefault(min(len(units), max(weighted, 1)), []).append(queue_set)
    found: Choice | None = None
    # From the sets that keep most classes apart on: another one is better only if it is within the tolerance.
    for queues in sorted(apart, reverse=True):
        together = -(-len(units) // queues)
        if found is not None and sum(wanted[: together - 1]) > tolerance:
            break  # one queue holds so many at least, and each of them may take what the others ask for
        bearable = tolerance if found is not None else inf
        choices = [c for c in (choose(classes, n, rate, bearable) for n in apart[queues]) if c.fits]
        here = min(choices, key=lambda c: (c.badness(tolerance), c.queue_set), default=None)
        if here is not None and here.error <= tolerance:
            return here
        found = found or here
    return found


def _priorities_first(classes: Sequence[ClassRequest]) -> dict[str, tuple[int, ...]]:
    """What the intent gives, and priorities for the classes with priority: they share none with others."""
    given = stated_marks(classes)
    for c in classes:
        if c.treatment.priority and c.name not in given:
            cos = pick_mark(c, set(range(8)) - {cos for values in given.values() for cos in values})
            given[c.name] = (0 if cos is None else cos,)
    return given


def _weight(queue: Queue) -> int:
    assert queue.share is not None
    return queue.share.value


def as_served(held: Scheduler) -> Scheduler:
    """A scheduler as the fluid model takes it: the last of strict queues has all that the others leave."""
    if any(not q.priority for q in held.queues):
        return held
    last = held.queues[-1].model_copy(update={"priority": len(held.queues) == 1})
    weight = scheduler(max(queue_sets())).queues[-1].share
    return held.model_copy(update={"queues": (*held.queues[:-1], last.model_copy(update={"share": weight}))})


def queue_findings(request: DeviceRequest, chosen: Choice, rate: int, *, known: bool) -> Iterator[Finding]:
    """What the queue set means for the classes; ``known`` says that the device told which set it has."""
    number = chosen.queue_set
    if not known:
        yield note(
            "queue-set-unknown",
            Place(device=request.device, direction="output"),
            queue_set=number,
        )
    requested = requested_shares(request.classes, rate)
    better = best(request.classes, rate, request.tolerance)
    if better is not None and chosen.fits:
        better = None if better.badness(request.tolerance) >= chosen.badness(request.tolerance) else better
    weighted = [c for c in request.classes if not c.treatment.priority]
    if better is not None and (not chosen.fits or chosen.merged or chosen.error > request.tolerance):
        yield _change(request, chosen, better)
    if not chosen.fits:
        queues = len(_shape(number).weighted)
        place = Place(device=request.device, direction="output")
        facts: dict[str, Any] = {"queue_set": number, "queues": queues, "classes": len(weighted)}
        if better:
            yield note("queue-set-unfit", place, better=better.queue_set, **facts)
        else:
            yield note("too-many-classes", place, **facts)
        return
    if chosen.merged:
        bearable = chosen.error <= request.tolerance
        queues = len(_shape(number).weighted)
        yield note(
            "classes-merged" if bearable else "queues-exceeded",
            Place(device=request.device, direction="output"),
            requested=f"{len(weighted)} queues",
            applied=f"{queues} weighted queues, a share wrong by up to {chosen.error * 100:.3g} points of the link",
            variant="by-cos",
            groups="; ".join(" + ".join(group) for group in chosen.merged),
        )
    if len({chosen.queue_of[c.name] for c in weighted}) > 1:
        yield from _weight_findings(request, chosen, better, requested)
    taken = {cos for values in chosen.cos_of.values() for cos in values}
    control = ", ".join(str(cos) for cos in CAPABILITIES.control_cos.value if cos not in taken)
    own = chosen.control not in chosen.queue_of.values()
    if not control:
        return
    yield note(
        "network-control-queue",
        Place(device=request.device, direction="output"),
        variant="cos" if own else "cos-shared",
        control=control,
        queue=chosen.control,
    )


def _weight_findings(
    request: DeviceRequest, chosen: Choice, better: Choice | None, requested: Mapping[str, float]
) -> Iterator[Finding]:
    """What the weights of the set make of the shares."""
    number = chosen.queue_set
    weighted = [c for c in request.classes if not c.treatment.priority]
    weights = "/".join("strict" if q.share is None else str(q.share.value) for q in scheduler(number).queues)
    yield note(
        "queue-weights-unconfirmed",
        Place(device=request.device, direction="output"),
        queue_set=number,
        weights=weights,
    )
    if better is not None and not better.merged and better.error < chosen.error - _WORTH:
        yield note(
            "queue-set-better",
            Place(device=request.device, direction="output"),
            requested=", ".join(f"{c.name} {format_percent(requested[c.name])}" for c in weighted),
            applied=", ".join(f"{c.name} {format_percent(better.shares[c.name])}" for c in weighted)
            + f" with set {better.queue_set}",
            queue_set=better.queue_set,
        )


def _change(request: DeviceRequest, chosen: Choice, better: Choice) -> Finding:
    """Another queue set is a step of its own: it stops the whole switch, and holds from its next start on."""
    return note(
        "queue-set-change",
        Place(device=request.device, direction="output"),
        requested=f"queue set {better.queue_set}",
        applied=f"queue set {chosen.queue_set} until then"
        + (f", within {format_percent(chosen.error)} of the link" if chosen.fits else ""),
        queue_set=better.queue_set,
        error=format_percent(better.error),
    )
