"""Import running configurations as intents, with the inventory they compile on and findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.errors import InputError, Place
from qosforge.findings import DEFAULT, Finding
from qosforge.importing.candidate_intent import (
    CandidateIntent,
    compile_candidate,
    every_class,
    explain_refusal,
    hosts_of,
    load_candidate,
)
from qosforge.importing.catch_all import catch_alls
from qosforge.importing.check import compile_errors, without_new_policies
from qosforge.importing.difference_lines import DifferenceLines
from qosforge.importing.document import as_yaml
from qosforge.importing.hosts import Host, host_entry, network
from qosforge.importing.left_out import LeftOut, find_left_out
from qosforge.importing.merging import differing_classes
from qosforge.importing.observed import ObservedSide, has_output_config
from qosforge.importing.plan_diff import PlanDifference, changed_system, find_differences
from qosforge.importing.running_configuration import RunningConfiguration
from qosforge.importing.search import NO_INTENT, ScoredCandidate, Search
from qosforge.importing.to_intent import intent_name
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import RESERVED_CLASS
from qosforge.inventory.models import Network
from qosforge.note import note
from qosforge.plan.model import System
from qosforge.platforms.base import platform
from qosforge.platforms.masked_findings import mask_findings

_NOT_ASKED = frozenset({"express_forwarding", "ipv6", "encrypting", "ietf_circuits"})
"""Settings that classes need or not, without being any treatment of them."""


@dataclass(frozen=True)
class ImportedIntent:
    """One intent: its name, its text, and the intent that it is."""

    name: str
    text: str
    loaded: LoadedIntent


@dataclass(frozen=True)
class ImportResult:
    """What configurations amount to: intents, the network they are for, the text of each of its files, findings."""

    intents: tuple[ImportedIntent, ...]
    network: Network
    files: Mapping[str, str]
    findings: tuple[Finding, ...]


def import_configurations(configurations: Sequence[RunningConfiguration], name: str) -> ImportResult:
    """The intents and the inventory of some devices; pure.

    Compiling each intent on the network gives what the devices hold on the sides it is for, but for what findings
    tell.

    Raises:
        InputError: two configurations are of one device, or no device does anything for quality of service.
    """
    by_device: dict[str, RunningConfiguration] = {}
    for entry in configurations:
        if entry.device in by_device:
            message = f"there is another configuration of {entry.device}, beside {by_device[entry.device].file}"
            raise InputError(message, Place(file=entry.file), "give the newest alone")
        by_device[entry.device] = entry
    notes: dict[Finding, None] = {}

    def remark(device: str, interface: str, direction: str, traffic_class: str | None, what: str) -> None:
        place = Place(
            device=device,
            interface=interface,
            direction=direction,
            traffic_class=traffic_class,
            file=by_device[device].file,
        )
        notes[note("import-not-expressed", place, variant="no-word", what=what)] = None

    left_out = {device: find_left_out(entry) for device, entry in by_device.items()}
    search = Search(by_device, left_out, remark)
    found = search.find_candidates()
    unread = tuple(
        finding
        for entry in configurations
        for finding in (
            *_left_out_findings(entry, left_out[entry.device]),
            *_find_contracts(entry),
            *_find_port_cos(entry),
            *_find_unattached(entry, left_out[entry.device]),
            *_find_unread(entry),
        )
    )
    if not (found or unread or any(changed_system(e.plan, e.images[0]) for e in configurations)):
        raise InputError(
            "no interface has anything for quality of service",
            Place(file=configurations[0].file if configurations else None),
            "give the running configuration of a device that serves classes",
        )
    refused = tuple(_rejection_finding(entry, by_device) for entry in found if entry.cost >= NO_INTENT)
    checked = [without_new_policies(entry, search, by_device) for entry in found if entry.cost < NO_INTENT]
    found = tuple(entry for entry, _ in checked if entry is not None)
    names = [name if position == 1 else f"{name}-{position}" for position in range(1, len(found) + 1)]
    sides = [side for entry in found for side in entry.candidate.sides]
    images = {device: image for entry in found for device, image in entry.candidate.images.items()}
    hosts = hosts_of(sides, images, by_device)
    findings = (
        *(f for h in hosts for f in h.findings),
        *notes,
        *refused,
        *(f for _, added in checked for f in added),
        *(
            f
            for entry, called in zip(found, names, strict=True)
            for f in compile_errors(entry.candidate, called, by_device)
        ),
        *(f for entry in found for f in _find_gaps(entry, by_device)),
        *_explain_split(found, names),
        *_device_wide_findings(found, by_device),
        *unread,
        *(() if found else (note("import-nothing", Place(file=configurations[0].file)),)),
    )
    return ImportResult(
        tuple(_write_intent(entry.candidate, called, found) for entry, called in zip(found, names, strict=True)),
        network(name, hosts),
        _files(hosts),
        mask_findings(
            _join_findings(findings),
            {entry.device: entry.text for entry in configurations},
            {entry.device: entry.platform for entry in configurations},
        ),
    )


def _join_findings(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings that differ in their interfaces alone as one, which names them all."""
    ports: dict[Finding, list[str]] = {}
    for finding in findings:
        places = ports.setdefault(finding.model_copy(update={"interface": None}), [])
        if finding.interface is not None and finding.interface not in places:
            places.append(finding.interface)
    for finding, places in ports.items():
        yield finding.model_copy(update={"interface": ", ".join(places) or None})


