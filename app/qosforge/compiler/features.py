"""Check that a platform declares the features a request needs; what it lacks never reaches its lowering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network

from qosforge.compiler.required_features import ClassRequirement, Side, class_requirements, interface_requirements
from qosforge.errors import Place
from qosforge.finding_codes import explain
from qosforge.findings import DEFAULT, Finding
from qosforge.inventory.models import DeviceRole
from qosforge.memoise import memoise
from qosforge.note import note
from qosforge.plan.request import ClassRequest, DeviceRequest, Feature, InterfaceRequest, TermRequest

CORE_MATCH = frozenset({"application", "dscp", "cos"})
"""Fields of a match that every platform lowers, or refuses by findings of its own."""
MATCH_FEATURES = {
    "precedence": Feature.MATCH_PRECEDENCE,
    "protocol": Feature.MATCH_FLOW,
    "source": Feature.MATCH_FLOW,
    "destination": Feature.MATCH_FLOW,
    "source_port": Feature.MATCH_FLOW,
    "destination_port": Feature.MATCH_FLOW,
    "vlan": Feature.MATCH_VLAN,
    "source_mac": Feature.MATCH_MAC,
    "destination_mac": Feature.MATCH_MAC,
    "input_interface": Feature.MATCH_INPUT_INTERFACE,
    "mpls_experimental": Feature.MATCH_MPLS,
    "qos_group": Feature.MATCH_QOS_GROUP,
}
"""The features that the other fields of a match stand for."""
_ORDER = {feature: at for at, feature in enumerate(Feature)}


def find_unsupported(request: DeviceRequest, known: frozenset[Feature]) -> Iterator[Finding]:
    """One finding for every class or interface and feature that the platform does not know; a warning where it is
    preferred."""
    sides = Sides.of(request)
    for class_request, feature, prefer in _find_lacking(
        request.classes, sides.recognises, sides.schedules, sides.edge, known
    ):
        yield _unsupported_finding(request, feature, prefer, class_request=class_request)
    trusted = any(i.trust_in == "cos" for i in request.interfaces)
    if request.cos_to_dscp is not None and trusted and Feature.COS_TO_DSCP not in known:
        yield _unsupported_finding(request, Feature.COS_TO_DSCP, False, direction="input")
    for i in request.interfaces:
        for requirement in interface_requirements(i):
            if requirement.feature not in known:
                yield _unsupported_finding(
                    request, requirement.feature, requirement.prefer, interface=i.name, direction=requirement.side
                )


@dataclass(frozen=True)
class Sides:
    """What of a device decides which requirements of a class concern it; many devices have the same."""

    recognises: bool
    schedules: bool
    edge: bool

    @classmethod
    def of(cls, request: DeviceRequest) -> Sides:
        """Those of a request."""
        return cls(
            any(i.recognise for i in request.interfaces),
            any(i.schedule for i in request.interfaces),
            request.role is DeviceRole.EDGE,
        )


@memoise
def _find_lacking(
    classes: tuple[ClassRequest, ...], recognises: bool, schedules: bool, edge: bool, known: frozenset[Feature]
) -> tuple[tuple[ClassRequest, Feature, bool], ...]:
    """What classes and those below them ask for in vain, each with whether it is only preferred."""
    sides, found = Sides(recognises, schedules, edge), list[tuple[ClassRequest, Feature, bool]]()
    for c in classes:
        wanted = dict(_required_features(sides, c, known))
        found += [
            (c, feature, wanted[feature]) for feature in sorted(wanted.keys() - known, key=_ORDER.__getitem__)
        ]
        if Feature.CHILDREN in known:
            found += _find_lacking(c.children, recognises, schedules, edge, known)
    return tuple(found)


def _unsupported_finding(
    request: DeviceRequest,
    feature: Feature,
    prefer: bool,
    *,
    class_request: ClassRequest | None = None,
    interface: str | None = None,
    direction: Side | None = None,
) -> Finding:
    known = explain("feature-unsupported").variants
    return note(
        "feature-unsupported",
        Place(
            device=request.device,
            interface=interface,
            direction=direction,
            traffic_class=class_request.name if class_request else None,
            line=class_request.line if class_request else None,
        ),
        requested=feature.value,
        applied="left out",
        variant=feature.value if feature.value in known else DEFAULT,
        platform=request.platform,
        feature=feature.value,
        preferred=prefer,
    )


def without_unsupported(request: DeviceRequest, known: frozenset[Feature]) -> DeviceRequest:
    """The request without what the platform does not know."""
    return request.model_copy(
        update={
            "classes": _without_unsupported(request.classes, known),
            "interfaces": tuple(_reduce_interface(i, known) for i in request.interfaces),
            "cos_to_dscp": request.cos_to_dscp if Feature.COS_TO_DSCP in known else None,
        }
    )


@memoise
def _without_unsupported(classes: tuple[ClassRequest, ...], known: frozenset[Feature]) -> tuple[ClassRequest, ...]:
    return tuple(_reduce_class(c, known) for c in classes)


def _reduce_class(class_request: ClassRequest, known: frozenset[Feature]) -> ClassRequest:
    # One at a time: each tells how the class looks without it alone.
    while requirement := next((r for r in class_requirements(class_request) if r.feature not in known), None):
        class_request = requirement.without
    terms, none_of = (
        tuple(t for t in ts if known.issuperset(_term_features(t)))
        for ts in (class_request.terms, class_request.none_of)
    )
    if Feature.MATCH_NONE not in known or (class_request.terms and not terms):
        none_of = ()  # without its alternatives a class would be everything else
    children = _without_unsupported(class_request.children, known)
    return class_request.model_copy(update={"terms": terms, "none_of": none_of, "children": children})


def _reduce_interface(interface_request: InterfaceRequest, known: frozenset[Feature]) -> InterfaceRequest:
    while requirement := next(
        (r for r in interface_requirements(interface_request) if r.feature not in known), None
    ):
        interface_request = requirement.without
    return interface_request


def _required_features(
    sides: Sides, class_request: ClassRequest, known: frozenset[Feature]
) -> Iterator[tuple[Feature, bool]]:
    """Features that a class asks a device for, each with whether it is only preferred."""
    for requirement in class_requirements(class_request):
        if _concerns(sides, requirement) and (requirement.within is None or requirement.within in known):
            yield requirement.feature, requirement.prefer
    if recognises(sides, class_request):
        for term in (*class_request.terms, *class_request.none_of):
            yield from ((feature, False) for feature in _term_features(term))
        if class_request.none_of:
            yield Feature.MATCH_NONE, False


def _concerns(sides: Sides, requirement: ClassRequirement) -> bool:
    """Whether the device has an interface on the side where the requirement works."""
    return sides.recognises if requirement.side == "input" else sides.schedules


def recognises(sides: Sides, class_request: ClassRequest) -> bool:
    """Whether a device looks at what a class matches, and not at the mark that an edge has set."""
    return sides.edge or sides.recognises or class_request.recognised_by is None


def _term_features(term: TermRequest) -> Iterator[Feature]:
    for name in term.set_fields:
        if name in CORE_MATCH:
            continue
        if name in {"source", "destination"} and ip_network(getattr(term, name)[0]).version == 6:
            yield Feature.MATCH_IPV6
        else:
            yield MATCH_FEATURES[name]
