"""What one port's line did, packet by packet, told from nothing but sending times and delays."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Carried:
    """A packet that was carried: `start_ps` to `end_ps` on the line."""

    start_ps: int
    end_ps: int
    arrival_ps: int
    queue: int
    flow: str


def carried(scenario: dict[str, Any], result: dict[str, Any]) -> list[Carried]:
    """The packets of a port without framing or propagation, in the order of their last bits.

    Every flow must have samples and packets of one size; its CoS is its queue.
    """
    rate = scenario["links"][0]["rate_bps"]
    found = []
    for flow, report in zip(scenario["flows"], result["flows"], strict=True):
        time = flow["source"]["ip_bytes"] * 8 * 10**12 // rate
        for sent, delay in report["samples"]:
            if delay >= 0:
                end = sent + delay
                found.append(Carried(end - time, end, sent, flow["packet"]["cos"], flow["name"]))
    return sorted(found, key=lambda packet: packet.end_ps)


def check_line(packets: list[Carried]) -> None:
    """The line carries one packet at a time, none before it came, and those of a flow in order."""
    before = 0
    last: dict[str, int] = {}
    for packet in packets:
        assert packet.start_ps >= max(before, packet.arrival_ps), packet
        assert packet.arrival_ps >= last.get(packet.flow, 0), f"{packet} overtook one of its flow"
        before = packet.end_ps
        last[packet.flow] = packet.arrival_ps


def check_never_idle_with_a_backlog(packets: list[Carried]) -> None:
    """While the line rests no packet waits: whatever goes after a rest came at its end or later."""
    first_to_come = 1 << 63
    for before, after in zip(reversed([None, *packets[:-1]]), reversed(packets), strict=True):
        first_to_come = min(first_to_come, after.arrival_ps)
        rest_from = before.end_ps if before else 0
        if after.start_ps > rest_from:
            assert first_to_come >= after.start_ps, f"the line rests from {rest_from} to {after.start_ps}"


def check_no_priority_inversion(packets: list[Carried], levels: tuple[frozenset[int], ...], hardware: int) -> None:
    """When a packet is taken for the hardware, none of a higher level waits.

    The hardware holds `hardware` packets, the one on the line included: the place of packet k is free when packet
    k - `hardware` has left. What comes in the same picosecond may come before or after.
    """
    level = {queue: place for place, queues in enumerate(levels) for queue in queues}
    never = 1 << 63
    waiting = [never] * len(levels)
    for k in range(len(packets) - 1, -1, -1):
        packet = packets[k]
        free = packets[k - hardware].end_ps if k >= hardware else 0
        taken = max(packet.arrival_ps, free)
        own = level[packet.queue]
        assert min(waiting[:own], default=never) >= taken, f"{packet} went before one of a higher level"
        waiting[own] = min(waiting[own], packet.arrival_ps)
