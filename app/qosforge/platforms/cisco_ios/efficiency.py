"""Link efficiency of an interface: header compression, fragmentation and transmit ring, in IOS's units."""

from __future__ import annotations

from typing import Any

from qosforge.errors import Place
from qosforge.findings import DEFAULT, Finding
from qosforge.inventory.models import Framing
from qosforge.note import because, note
from qosforge.plan.model import Efficiency, Plan
from qosforge.plan.request import DeviceRequest, EfficiencyRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.trains import has
from qosforge.units import format_rate

_COMPRESSING = (Framing.PPP, Framing.HDLC, Framing.MLPPP, Framing.FRAME_RELAY)
_FRAMED = {"frf12": Framing.FRAME_RELAY, "multilink": Framing.MLPPP}
"""The framing that a method to fragment needs; the others work on any."""
_VIRTUAL = ("Multilink", "Dialer", "Virtual-Template", "Tunnel", "Loopback", "BVI", "Vlan", "Port-channel")


def efficiency(
    request: DeviceRequest, interface_request: InterfaceRequest, running: Plan | None, findings: list[Finding]
) -> Efficiency:
    """The efficiency of an interface; what cannot be had is added to ``findings``.

    Fragments are made by the first method allowed that the framing has. Of Frame Relay's encapsulations only
    Cisco's own compresses headers (12.0(33)S, IP Header Compression Over Frame Relay for Interfaces Support).
    """
    bundle = interface_request.framing is Framing.MLPPP
    requested = interface_request.efficiency
    if requested is None:
        return Efficiency(multilink=bundle)
    compressed = requested.header_compression
    ietf = running is not None and interface_request.name in (running.system.ietf_circuits or ())
    if compressed and (ietf or interface_request.framing not in _COMPRESSING):
        findings.append(
            note(
                "header-compression-unsupported",
                _place(request, interface_request),
                requested="RTP header compression",
                applied="whole headers",
                variant="ietf" if ietf else DEFAULT,
                framing=interface_request.framing.value,
                preferred=requested.prefer,
            )
        )
        compressed = False
    if compressed and compresses_tcp(request, interface_request.framing):
        findings.append(note("tcp-headers-compressed", _place(request, interface_request)))
    plain = Efficiency(header_compression=compressed, multilink=bundle)
    if requested.fragment_bytes is None or requested.blocking_delay is None:
        return plain
    method = next(
        (m for m in requested.methods if _FRAMED.get(m, interface_request.framing) is interface_request.framing),
        None,
    )
    if method == "multilink":
        fragmented = _multilink(request, interface_request, requested, findings)
        if fragmented:
            fragmented["multiclass"] = _has_multiclass(interface_request, running)
    elif method == "frf12":
        fragmented = _frf12(request, interface_request, requested, findings)
    elif method == "ip-mtu":
        fragmented = _ip_mtu(request, interface_request, requested, findings)
    else:
        needed = " or ".join(_FRAMED[m].value for m in requested.methods)
        findings.append(
            note(
                "fragmentation-needs-multilink",
                _place(request, interface_request),
                requested=f"{requested.fragment_bytes} bytes",
                applied="no fragmentation",
                framing=interface_request.framing.value,
                fragment_bytes=requested.fragment_bytes,
                methods=" or ".join(requested.methods),
                needed=needed,
                variant=requested.methods[-1],
                preferred=requested.prefer,
            )
        )
        fragmented = {}
    return plain.model_copy(update=fragmented)


def compresses_tcp(request: DeviceRequest, framing: Framing | None) -> bool:
    """Whether RTP headers are compressed in the format that compresses TCP headers too (IPHC): that of PPP.

    HDLC lines take it, too, but compress in the device's own format by themselves, at both ends; Frame Relay has
    that one alone.
    """
    return framing in (Framing.PPP, Framing.MLPPP) and has(request, "iphc_format")


def _multilink(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    requested: EfficiencyRequest,
    findings: list[Finding],
) -> dict[str, object]:
    """Interleaving on a bundle: the device takes whole milliseconds; a fragment is bandwidth × delay / 8."""
    assert requested.blocking_delay is not None
    # The device takes its own rate for that of the link, also where a policy shapes the port to less.
    assumed_rate = interface_request.usable if interface_request.shape is None else interface_request.rate
    delay = int(round(requested.blocking_delay * 1000 * interface_request.usable / assumed_rate, 6))
    limits = CAPABILITIES.fragment_delay_ms
    size = assumed_rate // 1000 * min(delay, limits.maximum) // 8
    range_ms = {"minimum": limits.minimum, "maximum": limits.maximum}
    if delay < limits.minimum or size < CAPABILITIES.fragment_bytes_minimum.value:
        # The next larger fragment would block for longer than asked.
        findings.append(
            _size_approximate(request, interface_request, "no fragmentation", "milliseconds", **range_ms)
        )
        return {}
    delay = min(delay, limits.maximum)
    if size != requested.fragment_bytes:
        findings.append(_size_approximate(request, interface_request, f"{size} bytes", "milliseconds", **range_ms))
    findings.append(
        note(
            "fragment-size",
            _place(request, interface_request),
            requested=f"{delay} ms at {format_rate(assumed_rate)}",
            applied=f"{size} bytes",
        )
    )
    return {
        "interleave": True,
        "fragment_delay_ms": delay,
        "fragment_bytes": size,
    }


