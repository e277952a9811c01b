"""What the classes of a link-sharing tree send: sources of the twin, by the rate that a class is allocated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qosforge.errors import ServiceError
from qosforge.experiments.cases import read_described
from qosforge.experiments.testbeds.class_tree import TreeClass
from qosforge.twin.described import read_source
from qosforge.twin.scenario import PS, FlowSpec, PacketSpec, PortName
from qosforge.twin.sources import BucketSpec, CbrSource, OnOffSource, PoissonSource, SourceSpec, TraceSource

_PS_PER_MS = 10**9


def offered_kbps(leaf: TreeClass, sources: Sequence[Mapping[str, Any]], link_kbps: float) -> float:
    """Mean rate that a class's sources send, kb/s; infinite of a greedy one."""
    return sum(_rate_kbps(source, leaf.share * link_kbps) for source in sources)


def _rate_kbps(source: Mapping[str, Any], allocated_kbps: float) -> float:
    if source["kind"] == "tcp":
        return float("inf")
    return float(source["kbps"] if "kbps" in source else source["load"] * allocated_kbps)


def flows(
    leaf: TreeClass, queue: int, sources: Sequence[Mapping[str, Any]], setup: Mapping[str, Any], path: PortName
) -> list[FlowSpec]:
    """The twin's flows of a class, marked with the CoS of its queue; named by the class, numbered from the second.

    A source has ``kind``, its mean rate as ``kbps`` or as ``load`` (parts of the class's rate) and what it needs:
    ``bytes``, ``bucket_bytes`` (a token bucket, of the source's own rate or of ``bucket_load``), ``on_ms`` and
    ``off_ms``.
    """
    allocated = leaf.share * float(setup["link_kbps"])
    return [
        FlowSpec(
            name=leaf.name if number == 0 else f"{leaf.name}-{number + 1}",
            path=(path,),
            return_path=(("receiver", "in"),) if source["kind"] == "tcp" else None,
            packet=PacketSpec(cos=queue),
            source=_source(leaf, source, round(1000 * _rate_kbps(source, allocated)), setup)
            if source["kind"] != "tcp"
            else _greedy(setup),
            samples=bool(setup.get("samples")),
        )
        for number, source in enumerate(sources)
    ]


def silent(leaf: TreeClass, queue: int, path: PortName, end_ps: int) -> FlowSpec:
    """The flow of a class that sends nothing before the end, so that what it got is measured as well."""
    return FlowSpec(
        name=leaf.name,
        path=(path,),
        packet=PacketSpec(cos=queue),
        source=TraceSource(start_ps=end_ps, times_ps=(1,), ip_bytes=(40,)),
    )


def _source(leaf: TreeClass, source: Mapping[str, Any], rate_bps: int, setup: Mapping[str, Any]) -> SourceSpec:
    size = int(source.get("bytes") or _packet_bytes(leaf, setup))
    bucket = None
    if "bucket_bytes" in source:
        allocated_bps = leaf.share * float(setup["link_kbps"]) * 1000
        bucket_bps = round(source["bucket_load"] * allocated_bps) if "bucket_load" in source else rate_bps
        bucket = BucketSpec(rate_bps=bucket_bps, burst_bytes=source["bucket_bytes"])
    match source["kind"]:
        case "cbr":
            # Any phase within the gap between two packets.
            gap = size * 8 * PS // rate_bps
            return CbrSource(rate_bps=rate_bps, ip_bytes=size, phase_ps=gap, bucket=bucket)
        case "poisson":
            return PoissonSource(rate_bps=rate_bps, ip_bytes=size, bucket=bucket)
        case "onoff":
            on, off = (int(source[key] * _PS_PER_MS) for key in ("on_ms", "off_ms"))
            return OnOffSource(
                rate_bps=round(rate_bps * (on + off) / on),
                ip_bytes=size,
                on_ps=on,
                off_ps=off,
                lengths=source.get("lengths", "exponential"),
                phase_ps=on + off,
                bucket=bucket,
            )
    raise ServiceError(
        f"class {leaf.name} has a source of the kind {source['kind']!r}", hint="use cbr, poisson, onoff or tcp"
    )


def _packet_bytes(leaf: TreeClass, setup: Mapping[str, Any]) -> int:
    size = setup["packet_bytes"]
    return int(size[leaf.name] if isinstance(size, Mapping) else size)


def _greedy(setup: Mapping[str, Any]) -> SourceSpec:
    return read_described(read_source, {"kind": "tcp", **setup["tcp"]})
