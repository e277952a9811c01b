"""The observed QoS of interfaces: what is configured on each side, as classes of the intent language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from qosforge.importing.catch_all import with_default
from qosforge.importing.to_intent import (
    IntentData,
    NoteUnmapped,
    intent_name,
    mark_of,
    match_of,
    police_of,
    shape_of,
    treatment_of,
)
from qosforge.intent.applications import load_catalogue
from qosforge.intent.models import OWN_PREFIX, RESERVED_CLASS
from qosforge.plan.model import (
    TRANSMIT,
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    InterfacePolicer,
    Policer,
    Queue,
    Rule,
    Term,
    Trust,
)

Direction = Literal["input", "output"]
CLASS_DEFAULT = "class-default"
LISTED = "list-"
"""How classes are called that a device knows by the number of an access list alone."""
_PLAIN = (Discipline.FIFO, Discipline.FLOW_WFQ)
_TRUSTS = {Trust.DSCP: "dscp", Trust.COS: "cos", Trust.PHONE: "phone", Trust.NONE: "none"}


@dataclass(frozen=True)
class ObservedSide:
    """Ports of one device that have the same on one side.

    ``boundary`` where classes are recognised (an input), ``requires_phone`` where that is for an IP phone alone,
    ``by_mark`` where an output tells them by their marks; ``shape`` is what the whole port sends at most (bits per
    second), ``shaping`` how the language says that where a line of the device does.
    """

    device: str
    ports: tuple[str, ...]
    direction: Direction
    classes: tuple[IntentData, ...] = field(default=(), compare=False)
    policy: str | None = None
    trust: str | None = None
    boundary: bool = False
    requires_phone: bool = False
    by_mark: bool = False
    shape: int | None = None
    shaping: IntentData | None = field(default=None, hash=False)
    tunnels: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The side in words."""
        return f"{self.device} {', '.join(self.ports)} {self.direction}"


NoteUnmappedAt = Callable[[str, str, Direction, str | None, str], None]
"""Notes what has no word: device, interface, direction, class, what."""


def observe_sides(device: str, interfaces: Iterable[InterfacePlan], note: NoteUnmappedAt) -> Iterator[ObservedSide]:
    """The configured sides of a router, ports that are alike together; policies of tunnel groups are told."""
    interfaces = tuple(interfaces)
    for interface in interfaces:
        for held in interface.groups:
            note(device, interface.name, "output", None, f"policy {held.egress.policy} of NHRP group {held.group}")
    both = (make(device, interface, note) for interface in interfaces for make in (_input, _output))
    yield from join_ports(side for side in both if side is not None)


def join_ports(sides: Iterable[ObservedSide]) -> Iterator[ObservedSide]:
    """Sides that differ in their ports alone, as one."""
    merged: list[ObservedSide] = []
    for side in sides:
        for position, other in enumerate(merged):
            if replace(side, ports=()) == replace(other, ports=()) and side.classes == other.classes:
                merged[position] = replace(other, ports=(*other.ports, *side.ports))
                break
        else:
            merged.append(side)
    yield from merged


def policy_name(name: str | None) -> str | None:
    """A policy's name for a scope; none where it is one that lowering gives by itself."""
    if name is None or name.upper().startswith(OWN_PREFIX):
        return None
    return intent_name(name)


def trust_word(trust: Trust) -> str | None:
    """What an input trusts, in the language's words."""
    return _TRUSTS.get(trust)


def has_input_config(ingress: Ingress) -> bool:
    """Whether anything is done to what comes in."""
    return bool(ingress.rules or ingress.policers or ingress.trust in (Trust.DSCP, Trust.COS, Trust.PHONE))


def has_output_config(interface: InterfacePlan) -> bool:
    """Whether a router's output is anything but as it comes."""
    egress = interface.egress
    plain = egress.scheduler is None or egress.scheduler.discipline in _PLAIN
    more = (egress.policers, egress.transmit_ring, egress.shape_rate)
    # A line of a bundle is no more than that.
    bundled = interface.efficiency.model_copy(update={"multilink": False})
    return bool(egress.policy or not plain or any(more)) or bundled != type(bundled)()


def _input(device: str, interface: InterfacePlan, note: NoteUnmappedAt) -> ObservedSide | None:
    ingress = interface.ingress
    if not has_input_config(ingress):
        return None

    def about(name: str | None) -> NoteUnmapped:
        return lambda what: note(device, interface.name, "input", name, what)

    classes = [*rule_classes(ingress.rules, about), *_policed(ingress.policers, "input", about)]
    return ObservedSide(
        device,
        (interface.name,),
        "input",
        tuple(classes),
        policy_name(ingress.policy),
        None if classes else trust_word(ingress.trust),
        boundary=bool(classes),
        requires_phone=bool(classes) and ingress.trust is Trust.PHONE,
    )


About = Callable[[str | None], NoteUnmapped]


