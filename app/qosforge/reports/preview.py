"""The documents of a policy check: what a policy compiles to on a network, and its findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from qosforge.compiler.candidate import Candidate
from qosforge.compiler.compile import CompiledDevice
from qosforge.compiler.waves import joined_ends, plan_waves
from qosforge.deploy.commit_confirm import Lengths, revert_seconds
from qosforge.findings import DEFAULT, ComparedByText, Fact, Fidelity, Finding, Severity, has_errors
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import every_class
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import DeviceWords
from qosforge.preview.policy_check import PolicyCheck
from qosforge.reports.plan_document import plan_document


class PreviewDocument(BaseModel):
    """Base class of the documents."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, from_attributes=True)


class FindingRowDocument(PreviewDocument):
    """One of the places or things that a finding is about: ``text`` is such a thing, as a configuration line."""

    interfaces: tuple[str, ...] = ()
    direction: str | None = None
    traffic_class: str | None = Field(default=None, alias="class")
    text: str | None = None
    requested: str | None = None
    applied: str | None = None
    hint: str | None = None
    file: str | None = None
    line: int | None = None


class FindingDocument(ComparedByText, PreviewDocument):
    """A finding with all its fields; ``null`` for those that do not apply."""

    code: str
    severity: Severity
    message: str
    device: str | None
    interface: str | None
    direction: str | None
    traffic_class: str | None = Field(alias="class")
    file: str | None
    line: int | None
    requested: str | None
    applied: str | None
    hint: str | None
    rows: tuple[FindingRowDocument, ...] = Field(default=(), description="What it is about, where that is several.")
    variant: str = Field(default=DEFAULT, description="Which message of the code it has.")
    facts: dict[str, Fact] = Field(default_factory=dict, description="What fills the placeholders of its texts.")


class BlockDocument(PreviewDocument):
    """One configuration object, with the class that it came from and the line of that class in the intent."""

    kind: str
    name: str
    text: str
    traffic_class: str | None
    line: int | None


class FidelityDocument(PreviewDocument):
    """The fidelity of a class on an interface; shares in per cent of the link rate."""

    traffic_class: str
    interface: str
    fidelity: Fidelity
    requested_percent: float | None
    applied_percent: float | None


class GapDocument(PreviewDocument):
    """A place that is without a policy from line ``first`` (from 0) of the delta on, for ``lines`` lines."""

    place: str
    first: int
    lines: int


class CandidateDocument(PreviewDocument):
    """Lines that bring a device to the plan, those that roll them back, and where it has no policy in between.

    ``difference`` is what its configuration loses (``-``) and gains (``+``), below the headings where that stands.
    """

    device: str
    delta: tuple[str, ...]
    inverse: tuple[str, ...]
    gaps: tuple[GapDocument, ...]
    difference: tuple[str, ...] = ()


class DevicePreview(PreviewDocument):
    """One device: its plan, configuration, configuration blocks, and fidelity.

    ``complete``: no finding stands against the configuration; what it lacks otherwise, the findings tell.
    ``classes`` maps what the device calls a class or queue to the intent's class. ``candidate`` is there where the
    device was read.
    """

    name: str
    platform: str
    plan: dict[str, Any]
    complete: bool
    configuration: str
    blocks: tuple[BlockDocument, ...]
    classes: dict[str, str]
    fidelity: tuple[FidelityDocument, ...]
    candidate: CandidateDocument | None = None


class WaveDocument(PreviewDocument):
    """One wave of a push. Devices of one of ``steps`` change at the same moment. Those with a timer go back by
    themselves ``revert_minutes`` after their first line unless confirmed; measuring makes that longer.
    """

    name: str
    steps: tuple[tuple[str, ...], ...]
    revert_minutes: int


class CompilePreview(PreviewDocument):
    """What an intent becomes on a network. ``version`` is the hash of its canonical form; it is ``good`` where no
    finding stands against a push.
    """

    intent: str
    version: str
    network: str
    good: bool
    findings: tuple[FindingDocument, ...]
    devices: tuple[DevicePreview, ...]
    rollout: tuple[WaveDocument, ...] = Field(
        default=(), description="The waves in which the devices change that were read and have to."
    )


class ClassDocument(PreviewDocument):
    """A class of the intent. ``number`` counts from 1 in the order of the policy, those below a class after it;
    ``line`` is where it stands in the intent, where it stands there.
    """

    name: str
    number: int
    line: int | None


class PolicyPreview(CompilePreview):
    """As `CompilePreview`, with the classes in their order; the findings of our own checks are among the others."""

    classes: tuple[ClassDocument, ...]


class ValidatePreview(PreviewDocument):
    """All that stands against pushing an intent to a network, and for it to be known."""

    intent: str
    version: str
    network: str
    good: bool
    findings: tuple[FindingDocument, ...]

    def with_findings(self, findings: tuple[Finding, ...], *, strict: bool) -> ValidatePreview:
        """This with more findings; ``strict``: warnings stand against a push, too."""
        more = finding_documents(findings)
        good = self.good and not has_errors(findings, strict=strict)
        return self.model_copy(update={"good": good, "findings": (*self.findings, *more)})


