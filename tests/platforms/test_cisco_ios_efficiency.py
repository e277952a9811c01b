"""Header compression, fragments by every method, and transmit rings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.findings import Severity
from qosforge.intent.models import fragment_bytes
from qosforge.inventory.models import Circuit, Framing
from qosforge.plan.model import Efficiency
from qosforge.plan.request import EfficiencyRequest, InterfaceRequest
from qosforge.platforms.base import LoweredDevice

from .ios_support import STARTUP, a_class, errors, line, lowered, of, port, pushed, requested, text_of

GOLD = a_class("gold", 5, treatment={"bandwidth": {"rate": 40_000}})
BUNDLE = STARTUP + "interface Multilink1\n bandwidth 256\n ip address 10.0.3.1 255.255.255.252\n ppp multilink\n"


def cut(size: int, delay: float, *methods: str, **more: Any) -> EfficiencyRequest:
    chosen = {"methods": methods} if methods else {}
    return EfficiencyRequest(fragment_bytes=size, blocking_delay=delay, **chosen, **more)


def bundle(efficiency: EfficiencyRequest) -> InterfaceRequest:
    return line("Multilink1", 256_000, framing=Framing.MLPPP, efficiency=efficiency)


def relayed(efficiency: EfficiencyRequest, rate: int = 64_000) -> InterfaceRequest:
    circuit = Circuit(dlci=100)
    return line("Serial0/0.1", rate, framing=Framing.FRAME_RELAY, circuit=circuit, efficiency=efficiency)


def made(interface: InterfaceRequest, image: str = "12.4") -> tuple[LoweredDevice, Efficiency]:
    result = lowered(requested(GOLD, image=image, interfaces=(interface,)))
    return result, port(result, interface.name).efficiency


def test_a_bundle_lets_short_packets_pass_between_fragments() -> None:
    result, box = pushed(requested(GOLD, interfaces=(bundle(cut(512, 0.016, header_compression=True)),)), BUNDLE)

    assert port(result, "Multilink1").efficiency == Efficiency(
        header_compression=True,
        multilink=True,
        interleave=True,
        fragment_delay_ms=16,
        fragment_bytes=512,
    )
    text = box.running_text()
    for expected in ("fragment delay 16", "interleave"):
        assert f" ppp multilink {expected}\n" in text
    assert "multiclass" not in text


def test_a_bundle_keeps_the_classes_that_it_has() -> None:
    """Multiclass Multilink PPP, 12.2(13)T: for bundles of several lines, alike at both ends."""
    startup = BUNDLE.replace("interface Multilink1\n", "interface Multilink1\n ppp multilink multiclass\n")

    result, box = pushed(requested(GOLD, interfaces=(bundle(cut(512, 0.016)),)), startup)

    assert port(result, "Multilink1").efficiency.multiclass
    assert " ppp multilink multiclass\n" in box.running_text()


@pytest.mark.parametrize(
    ("image", "iphc"), [("12.1(5)T", False), ("12.2(15)T", True), ("12.4", True), ("15.1", True)]
)
def test_rtp_headers_are_compressed_with_those_of_tcp_where_the_image_has_that_format(
    image: str, iphc: bool
) -> None:
    """Command reference of the 3825: the format compresses TCP headers too, and the device prints both lines."""
    result, box = pushed(
        requested(GOLD, image=image, interfaces=(bundle(EfficiencyRequest(header_compression=True)),)), BUNDLE
    )

    text = box.running_text()
    assert (" ip tcp header-compression iphc-format\n" in text) is iphc
    assert f" ip rtp header-compression{' iphc-format' * iphc}\n" in text
    assert len(of(result, "tcp-headers-compressed")) == iphc


def test_the_line_of_a_bundle_is_named_where_it_is_to_have_the_ring() -> None:
    wanted = bundle(EfficiencyRequest(transmit_ring=5)).model_copy(update={"member": "Serial0/1"})

    (finding,) = of(lowered(requested(GOLD, interfaces=(wanted,))), "transmit-ring-unsupported")

    assert finding.hint == "enter 'tx-ring-limit 5' on Serial0/1"


@pytest.mark.parametrize(
    ("framing", "methods", "field"),
    [
        (Framing.FRAME_RELAY, ("frf12", "multilink", "ip-mtu"), "frame_relay_fragment"),
        (Framing.FRAME_RELAY, ("ip-mtu", "frf12"), "ip_mtu"),
        (Framing.FRAME_RELAY, ("multilink", "ip-mtu"), "ip_mtu"),
        (Framing.MLPPP, ("frf12", "multilink", "ip-mtu"), "fragment_delay_ms"),
        (Framing.PPP, ("frf12", "multilink", "ip-mtu"), "ip_mtu"),
        (Framing.HDLC, ("ip-mtu",), "ip_mtu"),
        (Framing.HDLC, ("frf12", "multilink"), None),
        (Framing.MLPPP, ("frf12",), None),
    ],
)
def test_the_first_method_that_the_framing_has_is_taken(
    framing: Framing, methods: tuple[str, ...], field: str | None
) -> None:
    wanted = cut(80, 0.01, *methods)
    interface = (
        relayed(wanted) if framing is Framing.FRAME_RELAY else line(rate=64_000, framing=framing, efficiency=wanted)
    )

    result, held = made(interface)

    ways = {"frame_relay_fragment": held.frame_relay_fragment, "ip_mtu": held.ip_mtu,
            "fragment_delay_ms": held.fragment_delay_ms}  # fmt: skip
    assert [name for name, value in ways.items() if value is not None] == ([field] if field else [])
    assert len(of(result, "fragmentation-needs-multilink")) == (field is None)


@pytest.mark.parametrize(("prefer", "severity"), [(True, Severity.WARNING), (False, Severity.ERROR)])
def test_fragments_that_no_method_makes_are_told(prefer: bool, severity: Severity) -> None:
    result, held = made(line(efficiency=cut(512, 0.016, "frf12", prefer=prefer)))

    (finding,) = of(result, "fragmentation-needs-multilink")
    assert (finding.severity, finding.requested, finding.applied) == (severity, "512 bytes", "no fragmentation")
    assert held == Efficiency()


@pytest.mark.parametrize(
    ("size", "applied", "told"),
    [(15, None, "no fragmentation"), (16, 16, None), (1600, 1600, None), (1601, 1600, "1600 bytes")],
)
def test_frame_relay_fragments_are_never_longer_than_asked(
    size: int, applied: int | None, told: str | None
) -> None:
    result, held = made(relayed(cut(size, 0.01)))

    assert (held.frame_relay_fragment, held.fragment_bytes) == (applied, applied)
    assert [f.applied for f in of(result, "fragment-size-approximate")] == ([told] if told else [])


@settings(deadline=None, derandomize=True, database=None)
@given(st.integers(56_000, 2_000_000), st.integers(1, 30))
def test_no_fragment_blocks_a_circuit_for_longer_than_asked(rate: int, milliseconds: int) -> None:
    delay = milliseconds / 1000
    _, held = made(relayed(cut(fragment_bytes(rate, delay), delay), rate))

    if held.frame_relay_fragment is not None:
        assert held.frame_relay_fragment * 8 <= rate * delay * (1 + 1e-9)


@pytest.mark.parametrize(("size", "held"), [(67, None), (68, 68), (512, 512)])
def test_a_smaller_mtu_is_the_last_resort_and_told_as_harmful(size: int, held: int | None) -> None:
    result, efficiency = made(line(efficiency=cut(size, 0.01)))

    assert efficiency.ip_mtu == held
    harmful, short = of(result, "ip-mtu-fragments"), of(result, "fragment-size-approximate")
    assert (len(harmful), len(short)) == ((1, 0) if held else (0, 1))
    assert all(f.severity is Severity.WARNING and f.applied == f"ip mtu {size}" for f in harmful)


def test_a_router_takes_the_smaller_mtu() -> None:
    result, box = pushed(requested(GOLD, interfaces=(line(efficiency=cut(300, 0.0012)),)))

    assert errors(result) == []
    assert " ip mtu 300\n" in box.running_text()


def test_frame_relay_compresses_by_a_command_of_its_own() -> None:
    text = text_of(requested(GOLD, interfaces=(relayed(EfficiencyRequest(header_compression=True)),)))

    assert "\n frame-relay ip rtp header-compression\n" in text
    assert "iphc-format" not in text


def test_a_ring_is_set_on_the_interface() -> None:
    result, box = pushed(requested(GOLD, interfaces=(line(efficiency=EfficiencyRequest(transmit_ring=3)),)))

    assert port(result).egress.transmit_ring == 3
    assert " tx-ring-limit 3\n" in box.running_text()


@pytest.mark.parametrize("prefer", [True, False])
@pytest.mark.parametrize(
    ("name", "packets"), [("Serial0/0", 32_768), ("FastEthernet0/1.7", 5), ("Multilink1", 5), ("Serial0/0", 0)]
)
def test_a_ring_that_an_interface_does_not_have_is_told(name: str, packets: int, prefer: bool) -> None:
    wanted = EfficiencyRequest(transmit_ring=packets, transmit_ring_prefer=prefer)
    result = lowered(requested(GOLD, interfaces=(line(name, efficiency=wanted),)))

    (finding,) = of(result, "transmit-ring-unsupported")
    assert finding.severity is (Severity.WARNING if prefer else Severity.ERROR)
    assert finding.requested == f"{packets} packets"
    assert port(result, name).egress.transmit_ring is None


@pytest.mark.parametrize("framing", [Framing.ATM, Framing.ETHERNET])
def test_headers_are_not_compressed_where_the_framing_does_not(framing: Framing) -> None:
    circuit = Circuit(vpi=4, vci=108) if framing is Framing.ATM else None
    wanted = EfficiencyRequest(header_compression=True)

    result = lowered(requested(interfaces=(line(framing=framing, circuit=circuit, efficiency=wanted),)))

    assert port(result).efficiency.header_compression is False
    (finding,) = of(result, "header-compression-unsupported")
    assert finding.severity is Severity.WARNING
