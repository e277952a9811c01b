"""What of a run of the INFN-FNAL path belongs to which subject."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from qosforge.experiments.cases import SubjectSelection
from qosforge.experiments.testbeds.wan_traffic import WanTraffic, cell_bits
from qosforge.plan.fluid import FluidClass, throughput
from qosforge.twin.scenario import FlowSpec
from qosforge.twin.sources import CbrSource

FULL_PACKET = 1500
"""IP bytes of a full TCP segment on Ethernet."""


def subjects(traffic: WanTraffic, sent: Sequence[FlowSpec]) -> dict[str, SubjectSelection]:
    """The subjects of one scenario by name."""
    link = {"link_mbps": float(traffic.route["line_mbps"])}
    last = f"router{traffic.lines + 1}"
    # Behind the carrier's policer.
    line = (f"router{min(2, traffic.lines)}", "up")
    names = [flow.name for flow in sent]

    def named(*starts: str) -> tuple[str, ...]:
        return tuple(name for name in names if name.startswith(starts))

    packet = {"packet_ms": traffic.line_seconds(FULL_PACKET) * 1000}
    found = {
        "line": SubjectSelection(port=("router1", "up"), facts=link),
        "line-reverse": SubjectSelection(port=(last, "down"), facts=link),
        "output-of-router-1": SubjectSelection(port=("router1", "up"), facts=link),
        "input-of-router-1": SubjectSelection(port=("infn-tcp", "nic"), facts=link),
    }
    if "robin" in names:
        for subject in ("probe", "robin"):
            clean = SubjectSelection(flows=("robin",), round_trip=True, without_timeouts=True, facts=packet)
            found[subject] = clean
            found[f"{subject}.with-timeouts"] = replace(clean, without_timeouts=False)
        found["robin.forward"] = SubjectSelection(flows=("robin",))
    if "probe" in names:
        found["probe-64-bytes"] = SubjectSelection(flows=("probe",), round_trip=True)
    if tcp := named("forward", "line"):
        found["all-tcp"] = SubjectSelection(flows=tcp, port=line, facts=link)
    if back := named("reverse"):
        found["all-tcp-reverse"] = SubjectSelection(flows=back, port=(last, "down"), facts=link)
        found.setdefault("all-tcp", found["all-tcp-reverse"])
    if udp := named("udp"):
        carried = {} if tcp else {"throughput_mbps": _carried(traffic, sent)}
        found["all-udp"] = found["udp-stream"] = SubjectSelection(
            flows=udp, port=line, facts=link, expected=carried
        )
        found["udp-50001-to-50006"] = SubjectSelection(flows=named(*(f"udp{port}" for port in range(50001, 50007))))
    if "routers" in traffic.scenario:
        found["robin.queue"] = SubjectSelection(port=("router1", "up"), queues=("pre7",), facts=link)
    return found


def _carried(traffic: WanTraffic, sent: Sequence[FlowSpec]) -> float:
    """What the line carries of constant streams in the fluid model, Mb/s of cells."""
    sources = [flow.source for flow in sent if isinstance(flow.source, CbrSource)]
    offered = math.fsum(
        source.rate_bps / source.ip_bytes / 8 * cell_bits(source.ip_bytes)
        for source in sources
        if isinstance(source.ip_bytes, int)
    )
    line = FluidClass("line", children=(FluidClass("udp", offered=offered / 1e6),))
    return throughput(line, float(traffic.route["line_mbps"]))["udp"]