# All at once, by the fields that each has: hundreds made one by one, or by their attributes, would take far longer.
_FINDINGS = TypeAdapter(tuple[FindingDocument, ...])
_BLOCKS = TypeAdapter(tuple[BlockDocument, ...])
_FIDELITIES = TypeAdapter(tuple[FidelityDocument, ...])


def compile_document(checked: PolicyCheck) -> CompilePreview:
    """The document of a compilation."""
    candidates = {candidate.device: candidate for candidate in checked.candidates}
    return CompilePreview(
        **_head(checked),
        devices=_devices(checked, candidates),
        rollout=_rollout(checked, [name for name, candidate in candidates.items() if not candidate.empty]),
    )


def _devices(checked: PolicyCheck, candidates: Mapping[str, Candidate]) -> tuple[DevicePreview, ...]:
    return tuple(_device(checked, device, candidates.get(device.name)) for device in checked.devices)


def _rollout(checked: PolicyCheck, changed: Collection[str]) -> tuple[WaveDocument, ...]:
    network = checked.compilation.network
    after = {device.name: device.plan for device in checked.devices if device.name in changed}
    before = {}
    for name in after:
        device = network.device(name)
        before[name] = parse_running(device.platform, checked.running[name], name, device.image)
    rule = network.changes.rollout
    waves = plan_waves(network, rule, changed, joined_ends(network, before, after))
    lengths = Lengths(waiting=60.0 * rule.pause if len(waves) > 1 else 0.0)
    return tuple(
        WaveDocument(name=wave.name, steps=wave.steps, revert_minutes=seconds // 60)
        for wave, seconds in zip(waves, revert_seconds(network, waves, lengths), strict=True)
    )


def policy_document(checked: PolicyCheck) -> PolicyPreview:
    """The document of a compilation for the policy editor."""
    return PolicyPreview(**dict(compile_document(checked)), classes=_classes(checked.compilation.intent))


def part_document(checked: PolicyCheck) -> PolicyPreview:
    """The document of some devices of a network, with what is found of these; what is found of the policy and
    between devices is in `rest_document`, and nothing of waves.
    """
    alone = replace(checked, findings=tuple(f for f in checked.findings if f.device is not None))
    devices = _devices(alone, {candidate.device: candidate for candidate in alone.candidates})
    return PolicyPreview(**_head(alone), devices=devices, classes=_classes(alone.compilation.intent))


def rest_document(checked: PolicyCheck) -> PolicyPreview:
    """The document of a whole network without its devices: what was found."""
    return PolicyPreview(**_head(checked), devices=(), classes=_classes(checked.compilation.intent))


def _classes(loaded: LoadedIntent) -> tuple[ClassDocument, ...]:
    return tuple(
        ClassDocument(name=each.name, number=number, line=_line(loaded, each.name))
        for number, each in enumerate(every_class(loaded.intent.classes), 1)
    )


def _line(loaded: LoadedIntent, name: str) -> int | None:
    place = loaded.class_place(name)
    return place.line if place is not None and place.file == loaded.document.file else None


def validate_document(checked: PolicyCheck) -> ValidatePreview:
    """The findings alone."""
    return ValidatePreview(**_head(checked))


def _candidate(candidate: Candidate, words: DeviceWords) -> CandidateDocument:
    return CandidateDocument(
        device=candidate.device,
        delta=tuple(map(words.shown, candidate.delta)),
        inverse=tuple(map(words.shown, candidate.inverse)),
        gaps=tuple(GapDocument(place=g.place, first=g.first, lines=g.lines) for g in candidate.gaps),
        difference=tuple(map(words.shown, candidate.difference)),
    )


def finding_documents(findings: Iterable[Finding]) -> tuple[FindingDocument, ...]:
    """The documents of findings."""
    return _FINDINGS.validate_python(
        tuple(vars(each) | {"rows": tuple(map(vars, each.rows))} if each.rows else vars(each) for each in findings)
    )


def _head(checked: PolicyCheck) -> dict[str, Any]:
    loaded = checked.compilation.intent
    return {
        "intent": loaded.intent.intent,
        "version": loaded.version,
        "network": checked.compilation.network.name,
        "good": checked.good,
        "findings": finding_documents(checked.findings),
    }


def _device(checked: PolicyCheck, device: CompiledDevice, candidate: Candidate | None) -> DevicePreview:
    return DevicePreview(
        name=device.name,
        platform=device.request.platform,
        plan=plan_document(device.plan),
        complete=device.name in checked.complete,
        configuration=device.text,
        blocks=_BLOCKS.validate_python(tuple(map(vars, device.printed_blocks))),
        classes=dict(device.classes),
        fidelity=_FIDELITIES.validate_python(tuple(map(vars, device.fidelity))),
        candidate=None if candidate is None else _candidate(candidate, checked.words(device)),
    )
