"""Output policies: the queues of a policy, policies inside its classes, and the policy that shapes a port."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.inventory.models import Framing
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.core import core, depends_on_rate
from qosforge.plan.model import Discipline, Egress, InterfacePlan, Queue, Rule, Scheduler, Share
from qosforge.plan.percentages import unresolved
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import guaranteed_share, requested_shares
from qosforge.plan.shares import guaranteed_parts
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.circuits import main_interface
from qosforge.platforms.cisco_ios.guarantees import PolicyLevel, guarantees, served_first, strict_levels
from qosforge.platforms.cisco_ios.limits import (
    check_level,
    fair_queue,
    may_detect,
    priority_burst,
    queue_limit,
    shape_rate,
)
from qosforge.platforms.cisco_ios.marking import output_marks
from qosforge.platforms.cisco_ios.policing import policer
from qosforge.platforms.cisco_ios.shaping import shaper, with_burst
from qosforge.platforms.cisco_ios.trains import divides_guarantees, hqf
from qosforge.platforms.cisco_ios.wred import lower_red
from qosforge.platforms.mqc.blocks import policy_names
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.mqc.policies import weighted
from qosforge.units import format_rate

OUTPUT_POLICY = "QOSFORGE-OUT"
PORT_SUFFIX, SHAPED_SUFFIX = "-PORT", "-SHAPED"
"""End the names of the policy that shapes a port and of the one inside it. Neither is ever the name of a policy
that divides an interface itself: on the way from one to the other no policy is in a place that refuses it."""


@dataclass
class OutputPolicies:
    """The output policies of one device.

    ``rules_at`` gives the classes as an output matches them, by their names in the intent; children are among them.
    """

    request: DeviceRequest
    rules_at: Callable[[InterfaceRequest], Mapping[str, Rule]]
    findings: list[Finding]
    _held: dict[str, Egress] = field(default_factory=dict)

    def lower(self, interface_request: InterfaceRequest, current: InterfacePlan | None) -> tuple[Egress, Egress]:
        """The policy at an interface's output, and the one that divides its rate among the classes.

        They are the same unless the port is shaped. ``current`` is what the device holds there now, where it is
        known.
        """
        request = self.request
        shaped = port_rate(interface_request)
        level = PolicyLevel(
            request,
            interface_request,
            request.classes,
            interface_request.usable,
            reservable_percent(request, current),
        )
        told: list[Finding] = []
        rate = shape_rate(level, shaped, None, told) if shaped is not None else None
        if rate is not None:
            level = replace(level, reservable=CAPABILITIES.max_reserved_nested_percent.value)
        served = self._dividing(level, 1 if rate is None else 2)
        self.findings.extend(told)
        name = interface_request.output_policy or OUTPUT_POLICY
        if rate is None:
            served = self._named(served, name, interface_request.name)
            return served, served
        inside = self._named(served, f"{name}{SHAPED_SUFFIX}", interface_request.name)
        port = Place(device=request.device, interface=interface_request.name, direction="output")
        asked = interface_request.shaping
        whole = Queue(
            number=0,
            name=CLASS_DEFAULT,
            limit_packets=CAPABILITIES.class_queue_limit.value,
            child=inside,
            **shaper(request, asked, interface_request.usable, rate, place=port, findings=self.findings),
        )
        whole = with_burst(request, whole, rate)
        burst = f" {whole.shape_burst_bits} 0" if whole.shape_burst_bits else ""
        self.findings.append(
            note(
                "port-shaped",
                Place(device=request.device, interface=interface_request.name, direction="output"),
                requested=format_rate(interface_request.usable),
                applied=f"shape average {rate}{burst}",
                variant="line-fills-first" if _fills_first(request, interface_request) else DEFAULT,
            )
        )
        parent = Egress(default_queue=0, scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(whole,)))
        return self._named(parent, f"{name}{PORT_SUFFIX}", interface_request.name), inside

    def _dividing(self, level: PolicyLevel, depth: int) -> Egress:
        """The policy that divides a rate, the same for all rates where it holds none and nothing is to be told."""
        if not depends_on_rate(level.classes):
            alike = core(self.request)
            here = (level.interface.by_mark, level.interface.tagged)
            port = next(i for i in alike.interfaces if i.schedule and (i.by_mark, i.tagged) == here)
            made = _policy_at_any_rate(alike, port, self.rules_at(port), level.reservable, depth)
            if made is not None:
                return made
        return self._policy(level, depth)

    def _policy(self, level: PolicyLevel, depth: int) -> Egress:
        """One policy, not named yet; ``depth`` counts from the interface."""
        given = guarantees(level, self.findings)
        fractions = requested_shares(level.classes, level.rate)
        strict = strict_levels(level, self.findings)
        flat = []
        for number, c in enumerate(level.classes):
            queue = self._queue(level, number, c, given[c.name], fractions[c.name])
            if c.name in strict:
                queue = queue.model_copy(update={"level": strict[c.name]})
            flat.append(queue)
        sure = self._guaranteed(level, flat)
        queues = [
            self._divided(level, c, queue, fractions[c.name], sure=sure.get(c.name), depth=depth)
            for c, queue in zip(level.classes, flat, strict=True)
        ]
        egress = Egress(
            rules=tuple(self._rules(level)),
            default_queue=len(queues) - 1,
            scheduler=weighted(queues, divides_guarantees=divides_guarantees(self.request.image)),
        )
        self.findings.extend(check_level(level, tuple(queues)))
        return egress

    def _guaranteed(self, level: PolicyLevel, queues: Sequence[Queue]) -> dict[str, int]:
        """What classes with classes below have for sure (b/s), by their names, where the device divides that."""
        if not hqf(self.request) or len(queues) == 1 or not any(c.children for c in level.classes):
            return {}
        scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(queues))
        parts = guaranteed_parts(scheduler, level.reference)
        return {
            c.name: int(round(part * level.reference, 3))
            for c, part in zip(level.classes, parts, strict=True)
            if c.children
        }

    def _rules(self, level: PolicyLevel) -> list[Rule]:
        """What chooses the queues; what no rule takes has one only where something is done to it."""
        made = []
        for number, c in enumerate(level.classes):
            police = policer(level.request, c, "output")
            marks = output_marks(level.request, level.interface, c, self.findings)
            if c.is_default and police is None and not marks:
                continue
            made.append(self._rule(level, c).model_copy(update={"queue": number, "police": police, **marks}))
        return made

    def _rule(self, level: PolicyLevel, class_request: ClassRequest) -> Rule:
        return self.rules_at(level.interface)[class_request.name]

    def _queue(
        self, level: PolicyLevel, number: int, class_request: ClassRequest, share: Share | None, part: float
    ) -> Queue:
        treatment = class_request.treatment
        first = served_first(level.request, class_request)
        limits = queue_limit(level.request, class_request, level.rate * part, self.findings)
        detects = treatment.wred is not None and may_detect(level.request, class_request)
        shaped = self._shaped(level, class_request)
        queue = Queue(
            number=number,
            name=self._rule(level, class_request).name,
            priority=first,
            capped=first and share is not None,
            share=share,
            burst=priority_burst(level.request, class_request, self.findings),
            red=lower_red(level.request, class_request, level.rate * part, self.findings) if detects else None,
            **shaped,
            **fair_queue(level.request, class_request, share, self.findings),
        )
        return queue.model_copy(update=limits)

    def _shaped(self, level: PolicyLevel, class_request: ClassRequest) -> dict[str, Any]:
        """The fields of a queue that say what it is shaped to."""
        requested = class_request.treatment.shape
        if requested is None:
            return {}
        asked = requested.rate_of(level.rate)
        rate = shape_rate(level, asked, class_request, self.findings)
        if rate is None:
            return {}
        place = class_place(level.request, class_request, direction="output")
        return shaper(level.request, requested, asked, rate, place=place, findings=self.findings)

    def _divided(
        self,
        level: PolicyLevel,
        class_request: ClassRequest,
        queue: Queue,
        part: float,
        *,
        sure: int | None,
        depth: int,
    ) -> Queue:
        """The queue of a class, bounded where it is asked for or a policy inside it needs that.

        ``sure`` is what that policy may reserve parts of, where the device has that say.
        """
        if not class_request.treatment.bounded and not class_request.children:
            return queue
        if queue.priority:
            self.findings.append(self._bounded_priority(level, class_request))
            return queue
        if class_request.treatment.bounded:
            part = guaranteed_share(level.classes, class_request, level.rate)
        # Down to whole bits per second, but not for the last digit of a fraction.
        own = int(round(part * level.rate, 3))
        rate = shape_rate(level, min(queue.shape_rate or level.rate, own), class_request, self.findings)
        if rate is None:
            return queue
        requested = f"{part * 100:.4g} % of {format_rate(level.rate)}"
        shaped = f"shape average {rate}"
        if class_request.treatment.bounded:
            self.findings.append(
                note(
                    "bounded-by-shape",
                    level.place(class_request),
                    requested=f"at most {requested}",
                    applied=shaped,
                )
            )
        else:
            self.findings.append(
                note(
                    "parent-bounded",
                    level.place(class_request),
                    requested=f"{requested} and what others leave",
                    applied=f"at most {format_rate(rate)} ({shaped})",
                )
            )
        bounded = queue
        if rate != queue.shape_rate:
            place, shape = class_place(level.request, class_request), class_request.treatment.shape
            bounded = queue.model_copy(
                update=shaper(level.request, shape, level.rate, rate, place=place, findings=self.findings)
            )
        if not class_request.children:
            return bounded
        depths = CAPABILITIES.policy_depth
        deepest = depths.hqf if hqf(level.request) else depths.value
        if depth >= deepest:
            self.findings.append(
                note(
                    "policy-too-deep",
                    level.place(class_request),
                    requested=f"{depth + 1} levels",
                    applied="the classes below are left out",
                    image=level.request.image,
                    deepest=deepest,
                )
            )
            return bounded
        nested = CAPABILITIES.max_reserved_nested_percent.value
        below = replace(level, classes=class_request.children, rate=rate, reservable=nested, guaranteed=sure)
        inside = bounded.model_copy(update={"child": self._policy(below, depth + 1)})
        return with_burst(level.request, inside, rate)

    def _bounded_priority(self, level: PolicyLevel, class_request: ClassRequest) -> Finding:
        if class_request.children:
            return note(
                "children-unsupported",
                level.place(class_request),
                requested="classes below it",
                applied="left out",
            )
        return note(
            "bounded-under-congestion",
            level.place(class_request),
            requested="at most its share at any time",
            applied="at most its share under congestion",
        )

    # -- names -------------------------------------------------------------------------------------------
    def _named(self, egress: Egress, name: str, interface: str) -> Egress:
        """The policy with its name and those inside it; a name stands for one content on the whole device."""
        egress = unresolved(egress)
        for chosen in policy_names(name, interface, CAPABILITIES.name_length.value):
            named = self._below_named(egress, chosen, interface)
            held = self._held.setdefault(chosen, named)
            if held is named or held == named:
                return _called(held, chosen)
        raise AssertionError("there is always another name")

    def _below_named(self, egress: Egress, name: str, interface: str) -> Egress:
        assert egress.scheduler is not None
        if all(queue.child is None for queue in egress.scheduler.queues):
            return egress
        queues = tuple(
            queue
            if queue.child is None or queue.child.policy
            else queue.model_copy(update={"child": self._named(queue.child, f"{name}-{queue.name}", interface)})
            for queue in egress.scheduler.queues
        )
        return egress.model_copy(update={"scheduler": egress.scheduler.model_copy(update={"queues": queues})})


@memoise
def _called(egress: Egress, policy: str) -> Egress:
    return egress.model_copy(update={"policy": policy})


@memoise
def _policy_at_any_rate(
    request: DeviceRequest, port: InterfaceRequest, rules: Mapping[str, Rule], reservable: int, depth: int
) -> Egress | None:
    """The policy at a port of a core request whose classes do not depend on the rate (see `qosforge.plan.core`).

    None where there is something to tell of it: the image holds the shares in kb/s, or an interface is to be named.
    """
    findings: list[Finding] = []
    level = PolicyLevel(request, port, request.classes, port.usable, reservable)
    made = OutputPolicies(request, lambda _: rules, findings)._policy(level, depth)
    return None if findings else made


def port_rate(interface_request: InterfaceRequest) -> int | None:
    """The rate in bits per second that the whole interface is shaped to; None where no policy does it.

    A subinterface has no queue of its own that could back up: without a shape no policy schedules there. A
    circuit (ATM, Frame Relay) is shaped by its contract instead.
    """
    if interface_request.circuit is not None or not interface_request.schedule:
        return None
    return (
        interface_request.shape
        if interface_request.shape is not None
        else interface_request.usable
        if "." in interface_request.name
        else None
    )


def _fills_first(request: DeviceRequest, interface: InterfaceRequest) -> bool:
    """Whether the line of a subinterface is full before its shapers hold anything back: before HQF packets wait in
    the one queue of the main interface then.
    """
    if hqf(request) or "." not in interface.name or interface.framing is not Framing.ETHERNET:
        return False
    main = main_interface(interface.name)
    beside = [
        i.usable for i in request.interfaces if i.schedule and "." in i.name and main_interface(i.name) == main
    ]
    packet, uncounted = CAPABILITIES.packet_bytes.value, CAPABILITIES.uncounted_bytes.value
    return sum(beside) * (packet + uncounted) > interface.rate * packet


def reservable_percent(request: DeviceRequest, current: InterfacePlan | None) -> int:
    """What classes may reserve of an interface's bandwidth: what the device says or 75 %, and all with HQF.

    `most_reservable` has what of it HQF keeps for the default class.
    """
    if hqf(request):
        return 100
    stated = current.reservable_percent if current else None
    return CAPABILITIES.max_reserved_percent.value if stated is None else stated
