"""Marks that outputs write into the packets of a class, as far as the image and the interface have them."""

from __future__ import annotations

from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.capabilities import since
from qosforge.platforms.cisco_ios.trains import has


def output_marks(
    request: DeviceRequest, interface: InterfaceRequest, class_request: ClassRequest, findings: list[Finding]
) -> dict[str, int]:
    """The fields of a class's rule that say what an output writes; none where it writes nothing.

    A CoS is that of a tag (IEEE 802.1Q): the device refuses it at an interface without.
    """
    requested = class_request.treatment.mark
    if requested is None:
        return {}
    marks = {"set_dscp": requested.dscp, "set_precedence": requested.precedence, "set_cos": requested.cos}
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
    return held