def _has_multiclass(interface_request: InterfaceRequest, running: Plan | None) -> bool:
    """Whether a bundle has classes of its own (RFC 2686) already, which are left as they are.

    They are for bundles of several lines, interleaving on one line does without them; both ends have to have them,
    and they hold from the next negotiation of the link on (Multiclass Multilink PPP, 12.2(13)T).
    """
    held = running.interface(interface_request.name) if running else None
    return held is not None and held.efficiency.multiclass


def _frf12(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    requested: EfficiencyRequest,
    findings: list[Finding],
) -> dict[str, object]:
    """FRF.12 fragments, given in bytes."""
    assert requested.fragment_bytes is not None
    limits = CAPABILITIES.frame_relay.fragment
    size = min(requested.fragment_bytes, limits.maximum)
    range_bytes = {"minimum": limits.minimum, "maximum": limits.maximum}
    if size < limits.minimum:
        findings.append(
            _size_approximate(request, interface_request, "no fragmentation", "frf12-too-small", **range_bytes)
        )
        return {}
    if size != requested.fragment_bytes:
        findings.append(
            _size_approximate(request, interface_request, f"{size} bytes", "frf12-too-large", **range_bytes)
        )
    findings.append(
        note("fragment-size", _place(request, interface_request), variant="frf12", applied=f"{size} bytes")
    )
    return {"frame_relay_fragment": size, "fragment_bytes": size}


def _ip_mtu(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    requested: EfficiencyRequest,
    findings: list[Finding],
) -> dict[str, object]:
    """Packets cut by IP: they stay cut up to the receiver, and those that must not be cut are dropped."""
    assert requested.fragment_bytes is not None
    least = CAPABILITIES.ip_mtu_minimum.value
    size = requested.fragment_bytes
    if size < least:
        findings.append(_size_approximate(request, interface_request, "no fragmentation", "ip-mtu", least=least))
        return {}
    if size >= (whole := CAPABILITIES.ip_mtu_whole.value):
        findings.append(
            note(
                "efficiency-not-needed",
                _place(request, interface_request),
                variant="whole-packets",
                size=size,
                whole=whole,
            )
        )
        return {}
    findings.append(
        note(
            "ip-mtu-fragments",
            _place(request, interface_request),
            requested=f"fragments of {size} bytes on the link",
            applied=f"ip mtu {size}",
            size=size,
        )
    )
    return {"ip_mtu": size}


def transmit_ring(
    request: DeviceRequest, interface_request: InterfaceRequest, findings: list[Finding]
) -> int | None:
    """The packets that the hardware of an interface or PVC takes in advance; None where the device decides."""
    requested = interface_request.efficiency.transmit_ring if interface_request.efficiency else None
    if requested is None or interface_request.efficiency is None:
        return None
    limits = CAPABILITIES.transmit_ring
    on_pvc = interface_request.circuit is not None and interface_request.circuit.dlci is None
    if not limits.minimum <= requested <= limits.maximum:
        why = because(
            "transmit-ring-unsupported",
            variant="out-of-range",
            minimum=limits.minimum,
            maximum=limits.maximum,
        )
    elif not on_pvc and ("." in interface_request.name or interface_request.name.startswith(_VIRTUAL)):
        member = interface_request.member
        why = (
            because("transmit-ring-unsupported", variant="virtual", name=interface_request.name)
            if member is None
            else because(
                "transmit-ring-unsupported",
                variant="member",
                name=interface_request.name,
                member=member,
                ring=requested,
            )
        )
    else:
        return requested
    findings.append(
        why.note(
            _place(request, interface_request),
            requested=f"{requested} packets",
            applied="the device's own length",
            preferred=interface_request.efficiency.transmit_ring_prefer,
        )
    )
    return None


def _size_approximate(
    request: DeviceRequest, interface_request: InterfaceRequest, applied: str, variant: str, **facts: Any
) -> Finding:
    """Fragments are not of the size that is asked for."""
    assert interface_request.efficiency is not None
    return note(
        "fragment-size-approximate",
        _place(request, interface_request),
        requested=f"{interface_request.efficiency.fragment_bytes} bytes",
        applied=applied,
        variant=variant,
        preferred=interface_request.efficiency.prefer,
        **facts,
    )


def _place(request: DeviceRequest, interface_request: InterfaceRequest) -> Place:
    return Place(device=request.device, interface=interface_request.name, direction="output")
