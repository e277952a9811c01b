"""The features that a class or an interface requires of a platform, and the request without each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from qosforge.intent.models import Remark, Shape, Treatment
from qosforge.intent.wred import QueueLimit
from qosforge.plan.request import ClassRequest, Feature, InterfaceRequest

Side = Literal["input", "output"]


@dataclass(frozen=True)
class ClassRequirement:
    """A feature that a class needs on one side of a device.

    ``without`` is the class without the feature; ``within`` is the feature that this one is a detail of: where the
    device lacks that one too, only that one is reported.
    """

    feature: Feature
    without: ClassRequest
    side: Side = "output"
    prefer: bool = False
    within: Feature | None = None


@dataclass(frozen=True)
class InterfaceRequirement:
    """A feature that an interface needs; ``without`` is the interface without it."""

    feature: Feature
    without: InterfaceRequest
    side: Side
    prefer: bool = False


def class_requirements(class_request: ClassRequest) -> Iterator[ClassRequirement]:
    """The features that a class requires, but for those of its match and its children."""
    mark, treatment = class_request.mark, class_request.treatment
    if mark and mark.precedence is not None:
        bare = mark.model_copy(update={"precedence": None})
        yield ClassRequirement(Feature.MARK_PRECEDENCE, class_request.model_copy(update={"mark": bare}), "input")
    if mark and mark.drop_precedence is not None:
        bare = mark.model_copy(update={"drop_precedence": None})
        yield ClassRequirement(
            Feature.MARK_DROP_PRECEDENCE, class_request.model_copy(update={"mark": bare}), "input"
        )
    if mark and mark.qos_group is not None:
        bare = mark.model_copy(update={"qos_group": None})
        yield ClassRequirement(Feature.MARK_QOS_GROUP, class_request.model_copy(update={"mark": bare}), "input")
    if mark and (mark.mpls_imposition, mark.mpls_topmost) != (None, None):
        bare = mark.model_copy(update={"mpls_imposition": None, "mpls_topmost": None})
        yield ClassRequirement(Feature.MARK_MPLS, class_request.model_copy(update={"mark": bare}), "input")
    if class_request.keep_mark:
        cleared = class_request.model_copy(update={"keep_mark": False})
        yield ClassRequirement(Feature.KEEP_MARK, cleared, "input")
    limit = treatment.queue_limit
    if limit:
        yield ClassRequirement(_limit_unit(limit), _treated(class_request, queue_limit=None), prefer=limit.prefer)
    if treatment.mark:
        without = _treated(class_request, mark=None)
        yield ClassRequirement(Feature.MARK_OUTPUT, without, prefer=treatment.mark.prefer)
        if treatment.mark.mpls_topmost is not None:
            yield ClassRequirement(
                Feature.MARK_MPLS, without, prefer=treatment.mark.prefer, within=Feature.MARK_OUTPUT
            )
    if treatment.fair_queue:
        without = _treated(class_request, fair_queue=None)
        yield ClassRequirement(Feature.FAIR_QUEUE, without, prefer=treatment.fair_queue.prefer)
    if treatment.buffers:
        without = _treated(class_request, buffers=None)
        yield ClassRequirement(Feature.BUFFERS, without, prefer=treatment.buffers.prefer)
    if treatment.shape:
        yield from _shaping(class_request, treatment.shape)
    if treatment.priority and not treatment.priority.capped:
        yield ClassRequirement(Feature.STRICT, _treated(class_request, priority=None))
    if treatment.priority and treatment.priority.burst is not None:
        plain = treatment.priority.model_copy(update={"burst": None})
        yield ClassRequirement(Feature.PRIORITY_BURST, _treated(class_request, priority=plain), prefer=True)
    if treatment.bandwidth and treatment.bandwidth.weight is not None:
        yield ClassRequirement(Feature.WEIGHT, _treated(class_request, bandwidth=None))
    if treatment.bounded:
        yield ClassRequirement(Feature.BOUNDED, _treated(class_request, bounded=False))
    if treatment.level is not None:
        yield ClassRequirement(Feature.LEVEL, _treated(class_request, level=None), prefer=True)
    if class_request.children:
        yield ClassRequirement(Feature.CHILDREN, class_request.model_copy(update={"children": ()}))
    yield from _detection(class_request, treatment)
    yield from _policing(class_request, treatment)


def _limit_unit(limit: QueueLimit) -> Feature:
    if limit.percent is not None or limit.thresholds:
        return Feature.QUEUE_LIMIT_PERCENT
    if limit.time is not None:
        return Feature.QUEUE_LIMIT_TIME
    return Feature.QUEUE_LIMIT if limit.packets is not None else Feature.QUEUE_LIMIT_BYTES


_NO_BURSTS = {"burst": None, "burst_time": None, "excess_burst": None, "excess_burst_time": None}


def _shaping(class_request: ClassRequest, shape: Shape) -> Iterator[ClassRequirement]:
    without = _treated(class_request, shape=None)
    yield ClassRequirement(Feature.SHAPE, without, prefer=shape.prefer)
    if shape.percent is not None:
        yield ClassRequirement(Feature.SHAPE_PERCENT, without, prefer=shape.prefer, within=Feature.SHAPE)
    if shape.states_bursts:
        plain = _treated(class_request, shape=shape.model_copy(update=_NO_BURSTS))
        yield ClassRequirement(Feature.SHAPE_BURST, plain, prefer=shape.prefer, within=Feature.SHAPE)


def _detection(class_request: ClassRequest, treatment: Treatment) -> Iterator[ClassRequirement]:
    wred = treatment.wred
    if wred is None:
        return
    parts = tuple(p for p in wred.profiles if p.minimum.unit == "percent")
    sizes = tuple(p for p in wred.profiles if p not in parts)
    details = (
        (Feature.WRED_PROFILES, sizes, {"profiles": parts}),
        (Feature.WRED_PERCENT, parts, {"profiles": sizes}),
        (Feature.WRED_WEIGHT, wred.weight_exponent is not None, {"weight_exponent": None}),
        (Feature.ECN, wred.ecn, {"ecn": False}),
    )
    for feature, requested, bare in details:
        if requested:
            plain = wred.model_copy(update=bare)
            yield ClassRequirement(feature, _treated(class_request, wred=plain), prefer=wred.prefer)


def _policing(class_request: ClassRequest, treatment: Treatment) -> Iterator[ClassRequirement]:
    police = treatment.police
    if police is None:
        return
    base = Feature.POLICE_INPUT if police.direction == "input" else Feature.POLICE_OUTPUT
    without = _treated(class_request, police=None)
    yield ClassRequirement(base, without, police.direction, police.prefer)
    details = (
        (Feature.POLICE_PERCENT, police.percent is not None),
        (Feature.POLICE_TWO_BUCKETS, police.buckets == 2),
        (Feature.POLICE_REMARK, any(isinstance(a, Remark) for a in (police.exceed, police.violate))),
        (Feature.POLICE_CONFORM, isinstance(police.conform, Remark)),
    )
    for feature, requested in details:
        if requested:
            yield ClassRequirement(feature, without, police.direction, police.prefer, within=base)


def _treated(class_request: ClassRequest, **change: object) -> ClassRequest:
    return class_request.model_copy(update={"treatment": class_request.treatment.model_copy(update=change)})


def interface_requirements(interface_request: InterfaceRequest) -> Iterator[InterfaceRequirement]:
    """The features that an interface requires."""
    if interface_request.shape is not None:
        without = interface_request.model_copy(update={"shape": None})
        yield InterfaceRequirement(Feature.SHAPE_PORT, without, "output", interface_request.shape_prefer)
    if interface_request.shaping is not None and interface_request.shaping.states_bursts:
        plain = interface_request.shaping.model_copy(update=_NO_BURSTS)
        without = interface_request.model_copy(update={"shaping": plain})
        yield InterfaceRequirement(Feature.SHAPE_BURST, without, "output", interface_request.shape_prefer)
    if interface_request.tunnels:
        without = interface_request.model_copy(update={"tunnels": ()})
        yield InterfaceRequirement(Feature.TUNNELS, without, "output")
    if interface_request.trust_in is not None:
        feature = Feature.TRUST_PHONE if interface_request.trust_in == "phone" else Feature.TRUST
        yield InterfaceRequirement(feature, interface_request.model_copy(update={"trust_in": None}), "input")
    if interface_request.requires_phone:
        always = interface_request.model_copy(update={"requires_phone": False})
        yield InterfaceRequirement(Feature.REQUIRES_PHONE, always, "input")
    requested = interface_request.efficiency
    if requested is None:
        return
    parts = (
        (Feature.TRANSMIT_RING, "transmit_ring", None, requested.transmit_ring_prefer),
        (Feature.HEADER_COMPRESSION, "header_compression", False, requested.prefer),
        (Feature.FRAGMENTS, "fragment_bytes", None, requested.prefer),
    )
    for feature, field, nothing, prefer in parts:
        if getattr(requested, field) != nothing:
            bare = requested.model_copy(update={field: nothing})
            yield InterfaceRequirement(
                feature, interface_request.model_copy(update={"efficiency": bare}), "output", prefer
            )
