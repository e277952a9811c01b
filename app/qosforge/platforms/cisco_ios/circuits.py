"""Virtual circuits: ATM PVCs and Frame Relay DLCIs with their map classes, and the policies on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qosforge.commands import ReadConfiguration, ReadLine
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.scope import OWN_PREFIX
from qosforge.note import note
from qosforge.plan.model import CircuitPlan, InterfacePlan, Plan
from qosforge.plan.request import DeviceRequest, InterfaceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, since
from qosforge.platforms.cisco_ios.trains import has
from qosforge.units import format_rate

MAP_CLASS_PREFIX = f"{OWN_PREFIX}-"
"""Begins the names of the map classes that are ours."""


@dataclass(frozen=True)
class MapClass:
    """A Frame Relay map class as it is entered; values that the device takes by itself are None."""

    name: str
    interface: str
    cir: int | None
    burst: int | None
    guaranteed: int
    fragment: int | None
    policy: str | None


def main_interface(name: str) -> str:
    """The interface that a subinterface is on; the interface itself where it is none."""
    return name.partition(".")[0]


def lower_circuit(interface_request: InterfaceRequest, current: InterfacePlan | None) -> CircuitPlan | None:
    """The circuit of an interface with its contract: an ATM circuit that has one on the device keeps it."""
    requested = interface_request.circuit
    if requested is None:
        return None
    if requested.dlci is not None:
        if not interface_request.schedule:
            return CircuitPlan(dlci=requested.dlci)
        limits = CAPABILITIES.frame_relay.burst
        burst = min(max(interface_request.usable // limits.rate_part, limits.minimum), limits.maximum)
        return CircuitPlan(
            dlci=requested.dlci, sustained=interface_request.usable, peak=interface_request.usable, burst=burst
        )
    there = current.circuit if current else None
    if there is not None and (there.sustained or there.peak):
        return there.model_copy(update={"vpi": requested.vpi, "vci": requested.vci})
    if interface_request.schedule:
        rate = interface_request.usable // 1000 * 1000
        burst = CAPABILITIES.atm_burst.value
        return CircuitPlan(vpi=requested.vpi, vci=requested.vci, sustained=rate, peak=rate, burst=burst)
    return CircuitPlan(vpi=requested.vpi, vci=requested.vci)


def takes_policy(request: DeviceRequest, interface_request: InterfaceRequest) -> bool:
    """Whether a policy can schedule an output: those of Frame Relay circuits are in map classes."""
    circuit = interface_request.circuit
    at_port = circuit is None or circuit.dlci is None
    return interface_request.schedule and has(request, "policies" if at_port else "circuit_policy")


def check_circuit(
    request: DeviceRequest, interface_request: InterfaceRequest, running: Plan | None
) -> Iterator[Finding]:
    """Circuits that the device does not have, or with another contract, and what shaping does to those beside."""
    requested = interface_request.circuit
    current = running.interface(interface_request.name) if running else None
    if requested is None:
        return
    if requested.dlci is not None and interface_request.schedule:
        yield from _check_frame_relay(request, interface_request, running)
    if current is None:
        return
    there = current.circuit or CircuitPlan()
    kbps, wanted_kbps = (there.sustained or 0) // 1000, interface_request.usable // 1000
    if (there.vpi, there.vci, there.dlci) != (requested.vpi, requested.vci, requested.dlci):
        yield note(
            "circuit-missing",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            circuit=_words(requested.vpi, requested.vci, requested.dlci),
        )
    elif requested.dlci is None and interface_request.schedule and kbps not in (0, wanted_kbps):
        yield note(
            "bandwidth-differs",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            requested=format_rate(1000 * wanted_kbps),
            applied=format_rate(1000 * kbps),
            variant="circuit",
            kbps=wanted_kbps,
        )
    elif requested.dlci is not None and not interface_request.schedule and kbps and _ours(current):
        yield note(
            "circuit-contract-dropped",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            requested=f"{kbps} kb/s",
            applied=f"{CAPABILITIES.frame_relay.cir.default // 1000} kb/s",
        )


def _check_frame_relay(
    request: DeviceRequest, interface_request: InterfaceRequest, running: Plan | None
) -> Iterator[Finding]:
    if not takes_policy(request, interface_request):
        yield note(
            "circuit-policy-unsupported",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            requested="queues for the classes",
            applied="one queue",
            image=request.image,
            release=since("circuit_policy"),
        )
    limits = CAPABILITIES.frame_relay.cir
    if not limits.minimum <= interface_request.usable <= limits.maximum:
        yield note(
            "circuit-rate-out-of-range",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            requested=f"{interface_request.usable} b/s",
            applied="no shaping",
            minimum=limits.minimum,
            maximum=limits.maximum,
        )
    ours = {i.name for i in request.interfaces}
    main = main_interface(interface_request.name)
    beside = [
        i.name
        for i in (running.interfaces if running else ())
        if main_interface(i.name) == main and i.name not in ours and i.circuit and i.circuit.dlci
        if i.circuit.sustained is None
    ]
    if beside:
        rate = limits.default // 1000
        yield note(
            "circuits-shaped-beside",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            requested="no shaping",
            applied=f"{rate} kb/s",
            port=main,
            circuits=", ".join(beside),
        )


def _ours(interface: InterfacePlan) -> bool:
    """Whether the circuit's policy is ours, and its map class with it: that of others stays."""
    return (interface.egress.policy or "").upper().startswith(OWN_PREFIX)


