"""A plan for the router in the guest: what tc is told, and every packet with its time; and what came of it."""

from __future__ import annotations

import json
import re
import shlex
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from qoslab.errors import SpecError
from qoslab.virtual_time.machine import boot

NS = 10**9
SMALLEST_FRAME = 60
LARGEST_FRAME = 1514
MOST_PACKETS = 1_000_000
_KB_OF_A_PACKET = 3
_PLAIN = re.compile(rb'"options":\{\w[^"{}]{1,200}\}')
"""Options that ``tc`` prints as plain text in its JSON, as those of ``hfsc`` (tc/q_hfsc.c)."""
_MB_OF_THE_REST = 192


class Mark(NamedTuple):
    """One flow's DSCP; its packets come from UDP port 5000 and its number."""

    dscp: int


class Packets(NamedTuple):
    """The packets of all flows in order of time: when (ns from the start), of which flow, and bytes of its frame.

    A frame is counted as tc does: with its Ethernet header (14 bytes) and without check sequence.
    """

    times_ns: Sequence[int]
    flows: Sequence[int]
    frame_bytes: Sequence[int]


@dataclass(frozen=True, slots=True)
class RouterPlan:
    """``commands`` are entered on the router before the traffic; its interface to the receiver is ``out``.

    ``drain_s`` is how long the guest waits after the last packet was sent.
    """

    commands: tuple[str, ...]
    flows: tuple[Mark, ...]
    packets: Packets
    drain_s: float = 2.0


@dataclass(frozen=True, slots=True)
class RouterRun:
    """When each packet of the plan was sent and received, in ns from the start; received is None where it was lost.

    ``qdiscs`` are the kernel's own counters, by queueing discipline (``tc -s -j qdisc``).
    """

    kernel: str
    sent_ns: tuple[int, ...]
    received_ns: tuple[int | None, ...]
    qdiscs: Any


def run_router(plan: RouterPlan, *, seconds: float = 600.0) -> RouterRun:
    """Run a plan on the router of a guest in virtual time.

    Raises SpecError for a wrong plan, PartMissing, and LabError where the guest fails (with what tc said).
    """
    _check(plan)
    times, flows, sizes = plan.packets
    count = len(times)
    memory = _MB_OF_THE_REST + count * _KB_OF_A_PACKET // 1024
    guest = boot(
        {
            "main": b". /guest/router\n",
            "commands": "".join(f"{_command(command)}\n" for command in plan.commands).encode(),
            "times": array("Q", times).tobytes(),
            "flows": array("H", flows).tobytes(),
            "sizes": array("H", sizes).tobytes(),
            "tos": array("B", [flow.dscp << 2 for flow in plan.flows]).tobytes(),
            "drain": f"{plan.drain_s}\n".encode(),
        },
        memory_mb=memory,
        seconds=seconds,
    )
    begin, *sent = array("Q", guest.results["sent"])
    received = array("Q", guest.results["received"])
    return RouterRun(
        kernel=guest.results["kernel"].decode().strip(),
        sent_ns=tuple(at - begin for at in sent),
        received_ns=tuple(at - begin if at else None for at in received),
        qdiscs=json.loads(_PLAIN.sub(rb'"options":{}', guest.results["qdiscs"]) or "[]"),
    )


def _command(text: str) -> str:
    words = shlex.split(text)
    if not words or words[0] not in ("tc", "ip"):
        raise SpecError(f"{text!r} is no command of tc or ip")
    return shlex.join(words)


def _check(plan: RouterPlan) -> None:
    times, flows, sizes = plan.packets
    if not len(times) == len(flows) == len(sizes) <= MOST_PACKETS or not times:
        raise SpecError(f"a plan has 1 to {MOST_PACKETS} packets, each with time, flow and size")
    if any(later < earlier for earlier, later in pairwise(times)) or times[0] < 0:
        raise SpecError("packets stand in order of time, from 0 on")
    if not all(0 <= flow < len(plan.flows) for flow in flows):
        raise SpecError("a packet is of a flow that the plan does not have")
    if not all(SMALLEST_FRAME <= size <= LARGEST_FRAME for size in sizes):
        raise SpecError(f"frames have {SMALLEST_FRAME} to {LARGEST_FRAME} bytes")
    if not all(0 <= flow.dscp < 64 for flow in plan.flows):
        raise SpecError("a DSCP is 0 to 63")
