"""A policy as a form: its entries with their fields, the ports and links they match, totals, and problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from qosforge.compiler.scope_resolution import EfficiencyLink, ScopePort, links_of, ports_in
from qosforge.intent.applications import Catalogue, OwnApplication, extend_catalogue, load_catalogue
from qosforge.intent.library import libraries, library_parameters
from qosforge.intent.models import LinkEfficiencyRule, Scope
from qosforge.intent.parameters import Parameter
from qosforge.intent.policy_analysis import PolicyAnalysis, PolicyProblem, analyse_policy
from qosforge.intent.policy_source import PolicySource
from qosforge.intent.yaml_source import Path_
from qosforge.inventory.models import Network
from qosforge.units import WRITTEN
from qosforge.web.views.class_view import ClassView, ClassViews
from qosforge.web.views.form_edits import way_of
from qosforge.web.views.form_fields import FormField, FormPart, FormParts, at, format_value, format_values
from qosforge.web.views.share_totals import ShareTotals, blame_touched, share_totals

_RULE = (
    "when.rate_below", "when.framing", "header_compression", "fragment.by", "transmit_ring.packets",
    "transmit_ring.prefer", "prefer",
)  # fmt: skip
_SCOPE = (
    "role", "interfaces", "devices", "ports", "vlan", "direction", "trust", "requires_phone", "recognise_by",
    "policy", "shape.rate", "shape.percent", "shape.burst", "shape.prefer", "tunnels",
)  # fmt: skip
_RARE_SCOPE = ("devices", "ports", "vlan", "policy", "shape.rate", "shape.percent", "recognise_by", "tunnels")
_CHECK = ("from", "to", "classes", "beside", "seconds", "confidence")
_APPLICATION = ("name", "protocol", "ports")

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass
class EntryView(FormPart):
    """An entry of a list that is no class; ``file`` is the library that has it, empty: the policy's own text."""

    file: str = ""
    index: int = 0
    last: int = 0
    fields: dict[str, FormField] = field(default_factory=dict)
    others: list[tuple[str, str]] = field(default_factory=list)

    @property
    def editable(self) -> bool:
        """Whether it is in the policy's own text, and so editable."""
        return not self.file


@dataclass
class RuleView(EntryView):
    """A rule for slow links, with the links that it applies to."""

    fragment: str = ""
    part: FormPart | None = None
    amount: FormField | None = None
    links: tuple[EfficiencyLink, ...] = ()


@dataclass
class ScopeView(EntryView):
    """A scope with its ports in the network; ``None`` where the scope is invalid."""

    ports: tuple[ScopePort, ...] | None = None

    @property
    def selects_rarely(self) -> bool:
        """Whether it says what few scopes say."""
        return bool(self.others) or any(self.fields[name].raw is not None for name in _RARE_SCOPE)

    @property
    def devices(self) -> dict[str, list[str]]:
        """Names of the ports by device."""
        found: dict[str, list[str]] = {}
        for port in self.ports or ():
            found.setdefault(port.device, []).append(port.interface.name)
        return found


@dataclass(frozen=True)
class ParameterRow:
    """A parameter of a library (``usual`` is what that gives) or of the policy's own."""

    name: str
    field: FormField
    usual: str
    of_library: bool

    @property
    def own(self) -> bool:
        """Whether the policy says it itself."""
        return self.field.raw is not None

    @property
    def said(self) -> str:
        """Its name and what it is now, in words: "Real time 30 %"."""
        name, *unit = self.label.split(", ")
        return " ".join([name, self.field.text if self.own else self.usual, *unit])

    @property
    def label(self) -> str:
        """Its name as words: ``real_time_percent`` is "Real time, %"."""
        words = self.name.removesuffix("_percent").replace("_", " ").strip()
        return f"{words[:1].upper()}{words[1:]}{', %' if self.name.endswith('_percent') else ''}"


@dataclass(frozen=True)
class ProblemAt:
    """A problem, with the part of the form that shows it."""

    problem: PolicyProblem
    part: FormPart | None


@dataclass
class PolicyForm:
    """All that the form shows. It is ``readable`` where the text is YAML with keys and values."""

    readable: bool
    reading: PolicyAnalysis
    catalogue: Catalogue
    fields: dict[str, FormField] = field(default_factory=dict)
    parts: dict[str, FormPart] = field(default_factory=dict)
    classes: list[ClassView] = field(default_factory=list)
    rules: list[RuleView] = field(default_factory=list)
    scopes: list[ScopeView] = field(default_factory=list)
    checks: list[EntryView] = field(default_factory=list)
    applications: list[EntryView] = field(default_factory=list)
    parameters: list[ParameterRow] = field(default_factory=list)
    included: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    sums: tuple[ShareTotals, ...] = ()
    problems: list[ProblemAt] = field(default_factory=list)

    def count_problems(self, part: FormPart) -> int:
        """How many problems stand in a part of the form; those of classes that divide a class are not its own."""
        depth = len(part.path)
        within = [each.part.path[depth:] for each in self.problems if each.part and each.part.is_in(part)]
        return sum(path[:2] != ("treatment", "children") for path in within)


def policy_form(written: PolicySource, network: Network | None, touched: Path_ = ()) -> PolicyForm:
    """The form of a policy, which may be wrong.

    ``network`` is the one whose ports and links are shown, ``touched`` the path of the treatment whose share was
    entered last.
    """
    reading = analyse_policy(written)
    data = reading.data
    merged = reading.merged if isinstance(reading.merged, dict) else data
    form = PolicyForm(isinstance(data, dict), reading, _catalogue(merged))
    if form.readable:
        _FormBuilder(form, data, merged, network).fill(library_parameters(written), touched)
    else:
        form.problems = [ProblemAt(problem, None) for problem in reading.problems]
    return form


