"""Sources of the twin's scenario, from descriptions of flows, and the sender clocks of replications."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from msgspec.structs import replace

from qosforge.errors import InputError, Place
from qosforge.inventory.models import TrafficFlow
from qosforge.tester.scenario.traces import Trace, read_traces
from qosforge.tester.scenario.traffic import TCP_HEADERS
from qosforge.twin.scenario import PS
from qosforge.twin.sources import CbrSource, PoissonSource, SourceSpec, TcpSource, TraceSource, VideoSource

PHASE_SECONDS = 0.5
"""Flows begin at a random moment within this time, so that they are not in step."""
RECEIVE_WINDOW_BYTES = 17_520
"""TCP window of the greedy transfers: twelve segments of 1460 bytes, the default of hosts of the campus paper's
time. Where segments are larger it holds twelve of those."""
_WINDOW_SEGMENTS = 12
CLOCK_PPM = 50
"""Clocks of senders lie within this many millionths of their rate, the accuracy that IEEE 802.3 asks of Ethernet's
being 100: drawn anew for each flow and replication."""


def with_own_clock(source: SourceSpec, factor: float) -> SourceSpec:
    """The source by a sender's clock, so many times as fast as it should be; TCP and Poisson have none.

    A recording begins at a random moment too: sent at the same one, it would be the same in every replication.
    """
    match source:
        case CbrSource():
            return replace(source, rate_bps=round(source.rate_bps * factor))
        case VideoSource():
            return replace(source, frame_rate=source.frame_rate * factor)
        case TraceSource():
            slower = Fraction(factor)
            times = tuple(round(at / slower) for at in source.times_ps)
            return replace(source, times_ps=times, phase_ps=round(PHASE_SECONDS * PS))
    return source


def twin_source(flow: TrafficFlow) -> SourceSpec:
    """The twin's source of a flow.

    Raises:
        InputError: a recording cannot be read, or does not say which of its flows is meant.
    """
    source = flow.source
    start, phase = round(flow.start * PS), round(PHASE_SECONDS * PS)
    match source.kind:
        case "tcp":
            mss = source.ip_bytes - TCP_HEADERS
            window = max(RECEIVE_WINDOW_BYTES, _WINDOW_SEGMENTS * mss)
            return TcpSource(mss=mss, receive_window_bytes=window, start_ps=start, phase_ps=phase)
        case "trace":
            return _trace_of(flow).source(start_ps=start)
        case "video":
            return VideoSource(
                frame_rate=source.frames_per_second or 0,
                frame_bytes_mean=source.frame_bytes or 0,
                frame_bytes_sd=source.frame_bytes_sd or 0,
                ip_bytes=source.ip_bytes,
                start_ps=start,
                phase_ps=phase,
            )
    regular = CbrSource if source.kind == "cbr" else PoissonSource
    return regular(rate_bps=source.rate or 0, ip_bytes=source.ip_bytes, start_ps=start, phase_ps=phase)


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
