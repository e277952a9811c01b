"""How IOS tells the classes of an intent apart and marks them: the same for all devices that serve them alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qosforge.dscp import dscp_name
from qosforge.findings import Finding
from qosforge.inventory.models import DeviceRole
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.model import Rule, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.applications import recognise_applications
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.marking import input_marks
from qosforge.platforms.cisco_ios.policing import policer
from qosforge.platforms.cisco_ios.routed import routed_rules
from qosforge.platforms.cisco_ios.rules import lower_rules, marked_rules
from qosforge.platforms.class_trees import every_class, on_input
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.names import like_keywords, short_names


@dataclass(frozen=True)
class Classification:
    """The classes as the image recognises them, and their rules by their names in the intent.

    ``routed`` are the rules of outputs, ``marked`` those of outputs that tell classes by marks, ``marking`` those
    of inputs in their order; ``called`` gives the class of what the device calls it.
    """

    classes: tuple[ClassRequest, ...]
    rules: Mapping[str, Rule]
    routed: Mapping[str, Rule]
    marked: Mapping[str, Rule]
    marking: tuple[Rule, ...]
    called: Mapping[str, str]
    findings: tuple[Finding, ...]

    def at_output(self, interface_request: InterfaceRequest) -> Mapping[str, Rule]:
        """The rules of an output."""
        return self.marked if interface_request.by_mark else self.routed


@memoise
def classification(request: DeviceRequest, held: frozenset[str] | None) -> Classification:
    """That of a device whose request has this core (see `qosforge.plan.core`).

    ``held`` are the interfaces that the device has, where they are known.
    """
    findings: list[Finding] = []
    request = recognise_applications(request, findings)
    classes = tuple(every_class(request.classes))
    names = _names([c.name for c in classes if not c.is_default])
    names[next(c.name for c in request.classes if c.is_default)] = CLASS_DEFAULT
    rules = lower_rules(request, names, held, findings)
    routed = routed_rules(request, rules)
    marked = routed_rules(request, marked_rules(request, rules, names))
    if request.role is DeviceRole.EDGE:
        findings.extend(_hidden(request, rules))
    else:
        routed = marked  # a device in the middle matches the mark, but where it is the boundary itself
    findings.extend(_passed_on(request))
    return Classification(
        classes=request.classes,
        rules=rules,
        routed=routed,
        marked=marked,
        marking=_marking(request, rules),
        called={r[c.name].name: c.name for r in (rules, routed, marked) for c in classes},
        findings=tuple(findings),
    )


def _names(names: list[str]) -> dict[str, str]:
    """What the device calls the classes; a name that it could take for a keyword (or its beginning) is changed."""
    taken = like_keywords(names, (CLASS_DEFAULT, "match-any", "match-all"))
    return short_names(names, CAPABILITIES.name_length.value, taken)


def _hidden(request: DeviceRequest, rules: Mapping[str, Rule]) -> Iterator[Finding]:
    """``output-misses-mark``: an output looks for marks that this device's own inputs have written over."""
    inputs = any(i.recognise for i in request.interfaces)
    outputs = any(i.schedule and not i.by_mark for i in request.interfaces)
    for c in every_class(request.classes) if inputs and outputs else ():
        mark, terms = c.recognised_by, rules[c.name].any_of
        if mark is None or c.is_default or not mark.dscp or not terms:
            continue
        by_marks = all((t.dscp or t.precedence) and t == Term(dscp=t.dscp, precedence=t.precedence) for t in terms)
        seen = {d for t in terms for d in range(64) if d in t.dscp or d >> 3 in t.precedence}
        if by_marks and mark.dscp[0] not in seen:
            yield note(
                "output-misses-mark",
                class_place(request, c),
                dscp=dscp_name(mark.dscp[0]),
            )


def _passed_on(request: DeviceRequest) -> Iterator[Finding]:
    """``default-mark-kept``: packets that inputs leave their marks pass for those of a class by what they bring."""
    if not any(i.recognise for i in request.interfaces):
        return
    every = tuple(every_class(request.classes))
    whole = [t for c in every if not c.none_of for t in c.terms if {*t.set_fields} in ({"dscp"}, {"precedence"})]
    taken = {d for t in whole for d in range(1, 64) if d in t.dscp or d >> 3 in t.precedence}
    passing = ", ".join(c.name for c in every if not taken.issuperset(_code_points(c)))
    for c in request.classes if passing else ():
        place = class_place(request, c, direction="input")
        if c.mark is None and c.is_default:
            yield note("default-mark-kept", place, classes=passing)
        elif c.mark is None and not c.children and any(not (t.dscp or t.precedence) for t in c.terms):
            yield note("default-mark-kept", place, variant="unmarked", classes=passing)


def _code_points(class_request: ClassRequest) -> set[int]:
    """The DSCPs that a class's mark stands for, but for 0, which everybody may bring."""
    mark = class_request.mark
    if mark is None or class_request.is_default:
        return set()
    first = mark.code_point or 0
    return set(range(first, first + (1 if mark.precedence is None else 8))) - {0}


def _marking(request: DeviceRequest, rules: Mapping[str, Rule]) -> tuple[Rule, ...]:
    marking = [
        rules[c.name].model_copy(update={**input_marks(request, c.mark), "police": policer(request, c, "input")})
        for c in on_input(request)
    ]
    # Packets have no QoS group yet.
    marking = [r for r in marking if _acts(r) or not r.any_of or not all(t.qos_group for t in r.any_of)]
    # A class that nothing is done to still takes its packets from those behind it.
    while marking and not _acts(marking[-1]):
        marking.pop()
    return tuple(marking)


def _acts(rule: Rule) -> bool:
    return rule.writes or rule.police is not None
