"""Virtual circuits: ATM PVCs and Frame Relay DLCIs with their map classes, and the policies on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.configtree import ConfigLine, Tree
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import CircuitPlan, InterfacePlan, Plan
from qosforge.plan.request import DeviceRequest, InterfaceRequest
from qosforge.platforms.abbreviations import is_number
from qosforge.platforms.cisco_ios.capabilities import capabilities
from qosforge.platforms.mqc.access_lists import Miss

MAP_CLASS_PREFIX = "QOSFORGE-"
TRAFFIC_SHAPING = "frame-relay traffic-shaping"
_ON_CIRCUIT = ("service-policy", "tx-ring-limit", "fair-queue", "random-detect", "queue-limit", "precedence")
"""First words of lines below a PVC that are QoS."""


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
        limits = capabilities()["frame_relay"]["burst"]
        burst = min(max(interface_request.usable // limits["rate_part"], limits["minimum"]), limits["maximum"])
        return CircuitPlan(
            dlci=requested.dlci, sustained=interface_request.usable, peak=interface_request.usable, burst=burst
        )
    there = current.circuit if current else None
    if there is not None and (there.sustained or there.peak):
        return there.model_copy(update={"vpi": requested.vpi, "vci": requested.vci})
    if interface_request.schedule:
        rate = interface_request.usable // 1000 * 1000
        burst = capabilities()["atm_burst"]["value"]
        return CircuitPlan(vpi=requested.vpi, vci=requested.vci, sustained=rate, peak=rate, burst=burst)
    return CircuitPlan(vpi=requested.vpi, vci=requested.vci)


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
            requested=f"{wanted_kbps} kb/s",
            applied=f"{kbps} kb/s",
            variant="circuit",
            kbps=wanted_kbps,
        )
    elif requested.dlci is not None and not interface_request.schedule and kbps:
        yield note(
            "circuit-contract-dropped",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            requested=f"{kbps} kb/s",
            applied=f"{capabilities()['frame_relay']['cir']['default'] // 1000} kb/s",
        )


def _check_frame_relay(
    request: DeviceRequest, interface_request: InterfaceRequest, running: Plan | None
) -> Iterator[Finding]:
    limits = capabilities()["frame_relay"]["cir"]
    if not limits["minimum"] <= interface_request.usable <= limits["maximum"]:
        yield note(
            "circuit-rate-out-of-range",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            requested=f"{interface_request.usable} b/s",
            applied="no shaping",
            minimum=limits["minimum"],
            maximum=limits["maximum"],
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
        rate = limits["default"] // 1000
        yield note(
            "circuits-shaped-beside",
            Place(device=request.device, interface=interface_request.name, direction="output"),
            requested="no shaping",
            applied=f"{rate} kb/s",
            port=main,
            circuits=", ".join(beside),
        )


def _words(vpi: int | None, vci: int | None, dlci: int | None) -> str:
    return f"PVC {vpi}/{vci}" if dlci is None else f"DLCI {dlci}"


def map_class(interface: InterfacePlan) -> MapClass | None:
    """The map class with what an interface's Frame Relay circuit is shaped to; None where it is not shaped."""
    circuit = interface.circuit
    if circuit is None or circuit.dlci is None or circuit.sustained is None:
        return None
    limits = capabilities()["frame_relay"]
    return MapClass(
        name=f"{MAP_CLASS_PREFIX}{interface.name}",
        interface=interface.name,
        cir=circuit.peak if circuit.peak != limits["cir"]["default"] else None,
        burst=circuit.burst if circuit.burst != limits["burst"]["default"] else None,
        guaranteed=circuit.sustained,
        fragment=interface.efficiency.frame_relay_fragment,
        policy=interface.egress.policy,
    )