def rule_classes(rules: Iterable[Rule], about: About) -> Iterator[IntentData]:
    """Classes of an input policy: what they match, mark and police."""
    for rule in rules:
        everything = rule.any_of == (Term(),) and not rule.none_of
        name = RESERVED_CLASS if everything else class_name(rule)
        words: IntentData = {"name": name}
        if name != RESERVED_CLASS:
            match = match_of(rule, load_catalogue(), about(name))
            if match is not None:
                words["match"] = match
        if mark := mark_of(rule):
            words["mark"] = mark
        if rule.police is not None and (police := police_of(rule.police, "input", about(name))):
            words["treatment"] = {"police": police}
        yield words
        if everything:
            return  # what stands behind it takes nothing


def class_name(rule: Rule) -> str:
    """The class of a rule: everything else is called ``default``."""
    everything = rule.any_of == (Term(),) and not rule.none_of
    return RESERVED_CLASS if everything and rule.name in (CLASS_DEFAULT, RESERVED_CLASS) else intent_name(rule.name)


def _policed(policers: Iterable[InterfacePolicer], direction: Direction, about: About) -> Iterator[IntentData]:
    """Classes of an interface's own policers: the mark of what conforms is that of the class."""
    known: set[str] = set()
    for position, policer in enumerate(policers, start=1):
        name = RESERVED_CLASS if not policer.any_of else intent_name(f"{LISTED}{policer.access_list or position}")
        if name in known:
            # An access list may be that of several policers, which its packets meet one after the other.
            name = f"{name}-{position}"
        known.add(name)
        words: IntentData = {"name": name}
        rule = Rule(name=name, any_of=policer.any_of)
        if policer.any_of and (match := match_of(rule, load_catalogue(), about(name))):
            words["match"] = match
        police: Policer = policer.police
        conform = police.conform
        if direction == "input" and (conform.set_dscp is not None or conform.set_precedence is not None):
            words["mark"] = mark_of(
                Rule(name=name, set_dscp=conform.set_dscp, set_precedence=conform.set_precedence)
            )
            police = police.model_copy(update={"conform": TRANSMIT})
        if said := police_of(police, direction, about(name)):
            words["treatment"] = {"police": said}
        yield words


def _output(device: str, interface: InterfacePlan, note: NoteUnmappedAt) -> ObservedSide | None:
    if not has_output_config(interface):
        return None

    def about(name: str | None) -> NoteUnmapped:
        return lambda what: note(device, interface.name, "output", name, what)

    egress, shape, shaping = with_default(interface.egress), None, None
    queues = egress.scheduler.queues if egress.scheduler else ()
    if len(queues) == 1 and queues[0].child is not None and queues[0].share is None:
        shape, shaping, egress = queues[0].shape_rate, shape_of(queues[0]), queues[0].child
    classes = [*output_classes(egress, about)]
    if interface.egress.policers:
        classes = [*classes, *_policed(interface.egress.policers, "output", about)]
    return ObservedSide(
        device,
        (interface.name,),
        "output",
        tuple(classes),
        policy_name(egress.policy),
        shape=shape,
        shaping=shaping,
    )


def output_classes(egress: Egress, about: About) -> Iterator[IntentData]:
    """Classes of an output policy: what they match, and how their queues are served."""
    if egress.scheduler is None or egress.scheduler.discipline in _PLAIN:
        return
    rules = {rule.queue: rule for rule in egress.rules}
    for queue in egress.scheduler.queues:
        rest = queue.number == egress.default_queue
        rule = rules.get(queue.number) or Rule(name=queue.name or f"queue-{queue.number}")
        name = RESERVED_CLASS if rest else intent_name(rule.name)
        words: IntentData = {"name": name}
        if not rest and (match := match_of(rule, load_catalogue(), about(name))):
            words["match"] = match
        treatment = treatment_of(queue, about(name))
        if rule.police is not None and (police := police_of(rule.police, "output", about(name))):
            treatment["police"] = police
        if mark := mark_of(rule):
            treatment["mark"] = mark
        if queue.child is not None:
            treatment.pop("queue_limit", None)
            treatment["children"] = [*output_classes(queue.child, about)]
        if treatment:
            words["treatment"] = treatment
        yield words


def efficiency_of(interface: InterfacePlan, note: NoteUnmapped) -> IntentData:
    """Link efficiency of an interface, without the links that it is for."""
    held, words = interface.efficiency, IntentData()
    if held.header_compression:
        words["header_compression"] = "rtp"
    if held.frame_relay_fragment is not None:
        words["fragment"] = {"size": f"{held.frame_relay_fragment} B", "by": "frf12"}
    elif held.interleave and held.fragment_delay_ms is not None:
        words["fragment"] = {"blocking_delay": f"{held.fragment_delay_ms} ms", "by": "multilink"}
    elif held.fragment_delay_ms is not None:
        note("fragments of a bundle that does not interleave")
    if held.ip_mtu is not None:
        if "fragment" in words:
            note("an IP MTU beside fragments")
        else:
            words["fragment"] = {"size": f"{held.ip_mtu} B", "by": "ip-mtu"}
    if interface.egress.transmit_ring is not None:
        words["transmit_ring"] = {"packets": interface.egress.transmit_ring}
    return words


def unqueued(queue: Queue) -> Queue:
    """A queue without the limits that a device's buffers give it, which no class asks for."""
    return queue.model_copy(update={"limit_packets": None, "thresholds": (), "buffer_percent": None})
