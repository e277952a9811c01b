"""Link efficiency of an interface: header compression, fragmentation and transmit ring, in IOS's units."""

from __future__ import annotations

from qosforge.findings import Finding, Severity
from qosforge.inventory.models import Framing
from qosforge.plan.model import Efficiency
from qosforge.plan.request import DeviceRequest, EfficiencyRequest, InterfaceRequest
from qosforge.platforms.abbreviations import is_number
from qosforge.platforms.cisco_ios.capabilities import capabilities
from qosforge.platforms.cisco_ios.trains import has
from qosforge.units import format_rate

_COMPRESSING = (Framing.PPP, Framing.HDLC, Framing.MLPPP, Framing.FRAME_RELAY)
_FRAMED = {"frf12": Framing.FRAME_RELAY, "multilink": Framing.MLPPP}
"""The framing that a method to fragment needs; the others work on any."""
_HINTS = {"frf12": "put the line on a Frame Relay circuit", "multilink": "put the line into a Multilink bundle"}
_VIRTUAL = ("Multilink", "Dialer", "Virtual-Template", "Tunnel", "Loopback", "BVI", "Vlan", "Port-channel")


def efficiency(request: DeviceRequest, interface_request: InterfaceRequest, findings: list[Finding]) -> Efficiency:
    """The efficiency of an interface; what cannot be had is added to ``findings``.

    Fragments are made by the first method allowed that the framing has.
    """
    bundle = interface_request.framing is Framing.MLPPP
    requested = interface_request.efficiency
    if requested is None:
        return Efficiency(multilink=bundle)
    compressed = requested.header_compression
    if compressed and interface_request.framing not in _COMPRESSING:
        findings.append(
            _finding(
                request,
                interface_request,
                "header-compression-unsupported",
                f"{interface_request.framing.value} framing does not compress headers",
                requested="RTP header compression",
                applied="whole headers",
                hint="leave header_compression out for this framing ('when: {framing: …}')",
            )
        )
        compressed = False
    plain = Efficiency(header_compression=compressed, multilink=bundle)
    if requested.fragment_bytes is None or requested.blocking_delay is None:
        return plain
    method = next(
        (m for m in requested.methods if _FRAMED.get(m, interface_request.framing) is interface_request.framing),
        None,
    )
    if method == "multilink":
        fragmented = _multilink(request, interface_request, requested, findings)
    elif method == "frf12":
        fragmented = _frf12(request, interface_request, requested, findings)
    elif method == "ip-mtu":
        fragmented = _ip_mtu(request, interface_request, requested, findings)
    else:
        needed = " or ".join(_FRAMED[m].value for m in requested.methods)
        findings.append(
            _finding(
                request,
                interface_request,
                "fragmentation-needs-multilink",
                f"{interface_request.framing.value} framing allows no fragments of {requested.fragment_bytes} "
                f"bytes by {' or '.join(requested.methods)}: they need {needed}",
                applied="no fragmentation",
                hint=_HINTS[requested.methods[-1]],
            )
        )
        fragmented = {}
    return plain.model_copy(update=fragmented)


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
    limits = capabilities()["fragment_delay_ms"]
    size = assumed_rate // 1000 * min(delay, limits["maximum"]) // 8
    why = "the device sizes fragments by whole milliseconds"
    hint = f"ask for a blocking delay of {limits['minimum']} to {limits['maximum']} whole milliseconds"
    if delay < limits["minimum"] or size < capabilities()["fragment_bytes_minimum"]["value"]:
        # The next larger fragment would block for longer than asked.
        findings.append(
            _finding(
                request, interface_request, "fragment-size-approximate", why, applied="no fragmentation", hint=hint
            )
        )
        return {}
    delay = min(delay, limits["maximum"])
    if size != requested.fragment_bytes:
        findings.append(
            _finding(
                request, interface_request, "fragment-size-approximate", why, applied=f"{size} bytes", hint=hint
            )
        )
    findings.append(
        _size(request, interface_request, f"{format_rate(assumed_rate)} × {delay} ms = {size} bytes a fragment")
    )
    return {
        "interleave": True,
        "multiclass": has(request, "multilink_multiclass"),
        "fragment_delay_ms": delay,
        "fragment_bytes": size,
    }


