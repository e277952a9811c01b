"""Interfaces of a plan as text, with the map classes of their circuits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.inventory.models import Framing
from qosforge.plan.model import CircuitPlan, InterfacePlan, InterfacePolicer, Plan
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.cisco_ios.circuits import MapClass, main_interface, map_class
from qosforge.platforms.cisco_ios.trains import has
from qosforge.platforms.mqc.policers import action_words
from qosforge.templating import render


@dataclass(frozen=True)
class _RateLimit:
    """A ``rate-limit`` line; ``most`` is the extended burst, the same as the normal one where there is none."""

    side: str
    access_list: str | None
    rate: int
    burst: int
    most: int
    conform: str
    exceed: str


def map_classes(plan: Plan) -> Iterator[tuple[str, str]]:
    """Names and texts of the Frame Relay map classes of a plan."""
    for interface in plan.interfaces:
        found_class = map_class(interface)
        if found_class is not None:
            yield found_class.name, render("cisco_ios/map_class.j2", map_class=found_class)


def interfaces(plan: Plan, request: DeviceRequest) -> Iterator[tuple[str, str]]:
    """Names and texts of the interfaces of a plan, and of those whose circuits have to be shaped."""
    shaped = {i.name: found_class for i in plan.interfaces if (found_class := map_class(i)) is not None}
    shaping = dict.fromkeys(main_interface(name) for name in shaped)
    framings = {i.name: i.framing for i in request.interfaces}
    for name in shaping:
        if plan.interface(name) is None:
            yield name, render("cisco_ios/main_interface.j2", name=name)
    for interface in plan.interfaces:
        yield (
            interface.name,
            _interface(
                request,
                interface,
                framings.get(interface.name),
                shaped.get(interface.name),
                interface.name in shaping,
            ),
        )


def _interface(
    request: DeviceRequest,
    interface: InterfacePlan,
    framing: Framing | None,
    shaped: MapClass | None,
    shaping: bool,
) -> str:
    circuit = interface.circuit or CircuitPlan()
    policers = (("input", interface.ingress.policers), ("output", interface.egress.policers))
    relayed = framing is Framing.FRAME_RELAY
    return render(
        "cisco_ios/interface.j2",
        interface=interface,
        kind=" point-to-point" if interface.circuit and "." in interface.name else "",
        shaping=shaping,
        dlci=circuit.dlci,
        map_class=shaped,
        pvc=None if circuit.vci is None else f"{circuit.vpi}/{circuit.vci}",
        contract=_contract(circuit),
        rate_limits=[_rate_limit(side, policer) for side, held in policers for policer in held],
        fragment_delay="fragment delay" if has(request, "multilink_fragment_delay") else "fragment-delay",
        compression="frame-relay ip rtp" if relayed else "ip rtp",
        # HDLC lines and Frame Relay compress in the device's own format only (QoS guide, header compression).
        format="" if relayed or framing is Framing.HDLC else " iphc-format",
    )


def _contract(circuit: CircuitPlan) -> str | None:
    """The service category of a PVC; None where it is not known whole, and stays as it is."""
    if circuit.vci is None or None in (circuit.peak, circuit.sustained, circuit.burst):
        return None
    assert circuit.peak is not None
    assert circuit.sustained is not None
    return f"vbr-nrt {circuit.peak // 1000} {circuit.sustained // 1000} {circuit.burst}"


def _rate_limit(side: str, policer: InterfacePolicer) -> _RateLimit:
    police = policer.police
    return _RateLimit(
        side=side,
        access_list=policer.access_list,
        rate=police.rate,
        burst=police.burst,
        most=police.excess_burst or police.burst,
        conform=action_words(police.conform, str),
        exceed=action_words(police.exceed, str),
    )