def _write_intent(candidate: CandidateIntent, name: str, candidates: Sequence[ScoredCandidate]) -> ImportedIntent:
    words = candidate.intent(name)
    heading = f"Read from the configurations of {', '.join(candidate.devices)}."
    if len(candidates) > 1:
        heading += "\nOne of several intents: their classes differ, and each is for sides of its own."
    return ImportedIntent(name, as_yaml(words, heading), load_candidate(words, name))


def _files(hosts: Sequence[Host]) -> dict[str, str]:
    return {
        "hosts.yaml": as_yaml({h.device.name: host_entry(h.device) for h in hosts}),
        "links.yaml": "links: []\nstations: []\n",
    }


def _find_gaps(scored: ScoredCandidate, configurations: Mapping[str, RunningConfiguration]) -> Iterator[Finding]:
    """What a candidate does not give; information where a push would leave it as it is."""
    candidate = scored.candidate
    if candidate.tolerance is not None:
        place = Place(device=candidate.devices[0], direction="output")
        yield note("import-assumed", place, applied=f"tolerance {candidate.tolerance}", variant="tolerance")
    for name in candidate.guessed:
        yield note(
            "import-guessed",
            Place(device=candidate.devices[0], traffic_class=name),
        )
    for side in candidate.sides:
        yield from _find_renamed(side, configurations[side.device])
    for words in every_class(candidate.classes):
        if "match" not in words and words["name"] != RESERVED_CLASS:
            place = Place(device=candidate.devices[0], traffic_class=words["name"])
            yield note("import-not-expressed", place, variant="no-match")
    running = {device: configurations[device].text for device in candidate.devices}
    plans = {device: entry.plan for device, entry in configurations.items()}
    # A push reads the device first: what it changes there is what counts.
    changes = scored.differences
    if (made := compile_candidate(candidate, configurations, running)) is not None:
        changes = find_differences(candidate.sides, made.devices, plans)
    places = {difference.where for difference in changes}
    kept = [difference for difference in scored.differences if difference.where not in places]
    lines = {device: DifferenceLines(configurations[device]) for device in candidate.devices}
    for difference in (*changes, *kept):
        place = Place(
            device=difference.device,
            interface=difference.interface,
            direction=difference.direction,
            file=configurations[difference.device].file,
            line=lines[difference.device].find(difference),
        )
        without_ipv6 = plans[difference.device].system.ipv6 is False
        yield _difference_finding(difference, place, kept=difference.where not in places, without_ipv6=without_ipv6)


def _find_renamed(side: ObservedSide, configuration: RunningConfiguration) -> Iterator[Finding]:
    """Policies and classes that an intent can name only otherwise: the device gets others."""
    for port in side.ports:
        entry = configuration.plan.interface(port)
        policy = (
            None if entry is None else entry.ingress.policy if side.direction == "input" else entry.egress.policy
        )
        if policy is not None and side.policy is not None and side.policy == intent_name(policy) != policy:
            place = Place(device=side.device, interface=port, direction=side.direction, file=configuration.file)
            yield note("import-not-expressed", place, variant="renamed", policy=policy, applied=side.policy)
        for name in catch_alls(entry.egress) if entry is not None and side.direction == "output" else ():
            place = Place(device=side.device, direction=side.direction, interface=port, traffic_class=name)
            yield note("import-not-expressed", place, variant="catch-all")


def _rejection_finding(scored: ScoredCandidate, configurations: Mapping[str, RunningConfiguration]) -> Finding:
    """Sides whose classes are no intent at all."""
    return note(
        "import-not-expressed",
        Place(device=scored.candidate.devices[0]),
        variant="no-intent",
        sides="; ".join(side.where for side in scored.candidate.sides),
        reason=explain_refusal(scored.candidate, configurations),
    )


_IN_WORDS = {"True": "yes", "False": "no", "None": "none"}
"""What a difference says of a part that is there or not."""


def _difference_finding(difference: PlanDifference, place: Place, *, kept: bool, without_ipv6: bool) -> Finding:
    if difference.in_versions and not kept:
        return note("import-not-expressed", place, variant="versions", without_ipv6=without_ipv6)
    running, compiled = (_IN_WORDS.get(text, text) for text in (difference.running, difference.compiled))
    return note(
        "import-not-expressed",
        place,
        requested=compiled if kept else running,
        applied=running if kept else compiled,
        variant="left-as-it-is" if kept else "loses" if difference.loses else "differs",
        part=difference.place,
        **({} if kept or difference.loses else {"renamed": difference.renamed}),
    )


