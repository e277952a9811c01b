"""The classes of a policy as the form shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from qosforge.intent.applications import Catalogue
from qosforge.intent.match import Match, MatchTerm
from qosforge.intent.models import RESERVED_CLASS
from qosforge.intent.yaml_source import Path_
from qosforge.web.views.class_colours import class_colour
from qosforge.web.views.form_edits import way_of
from qosforge.web.views.form_fields import FormField, FormPart, FormParts, at, format_value, format_values

_RARE_MARKS = tuple(
    f"mark.{name}" for name in ("precedence", "drop_precedence", "qos_group", "mpls_imposition", "mpls_topmost")
)
_PLAIN = ("name", "description", "mark.dscp", "mark.cos", *_RARE_MARKS)
_POLICE = ("rate", "percent", "burst", "burst_time", "exceed", "direction", "prefer")
_SERVICE = (
    *("treatment.mark.dscp", "treatment.mark.cos", "treatment.mark.mpls_topmost", "treatment.mark.prefer"),
    *("treatment.fair_queue", "treatment.fair_queue.prefer"),
    *("treatment.wred", "treatment.wred.prefer", "treatment.queue_limit.prefer", "treatment.priority.burst"),
    *("treatment.bounded", "treatment.level", "treatment.shape.rate", "treatment.shape.percent"),
    *("treatment.shape.burst", "treatment.shape.prefer"),
    *(f"treatment.police.{key}" for key in _POLICE),
)
_COMMON = frozenset({"treatment.wred", "treatment.wred.prefer"})
_OBJECTIVE = ("objective.preset", "objective.loss")
QUANTILES = ("mean", "p50", "p95", "p99", "p99.9")
"""Statistics of delay that every class offers; what else a class bounds stands beside them."""

_SHOWN_ONLY = (
    ("mark", "keep"),
    ("treatment", "fair_queue", "flows"),
    ("treatment", "mark", "precedence"),
    ("treatment", "wred", "profiles"),
    ("treatment", "wred", "weight_exponent"),
    ("treatment", "wred", "ecn"),
    ("treatment", "queue_limit", "thresholds"),
    ("treatment", "buffers"),
    ("treatment", "police", "peak_rate"),
    ("treatment", "police", "peak_percent"),
    ("treatment", "police", "excess_burst"),
    ("treatment", "police", "excess_burst_time"),
    ("treatment", "police", "conform"),
    ("treatment", "shape", "burst_time"),
    ("treatment", "shape", "excess_burst"),
    ("treatment", "shape", "excess_burst_time"),
    ("treatment", "police", "violate"),
)
"""What the form shows and does not edit."""


@dataclass
class MatchTermView(FormPart):
    """One alternative of a match: its fields by name, and those that may be added."""

    fields: dict[str, FormField] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """The fields that may be added."""
        return tuple(name for name in MatchTerm.model_fields if name not in self.fields)


@dataclass
class ClassView(FormPart):
    """A class as the form shows it.

    ``file`` is the library that it stands in; such a class is read-only. ``others`` are names and values of what is
    shown and not edited; ``index`` is its place among the classes of its own text.
    """

    name: str = ""
    number: int = 0
    file: str = ""
    index: int = 0
    last: int = 0
    level: int = 0
    service: str = ""
    queue: str = ""
    fields: dict[str, FormField] = field(default_factory=dict)
    amount: FormField | None = None
    queue_amount: FormField | None = None
    delays: dict[str, FormField] = field(default_factory=dict)
    variation: FormField | None = None
    terms: dict[str, list[MatchTermView]] = field(default_factory=dict)
    parts: dict[str, FormPart] = field(default_factory=dict)
    children: list[ClassView] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)

    @property
    def editable(self) -> bool:
        """Whether it is in the policy's own text, and so editable."""
        return not self.file

    @property
    def colour(self) -> int:
        """The number of its colour."""
        return class_colour(self.number)

    @property
    def is_rest(self) -> bool:
        """Whether it is the default class."""
        return self.name == RESERVED_CLASS

    @property
    def given(self) -> frozenset[str]:
        """The names of the fields that have a value."""
        return frozenset(name for name, each in self.fields.items() if each.raw is not None)

    def sets(self, part: str) -> bool:
        """Whether it sets more of a part than what becomes of it where a device cannot do it."""
        names = {*self.given, *(name for name, _ in self.others)} - {f"{part}.prefer"}
        return any(f"{name}.".startswith(f"{part}.") for name in names)

    @property
    def serves_rarely(self) -> bool:
        """Whether it sets rarely used fields of its service."""
        return bool(self.queue) or any(name in self.given for name in _SERVICE if name not in _COMMON)

    @property
    def bounds(self) -> list[tuple[str, str]]:
        """The bounds of its objective with their values, the most telling first; ``variation`` is the jitter."""
        named = {**self.delays, "variation": self.variation, "loss": self.fields["objective.loss"]}
        order = sorted(named, key=lambda name: name not in ("p95", "loss"))
        fields = [(name, named[name]) for name in order]
        return [(name, one.stands_for) for name, one in fields if one is not None and one.raw is not None]

    @property
    def marks_rarely(self) -> bool:
        """Whether it sets rarely used marks."""
        return any(name in self.given for name in _RARE_MARKS)


