"""A candidate intent: classes and the interface sides that they are for, and compiling them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from qosforge.compiler.compile import CompiledDevice, Compiler
from qosforge.compiler.resolve import resolve
from qosforge.errors import QosforgeError, validator_message
from qosforge.findings import Finding, Severity
from qosforge.importing.hosts import Host, host, network
from qosforge.importing.observed import ObservedSide
from qosforge.importing.running_configuration import RunningConfiguration
from qosforge.importing.to_intent import IntentData, NoteUnmapped, code_point, rate
from qosforge.intent.applications import extend_catalogue, load_catalogue
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import RESERVED_CLASS, Intent, TrafficClass
from qosforge.intent.yaml_source import YamlDocument
from qosforge.units import WRITTEN

_MOST_REFUSALS = 50
"""Refusals of one class after which it is given up."""


@dataclass(frozen=True)
class CandidateIntent:
    """Classes in order, the sides they are for, and the rules for slow links; ``images`` by device.

    ``guessed`` are classes whose match no line of a configuration states, ``cos_to_dscp`` the DSCPs of CoS 0 to 7
    where no class says them, ``tolerance`` how far shares may be from what classes ask for, where not the usual.
    """

    classes: tuple[IntentData, ...]
    sides: tuple[ObservedSide, ...]
    efficiency: tuple[IntentData, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()
    cos_to_dscp: tuple[int, ...] | None = None
    tolerance: str | None = None

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of its devices."""
        return tuple(dict.fromkeys(side.device for side in self.sides))

    def intent(self, name: str) -> IntentData:
        """The intent as YAML holds it."""
        classes = [*map(_complete_class, _matching_classes(self.classes))] or [{"name": RESERVED_CLASS}]
        words: IntentData = {"version": 1, "intent": name, "classes": classes}
        if self.tolerance is not None:
            words["tolerance"] = self.tolerance
        if self.cos_to_dscp is not None:
            words["cos_to_dscp"] = [code_point(dscp) for dscp in self.cos_to_dscp]
        if self.efficiency:
            words["link_efficiency"] = list(self.efficiency)
        words["apply"] = [scope_entry(side) for side in self.sides]
        return words

    def with_class(self, position: int, words: IntentData) -> CandidateIntent:
        """The candidate with another class in the place of one."""
        return replace(self, classes=(*self.classes[:position], words, *self.classes[position + 1 :]))


def _matching_classes(classes: Iterable[IntentData]) -> Iterator[IntentData]:
    """The classes that match something."""
    return (words for words in classes if "match" in words or words["name"] == RESERVED_CLASS)


def every_class(classes: Iterable[IntentData]) -> Iterator[IntentData]:
    """Classes with those below them."""
    for words in classes:
        yield words
        yield from every_class(words.get("treatment", {}).get("children", ()))


def _complete_class(words: IntentData) -> IntentData:
    """A class whose children match something too."""
    children = words.get("treatment", {}).get("children")
    if children is None:
        return words
    below = [*map(_complete_class, _matching_classes(children))]
    return {**words, "treatment": {**words["treatment"], "children": below}}


def scope_entry(side: ObservedSide) -> IntentData:
    """A side as an entry of ``apply``."""
    words: IntentData = {"devices": side.device, "ports": list(side.ports), "direction": side.direction}
    if side.policy is not None:
        words["policy"] = side.policy
    if side.trust is not None:
        words["trust"] = side.trust
    if side.requires_phone:
        words["requires_phone"] = True
    if side.by_mark:
        words["recognise_by"] = "mark"
    if side.tunnels:
        words["tunnels"] = list(side.tunnels)
    if side.shaping:
        words["shape"] = side.shaping
    elif side.shape is not None:
        words["shape"] = {"rate": rate(side.shape)}
    return words


def hosts_of(
    sides: Iterable[ObservedSide], images: Mapping[str, str], configurations: Mapping[str, RunningConfiguration]
) -> tuple[Host, ...]:
    """The devices of some sides with the interfaces of these."""
    ports: dict[str, set[str]] = {}
    boundary: dict[str, set[str]] = {}
    for side in sides:
        ports.setdefault(side.device, set()).update(side.ports)
        if side.boundary:
            boundary.setdefault(side.device, set()).update(side.ports)
    return tuple(
        host(configurations[name], images.get(name, configurations[name].images[0]), names, boundary.get(name, ()))
        for name, names in ports.items()
    )


def load_candidate(words: IntentData, name: str) -> LoadedIntent:
    """An intent that was made here rather than read.

    Raises:
        ValidationError: it is none.
    """
    intent = Intent.model_validate(words, context=WRITTEN)
    catalogue = extend_catalogue(load_catalogue(), intent.applications)
    return LoadedIntent(intent, YamlDocument(f"{name}.yaml", words), "", catalogue, {}, (), ())


