"""Committed access rate: policing and marking on interfaces, where the image has no class-based form of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from qosforge.commands import ReadConfiguration, ReadLine
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.models import Police, PoliceAction, Remark
from qosforge.inventory.models import DeviceRole
from qosforge.note import Reason, note
from qosforge.plan.model import DROP, TRANSMIT, Action, InterfacePolicer, Plan, Policer, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, since
from qosforge.platforms.cisco_ios.matching import access_list_terms
from qosforge.platforms.class_trees import every_class, inside_parents, on_input
from qosforge.platforms.mqc.access_lists import AccessLists
from qosforge.platforms.mqc.policers import read_action
from qosforge.platforms.recognition import ports_only

Side = Literal["input", "output"]


class CarLowering:
    """Policers of one device's interfaces; what cannot be had is added to ``findings``.

    ``classes`` tells whose the access list of a number is: numbers are given in the order of need, of those that
    nobody else uses on the device. A list that the device has keeps its number, and what is new gets one that is
    not in use there: the lines that look at a list would do to other packets what they do, until they are replaced.
    """

    def __init__(self, request: DeviceRequest, running: Plan | None, findings: list[Finding]) -> None:
        self.classes: dict[str, str] = {}
        self._request = request
        self._findings = findings
        self._whole = dict(inside_parents(request.classes))
        self._behind_edge = request.role is not DeviceRole.EDGE
        limits = CAPABILITIES.car.access_lists
        taken = running.foreign_lists if running else ()
        own = [n for n in range(limits.first, limits.last + 1) if n not in taken]
        in_use = {n: terms for n, terms in _lists_in_use(running).items() if n in own}
        self._held = {terms: n for n, terms in in_use.items()}
        self._free = (*(n for n in own if n not in in_use), *(n for n in own if n in in_use))
        self._numbers: dict[tuple[str, tuple[Term, ...]], str] = {}
        self._listed: dict[str, tuple[Term, ...] | None] = {}

    def policers(self, interface: InterfaceRequest, side: Side) -> tuple[InterfacePolicer, ...]:
        """The policers of one side of an interface, in the order of the classes.

        A class that nothing is done to still takes its packets from those behind it.
        """
        if not (interface.recognise if side == "input" else interface.schedule):
            return ()
        classes = self._request.classes if side == "output" else on_input(self._request)
        wanted = [(c, self._policer(interface, c, side)) for c in classes]
        if side == "output":
            self._refuse_children()
        while wanted and wanted[-1][1].conform == TRANSMIT == wanted[-1][1].exceed:
            wanted.pop()
        made: list[InterfacePolicer] = []
        for c, police in wanted:
            if c.is_default:
                made.append(InterfacePolicer(police=police))
            elif (terms := self._terms(c, side == "output" and (interface.by_mark or self._behind_edge))) and (
                number := self._number(c, terms)
            ):
                made.append(InterfacePolicer(any_of=terms, access_list=number, police=police))
        return tuple(made)

    def _refuse_children(self) -> None:
        for c in self._request.classes:
            for child in every_class(c.children):
                if child.treatment.police and child.treatment.police.direction == "output":
                    self._refuse(child, "car-first-level")

    def _terms(self, class_request: ClassRequest, by_mark: bool) -> tuple[Term, ...] | None:
        if class_request.recognised_by is not None and by_mark:
            marks = class_request.recognised_by
            return (*(Term(dscp=(d,)) for d in marks.dscp), *(Term(precedence=(p,)) for p in marks.precedence))
        if class_request.name not in self._listed:
            whole = self._whole[class_request.name]
            found = whole if isinstance(whole, Reason) else access_list_terms(self._request, whole)
            if isinstance(found, Reason):
                self._findings.append(found.note(class_place(self._request, class_request)))
            else:
                self._findings.extend(ports_only(self._request, class_request))
            self._listed[class_request.name] = None if isinstance(found, Reason) else found
        return self._listed[class_request.name]

    def _number(self, class_request: ClassRequest, terms: tuple[Term, ...]) -> str | None:
        if (class_request.name, terms) not in self._numbers:
            given = set(self._numbers.values())
            held = self._held.get(terms)
            number = next((n for n in (held, *self._free) if n is not None and str(n) not in given), None)
            if number is None:
                limits = CAPABILITIES.car.access_lists
                self._add(
                    note(
                        "access-lists-exhausted",
                        self._place(class_request),
                        first=limits.first,
                        last=limits.last,
                    )
                )
                return None
            self._numbers[class_request.name, terms] = str(number)
            self.classes[str(number)] = class_request.name
        return self._numbers[class_request.name, terms]

    def _policer(self, interface: InterfaceRequest, class_request: ClassRequest, side: Side) -> Policer:
        marked = TRANSMIT
        if side == "input" and class_request.mark:
            marked = Action(set_dscp=class_request.mark.dscp, set_precedence=class_request.mark.precedence)
        requested = class_request.treatment.police
        if requested is not None and requested.direction == side:
            rate = self._rate(class_request, requested)
            if rate is not None:
                conform, exceed = (_action(a, marked) for a in (requested.conform, requested.exceed))
                burst = self._burst(class_request, requested.burst_bytes, rate)
                return Policer(rate=rate, burst=burst, conform=conform, exceed=exceed)
        limits = CAPABILITIES.car.rate
        # Conforming or not, the packets get the same mark: any rate does.
        rate = min(limits.maximum, max(limits.step, interface.rate // limits.step * limits.step))
        return Policer(rate=rate, burst=_least_burst(rate), conform=marked, exceed=marked)

    def _rate(self, class_request: ClassRequest, requested: Police) -> int | None:
        """The rate in the device's steps, never more than asked; None where CAR has no such policer."""
        limits = CAPABILITIES.car.rate
        low, high, step = limits.minimum, limits.maximum, limits.step
        if requested.percent is not None:
            self._refuse(class_request, "no-percentage", image=self._request.image, since=since("police_percent"))
        elif requested.buckets > 1:
            self._refuse(class_request, "car-one-bucket")
        elif any(isinstance(a, Remark) and a.cos is not None for a in (requested.conform, requested.exceed)):
            self._refuse(class_request, "car-no-cos")
        elif not low <= requested.committed_rate <= high:
            self._refuse(class_request, "rate-out-of-range", value=requested.committed_rate, low=low, high=high)
        else:
            rate: int = requested.committed_rate // step * step
            if rate != requested.committed_rate:
                self._add(
                    note(
                        "police-approximate",
                        self._place(class_request),
                        requested=f"{requested.committed_rate} b/s",
                        applied=f"{rate} b/s",
                        variant="rate",
                        step=step,
                    )
                )
            return rate
        return None

    def _burst(self, class_request: ClassRequest, requested: int, rate: int) -> int:
        limits = CAPABILITIES.car.burst
        least = _least_burst(rate)
        burst: int = min(max(requested, least), limits.maximum)
        if burst != requested:
            self._add(
                note(
                    "police-approximate",
                    self._place(class_request),
                    requested=f"{requested} bytes",
                    applied=f"{burst} bytes",
                    variant="burst",
                    least=least,
                    rate=rate,
                    most=limits.maximum,
                )
            )
        return burst

    def _refuse(self, class_request: ClassRequest, variant: str, **facts: Any) -> None:
        police = class_request.treatment.police
        prefer = police is not None and police.prefer
        place = self._place(class_request)
        self._add(note("police-unsupported", place, variant=variant, preferred=prefer, **facts))

    def _place(self, class_request: ClassRequest) -> Place:
        police = class_request.treatment.police
        return class_place(self._request, class_request, direction=police.direction if police else None)

    def _add(self, finding: Finding) -> None:
        if finding not in self._findings:
            self._findings.append(finding)


