"""What of a run of the INFN-FNAL path belongs to which subject."""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.benches.wan_traffic import Traffic
from app.experiments.cases import Json, Selection


def subjects(traffic: Traffic, sent: Sequence[Json]) -> dict[str, Selection]:
    """The subjects of one scenario by name."""
    link = {"link_mbps": float(traffic.route["line_mbps"])}
    last = f"router{traffic.lines + 1}"
    # Behind the carrier's policer.
    line = (f"router{min(2, traffic.lines)}", "up")
    names = [flow["name"] for flow in sent]

    def named(*starts: str) -> tuple[str, ...]:
        return tuple(name for name in names if name.startswith(starts))

    host = {"host_ms": float(traffic.route["host_mean_ms"])}
    found = {
        "probe": Selection(flows=("robin",), round_trip=True, facts=host),
        "probe.without-timeouts": Selection(flows=("robin",), round_trip=True, without_timeouts=True, facts=host),
        "robin": Selection(flows=("robin",), round_trip=True, facts=host),
        "robin.forward": Selection(flows=("robin",)),
        "line": Selection(port=("router1", "up"), facts=link),
        "line-reverse": Selection(port=(last, "down"), facts=link),
        "output-of-router-1": Selection(port=("router1", "up"), facts=link),
        "input-of-router-1": Selection(port=("infn-tcp", "nic"), facts=link),
    }
    if "probe" in names:
        found["probe-64-bytes"] = Selection(flows=("probe",), round_trip=True, facts=host)
    if tcp := named("forward", "line"):
        found["all-tcp"] = Selection(flows=tcp, port=line, facts=link)
    if back := named("reverse"):
        found["all-tcp-reverse"] = Selection(flows=back, port=(last, "down"), facts=link)
        found.setdefault("all-tcp", found["all-tcp-reverse"])
    if udp := named("udp"):
        found["all-udp"] = found["udp-stream"] = Selection(flows=udp, port=line, facts=link)
    return found
