"""The 802.1p priorities of classes: those of the intent, and free ones for the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from qosforge.plan.request import ClassRequest
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES, factory_dscp_to_cos
from qosforge.platforms.recognition import dscp_of, points_of

_ORDER = (1, 3, 4, 2, 5, 6, 7, 0)
"""Priorities for classes that name none, in the order they are given out; those of network control late."""


def dscps(class_request: ClassRequest) -> tuple[int, ...]:
    """DSCPs that belong to a class where marks are trusted: its mark, what its policer writes, what it matches."""
    alone = [t for t in class_request.terms if set(t.set_fields) <= {"dscp", "precedence"}]
    listed = (d for t in alone for d in sorted(points_of(t) or ()))
    return tuple(dict.fromkeys((*set_dscps(class_request), *listed)))


def set_dscps(class_request: ClassRequest) -> tuple[int, ...]:
    """DSCPs that are written for a class: its mark, and what its policer writes."""
    own = dscp_of(class_request)
    return tuple(dict.fromkeys((*(() if own is None else (own,)), *class_request.remarked)))


def stated_marks(classes: Sequence[ClassRequest]) -> dict[str, tuple[int, ...]]:
    """Priorities that the intent gives: a class's mark, else those it matches without any DSCP; 0 for the rest."""
    result: dict[str, tuple[int, ...]] = {}
    for c in classes:
        matched = {cos for t in c.terms for cos in t.cos if t.set_fields == ("cos",)}
        if c.mark and c.mark.cos is not None:
            result[c.name] = (c.mark.cos,)
        elif matched and not dscps(c):
            result[c.name] = tuple(sorted(matched, reverse=True))
        elif c.is_default:
            result[c.name] = (0,)
    return result


def pick_mark(class_request: ClassRequest, free: Collection[int], spared: Collection[int] = ()) -> int | None:
    """The free priority that suits a class best: that of its class selector, else of its DSCP; None where none is
    free.

    Those in ``spared`` go to classes alone whose selector they are.
    """
    selectors = [d >> 3 for d in dscps(class_request) if d and d % 8 == 0]
    own = [factory_dscp_to_cos()[d] for d in dscps(class_request) if factory_dscp_to_cos()[d]]
    suiting = (*selectors, *(cos for cos in (*own, *_ORDER) if cos not in spared))
    return next((cos for cos in suiting if cos in free), None)


def complete_marks(
    classes: Sequence[ClassRequest], preset: Mapping[str, tuple[int, ...]], queue_of: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    """Priorities of all classes: one for every queue that has none yet, then others as long as there are any.

    A class for which none is left has that of another one in its queue, or none at all.
    """
    result = dict(preset)
    free = set(range(8)) - {cos for values in result.values() for cos in values}
    control = set(CAPABILITIES.control_cos.value)
    open_classes = [c for c in classes if c.name not in result]
    for only_needed in (True, False):
        for c in open_classes:
            reached = {queue_of[name] for name in result}
            if c.name in result or (only_needed and queue_of[c.name] in reached):
                continue
            cos = pick_mark(c, free, () if queue_of[c.name] not in reached else control)
            if cos is not None:
                result[c.name] = (cos,)
                free.discard(cos)
    for c in open_classes:
        beside = next((result[n] for n in result if queue_of[n] == queue_of[c.name]), ())
        result.setdefault(c.name, beside[:1])
    return result