@dataclass(frozen=True)
class CompiledCandidate:
    """What a candidate compiles to, with the findings on its intent as a whole."""

    devices: tuple[CompiledDevice, ...]
    general: tuple[Finding, ...]

    @property
    def errors(self) -> Iterator[tuple[str, Finding]]:
        """The errors with the device that each is of; those of the whole intent have none."""
        every = (("", self.general), *((device.name, device.findings) for device in self.devices))
        return ((name, f) for name, findings in every for f in findings if f.severity is Severity.ERROR)


def compile_candidate(
    candidate: CandidateIntent,
    configurations: Mapping[str, RunningConfiguration],
    running: Mapping[str, str] | None = None,
) -> CompiledCandidate | None:
    """What a candidate compiles to; None where it is no intent, or a platform refuses the request as a whole."""
    try:
        made = load_candidate(candidate.intent("draft"), "draft")
        hosts = hosts_of(candidate.sides, candidate.images, configurations)
        requests, general = resolve(made, network("draft", hosts))
        compiler = Compiler(made)
        devices = [compiler.device(request, (running or {}).get(request.device)) for request in requests]
        return CompiledCandidate(tuple(devices), tuple(general))
    except (ValidationError, QosforgeError):
        return None


def explain_refusal(candidate: CandidateIntent, configurations: Mapping[str, RunningConfiguration]) -> str:
    """Why a candidate compiles to nothing."""
    try:
        made = load_candidate(candidate.intent("draft"), "draft")
        requests, _ = resolve(made, network("draft", hosts_of(candidate.sides, candidate.images, configurations)))
        for request in requests:
            Compiler(made).device(request)
    except ValidationError as error:
        return "; ".join(dict.fromkeys(validator_message(e["msg"]) for e in error.errors()))
    except QosforgeError as error:
        return error.message
    return "nothing of it is in any scope"


def drop_invalid(words: IntentData, note: NoteUnmapped) -> IntentData:
    """A class without what the language rejects of it, each reported; it may still lack a match."""
    if words["name"] == RESERVED_CLASS:
        stand_in: IntentData = {}
    else:
        stand_in = {"match": {"any": [{"cos": 0}]}}
    for _ in range(_MOST_REFUSALS):
        try:
            TrafficClass.model_validate({**stand_in, **_complete_class(words)}, context=WRITTEN)
        except ValidationError as error:
            path, why = _refused_at(words, error.errors()[0])
            note(f"{'.'.join(map(str, path)) or 'this class'}: {why}")
            if not path or path == ("name",):
                return {"name": words["name"]}
            words = _drop(words, _whole_match(words, path))
        else:
            break
    return words


def _refused_at(words: IntentData, details: ErrorDetails) -> tuple[tuple[str | int, ...], str]:
    """The innermost value of a class that a refusal is about."""
    path: list[str | int] = []
    inner: Any = words
    for part in details["loc"]:
        if (isinstance(inner, dict) and part in inner) or (isinstance(inner, list) and isinstance(part, int)):
            path.append(part)
            inner = inner[part]  # type: ignore[index]
    return tuple(path), validator_message(details["msg"])


def _whole_match(words: IntentData, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """What is left out where the language rejects a value: of a match all of it, which without one of its
    conditions would take packets that the device does not. Alternatives that are left match as before.
    """
    if path[0] != "match" or (path[-1] in {"source", "destination"} and _is_every_address(words, path)):
        return path
    return path[:3] if path[1:2] == ("any",) and len(path) > 2 and len(words["match"]["any"]) > 1 else ("match",)


def _is_every_address(words: IntentData, path: tuple[str | int, ...]) -> bool:
    """Whether a refused condition takes every packet: without it the match is no other one."""
    inner: Any = words
    for part in path:
        inner = inner[part]
    return str(inner).endswith("/0")


def _drop(words: IntentData, path: tuple[str | int, ...]) -> IntentData:
    changed = copy.deepcopy(words)
    inner: Any = changed
    for part in path[:-1]:
        inner = inner[part]
    del inner[path[-1]]
    return changed


def drop_path(words: IntentData, path: Sequence[str]) -> IntentData:
    """A mapping without the value at a path; mappings that this empties go too."""
    key, rest = path[0], path[1:]
    inner: Any = words[key]
    changed = {k: v for k, v in words.items() if k != key}
    if rest:
        below = drop_path(inner, rest)
        if below:
            return {k: (below if k == key else v) for k, v in words.items()}
    return changed
