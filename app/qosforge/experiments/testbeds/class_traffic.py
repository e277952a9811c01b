"""What the classes of a link-sharing tree send: sources of the twin, by the rate that a class is allocated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qosforge.errors import ServiceError
from qosforge.experiments.cases import Json
from qosforge.experiments.testbeds.class_tree import TreeClass

PS = 10**12
_PS_PER_MS = 10**9


def offered_kbps(leaf: TreeClass, sources: Sequence[Mapping[str, Any]], link_kbps: float) -> float:
    """Mean rate that a class's sources send, kb/s; infinite of a greedy one."""
    return sum(_rate_kbps(source, leaf.share * link_kbps) for source in sources)


def _rate_kbps(source: Mapping[str, Any], allocated_kbps: float) -> float:
    if source["kind"] == "tcp":
        return float("inf")
    return float(source["kbps"] if "kbps" in source else source["load"] * allocated_kbps)


def flows(
    leaf: TreeClass, queue: int, sources: Sequence[Mapping[str, Any]], setup: Mapping[str, Any], path: Sequence[str]
) -> list[Json]:
    """The twin's flows of a class, marked with the CoS of its queue; named by the class, numbered from the second.

    A source has ``kind``, its mean rate as ``kbps`` or as ``load`` (parts of the class's rate) and what it needs:
    ``bytes``, ``bucket_bytes`` (a token bucket, of the source's own rate or of ``bucket_load``), ``on_ms`` and
    ``off_ms``.
    """
    allocated = leaf.share * float(setup["link_kbps"])
    return [
        {
            "name": leaf.name if number == 0 else f"{leaf.name}-{number + 1}",
            "path": [list(path)],
            **({"return_path": [["receiver", "in"]]} if source["kind"] == "tcp" else {}),
            "packet": {"cos": queue},
            "source": _source(leaf, source, round(1000 * _rate_kbps(source, allocated)), setup)
            if source["kind"] != "tcp"
            else _greedy(setup),
            **({"samples": True} if setup.get("samples") else {}),
        }
        for number, source in enumerate(sources)
    ]


def silent(leaf: TreeClass, queue: int, path: Sequence[str], end_ps: int) -> Json:
    """The flow of a class that sends nothing before the end, so that what it got is measured as well."""
    return {
        "name": leaf.name,
        "path": [list(path)],
        "packet": {"cos": queue},
        "source": {"kind": "trace", "start_ps": end_ps, "times_ps": [1], "ip_bytes": [40]},
    }


def _source(leaf: TreeClass, source: Mapping[str, Any], rate_bps: int, setup: Mapping[str, Any]) -> Json:
    size = int(source.get("bytes") or _packet_bytes(leaf, setup))
    made: Json = {"kind": source["kind"], "rate_bps": rate_bps, "ip_bytes": size}
    if source["kind"] == "cbr":
        # Any phase within the gap between two packets.
        made["phase_ps"] = size * 8 * PS // rate_bps
    elif source["kind"] == "onoff":
        on, off = (int(source[key] * _PS_PER_MS) for key in ("on_ms", "off_ms"))
        made |= {"on_ps": on, "off_ps": off, "lengths": source.get("lengths", "exponential"), "phase_ps": on + off}
        made["rate_bps"] = round(rate_bps * (on + off) / on)
    elif source["kind"] != "poisson":
        raise ServiceError(
            f"class {leaf.name} has a source of the kind {source['kind']!r}", hint="use cbr, poisson, onoff or tcp"
        )
    if "bucket_bytes" in source:
        allocated_bps = leaf.share * float(setup["link_kbps"]) * 1000
        bucket_bps = round(source["bucket_load"] * allocated_bps) if "bucket_load" in source else rate_bps
        made["bucket"] = {"rate_bps": bucket_bps, "burst_bytes": source["bucket_bytes"]}
    return made


def _packet_bytes(leaf: TreeClass, setup: Mapping[str, Any]) -> int:
    size = setup["packet_bytes"]
    return int(size[leaf.name] if isinstance(size, Mapping) else size)


def _greedy(setup: Mapping[str, Any]) -> Json:
    return {"kind": "tcp", **setup["tcp"]}
