"""Marks that are written into the packets of a class, as far as the image and the interface have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.intent.treatment import Mark, OutputMark
from qosforge.note import note
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.capabilities import since
from qosforge.platforms.cisco_ios.trains import has

_ON_INPUT = ("dscp", "precedence", "qos_group", "mpls_imposition", "mpls_topmost")
_LINES = {
    "qos_group": ("set qos-group", "qos_group"),
    "mpls_imposition": ("set mpls experimental imposition", "mpls_experimental"),
    "mpls_topmost": ("set mpls experimental topmost", "mpls_experimental"),
}
"""The lines of marks that images have from another release on than those of IP."""


def input_marks(request: DeviceRequest, mark: Mark | None) -> dict[str, int | None]:
    """The fields of a class's rule that say what inputs write; a CoS is carried as the DSCP beside it."""
    return {f"set_{name}": getattr(mark, name, None) for name in _ON_INPUT if _has_line(request, name)}


def check_marks(request: DeviceRequest, classes: Iterable[ClassRequest]) -> Iterator[Finding]:
    """``mark-line-unsupported``: marks that came with a later release than the image."""
    recognised = any(i.recognise for i in request.interfaces)
    scheduled = any(i.schedule for i in request.interfaces)
    for c in classes:
        yield from _check_lines(request, c, c.mark if recognised else None)
        yield from _check_lines(request, c, c.treatment.mark if scheduled else None)


def _check_lines(
    request: DeviceRequest, class_request: ClassRequest, mark: Mark | OutputMark | None
) -> Iterator[Finding]:
    for name, (command, feature) in _LINES.items():
        if getattr(mark, name, None) is not None and not has(request, feature):
            place = class_place(request, class_request)
            yield note("mark-line-unsupported", place, command=command, image=request.image, since=since(feature))


def _has_line(request: DeviceRequest, name: str) -> bool:
    return name not in _LINES or has(request, _LINES[name][1])


def output_marks(
    request: DeviceRequest, interface: InterfaceRequest, class_request: ClassRequest, findings: list[Finding]
) -> dict[str, int]:
    """The fields of a class's rule that say what an output writes; none where it writes nothing.

    A CoS is that of a tag (IEEE 802.1Q): the device refuses it at an interface without. Where frames leave with
    one, the CoS of the class's own mark is written too, as inputs cannot.
    """
    requested = class_request.treatment.mark
    if requested is None:
        return _own_cos(request, interface, class_request)
    marks = {"set_dscp": requested.dscp, "set_precedence": requested.precedence, "set_cos": requested.cos}
    if _has_line(request, "mpls_topmost"):
        marks["set_mpls_topmost"] = requested.mpls_topmost
    held = {name: value for name, value in marks.items() if value is not None}
    variant = None
    if not has(request, "marking"):
        variant, held = "no-marking", {}
    elif requested.cos is not None and not interface.tagged:
        variant = "untagged"
        del held["set_cos"]
    if variant is not None:
        findings.append(
            note(
                "output-mark-unsupported",
                class_place(request, class_request, interface=interface.name or None, direction="output"),
                variant=variant,
                image=request.image,
                since=since("marking"),
                preferred=requested.prefer,
            )
        )
    return _own_cos(request, interface, class_request) | held


def _own_cos(request: DeviceRequest, interface: InterfaceRequest, class_request: ClassRequest) -> dict[str, int]:
    """The CoS that a class carries behind the edge, unless the classes inside it have their own."""
    inside = any(c.mark and c.mark.cos is not None for c in class_request.children)
    cos = class_request.mark.cos if class_request.mark and not inside else None
    if cos is None or not interface.tagged or not has(request, "marking"):
        return {}
    return {"set_cos": cos}


def check_cos(request: DeviceRequest, interface: InterfaceRequest) -> Iterator[Finding]:
    """Where the CoS of classes is written, and tagged outputs that do not write it."""
    marking = any(c.mark and c.mark.cos is not None for c in request.classes)
    tagged = interface.schedule and interface.tagged
    if marking and interface.recognise:
        outputs = any(i.schedule and i.tagged for i in request.interfaces)
        variant = "routed" if outputs or interface.tagged else DEFAULT
        yield note("cos-carried-as-dscp", _place(request, interface, "input"), variant=variant)
    if marking and tagged and not has(request, "marking"):
        facts = {"image": request.image, "since": since("marking")}
        yield note("cos-not-written", _place(request, interface, "output"), variant="no-marking", **facts)
    elif tagged and any(i.trust and i.trust_in == "cos" and i.tagged for i in request.interfaces):
        bare = [c.name for c in request.classes if not c.is_default and not (c.mark and c.mark.cos is not None)]
        if bare:
            place = _place(request, interface, "output")
            yield note("cos-not-written", place, variant="routed", classes=", ".join(bare))


def _place(request: DeviceRequest, interface: InterfaceRequest, direction: str) -> Place:
    return Place(device=request.device, interface=interface.name, direction=direction)
