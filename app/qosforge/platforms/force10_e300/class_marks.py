"""The marks of classes: what is written for them, and what they are told by where marks are trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qosforge.memoise import memoise
from qosforge.plan.request import ClassRequest
from qosforge.platforms.recognition import dscp_of, points_of


def marks(class_request: ClassRequest) -> tuple[int, ...]:
    """DSCPs that a class carries behind the edge: its mark and what its policer writes, else those it matches."""
    mark = dscp_of(class_request)
    if mark is not None:
        return tuple(dict.fromkeys((mark, *class_request.remarked)))
    return (0,) if class_request.is_default else _listed_dscps(class_request)


def _listed_dscps(class_request: ClassRequest) -> tuple[int, ...]:
    alone = [t for t in class_request.terms if set(t.set_fields) <= {"dscp", "precedence"}]
    return tuple(sorted({d for t in alone for d in points_of(t) or ()}))


def priorities(class_request: ClassRequest) -> tuple[int, ...]:
    """802.1p priorities that a class carries behind the edge: its mark, else those it matches."""
    if class_request.mark is not None and class_request.mark.cos is not None:
        return (class_request.mark.cos,)
    return _listed_priorities(class_request)


def _listed_priorities(class_request: ClassRequest) -> tuple[int, ...]:
    return tuple(sorted({cos for t in class_request.terms if t.set_fields == ("cos",) for cos in t.cos}))


@memoise
def trusted_marks(classes: tuple[ClassRequest, ...]) -> Mapping[str, tuple[int, ...]]:
    """By which DSCPs a port that trusts them tells each class: its marks, and what else it matches.

    A mark is that of the class that sets it, else of the first that matches it.
    """
    setting = {d: c.name for c in reversed(classes) if c.is_default or dscp_of(c) is not None for d in marks(c)}
    return _told_apart(classes, setting, {c.name: (*marks(c), *_listed_dscps(c)) for c in classes})


@memoise
def trusted_priorities(classes: tuple[ClassRequest, ...]) -> Mapping[str, tuple[int, ...]]:
    """By which 802.1p priorities a port that trusts them tells each class, as `trusted_marks`."""
    setting = {c.mark.cos: c.name for c in reversed(classes) if c.mark and c.mark.cos is not None}
    told = {c.name: (*priorities(c), *_listed_priorities(c)) for c in classes if not c.is_default}
    return _told_apart(classes, {0: classes[-1].name, **setting}, told)


def _told_apart(
    classes: Sequence[ClassRequest], setting: Mapping[int, str], told: Mapping[str, Sequence[int]]
) -> Mapping[str, tuple[int, ...]]:
    """Each mark with one class: the one of ``setting``, else the first of those that are ``told`` by it."""
    owner = dict(setting)
    for c in classes:
        for value in told.get(c.name, ()):
            owner.setdefault(value, c.name)
    return {c.name: tuple(v for v in dict.fromkeys(told.get(c.name, ())) if owner[v] == c.name) for c in classes}


def effective_mark(class_request: ClassRequest) -> int | None:
    """The DSCP that has to be written; None where the class has no mark or nothing but that mark."""
    mark = dscp_of(class_request)
    if class_request.is_default:
        # The mark of an unknown host must not pass for one of ours.
        return mark or 0
    same = class_request.terms and all(t.set_fields == ("dscp",) and t.dscp == (mark,) for t in class_request.terms)
    return None if same else mark