def _explain_split(candidates: Sequence[ScoredCandidate], names: Sequence[str]) -> Iterator[Finding]:
    """Why there is more than one intent."""
    for position, entry in enumerate(candidates[1:], start=1):
        for other, name in zip(candidates[:position], names, strict=False):
            classes = differing_classes(entry.candidate.classes, other.candidate.classes)
            yield note(
                "import-split",
                Place(device=entry.candidate.sides[0].device),
                variant=DEFAULT if classes else "other-classes",
                sides="; ".join(side.where for side in entry.candidate.sides),
                own=names[position],
                other=name,
                **({"classes": ", ".join(classes)} if classes else {}),
            )


def _device_wide_findings(
    candidates: Sequence[ScoredCandidate], configurations: Mapping[str, RunningConfiguration]
) -> Iterator[Finding]:
    """Device-wide settings that are not as delivered and that no intent speaks of."""
    given: dict[str, set[str]] = {}
    for entry in candidates:
        made = compile_candidate(entry.candidate, configurations)
        for device in made.devices if made is not None else ():
            said = {name for name in System.model_fields if getattr(device.plan.system, name) is not None}
            given.setdefault(device.name, set()).update(said)
    for name, configuration in configurations.items():
        for setting in changed_system(configuration.plan, configuration.images[0]):
            if setting not in given.get(name, set()) | _NOT_ASKED:
                yield note(
                    "import-not-expressed",
                    Place(device=name, file=configuration.file),
                    variant="device-wide",
                    setting=setting.replace("_", " "),
                )


def _left_out_findings(configuration: RunningConfiguration, left_out: LeftOut) -> Iterator[Finding]:
    """Sides that no intent is for, with the lines on which they fail."""
    for (interface, direction), lines in left_out.sides.items():
        place = Place(
            device=configuration.device, interface=interface, direction=direction, file=configuration.file
        )
        numbers = [str(line.line) for line in lines]
        several = len(lines) > 1
        yield note(
            "import-side-left-out",
            place,
            variant="lines" if several else DEFAULT,
            **({"lines": ", ".join(numbers)} if several else {"line": numbers[0]}),
        )


def _find_contracts(configuration: RunningConfiguration) -> Iterator[Finding]:
    """Traffic contracts of circuits that serve no classes."""
    for interface in configuration.plan.interfaces:
        circuit = interface.circuit
        if circuit is None or has_output_config(interface):
            continue
        said = circuit.model_dump(include={"sustained", "peak", "burst"}, exclude_none=True)
        if said:
            contract = ", ".join(f"{name} {value}" for name, value in said.items())
            place = Place(device=configuration.device, interface=interface.name, direction="output")
            yield note("import-not-expressed", place, variant="contract", contract=contract)


def _find_unattached(configuration: RunningConfiguration, left_out: LeftOut) -> Iterator[Finding]:
    """Policies, class-maps and other objects that no interface has, and lines that plans do not show."""
    target = platform(configuration.platform)
    beside: list[tuple[str, int, str]] = [
        ("unattached", line.number, line.text)
        for line in target.commands.tree(configuration.text)
        if re.fullmatch(target.family.objects, line.text) is not None and line.number not in left_out.attached
    ]
    beside += [(why, line.line, line.text) for why, line in target.beside_plan(configuration.text)]
    for why, number, text in beside:
        place = Place(device=configuration.device, file=configuration.file, line=number)
        match why:
            case "waiting":
                yield note("import-not-expressed", place, variant="waiting", text=text)
            case "stays":
                yield note("import-not-expressed", place, variant="stays", text=text)
            case _:
                yield note("import-not-expressed", place, variant="unattached", object=text)


def _find_port_cos(configuration: RunningConfiguration) -> Iterator[Finding]:
    """The CoS that ports give to packets without one: it stays, and no intent says it."""
    for port in configuration.plan.interfaces:
        if port.ingress.port_cos:
            place = Place(
                device=configuration.device, interface=port.name, direction="input", file=configuration.file
            )
            yield note(
                "import-not-expressed",
                place,
                variant="no-word",
                what=f"CoS {port.ingress.port_cos} of packets without a tag, which the port keeps",
            )


def _find_unread(configuration: RunningConfiguration) -> Iterator[Finding]:
    """Every line that is not understood, with its number."""
    for line in configuration.plan.unknown:
        place = Place(device=configuration.device, file=configuration.file, line=line.line)
        facts = {"text": line.text} | ({"context": line.context} if line.context else {})
        variant = "line-in-context" if line.context else "line"
        if line.undefined:
            yield note("undefined-reference", place, variant=variant, undefined=line.undefined, **facts)
        else:
            yield note("import-not-expressed", place, variant=variant, **facts)
