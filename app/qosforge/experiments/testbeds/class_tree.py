"""Link-sharing trees: from an experiment's data to a scheduler of the twin and to the fluid model.

Shares are parts of the link. A class is described by ``share``, ``parent`` (none: a child of the root),
``priority`` (``high``, ``middle`` or ``low``), ``borrow`` and, if it is a leaf that sends, by its traffic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from qosforge.errors import ServiceError
from qosforge.experiments.cases import read_described
from qosforge.plan.fluid import FluidClass, throughput
from qosforge.twin.described import read_scheduler
from qosforge.twin.schedulers import CbqClassSpec, CbqScheduler, DcbqeScheduler, DcbqScheduler, SchedulerSpec

_KEYS = {"share", "parent", "priority", "borrow", "traffic"}
_PRIORITIES = {"high": 0, "middle": 1, "low": 2}


@dataclass(frozen=True)
class TreeClass:
    """One class; ``traffic`` names what its sources are (None: silent)."""

    name: str
    share: float
    parent: str | None = None
    priority: str = "low"
    borrow: bool = True
    traffic: str | None = None


@dataclass(frozen=True)
class ClassTree:
    """A link-sharing tree, parents first."""

    classes: tuple[TreeClass, ...]
    leaves: tuple[TreeClass, ...] = field(init=False)

    def __post_init__(self) -> None:
        parents = {one.parent for one in self.classes}
        object.__setattr__(self, "leaves", tuple(one for one in self.classes if one.name not in parents))

    @property
    def senders(self) -> tuple[TreeClass, ...]:
        """The leaves that have traffic."""
        return tuple(leaf for leaf in self.leaves if leaf.traffic is not None)

    def scheduler(self, kind: Mapping[str, Any]) -> SchedulerSpec:
        """The twin's scheduler of this tree; the leaves' queues are numbered in their order.

        Raises:
            ServiceError: the twin has no such scheduler of classes.
        """
        queue = {leaf.name: number for number, leaf in enumerate(self.leaves)}
        bare = read_described(read_scheduler, {**kind, "classes": ()})
        if not isinstance(bare, CbqScheduler | DcbqScheduler | DcbqeScheduler):
            raise ServiceError(f"{kind['kind']!r} serves no tree of classes", hint="use cbq, dcbq or dcbqe")
        classes = tuple(
            CbqClassSpec(
                name=one.name,
                parent=one.parent,
                share=one.share,
                priority=_PRIORITIES[one.priority],
                borrow=one.borrow,
                queue=queue.get(one.name),
            )
            for one in self.classes
        )
        return replace(bare, classes=classes)

    def fluid(self, offered: Mapping[str, float], link: float) -> dict[str, float]:
        """Long-run throughput of every leaf, excess by share whatever the priority; in the unit of ``link``.

        A class that may not borrow gets its share of the link at most.
        """
        root = FluidClass("", children=self._children(None, offered, link))
        found = throughput(root, link)
        return {leaf.name: found[leaf.name] for leaf in self.leaves}

    def _children(self, parent: str | None, offered: Mapping[str, float], link: float) -> tuple[FluidClass, ...]:
        leaves = {leaf.name for leaf in self.leaves}
        return tuple(
            FluidClass(
                one.name,
                offered=offered.get(one.name, 0.0) if one.name in leaves else 0.0,
                weight=one.share,
                ceiling=math.inf if one.borrow else one.share * link,
                children=self._children(one.name, offered, link),
            )
            for one in self.classes
            if one.parent == parent
        )


def tree(layers: Sequence[Mapping[str, Any]], each: Mapping[str, Any], where: str) -> ClassTree:
    """A tree of classes described in ``layers``, the later ones over the earlier; ``each`` holds for all classes.

    Raises:
        ServiceError: a class has no share, an unknown key, priority or parent, or classes exceed their parent.
    """
    told: dict[str, dict[str, Any]] = {}
    for layer in layers:
        for name, fields in layer.items():
            told.setdefault(name, dict(each)).update(fields)
    classes = tuple(_class(name, fields, where) for name, fields in told.items())
    known: dict[str | None, float] = {None: 1.0}
    for one in classes:
        if one.parent not in known:
            raise ServiceError(
                f"{where}: class {one.name} has the parent {one.parent!r}, which does not stand before it",
                hint="list parents first",
            )
        known[one.name] = one.share
    for parent, share in known.items():
        children = math.fsum(one.share for one in classes if one.parent == parent)
        if children > share + 1e-9:
            raise ServiceError(
                f"{where}: the classes of {parent or 'the root'} have {children:g} together, it has {share:g}",
                hint="give them no more than it has",
            )
    found = ClassTree(classes)
    parents = {one.name for one in classes} - {leaf.name for leaf in found.leaves}
    # What holds for each class holds for those that can send.
    return ClassTree(
        tuple(TreeClass(**{**vars(one), "traffic": None}) if one.name in parents else one for one in classes)
    )


def _class(name: str, fields: Mapping[str, Any], where: str) -> TreeClass:
    unknown = sorted(set(fields) - _KEYS)
    if unknown or "share" not in fields:
        what = f"unknown {', '.join(unknown)}" if unknown else "no share"
        raise ServiceError(f"{where}: class {name} has {what}", hint=f"give {', '.join(sorted(_KEYS))}")
    if fields.get("priority", "low") not in _PRIORITIES:
        raise ServiceError(
            f"{where}: class {name} has the priority {fields['priority']!r}", hint=f"use {', '.join(_PRIORITIES)}"
        )
    return TreeClass(name, **fields)