Origin = Callable[[Path_], tuple[str, Path_ | None]]
"""Where a part of the merged policy stands: the file, and its path in the own text where that is it."""


class ClassViews:
    """Makes the views of a policy's classes."""

    def __init__(self, parts: FormParts, data: Any, merged: Any, origin: Origin) -> None:
        self._parts = parts
        self._data = data
        self._merged = merged
        self._origin = origin
        self._numbers = 0

    def views(self) -> list[ClassView]:
        """The classes of the top level, each with its children."""
        entries = at(self._merged, ("classes",))
        made = []
        own = at(self._data, ("classes",))
        count = len(own) if isinstance(own, list) else 0
        for position in range(len(entries) if isinstance(entries, list) else 0):
            file, path = self._origin(("classes", position))
            made.append(self._view(("classes", position), path, "" if path is not None else file, count))
        return made

    def _view(self, place: Path_, path: Path_ | None, file: str, count: int, depth: int = 0) -> ClassView:
        """The view of a class; ``place`` is its path in the merged policy, ``path`` that in the own text."""
        self._numbers += 1
        resolved = at(self._merged, place)
        raw = at(self._data, path) if path is not None else resolved
        view = ClassView(
            path if path is not None else ("included", *place),
            name=format_value(at(raw, ("name",))),
            number=self._numbers,
            file=file,
            index=int(path[-1]) if path is not None else 0,
            last=count - 1,
            level=depth,
        )
        self._parts.register(view)
        self._fill(view, raw, resolved)
        below = at(raw, ("treatment", "children"))
        many = len(below) if isinstance(below, list) else 0
        for child in range(many):
            inside: Path_ = ("treatment", "children", child)
            inner = (*path, *inside) if path is not None else None
            view.children.append(self._view((*place, *inside), inner, file, many, depth + 1))
        return view

    def _fill(self, view: ClassView, raw: Any, resolved: Any) -> None:
        def entry(*keys: str | int) -> FormField:
            return self._parts.field((*view.path, *keys), at(raw, keys), at(resolved, keys))

        for part in ("match", "mark", "treatment", "treatment.queue_limit", "treatment.police", "objective"):
            view.parts[part] = self._parts.part((*view.path, *part.split(".")))
        for name in (*_PLAIN, *_SERVICE, *_OBJECTIVE):
            view.fields[name] = entry(*name.split("."))
        treatment = at(raw, ("treatment",))
        view.service = way_of("service", treatment)
        if view.service and view.service != "priority":
            view.amount = entry("treatment", *view.service.split("."))
        view.queue = way_of("queue", at(treatment, ("queue_limit",)))
        if view.queue:
            view.queue_amount = entry("treatment", "queue_limit", view.queue)
        given = at(raw, ("objective", "delay"))
        statistics = dict.fromkeys((*QUANTILES, *(given if isinstance(given, dict) else ())))
        view.delays = {name: entry("objective", "delay", name) for name in statistics}
        variation = at(raw, ("objective", "variation"))
        by_quantile = isinstance(variation, dict) and len(variation) == 1
        view.variation = entry("objective", "variation", *(map(str, variation) if by_quantile else ()))
        for group in Match.model_fields:
            view.terms[group] = list(self._terms(view, group, raw, resolved))
        view.others = [
            (".".join(keys), format_value(found)) for keys in _SHOWN_ONLY if (found := at(raw, keys)) is not None
        ]

    def _terms(self, view: ClassView, group: str, raw: Any, resolved: Any) -> Iterator[MatchTermView]:
        entries = at(raw, ("match", group))
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, dict):
                continue
            term = MatchTermView((*view.path, "match", group, index))
            self._parts.register(term)
            for name in MatchTerm.model_fields:
                if name in entry:
                    value = at(resolved, ("match", group, index, name))
                    term.fields[name] = self._parts.field((*term.path, name), entry[name], value)
            yield term


def recognition(applications: FormField, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Applications of a field with what recognises them, as far as they are known."""
    for name in format_values(applications.resolved):
        if name in catalogue:
            yield name, ports_of(catalogue, name)


def ports_of(catalogue: Catalogue, name: str) -> str:
    """Protocol and ports of an application: ``UDP 16384–32767``."""
    application = catalogue[name]
    ports = ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in application.ports)
    return f"{application.protocol.upper()} {ports}"
