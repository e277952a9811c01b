"""Sources of the twin's scenario, from descriptions of flows, and the sender clocks of replications."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from qosforge.errors import InputError, Place
from qosforge.inventory.models import TrafficFlow
from qosforge.tester.scenario.traces import Trace, read_traces
from qosforge.tester.scenario.traffic import TCP_HEADERS

Json = dict[str, Any]

PS = 10**12
PHASE_SECONDS = 0.5
"""Flows begin at a random moment within this time, so that they are not in step."""
RECEIVE_WINDOW_BYTES = 17_520
"""TCP window of the greedy transfers: twelve segments of 1460 bytes, the default of hosts of the campus paper's
time. Where segments are larger it holds twelve of those."""
_WINDOW_SEGMENTS = 12
CLOCK_PPM = 50
"""Clocks of senders lie within this many millionths of their rate, the accuracy that IEEE 802.3 asks of Ethernet's
being 100: drawn anew for each flow and replication."""


def with_own_clock(sending: Json, factor: float) -> Json:
    """What a sender's clock, so many times as fast as it should be, makes of its source; TCP and Poisson have none.

    A recording begins at a random moment too: sent at the same one, it would be the same in every replication.
    """
    match sending["kind"]:
        case "cbr":
            return {"rate_bps": round(sending["rate_bps"] * factor)}
        case "video":
            return {"frame_rate": sending["frame_rate"] * factor}
        case "trace":
            slower = Fraction(factor)
            times = [round(at / slower) for at in sending["times_ps"]]
            return {"times_ps": times, "phase_ps": round(PHASE_SECONDS * PS)}
    return {}


def twin_source(flow: TrafficFlow) -> Json:
    """The twin's source of a flow.

    Raises:
        InputError: a recording cannot be read, or does not say which of its flows is meant.
    """
    source = flow.source
    common: Json = {"start_ps": round(flow.start * PS), "phase_ps": round(PHASE_SECONDS * PS)}
    match source.kind:
        case "tcp":
            mss = source.ip_bytes - TCP_HEADERS
            window = max(RECEIVE_WINDOW_BYTES, _WINDOW_SEGMENTS * mss)
            return {"kind": "tcp", "mss": mss, "receive_window_bytes": window, **common}
        case "trace":
            return {**_trace_of(flow).source(), "start_ps": common["start_ps"]}
        case "video":
            return {
                "kind": "video",
                "frame_rate": source.frames_per_second,
                "frame_bytes_mean": source.frame_bytes,
                "frame_bytes_sd": source.frame_bytes_sd or 0,
                "ip_bytes": source.ip_bytes,
                **common,
            }
    return {"kind": source.kind, "rate_bps": source.rate, "ip_bytes": source.ip_bytes, **common}


def _trace_of(flow: TrafficFlow) -> Trace:
    """What a trace source sends.

    Raises:
        InputError: the file cannot be read, or does not say which of its flows is meant.
    """
    path = Path(flow.source.file or "")
    traces = read_traces(path)
    wanted = [t for t in traces if flow.source.flow in (None, t.flow)]
    if len(wanted) != 1:
        names = ", ".join(repr(t.flow) for t in traces)
        problem = f"flow {flow.name}: {len(wanted)} recorded flows are meant"
        raise InputError(problem, Place(file=str(path)), f"name one of {names} as the source's flow")
    return wanted[0]
