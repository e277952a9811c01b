"""What a Linux kernel gives to loads of constant rates, of which several come one after another in one guest.

To start a guest takes longer than to send through it. Before the next load begins, all that queues hold of the last
one has left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qosforge.emulation import run_kernel_router

SECONDS, WARM_UP, PAUSE = 6, 1, 4
FRAME = 1000


@dataclass(frozen=True)
class LoadRun:
    """Packets of a load: the DSCP of each, and when it was sent and received (ns from its start; None: lost)."""

    dscps: tuple[int, ...]
    sent_ns: tuple[int, ...]
    received_ns: tuple[int | None, ...]
    rate: int

    def parts(self) -> dict[int, float]:
        """What each DSCP got of the link after the warm-up."""
        found: dict[int, float] = {}
        for dscp, at in zip(self.dscps, self.received_ns, strict=True):
            if at is not None and WARM_UP * 1e9 < at <= SECONDS * 1e9:
                found[dscp] = found.get(dscp, 0.0) + FRAME * 8 / self.rate / (SECONDS - WARM_UP)
        return found

    def worst_ms(self, dscp: int) -> float:
        """The longest delay of a DSCP's packets in the router."""
        packets = zip(self.dscps, self.sent_ns, self.received_ns, strict=True)
        return max(at - sent for one, sent, at in packets if one == dscp and at is not None) / 1e6

    @property
    def last_ns(self) -> int:
        """When its last packet was received."""
        return max(at for at in self.received_ns if at is not None)


def loaded(tree: Sequence[str], loads: Sequence[Mapping[int, float]], rate: int) -> list[LoadRun]:
    """Send loads through a tree of ``tc`` one after another: parts of a link of ``rate`` b/s by DSCP."""
    dscps: list[int] = []
    packets: list[tuple[int, int]] = []
    ends: list[int] = []
    for number, load in enumerate(loads):
        gaps = [FRAME * 8 / (part * rate) for part in load.values()]
        packets += sorted(
            (_start_ns(number) + round((at + 0.1 * flow) * gap * 1e9), len(dscps) + flow)
            for flow, gap in enumerate(gaps)
            for at in range(int(SECONDS / gap))
        )
        dscps += load
        ends.append(len(packets))
    times, flows = [at for at, _ in packets], [flow for _, flow in packets]
    run = run_kernel_router(tree, dscps, (times, flows, [FRAME] * len(packets)), drain_s=0.5)
    told = [dscps[flow] for flow in flows]
    runs = [
        LoadRun(
            tuple(told[begin:end]),
            tuple(at - _start_ns(number) for at in run.sent_ns[begin:end]),
            tuple(_after(at, number) for at in run.received_ns[begin:end]),
            rate,
        )
        for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False))
    ]
    assert all(run.last_ns < _start_ns(1) for run in runs), "a load was still under way when the next one began"
    return runs


def _start_ns(number: int) -> int:
    return number * (SECONDS + PAUSE) * 10**9


def _after(at: int | None, number: int) -> int | None:
    return None if at is None else at - _start_ns(number)
