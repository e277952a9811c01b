"""A plan's scenario as a configuration of the Open Traffic Generator API, by snappi's models."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from qosforge.errors import InputError, Place, TesterError
from qosforge.inventory.probes import OtgController, OtgPort
from qosforge.tester.measurement_plan import MeasurementPlan, PlannedFlow, PlannedScenario

ETHERNET_BYTES = 18
"""Header and check sequence, which a flow's size counts."""


def stations_ports(plan: MeasurementPlan, controller: OtgController) -> dict[str, OtgPort]:
    """The tester's port of each station of the traffic.

    Raises:
        InputError: one has none.
    """
    known = {port.station: port for port in controller.ports}
    missing = [name for name in plan.stations if name not in known]
    if missing:
        raise InputError(
            f"no port of the traffic generator is in the place of {', '.join(missing)}",
            Place(file="probes.yaml", path="otg.ports"),
            "give each station of the traffic one: its `station`, `location` and `gateway`",
        )
    return {name: known[name] for name in plan.stations}


def otg_configuration(snappi: Any, scenario: PlannedScenario, ports: Mapping[str, OtgPort]) -> Any:
    """The configuration of a scenario: a port and a device for each station, and its flows.

    Raises:
        TesterError: a flow cannot be said in it.
    """
    config = snappi.Config()
    stations = {s.name: s for flow in scenario.flows for s in (flow.source, flow.target)}
    for number, (name, station) in enumerate(stations.items(), start=1):
        port = ports[name]
        config.ports.port(name=name, location=port.location)
        ethernet = config.devices.device(name=f"{name} host")[-1].ethernets.ethernet()[-1]
        ethernet.name, ethernet.mac = f"{name} ethernet", f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"
        ethernet.connection.port_name = name
        if ip_address(station.address).version == 6:
            address = ethernet.ipv6_addresses.ipv6(name=_address_name(name))[-1]
        else:
            address = ethernet.ipv4_addresses.ipv4(name=_address_name(name))[-1]
        address.address, address.gateway, address.prefix = station.address, str(port.gateway), port.prefix
    for flow in scenario.flows:
        _add_flow(config, flow, scenario.seconds)
    return config


def _address_name(station: str) -> str:
    return f"{station} address"


def _add_flow(config: Any, flow: PlannedFlow, seconds: int) -> None:
    source = flow.described.source
    if source.kind != "cbr":
        raise TesterError(
            f"flow {flow.name}: Open Traffic Generator has no {source.kind}",
            hint="describe it as cbr, or measure with probes or the twin",
        )
    added = config.flows.flow(name=flow.name)[-1]
    added.tx_rx.device.tx_names = [_address_name(flow.source.name)]
    added.tx_rx.device.rx_names = [_address_name(flow.target.name)]
    if ip_address(flow.target.address).version == 6:
        _, header, udp = added.packet.ethernet().ipv6().udp()
        header.traffic_class.value = flow.described.dscp << 2
    else:
        _, header, udp = added.packet.ethernet().ipv4().udp()
        header.priority.dscp.phb.value = flow.described.dscp
    header.src.value, header.dst.value = flow.source.address, flow.target.address
    udp.src_port.value, udp.dst_port.value = flow.source_port, flow.described.dst_port
    added.size.fixed = source.ip_bytes + ETHERNET_BYTES
    added.rate.pps = max(1, round((source.rate or 0) / (source.ip_bytes * 8)))
    added.duration.fixed_seconds.seconds = seconds
    added.metrics.enable = added.metrics.loss = added.metrics.latency.enable = True
    added.metrics.latency.mode = added.metrics.latency.STORE_FORWARD