class CircuitReader:
    """Reads the circuits of one configuration, and the lines on them that work like those of an interface."""

    def __init__(self, tree: Tree, miss: Miss) -> None:
        self._miss = miss
        self._map_classes: dict[str, ConfigLine] = {}
        self._shaping: set[str] = set()
        self._on_main: dict[str, ConfigLine] = {}
        self._read: set[str] = set()
        for line in tree:
            match line.text.split():
                case ["map-class", "frame-relay", name]:
                    self._map_classes[name] = line
                case ["interface", name, *_]:
                    for child in line.children:
                        if child.text == TRAFFIC_SHAPING:
                            self._shaping.add(name)
                        elif child.text.startswith("frame-relay class "):
                            self._on_main[name] = child

    def read(self, interface: ConfigLine, name: str) -> tuple[CircuitPlan | None, tuple[ConfigLine, ...]]:
        """The circuit of an interface with the lines on it; none where it carries several: theirs are kept."""
        pvcs = [line for line in interface.children if line.text.startswith("pvc ")]
        dlcis = [line for line in interface.children if line.text.startswith("frame-relay interface-dlci ")]
        if len(pvcs) + len(dlcis) > 1:
            for line in (*pvcs, *dlcis):
                for child in line.children:
                    if child.text.startswith((*_ON_CIRCUIT, "class ")):
                        self._miss(child, line.text)
            return None, ()
        if pvcs:
            return self._pvc(pvcs[0])
        return self._dlci(dlcis[0], name) if dlcis else (None, ())

    def read_unused(self) -> None:
        """Keep what is not understood of the map classes that no circuit uses."""
        for name, held in self._map_classes.items():
            if name not in self._read:
                self._shaped(0, held)

    def _pvc(self, pvc: ConfigLine) -> tuple[CircuitPlan | None, tuple[ConfigLine, ...]]:
        vpi, _, vci = pvc.text.split()[-1].rpartition("/")
        if not (is_number(vpi or "0") and is_number(vci)):
            self._miss(pvc, "")
            return None, ()
        contract: dict[str, int] = {}
        carried: list[ConfigLine] = []
        for line in pvc.children:
            match line.text.split():
                case ["vbr-nrt", peak, sustained, *burst] if all(map(is_number, (peak, sustained, *burst[:1]))):
                    contract = {"peak": int(peak) * 1000, "sustained": int(sustained) * 1000}
                    contract |= {"burst": int(burst[0])} if burst else {}
                case ["cbr", rate] if is_number(rate):
                    contract = {"peak": int(rate) * 1000, "sustained": int(rate) * 1000}
                case ["service-policy", "input" | "output", _] | ["tx-ring-limit", *_]:
                    carried.append(line)
                case [first, *_] if first in _ON_CIRCUIT:
                    self._miss(line, pvc.text)
        return CircuitPlan(vpi=int(vpi or 0), vci=int(vci), **contract), tuple(carried)

    def _dlci(self, dlci: ConfigLine, name: str) -> tuple[CircuitPlan | None, tuple[ConfigLine, ...]]:
        number = dlci.text.split()[2]
        if not is_number(number):
            self._miss(dlci, "")
            return None, ()
        main = main_interface(name)
        named = next((line for line in dlci.children if line.text.startswith("class ")), None)
        named = named or self._on_main.get(name) or self._on_main.get(main)
        if named is None:
            return CircuitPlan(dlci=int(number)), ()
        found_class = self._map_classes.get(named.text.split()[-1])
        if found_class is None or main not in self._shaping:
            # Without shaping on the main interface a map class does nothing.
            self._miss(named, dlci.text)
            return CircuitPlan(dlci=int(number)), ()
        self._read.add(found_class.text.split()[-1])
        return self._shaped(int(number), found_class)

    def _shaped(self, dlci: int, held: ConfigLine) -> tuple[CircuitPlan, tuple[ConfigLine, ...]]:
        limits = capabilities()["frame_relay"]
        cir, burst = limits["cir"]["default"], limits["burst"]["default"]
        guaranteed: int | None = None
        carried: list[ConfigLine] = []
        for line in held.children:
            match [word for word in line.text.split() if word != "out"]:
                case ["frame-relay", "cir", value] if is_number(value):
                    cir = int(value)
                case ["frame-relay", "bc", value] if is_number(value):
                    burst = int(value)
                case ["frame-relay", "mincir", value] if is_number(value):
                    guaranteed = int(value)
                case ["frame-relay", "be", "0"] | ["no", "frame-relay", "adaptive-shaping"]:
                    pass
                case ["frame-relay", "fragment", value] if is_number(value):
                    carried.append(line)
                case ["service-policy", "input" | "output", _]:
                    carried.append(line)
                case ["service-policy", policy]:
                    carried.append(ConfigLine(f"service-policy output {policy}", number=line.number))
                case _:
                    self._miss(line, held.text)
        sustained = guaranteed if guaranteed is not None else cir // 2
        return CircuitPlan(dlci=dlci, peak=cir, sustained=sustained, burst=burst), tuple(carried)
