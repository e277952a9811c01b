"""Refusal by declaration: what a class asks for and a platform does not declare never reaches its lowering."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from app.findings import Finding, Severity
from app.intent.models import Treatment
from app.inventory.models import Role
from app.plan.request import ClassRequest, DeviceRequest, Feature, Term

CORE_MATCH = frozenset({"application", "dscp", "cos"})
"""Fields of a match that every platform lowers, or refuses by findings of its own."""
CORE_TREATMENT = frozenset({"priority", "bandwidth", "wred"})
"""Treatments that every platform lowers, or refuses by findings of its own."""
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
}
"""The features that the other fields of a match stand for."""
_MENDS = {
    Feature.QUEUE_LIMIT: "leave the limit out, or say 'prefer: true'",
    Feature.POLICE_INPUT: "police the class at another box, or say 'prefer: true'",
    Feature.POLICE_OUTPUT: "police the class on input, or say 'prefer: true'",
    Feature.SHAPE: "shape the class at another box, or say 'prefer: true'",
}
_MATCH_MEND = "mark the class at another box and match its dscp here"


def refusals(request: DeviceRequest, known: frozenset[Feature]) -> Iterator[Finding]:
    """One finding for every class and feature that the platform does not know; a warning where it is preferred."""
    for c in request.classes:
        wanted = dict(_wanted(request, c))
        for feature in Feature:
            if feature in wanted and feature not in known:
                preferred = wanted[feature]
                yield Finding(
                    code="feature-unsupported",
                    severity=Severity.WARNING if preferred else Severity.ERROR,
                    message=f"{request.platform} does not have this, or not here",
                    device=request.device,
                    traffic_class=c.name,
                    line=c.line,
                    asked=feature.value,
                    will_be="left out",
                    mend=_MENDS.get(feature, _MATCH_MEND),
                )


def within(request: DeviceRequest, known: frozenset[Feature]) -> DeviceRequest:
    """The request without what the platform does not know."""
    return request.model_copy(update={"classes": tuple(_kept(request, c, known) for c in request.classes)})


def _kept(request: DeviceRequest, wanted: ClassRequest, known: frozenset[Feature]) -> ClassRequest:
    missing = _asked_treatments(wanted.treatment).keys() - known
    keys = {Feature.QUEUE_LIMIT: "queue_limit", Feature.SHAPE: "shape"}
    gone = {keys.get(feature, "police"): None for feature in missing}
    terms, none_of = (
        tuple(t for t in ts if known.issuperset(_asked_of(t))) for ts in (wanted.terms, wanted.none_of)
    )
    if Feature.MATCH_NONE not in known or (wanted.terms and not terms):
        none_of = ()  # without its alternatives a class would be everything else
    return wanted.model_copy(
        update={
            "terms": terms,
            "none_of": none_of,
            "treatment": wanted.treatment.model_copy(update=gone),
        }
    )


def _wanted(request: DeviceRequest, wanted: ClassRequest) -> Iterator[tuple[Feature, bool]]:
    """Features that a class asks this device for, each with whether it is only preferred."""
    sides = set()
    if any(i.recognise for i in request.interfaces):
        sides.add(Feature.POLICE_INPUT)
    if any(i.schedule for i in request.interfaces):
        sides |= {Feature.POLICE_OUTPUT, Feature.SHAPE, Feature.QUEUE_LIMIT}
    for feature, prefer in _asked_treatments(wanted.treatment).items():
        if feature in sides:
            yield feature, prefer
    if recognises(request, wanted):
        for term in (*wanted.terms, *wanted.none_of):
            yield from ((feature, False) for feature in _asked_of(term))
        if wanted.none_of:
            yield Feature.MATCH_NONE, False


def recognises(request: DeviceRequest, wanted: ClassRequest) -> bool:
    """Whether a device looks at what a class matches, and not at the mark that an edge has set."""
    marked = wanted.mark is not None and wanted.mark.dscp is not None
    return request.role is Role.EDGE or not marked or any(i.recognise for i in request.interfaces)


def _asked_treatments(treatment: Treatment) -> dict[Feature, bool]:
    asked: dict[Feature, bool] = {}
    if treatment.queue_limit:
        asked[Feature.QUEUE_LIMIT] = treatment.queue_limit.prefer
    if treatment.shape:
        asked[Feature.SHAPE] = treatment.shape.prefer
    if treatment.police:
        side = Feature.POLICE_INPUT if treatment.police.direction == "input" else Feature.POLICE_OUTPUT
        asked[side] = treatment.police.prefer
    return asked


def _asked_of(term: Term) -> Iterator[Feature]:
    for name in term.given:
        if name in CORE_MATCH:
            continue
        if name in {"source", "destination"} and ip_network(getattr(term, name)[0]).version == 6:
            yield Feature.MATCH_IPV6
        else:
            yield MATCH_FEATURES[name]
