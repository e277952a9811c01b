"""Classes below classes: every class of a tree, and how an input tells them that looks at all packets."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.expansion import combine
from qosforge.note import Reason, because
from qosforge.packet_sets.classification import acts
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative

_VALUES = ("dscp", "cos", "precedence", "protocol", "vlan", "source_mac", "destination_mac", "input_interface")
"""Fields of an alternative that list values: two lists hold together for what is in both."""


def every_class(classes: tuple[ClassRequest, ...]) -> Iterator[ClassRequest]:
    """The classes of a tree, each before those below it."""
    for c in classes:
        yield c
        yield from every_class(c.children)


def on_input(request: DeviceRequest) -> tuple[ClassRequest, ...]:
    """The classes that an input tells apart, children before the class they are part of.

    What is done on input to what no child takes is done to the rest of their parent.
    """

    def ordered(classes: tuple[ClassRequest, ...]) -> Iterator[ClassRequest]:
        for c in classes:
            yield from (child for child in ordered(c.children) if not child.is_default and acts(child))
            rest = next((child for child in c.children if child.is_default), None)
            yield c if rest is None or not acts(rest) else _with_actions_of(c, rest)

    return tuple(ordered(request.classes))


def inside_parents(
    classes: tuple[ClassRequest, ...], above: ClassRequest | None = None
) -> Iterator[tuple[str, ClassRequest | Reason]]:
    """Every class as an input tells it that looks at all packets, or why it cannot be told so."""
    for c in classes:
        whole = c if above is None or c.is_default else within(above, c)
        yield c.name, whole
        yield from inside_parents(c.children, c if isinstance(whole, Reason) else whole)


def within(above: ClassRequest, class_request: ClassRequest) -> ClassRequest | Reason:
    """A class as an input tells it that looks at all packets: it is its parent's match and its own."""
    if above.is_default:
        return class_request
    terms = []
    for parent, own in combine(above.terms or (Alternative(),), class_request.terms or (Alternative(),)):
        joined = _both(parent, own)
        if joined is None:
            return because("match-combination-unsupported", variant="with-parent")
        if joined:
            terms.append(joined[0])
    if not terms:
        return because("match-combination-unsupported", variant="outside-parent")
    return class_request.model_copy(
        update={"terms": tuple(dict.fromkeys(terms)), "none_of": (*above.none_of, *class_request.none_of)}
    )


def _both(parent: Alternative, own: Alternative) -> tuple[Alternative, ...] | None:
    """What matches both: one alternative, none (they exclude each other), or None where it cannot be told."""
    changes: dict[str, object] = {}
    for name in set(parent.set_fields) & set(own.set_fields):
        if getattr(parent, name) == getattr(own, name):
            continue
        if name == "application":
            return ()  # a packet is of one application
        if name not in _VALUES:
            return None
        common = tuple(v for v in getattr(own, name) if v in getattr(parent, name))
        if not common:
            return ()
        changes[name] = common
    kept = {name: getattr(parent, name) for name in parent.set_fields if name not in own.set_fields}
    return (own.model_copy(update={**kept, **changes}),)


def _with_actions_of(parent: ClassRequest, rest: ClassRequest) -> ClassRequest:
    treatment = parent.treatment
    if rest.treatment.police is not None and rest.treatment.police.direction == "input":
        treatment = treatment.model_copy(update={"police": rest.treatment.police})
    return parent.model_copy(update={"mark": rest.mark or parent.mark, "treatment": treatment})