def _words(vpi: int | None, vci: int | None, dlci: int | None) -> str:
    return f"PVC {vpi}/{vci}" if dlci is None else f"DLCI {dlci}"


def map_class(interface: InterfacePlan) -> MapClass | None:
    """The map class with what an interface's Frame Relay circuit is shaped to; None where it is not shaped."""
    circuit = interface.circuit
    if circuit is None or circuit.dlci is None or circuit.sustained is None:
        return None
    limits = CAPABILITIES.frame_relay
    return MapClass(
        name=f"{MAP_CLASS_PREFIX}{interface.name}",
        interface=interface.name,
        cir=circuit.peak if circuit.peak != limits.cir.default else None,
        burst=circuit.burst if circuit.burst != limits.burst.default else None,
        guaranteed=circuit.sustained,
        fragment=interface.efficiency.frame_relay_fragment,
        policy=interface.egress.policy,
    )


class CircuitReader:
    """Reads the circuits of one configuration, and the lines on them that work like those of an interface."""

    def __init__(self, reading: ReadConfiguration) -> None:
        self._reading = reading
        self._map_classes = reading.objects("map-class")
        lines = [(entry.name, line) for entry in reading.all("interface") for line in entry.below]
        self._shaping = {name for name, line in lines if line.id == "traffic-shaping"}
        self._classes = {name: line for name, line in lines if line.id == "frame-relay-class"}
        self._used: set[str] = set()

    def read(self, interface: ReadLine) -> tuple[CircuitPlan | None, tuple[ReadLine, ...]]:
        """The circuit of an interface with the lines on it; none where it carries several: theirs are kept."""
        circuits = [line for line in interface.below if line.id in ("pvc", "dlci")]
        if len(circuits) == 1:
            circuit = circuits[0]
            return _read_pvc(circuit) if circuit.id == "pvc" else self._dlci(circuit, interface.name)
        for circuit in circuits:
            for line in circuit.below:
                if line.id != "contract":
                    self._reading.miss(line, circuit.line.text)
        return None, ()

    def read_unused(self) -> None:
        """Keep the map classes of interfaces that no circuit takes from there, as far as any is known."""
        for heading, line in self._classes.items():
            if heading not in self._used:
                self._reading.miss(line, f"interface {heading}")

    def _dlci(self, dlci: ReadLine, name: str) -> tuple[CircuitPlan, tuple[ReadLine, ...]]:
        main = main_interface(name)
        named = next((line for line in dlci.below if line.id == "dlci-class"), None)
        for heading in (name, main):
            if named is None and heading in self._classes:
                named = self._classes[heading]
                self._used.add(heading)
        if named is None:
            return CircuitPlan(dlci=dlci["dlci"]), ()
        if named.name not in self._map_classes or main not in self._shaping:
            # Without shaping on the main interface a map class does nothing.
            self._reading.miss(named, dlci.line.text)
            return CircuitPlan(dlci=dlci["dlci"]), ()
        return _read_shaped(dlci["dlci"], self._map_classes[named.name])


def ietf_circuits(interfaces: Iterable[ReadLine]) -> tuple[str, ...]:
    """The interfaces whose circuit has the IETF encapsulation: its own, else that of the main interface."""
    held = {entry.name: entry for entry in interfaces}
    lines = {name: [line for line in entry.below if line.id in ("dlci", "ietf")] for name, entry in held.items()}
    whole = {name for name, below in lines.items() if any(line.id == "ietf" for line in below)}

    def ietf(name: str, dlci: ReadLine) -> bool:
        words = dlci.line.text.split()
        return "ietf" in words or (main_interface(name) in whole and "cisco" not in words)

    return tuple(n for n, below in lines.items() if any(line.id == "dlci" and ietf(n, line) for line in below))


def _read_pvc(pvc: ReadLine) -> tuple[CircuitPlan, tuple[ReadLine, ...]]:
    contract: dict[str, int] = {}
    for line in pvc.below:
        if line.id == "contract" and "peak" in line:
            rates = {"peak": line["peak"], "sustained": line.get("sustained", line["peak"])}
            contract = {name: rate * 1000 for name, rate in rates.items()}
            contract |= {"burst": line["burst"]} if "burst" in line else {}
    vpi, _, vci = pvc["circuit"].rpartition("/")
    carried = tuple(line for line in pvc.below if line.id != "contract")
    return CircuitPlan(vpi=int(vpi or 0), vci=int(vci), **contract), carried


def _read_shaped(dlci: int, map_class: ReadLine) -> tuple[CircuitPlan, tuple[ReadLine, ...]]:
    limits, said = CAPABILITIES.frame_relay, map_class.settings
    cir = said.get("cir", limits.cir.default)
    circuit = CircuitPlan(
        dlci=dlci,
        peak=cir,
        sustained=said.get("mincir", cir // 2),
        burst=said.get("bc", limits.burst.default),
    )
    carried = tuple(line for line in map_class.below if line.id == "service-policy" or "fragment" in line)
    return circuit, carried