def _frf12(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    requested: EfficiencyRequest,
    findings: list[Finding],
) -> dict[str, object]:
    """FRF.12 fragments, given in bytes."""
    assert requested.fragment_bytes is not None
    limits = capabilities()["frame_relay"]["fragment"]
    size = min(requested.fragment_bytes, limits["maximum"])
    why = f"FRF.12 fragments have {limits['minimum']} to {limits['maximum']} bytes here"
    if size < limits["minimum"]:
        hint = f"ask for fragments of at least {limits['minimum']} bytes"
        findings.append(
            _finding(
                request, interface_request, "fragment-size-approximate", why, applied="no fragmentation", hint=hint
            )
        )
        return {}
    if size != requested.fragment_bytes:
        hint = "leave fragmentation out at this rate"
        findings.append(
            _finding(
                request, interface_request, "fragment-size-approximate", why, applied=f"{size} bytes", hint=hint
            )
        )
    findings.append(
        _size(request, interface_request, f"FRF.12 fragments of {size} bytes; the other end has to fragment too")
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
    least = capabilities()["ip_mtu_minimum"]["value"]
    size = requested.fragment_bytes
    if size < least:
        why = f"an IP MTU has {least} bytes at least"
        hint = f"ask for fragments of at least {least} bytes, or use a framing that fragments itself"
        findings.append(
            _finding(
                request, interface_request, "fragment-size-approximate", why, applied="no fragmentation", hint=hint
            )
        )
        return {}
    if size >= (whole := capabilities()["packet_bytes"]["value"]):
        findings.append(
            Finding(
                code="efficiency-not-needed",
                severity=Severity.INFO,
                message=f"no smaller IP MTU: fragments of {size} bytes hold whole packets of {whole}",
                device=request.device,
                interface=interface_request.name,
                direction="output",
            )
        )
        return {}
    findings.append(
        Finding(
            code="ip-mtu-fragments",
            severity=Severity.WARNING,
            message=f"an IP MTU of {size} bytes leaves packets cut up to their receivers, which have to join them, "
            "and drops longer ones that must not be fragmented (DF)",
            device=request.device,
            interface=interface_request.name,
            direction="output",
            requested=f"fragments of {size} bytes on the link",
            applied=f"ip mtu {size}",
            hint="put the line into a Multilink bundle or on a Frame Relay circuit, or leave 'ip-mtu' out of 'by'",
        )
    )
    return {"ip_mtu": size}


def read_efficiency(words: list[str]) -> dict[str, object] | None:
    """What one line of an interface or its circuit says of link efficiency; None where it does not."""
    match words:
        case ["ip", "rtp", "header-compression", *_] | ["frame-relay", "ip", "rtp", "header-compression", *_]:
            return {"header_compression": True}
        case ["ppp", "multilink"]:
            return {"multilink": True}
        case ["ppp", "multilink", "interleave" | "multiclass" as word]:
            return {word: True}
        case ["ppp", "multilink", "fragment", "delay", ms] | ["ppp", "multilink", "fragment-delay", ms] if (
            is_number(ms)
        ):
            return {"fragment_delay_ms": int(ms)}
        case ["ppp", "multilink", "group", _]:
            return {}
        case ["frame-relay", "fragment", size] if is_number(size):
            return {"frame_relay_fragment": int(size), "fragment_bytes": int(size)}
        case ["ip", "mtu", size] if is_number(size):
            return {"ip_mtu": int(size)}
    return None


def transmit_ring(
    request: DeviceRequest, interface_request: InterfaceRequest, findings: list[Finding]
) -> int | None:
    """The packets that the hardware of an interface or PVC takes in advance; None where the device decides."""
    requested = interface_request.efficiency.transmit_ring if interface_request.efficiency else None
    if requested is None or interface_request.efficiency is None:
        return None
    limits = capabilities()["transmit_ring"]
    on_pvc = interface_request.circuit is not None and interface_request.circuit.dlci is None
    if not limits["minimum"] <= requested <= limits["maximum"]:
        why = f"a transmit ring has {limits['minimum']} to {limits['maximum']} packets"
        hint = f"ask for {limits['minimum']} to {limits['maximum']} packets"
    elif not on_pvc and ("." in interface_request.name or interface_request.name.startswith(_VIRTUAL)):
        why = f"{interface_request.name} has no transmit ring of its own"
        hint = "set it on the physical interface below"
    else:
        return requested
    findings.append(
        Finding(
            code="transmit-ring-unsupported",
            severity=Severity.WARNING if interface_request.efficiency.transmit_ring_prefer else Severity.ERROR,
            message=why,
            device=request.device,
            interface=interface_request.name,
            direction="output",
            requested=f"{requested} packets",
            applied="the device's own length",
            hint=hint,
        )
    )
    return None


def _finding(
    request: DeviceRequest,
    interface_request: InterfaceRequest,
    code: str,
    message: str,
    *,
    applied: str,
    hint: str,
    requested: str | None = None,
) -> Finding:
    assert interface_request.efficiency is not None
    return Finding(
        code=code,
        severity=Severity.WARNING if interface_request.efficiency.prefer else Severity.ERROR,
        message=message,
        device=request.device,
        interface=interface_request.name,
        direction="output",
        requested=requested or f"{interface_request.efficiency.fragment_bytes} bytes",
        applied=applied,
        hint=hint,
    )


def _size(request: DeviceRequest, interface_request: InterfaceRequest, message: str) -> Finding:
    return Finding(
        code="fragment-size",
        severity=Severity.INFO,
        message=message,
        device=request.device,
        interface=interface_request.name,
        direction="output",
    )
