"""Place classes in queues: first those whose marks are written, each in the queue of its mark, then the others.

A DSCP that the policy of a queue writes leaves with the queue's number in place of its first three bits (Dell
Force10 C150 configuration manual p. 861; Z9000 guide p. 728, for an E-Series). Classes join pair by pair where
there are too many: a search of all ways would give devices other queues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, dscp_to_queue, dscp_written
from qosforge.platforms.force10_e300.class_marks import effective_mark, trusted_marks
from qosforge.platforms.force10_e300.matching import layer2
from qosforge.platforms.recognition import dscp_of
from qosforge.queue_assignment.shape import ERROR, KINDS, Demand, QueueShape
from qosforge.queue_assignment.shares import share_error
from qosforge.queue_assignment.solver import assign_queues

DEFAULT_QUEUE = 0
_STRICT, _STRICT_OF_MANY = 5, 7
_WEIGHTED = (4, 3, 2, 1, 5, 6, 7)
"""Queues of weighted classes, the first ones first: the sixth is network control's while it can be."""
_USUAL = 4
"""Weighted classes up to which the strict queue has its usual place; it is the last one where there are more."""
_PREFERENCE = (KINDS, ERROR)
"""Classes of different marks share a queue last: it has one mark."""
_LAST = CAPABILITIES.queues.value - 1


def written_mark(class_requests: Iterable[ClassRequest], queue: int) -> int | None:
    """The DSCP that the input policy of a queue writes for the classes in it, as it leaves; None for none.

    A class that has nothing but its mark is marked again only where that changes nothing.
    """
    group = tuple(class_requests)
    found = {effective_mark(c) for c in group}
    if found == {None} and len(group) == 1:
        mark = dscp_of(group[0])
        return mark if mark is not None and dscp_to_queue()[mark] == queue else None
    mark = found.pop() if len(found) == 1 else None
    return None if mark is None else dscp_written(mark, queue)


def needed_queues(classes: Iterable[ClassRequest]) -> Mapping[str, int]:
    """The queue of each class whose mark has to be written; weighted classes of one mark share theirs.

    The default class is in queue 0. A class is missing whose queue another one needs for another mark, or alone.
    """
    owners: dict[int, ClassRequest] = {}
    found: dict[str, int] = {}
    for c in sorted(classes, key=lambda c: (not c.is_default, c.treatment.priority is None)):
        mark = effective_mark(c)
        if c.is_default:
            owners[DEFAULT_QUEUE], found[c.name] = c, DEFAULT_QUEUE
        elif mark is not None:
            queue = dscp_to_queue()[mark]
            owner = owners.setdefault(queue, c)
            if owner is c or (effective_mark(owner) == mark and not (owner.is_default or owner.treatment.priority)):
                found[c.name] = queue
    return found


def place(
    request: DeviceRequest, requested: Mapping[str, float]
) -> tuple[Mapping[str, int], tuple[tuple[str, ...], ...], float]:
    """The queue of each class, the classes that share one, and the largest error of a share that this makes.

    ``requested`` are shares of the link (0-1).
    """
    weighted = [c.name for c in request.classes if not (c.treatment.priority or c.is_default)]
    first = next((c.name for c in request.classes if c.treatment.priority), None)
    fixed = {request.classes[-1].name: DEFAULT_QUEUE}
    if not layer2(request):
        fixed |= needed_queues(request.classes)
        fixed |= _own_queues(request.classes, fixed)
    while True:
        strict = None if first is None else fixed.get(first) or _strict(fixed, many=len(weighted) > _USUAL)
        taken = {*fixed.values(), strict}
        free = [queue for queue in _WEIGHTED if queue not in taken]
        rest = [name for name in weighted if name not in fixed]
        if free or not rest:
            break
        # Nothing is left for the others: the last class gives its queue up.
        del fixed[next(name for name in reversed(weighted) if name in fixed)]
    shape = QueueShape(
        weighted=tuple(sorted(free[: len(rest)], reverse=True)),
        strict=() if strict is None else (strict,),
        preference=_PREFERENCE,
        pairwise=True,
    )
    found = assign_queues(shape, _demands(request, requested, fixed))
    shared: dict[int, list[str]] = {}
    for name in weighted:
        if name in fixed:
            shared.setdefault(fixed[name], []).append(name)
    joined = tuple(tuple(names) for names in shared.values() if len(names) > 1)
    error = max([found.error, *(share_error([requested[name] for name in names]) for names in joined)])
    return found.queue_of, (*joined, *found.merged), error


def _strict(fixed: Mapping[str, int], *, many: bool) -> int:
    """A free queue for a strict class whose mark asks for none."""
    taken = set(fixed.values())
    preferred = (_STRICT_OF_MANY if many else _STRICT, *range(_LAST, DEFAULT_QUEUE, -1))
    return next((queue for queue in preferred if queue not in taken), _LAST)


def _own_queues(classes: Sequence[ClassRequest], fixed: Mapping[str, int]) -> Mapping[str, int]:
    """The queues of classes whose marks nobody writes, by these marks, where they are free.

    That is so where all classes are told by marks and each has a queue of its own: the order in which the device
    looks at them is all the same then.
    """
    others = [c for c in classes if not c.is_default]
    if len(others) > _LAST or any(set(t.set_fields) - {"dscp", "precedence"} for c in others for t in c.terms):
        return {}
    told, found = trusted_marks(tuple(classes)), dict(fixed)
    for c in others:
        queues = {dscp_to_queue()[d] for d in told[c.name]}
        if c.name not in found and len(queues) == 1 and not queues & set(found.values()):
            found[c.name] = queues.pop()
    return found


def _demands(
    request: DeviceRequest, requested: Mapping[str, float], fixed: Mapping[str, int]
) -> tuple[Demand, ...]:
    """What the classes demand; their kinds are the marks to write."""
    return tuple(
        Demand(
            c.name,
            (requested[c.name],),
            priority=c.treatment.priority is not None,
            queue=fixed.get(c.name),
            kinds=frozenset({effective_mark(c)}),
        )
        for c in request.classes
    )
