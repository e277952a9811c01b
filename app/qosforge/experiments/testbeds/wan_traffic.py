"""Who sends what over the path of the INFN-FNAL tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from qosforge.experiments.cases import read_described
from qosforge.twin.described import read_source
from qosforge.twin.scenario import PS, FlowSpec, PacketSpec, PortName
from qosforge.twin.sources import CbrSource, IndependentPhase

HEADERS = 28
"""IP and UDP, bytes."""
CELL_BYTES, CELL_PAYLOAD = 53, 48
AAL5_SNAP = 16
"""LLC/SNAP header and AAL5 trailer, bytes (RFC 2684)."""
ROBIN_SERVER, LOAD_SERVER, LOAD_CLIENT = "192.190.218.1", "192.190.218.2", "192.168.190.12"
"""Addresses of the appendices: the hardware under remote control, and the load at both ends."""


@dataclass(frozen=True)
class WanTraffic:
    """One scenario's traffic over a path with so many lines."""

    route: Mapping[str, Any]
    setup: Mapping[str, Any]
    scenario: Mapping[str, Any]
    lines: int

    @property
    def stations(self) -> dict[str, int]:
        """Stations by name, and the number of the router each stands at."""
        last = self.lines + 1
        ends = {"robin": 1, "infn-tcp": 1, "infn-udp": 1, "vme": last, "fnal": last}
        hops = range(2, last) if "tcp_each_line" in self.scenario else ()
        return ends | {f"hop{number}": number for number in hops}

    def line_seconds(self, ip_bytes: int) -> float:
        """How long a line sends an IP packet."""
        return cell_bits(ip_bytes) / (float(self.route["line_mbps"]) * 1e6)

    def way(self, source: str, target: str) -> tuple[PortName, ...]:
        """Egress ports from one station to another."""
        start, end = self.stations[source], self.stations[target]
        if start <= end:
            between = [(f"router{number}", "up") for number in range(start, end)]
        else:
            between = [(f"router{number}", "down") for number in range(start, end, -1)]
        return ((source, "nic"), *between, (f"router{end}", target))

    def answered(self, name: str, ends: tuple[str, str], packet: PacketSpec, source: Mapping[str, Any]) -> FlowSpec:
        """A flow from one station to another that is answered; ``source`` has the twin's keys."""
        start, end = ends
        return FlowSpec(
            name=name,
            path=self.way(start, end),
            return_path=self.way(end, start),
            packet=packet,
            source=read_described(read_source, source),
        )


def cell_bits(ip_bytes: int) -> int:
    """Bits on the line of an IP packet in AAL5 with LLC/SNAP."""
    return math.ceil((ip_bytes + AAL5_SNAP) / CELL_PAYLOAD) * CELL_BYTES * 8


def flows(traffic: WanTraffic) -> list[FlowSpec]:
    """All flows of the scenario: probes and remote control first."""
    scenario = traffic.scenario
    sent = [
        *([_remote_control(traffic)] if scenario.get("remote_control", True) else ()),
        *([_pings(traffic)] if scenario.get("probe") else ()),
        *_udp(traffic),
    ]
    sent += _greedy(traffic, "forward", "infn-tcp", "fnal", scenario.get("tcp_forward", 0))
    sent += _greedy(traffic, "reverse", "fnal", "infn-tcp", scenario.get("tcp_reverse", 0))
    if "tcp_each_line" in scenario:
        along = ["infn-tcp", *(f"hop{number}" for number in range(2, traffic.lines + 1)), "fnal"]
        for line, (source, target) in enumerate(pairwise(along), 1):
            sent += _greedy(traffic, f"line{line}", source, target, scenario["tcp_each_line"])
    return sent


def _pings(traffic: WanTraffic) -> FlowSpec:
    return traffic.answered(
        "probe",
        ("robin", "vme"),
        PacketSpec(src=LOAD_CLIENT, dst=ROBIN_SERVER, dst_port=7),
        {
            "kind": "udp_echo",
            "ip_bytes": traffic.route["idle_rtt_bytes"],
            **_asking(traffic, "interval_ps"),
        },
    )


def _remote_control(traffic: WanTraffic) -> FlowSpec:
    robin = traffic.route["robin"]
    return traffic.answered(
        "robin",
        ("robin", "vme"),
        PacketSpec(src=LOAD_CLIENT, dst=ROBIN_SERVER, dst_port=5000, application="robin"),
        {
            "kind": "tcp_session",
            "request_bytes": robin["request_bytes"],
            "response_bytes": robin["response_bytes"],
            "receive_window_bytes": robin["socket_bytes"],
            "send_buffer_bytes": robin["socket_bytes"],
            **_asking(traffic, "period_ps"),
            **traffic.route["tcp"],
        },
    )


def _asking(traffic: WanTraffic, spacing: str) -> dict[str, Any]:
    """When it is asked, in the measured time only, and how soon the host answers."""
    every = traffic.route["robin"]["every_s"] * PS
    return {
        spacing: {"kind": "uniform", "min": round(every * 0.5), "max": round(every * 1.5)},
        "server_ps": {"kind": "exponential", "min": 0, "mean": round(traffic.route["host_mean_ms"] * PS / 1000)},
        "start_ps": round(traffic.setup["warm_up"] * PS),
    }


def _greedy(traffic: WanTraffic, name: str, source: str, target: str, count: int) -> list[FlowSpec]:
    greedy = traffic.route["greedy"]
    back = name == "reverse"
    described = {
        "kind": "tcp",
        "receive_window_bytes": greedy["socket_bytes"],
        "send_buffer_bytes": greedy["socket_bytes"],
        "phase_ps": round(greedy["start_within_s"] * PS),
        **traffic.route["tcp"],
    }
    return [
        traffic.answered(
            f"{name}{number}",
            (source, target),
            PacketSpec(
                src=LOAD_SERVER if back else LOAD_CLIENT,
                dst=LOAD_CLIENT if back else LOAD_SERVER,
                src_port=1024 + number,
                dst_port=40000 + number,
            ),
            described,
        )
        for number in range(count)
    ]


def _udp(traffic: WanTraffic) -> list[FlowSpec]:
    """Constant streams, each with a clock of its own."""
    udp = traffic.scenario.get("udp", {})
    streams = [
        {**stream, "port": stream["port"] + number}
        for stream in udp.get("streams", ())
        for number in range(stream.get("count", 1))
    ]
    return [
        FlowSpec(
            name=f"udp{stream['port']}",
            path=traffic.way("infn-udp", "fnal"),
            packet=PacketSpec(src=LOAD_CLIENT, dst=LOAD_SERVER, dst_port=stream["port"]),
            source=CbrSource(
                ip_bytes=stream["payload_bytes"] + HEADERS,
                rate_bps=round(stream["packets_per_second"] * (stream["payload_bytes"] + HEADERS) * 8),
                phase=IndependentPhase(ppm_within=traffic.setup["clock_ppm"]),
            ),
        )
        for stream in streams
    ]
