"""Check that every device puts the packets into a class that the intent does, by proof over sets of packets."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.compiler.compile import CompiledDevice
from qosforge.errors import Place
from qosforge.finding_codes import load_codes
from qosforge.findings import DEFAULT, Finding
from qosforge.memoise import MAX_RESULTS, memoise, memoise_by_value
from qosforge.note import note
from qosforge.packet_sets.classification import every_class
from qosforge.packet_sets.exactness import Known, Misclassified, known_of, on_input, on_output, rule_tree, shared
from qosforge.plan.model import Ingress, Rule, Term
from qosforge.plan.request import ClassRequest, InterfaceRequest
from qosforge.validation.context import ValidationContext

_TURNED = "match-order-differs"
"""The one that says of a class that the device looks at it before others, whose packets it takes."""
_MERGES = frozenset({"classes-merged", "queues-exceeded", "priority-queues-exceeded"})
"""Those that say which classes the device serves as one."""


def check_classification(context: ValidationContext) -> Iterator[Finding]:
    """``classification-differs`` and ``classification-not-proven`` of every compiled device, by interface."""
    for device in context.compilation.devices:
        known = known_classification(device)
        for requested in device.request.interfaces:
            for direction, found in _differences(device, requested, known):
                place = _place(context, device, requested.name, direction, found.meant)
                entry = _class(device.request.classes, found.meant)
                yield _finding(place, found, known, rest=entry is None or entry.is_default)


def known_classification(device: CompiledDevice) -> Known:
    """What the compiler says of a device's classification."""
    by_ports = [
        (f.traffic_class, tuple((f.requested or "").split(", ")))
        for f in device.findings
        if f.code == "recognised-by-ports" and f.traffic_class is not None
    ]
    groups = [tuple(group.split(" + ")) for f in device.findings if f.code in _MERGES for group in _groups(f)]
    lost = {f.traffic_class for f in device.findings if f.traffic_class is not None and _loses(f)}
    lost |= {name for f in device.findings if f.code == _TURNED for name in _earlier(f)}
    request = device.request
    return known_of(
        _names(tuple(device.classes.items())),
        request.applications,
        tuple(dict.fromkeys(by_ports)),
        tuple(dict.fromkeys(groups)),
        frozenset(lost),
        request.cos_to_dscp,
    )


@memoise_by_value(MAX_RESULTS)
def _names(classes: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """The classes of rules by their names, the very same object for devices alike."""
    return dict(classes)


def _loses(finding: Finding) -> bool:
    """Whether a finding of the compiler says already that the device misses packets of its class."""
    explanation = load_codes().codes.get(finding.code)
    return explanation is not None and explanation.loses


def _groups(finding: Finding) -> list[str]:
    return str(finding.facts.get("groups", "")).split("; ")


def _earlier(finding: Finding) -> list[str]:
    return (finding.requested or "").removeprefix("after ").split(", ")


def _differences(
    device: CompiledDevice, requested: InterfaceRequest, known: Known
) -> Iterator[tuple[str, Misclassified]]:
    planned, classes = device.plan.interface(requested.name), device.request.classes
    if planned is None:
        return
    if requested.recognise and (rules := _input_rules(planned.ingress)):
        for found in on_input(classes, rules, known, requested.tagged):
            yield "input", found
    if requested.schedule and planned.egress.dividing.rules:
        for found in on_output(
            classes, rule_tree(planned.egress.dividing), known, requested.tagged, requested.by_mark
        ):
            yield "output", found


@memoise
def _input_rules(ingress: Ingress) -> tuple[Rule, ...]:
    """The rules of an input; its policers, where each is the last that a packet meets, likewise."""
    policers = ingress.policers
    if any(p.police.conform.proceed or p.police.exceed.proceed for p in policers):
        return ()
    listed = tuple(Rule(name=p.access_list or "", any_of=p.any_of or (Term(),), ipv4=True) for p in policers)
    return shared((*listed, *ingress.rules))


def _place(context: ValidationContext, device: CompiledDevice, interface: str, direction: str, name: str) -> Place:
    entry = _class(device.request.classes, name)
    where = context.compilation.intent.class_place(name, entry.line if entry else None)
    return Place(
        device=device.name,
        interface=interface,
        direction=direction,
        traffic_class=name,
        file=where.file if where else None,
        line=where.line if where else None,
    )


def _finding(place: Place, found: Misclassified, known: Known, *, rest: bool) -> Finding:
    """What is told; ``rest`` where the packets are meant for the class of everything else."""
    if found.witness is None:
        return note("classification-not-proven", place)
    witness = str(found.witness)
    if found.served_as is None:
        return note("classification-differs", place, variant="none", witness=witness)
    merged = any(found.served_as in group for group in known.groups)
    variant = "wider" if rest else "merged" if merged else DEFAULT
    return note("classification-differs", place, variant=variant, other=found.served_as, witness=witness)


def _class(classes: tuple[ClassRequest, ...], name: str) -> ClassRequest | None:
    return next((c for entry in classes for c in every_class(entry) if c.name == name), None)
