"""Output policies: priority levels, shares of what they leave, early detection, shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qosforge.plan.model import Discipline, Egress, Queue, Rule, Scheduler, Share, ShareUnit
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import asked_share, guaranteed_share, requested_shares
from qosforge.plan.shares import expected_shares
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.catalyst_9000.drops import buffer_percent, detectors, tail_thresholds
from qosforge.platforms.catalyst_9000.marks import ClassMarks
from qosforge.platforms.catalyst_9000.names import OUTPUT_POLICY, PORT_SUFFIX
from qosforge.platforms.catalyst_9000.queues import QueueGroup
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.mqc.blocks import policy_names
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.share_fidelity import ClassShare
from qosforge.queue_assignment.shares import divide_queues, whole_percents
from qosforge.units import format_rate


@dataclass
class QueuingPolicies:
    """The output policies of one device: one content has one name on the whole device.

    ``names`` are those of the class-maps that tell the classes on output.
    """

    request: DeviceRequest
    groups: tuple[QueueGroup, ...]
    marks: Mapping[str, ClassMarks]
    names: Mapping[str, str]
    notes: Notes
    _held: dict[str, Egress] = field(default_factory=dict)

    def lower(self, interface_request: InterfaceRequest) -> Egress:
        """The policy of a port; where the port is shaped it stands inside one that does that."""
        policy = interface_request.output_policy or OUTPUT_POLICY
        dividing = self._named(self._dividing(interface_request), policy, interface_request.name)
        if interface_request.shape is None or interface_request.shape >= interface_request.rate:
            return dividing
        asked = interface_request.shaping
        shaped = self._shape(
            interface_request.shape,
            asked.percent if asked else None,
            None,
            interface_request,
            prefer=interface_request.shape_prefer,
        )
        if not shaped:
            return dividing
        whole = Queue.model_validate({"number": 0, "name": CLASS_DEFAULT, "child": dividing, **shaped})
        self.notes.note(
            "port-shaped",
            interface=interface_request.name,
            direction="output",
            requested=format_rate(interface_request.shape),
            applied=_words(shaped),
        )
        port = Egress(default_queue=0, scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(whole,)))
        return self._named(port, f"{dividing.policy}{PORT_SUFFIX}", interface_request.name)

    def _dividing(self, interface_request: InterfaceRequest) -> Egress:
        shares = self._shares(interface_request)
        reds = detectors(self.groups, self.marks, self.notes)
        thresholds = tail_thresholds(self.groups, self.marks, reds, self.notes)
        queues = []
        rules = []
        for number, group in enumerate(self.groups):
            name = CLASS_DEFAULT if group.is_default else self.names[group.classes[0].name]
            share = shares[number]
            queues.append(
                Queue(
                    number=number,
                    name=name,
                    priority=group.level is not None,
                    level=group.level,
                    capped=group.level is not None and share is not None,
                    share=share,
                    red=reds.get(number),
                    thresholds=thresholds[number],
                    buffer_percent=buffer_percent(group),
                ).model_copy(update=self._bound(group, interface_request))
            )
            if not group.is_default:
                told_by = tuple(term for c in group.classes for term in self.marks[c.name].told_by)
                rules.append(Rule(name=name, any_of=told_by, queue=number))
        return Egress(
            rules=tuple(rules),
            default_queue=len(queues) - 1,
            scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(queues)),
        )

    def _shares(self, interface_request: InterfaceRequest) -> list[Share | None]:
        """Caps of the priority levels, and shares in one unit: weights where the intent speaks of weights alone."""
        weighted = [g for g in self.groups if g.level is None]
        given = [asked_share(c.treatment) for g in weighted for c in g.classes]
        stated = {share.unit for share in given if share is not None}
        if stated == {ShareUnit.WEIGHT}:
            # A class that states no weight has one of 1.
            amounts = [sum(_weight(c) for c in g.classes) for g in weighted]
            unit = ShareUnit.WEIGHT
        elif stated == {ShareUnit.REMAINING_PERCENT} and None not in given:
            # They stand as they are stated: what they leave of the whole is shared in proportion.
            amounts = [sum(share.value for c in g.classes if (share := asked_share(c.treatment))) for g in weighted]
            unit = ShareUnit.REMAINING_PERCENT
        else:
            requested = requested_shares(self.request.classes, interface_request.usable)
            amounts = whole_percents([sum(requested[c.name] for c in g.classes) for g in weighted])
            unit = ShareUnit.REMAINING_PERCENT
        caps: list[Share | None] = [_cap(g, interface_request.usable) for g in self.groups if g.level is not None]
        return caps + [Share(unit=unit, value=amount) for amount in amounts]

    def _bound(self, group: QueueGroup, interface_request: InterfaceRequest) -> dict[str, int]:
        """What the queue of a class that is shaped, or must not borrow, sends at most: a rate or a percentage."""
        (entry, *others) = group.classes
        shape = entry.treatment.shape
        if others or group.level is not None or not (shape or entry.treatment.bounded):
            return {}
        bounds = [shape.rate_of(interface_request.usable)] if shape else []
        if entry.treatment.bounded:
            part = guaranteed_share(self.request.classes, entry, interface_request.usable)
            bounds.append(int(part * interface_request.usable))
            self.notes.note(
                "bounded-by-shape",
                traffic_class=entry.name,
                interface=interface_request.name,
                direction="output",
                requested=f"at most {part * 100:.4g} % of {format_rate(interface_request.usable)}",
                applied=f"shape average {min(bounds)}",
            )
        percent = shape.percent if shape and len(bounds) == 1 and _whole(interface_request) else None
        prefer = shape is not None and shape.prefer
        return self._shape(min(bounds), percent, entry, interface_request, prefer=prefer)

    def _shape(
        self,
        rate: int,
        percent: int | None,
        entry: ClassRequest | None,
        interface_request: InterfaceRequest,
        *,
        prefer: bool,
    ) -> dict[str, int]:
        limits = CAPABILITIES.shape
        low, high = limits.minimum, limits.maximum
        if low <= rate <= high:
            return {"shape_rate": rate} if percent is None else {"shape_percent": percent}
        self.notes.note(
            "shape-unsupported",
            traffic_class=entry.name if entry else None,
            interface=interface_request.name,
            direction="output",
            requested=format_rate(rate),
            applied="not shaped",
            variant="out-of-range",
            rate=rate,
            low=low,
            high=high,
            preferred=prefer,
        )
        return {}

    def _named(self, egress: Egress, name: str, interface: str) -> Egress:
        names = policy_names(name, interface, CAPABILITIES.name_length.value)
        chosen = next(name for name in names if self._held.setdefault(name, egress) == egress)
        return egress.model_copy(update={"policy": chosen})


def _words(shaped: Mapping[str, int]) -> str:
    """A shaper as it is entered."""
    ((name, value),) = shaped.items()
    return f"shape average {'percent ' if name == 'shape_percent' else ''}{value}"


def _whole(interface_request: InterfaceRequest) -> bool:
    """Whether percentages of what a port has for its classes are those of its rate, or of what it is shaped to."""
    return interface_request.usable == (interface_request.shape or interface_request.rate)


def _weight(entry: ClassRequest) -> int:
    stated = entry.treatment.bandwidth
    return stated.weight if stated and stated.weight is not None else 1


def _cap(group: QueueGroup, rate: int) -> Share | None:
    """What the priority classes of a level are policed to together; None where one of them has no cap."""
    shares = [asked_share(c.treatment) for c in group.classes]
    given = [share for share in shares if share is not None]
    if len(given) < len(shares):
        return None
    if all(share.unit is ShareUnit.PERCENT for share in given):
        return Share(unit=ShareUnit.PERCENT, value=sum(share.value for share in given))
    kbps = [s.value if s.unit is ShareUnit.KBPS else s.value * rate // 100_000 for s in given]
    return Share(unit=ShareUnit.KBPS, value=max(sum(kbps), CAPABILITIES.priority_kbps.minimum))


def class_shares(
    request: DeviceRequest, interface_request: InterfaceRequest, groups: tuple[QueueGroup, ...], egress: Egress
) -> tuple[ClassShare, ...]:
    """The share of every class of a port, asked for and given, when all have traffic.

    Classes in one queue divide it as they asked; one whose priority has no cap gets what is offered to it.
    """
    scheduler = egress.dividing.scheduler
    assert scheduler is not None
    requested = requested_shares(request.classes, interface_request.usable)
    held = expected_shares(scheduler, interface_request.usable, priority_load=0.0)
    numbers = {c.name: number for number, group in enumerate(groups) for c in group.classes}
    applied = divide_queues(requested, numbers, held)
    return tuple(
        ClassShare(c, interface_request.name, 1.0, 1.0)
        if queue.priority and not queue.capped
        else ClassShare(c, interface_request.name, requested[c.name], applied[c.name])
        for group, queue in zip(groups, scheduler.queues, strict=True)
        for c in group.classes
    )