def _lists_in_use(running: Plan | None) -> dict[int, tuple[Term, ...]]:
    """What the lists take that policers of the device look at, by their numbers from the highest."""
    sides = (
        s for interface in (running.interfaces if running else ()) for s in (interface.ingress, interface.egress)
    )
    found = {int(p.access_list): p.any_of for side in sides for p in side.policers if p.access_list}
    return dict(sorted(found.items(), reverse=True))


def _least_burst(rate: int) -> int:
    limits = CAPABILITIES.car.burst
    least: int = max(limits.minimum, -(-rate // limits.rate_part))
    return least


def _action(requested: PoliceAction, marked: Action) -> Action:
    """What happens to packets; those that are sent unchanged by the policer carry the class's mark."""
    if isinstance(requested, Remark):
        return Action(set_dscp=requested.remark, set_precedence=requested.precedence)
    return DROP if requested == "drop" else marked


def check_replaced(request: DeviceRequest, plan: Plan, running: Plan | None) -> Iterator[Finding]:
    """``rate-limits-replaced``: policers that are not the plan's go, on sides of interfaces that scopes name."""
    named = {i.name: {"ingress": i.recognise or i.trust, "egress": i.schedule} for i in request.interfaces}
    for interface in plan.interfaces:
        current = running.interface(interface.name) if running else None
        for side in ("ingress", "egress") if current else ():
            if not named[interface.name][side]:
                continue
            gone = [p for p in getattr(current, side).policers if p not in getattr(interface, side).policers]
            if gone:
                yield note(
                    "rate-limits-replaced",
                    Place(
                        device=plan.device,
                        interface=interface.name,
                        direction={"ingress": "input", "egress": "output"}[side],
                    ),
                    rates=", ".join(f"{p.police.rate} b/s" for p in gone),
                )


def read_rate_limit(
    line: ReadLine, lists: AccessLists, reading: ReadConfiguration, context: str
) -> InterfacePolicer | None:
    """The policer of a ``rate-limit`` line; None where it is kept as not understood.

    A list that is not there takes no packets, and an empty one here would stand for all of them.
    """
    number = str(line["number"]) if "number" in line else None
    terms: tuple[Term, ...] = (Term(dscp=(line["dscp"],)),) if "dscp" in line else ()
    if number is not None and number in lists:
        terms = lists.terms(number)
    if number is not None and not terms:
        reading.miss(line, context, None if number in lists else f"access-group {number}")
        return None
    burst, most = line["burst"], line["most"]
    return InterfacePolicer(
        any_of=terms,
        access_list=number,
        police=Policer(
            rate=line["rate"],
            burst=burst,
            excess_burst=most if most != burst else None,
            conform=read_action(line.values, "conform") or TRANSMIT,
            exceed=read_action(line.values, "exceed") or TRANSMIT,
        ),
    )