class _FormBuilder:
    """Fills one form."""

    def __init__(self, form: PolicyForm, data: Any, merged: Any, network: Network | None) -> None:
        self._form = form
        self._data = data
        self._merged = merged
        self._network = network
        self._parts = FormParts()

    def fill(self, usual: Mapping[str, Parameter], touched: Path_) -> None:
        """Fill the whole form, problems last: they are attached to its parts. ``usual``: a library's parameters."""
        form = self._form
        for name in ("description", "tolerance", "cos_to_dscp"):
            form.fields[name] = self._field((name,), (name,))
        for name in ("intent", "classes", "link_efficiency", "apply", "verify", "applications", "include"):
            form.parts[name] = self._parts.part((name,))
        form.classes = ClassViews(self._parts, self._data, self._merged, self._form.reading.origin).views()
        form.names = tuple(dict.fromkeys(_names(form.classes)))
        form.sums = tuple(share_totals(self._merged, form.classes))
        self._scopes()
        self._rules()
        for place, path, file, index, last in self._entries("verify"):
            view = EntryView(path, file=file, index=index, last=last)
            self._fields(view, place, _CHECK)
            self._others(view, place, ("objective",))
            form.checks.append(view)
        for place, path, file, index, last in self._entries("applications"):
            view = EntryView(path, file=file, index=index, last=last)
            self._fields(view, place, _APPLICATION)
            form.applications.append(view)
        self._parameters(usual)
        form.included = format_values(at(self._data, ("include",)))
        form.libraries = tuple(name for name in libraries() if name not in form.included)
        problems = blame_touched(form.reading, touched)
        form.problems = [ProblemAt(problem, part) for problem, part in self._parts.attach(problems)]

    def _field(self, path: Path_, place: Path_) -> FormField:
        resolved = at(self._merged, place)
        own = path[:1] != ("included",)
        return self._parts.field(path, at(self._data, path) if own else resolved, resolved)

    def _fields(self, view: EntryView, place: Path_, names: tuple[str, ...]) -> None:
        self._parts.register(view)
        for name in names:
            keys = name.split(".")
            view.fields[name] = self._field((*view.path, *keys), (*place, *keys))

    def _others(self, view: EntryView, place: Path_, names: tuple[str, ...]) -> None:
        found = [(name, at(self._merged, (*place, *name.split(".")))) for name in names]
        view.others = [(name, format_value(value)) for name, value in found if value is not None]

    def _entries(self, key: str) -> list[tuple[Path_, Path_, str, int, int]]:
        """Entries of a list: place in the merged policy, path in the own text, file, index and last index there."""
        entries = at(self._merged, (key,))
        own = at(self._data, (key,))
        last = len(own) - 1 if isinstance(own, list) else 0
        found: list[tuple[Path_, Path_, str, int, int]] = []
        for position in range(len(entries) if isinstance(entries, list) else 0):
            place: Path_ = (key, position)
            file, path = self._form.reading.origin(place)
            if path is None:
                found.append((place, ("included", *place), file, 0, 0))
            else:
                found.append((place, path, "", int(path[-1]), last))
        return found

    def _scopes(self) -> None:
        for place, path, file, index, last in self._entries("apply"):
            view = ScopeView(path, file=file, index=index, last=last)
            self._fields(view, place, _SCOPE)
            self._others(view, place, ("shape.burst_time", "shape.excess_burst", "shape.excess_burst_time"))
            scope = _valid(Scope, at(self._merged, place))
            if scope is not None and self._network is not None:
                view.ports = ports_in(scope, self._network)
            self._form.scopes.append(view)

    def _rules(self) -> None:
        places = self._entries("link_efficiency")
        rules = [_valid(LinkEfficiencyRule, at(self._merged, place)) for place, *_ in places]
        scopes = [_valid(Scope, at(self._merged, ("apply", n))) for n in range(len(self._form.scopes))]
        known = [scope for scope in scopes if scope is not None]
        links = links_of(rules, known, self._network) if self._network is not None else ((),) * len(rules)
        for (place, path, file, index, last), concerned in zip(places, links, strict=True):
            view = RuleView(path, file=file, index=index, last=last, links=concerned)
            self._fields(view, place, _RULE)
            view.part = self._parts.part((*path, "fragment"))
            raw = at(self._data, path) if not file else at(self._merged, place)
            view.fragment = way_of("fragment", at(raw, ("fragment",)))
            if view.fragment:
                view.amount = self._field((*path, "fragment", view.fragment), (*place, "fragment", view.fragment))
            self._form.rules.append(view)

    def _parameters(self, usual: Mapping[str, Parameter]) -> None:
        own = at(self._data, ("parameters",))
        for name in dict.fromkeys((*usual, *(own if isinstance(own, dict) else ()))):
            value = self._parts.field(("parameters", name), at(own, (name,)))
            known = usual.get(name)
            default = format_value(known.value) if known else ""
            self._form.parameters.append(ParameterRow(name, value, default, known is not None))


def _names(views: list[ClassView]) -> list[str]:
    return [name for view in views for name in (view.name, *_names(view.children)) if name]


def _valid(model: type[_Model], data: Any) -> _Model | None:
    try:
        return model.model_validate(data, context=WRITTEN)
    except ValidationError:
        return None


def _catalogue(merged: Any) -> Catalogue:
    entries = at(merged, ("applications",))
    own = [_valid(OwnApplication, entry) for entry in (entries if isinstance(entries, list) else ())]
    return extend_catalogue(load_catalogue(), (one for one in own if one is not None))
