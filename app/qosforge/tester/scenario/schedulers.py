"""Schedulers and shapers of the twin's scenario, from a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qosforge.plan.model import Discipline, Egress, InterfacePlan, Plan, Queue, Scheduler
from qosforge.plan.shares import expected_shares, priority_burst
from qosforge.tester.scenario.queues import DEFAULT_LIMIT

Json = dict[str, Any]

FIFO: Json = {"kind": "fifo"}
_SHAPE_SECONDS = 0.025
_SHAPE_BURST_BYTES = 1000
"""Committed burst of a shaper that states none: 25 ms of its rate, and 8000 bits below 320 kb/s (IOS shaping,
second-hand: Cisco's text was not at hand)."""
_CONVERSATIONS = ((64_000, 16), (128_000, 32), (256_000, 64), (512_000, 128))
"""Queues of flow-based fair queueing up to a bandwidth in b/s (IOS fair-queue, recalled)."""
_MOST_CONVERSATIONS = 256


@dataclass(frozen=True, slots=True)
class PortService:
    """The service of an interface: the policy that divides it, and the port's shaper around it.

    ``assumed_rate`` (b/s) is what the device takes its shares of, ``shape`` the port's shaper as the twin has it.
    """

    egress: Egress
    scheduler: Scheduler | None
    assumed_rate: int
    shape: Json | None


def port_service(plan: Plan, interface: InterfacePlan, rate: int, line: int) -> PortService:
    """The service of an interface; ``rate`` (b/s) is the part of the ``line``'s rate that it may use.

    A policy that does nothing but shape around another one is the port's shaper. One that lets the whole line pass
    holds nothing.
    """
    # A device takes its percentages of what it believes its rate to be.
    assumed_rate = interface.bandwidth_kbps * 1000 if interface.bandwidth_kbps else rate
    egress = interface.egress
    shapers = [twin_shaper(egress.shape_rate, egress.shape_burst)] if egress.shape_rate else []
    while (inside := egress.dividing) is not egress and inside.scheduler and egress.scheduler:
        if around := egress.scheduler.queues[0].shape_rate:
            shapers.append(twin_shaper(around))
            assumed_rate = min(assumed_rate, around)
        egress = inside
    scheduler = egress.scheduler or plan.system.scheduler
    if scheduler is not None and scheduler.limit_percent is not None:
        shapers.append(twin_shaper(max(1, line * scheduler.limit_percent // 100)))
    tightest = min(shapers, key=lambda each: int(each["rate_bps"]), default=None)
    return PortService(
        egress, scheduler, assumed_rate, tightest if tightest and tightest["rate_bps"] < line else None
    )


def twin_shaper(rate: int, burst: int | None = None) -> Json:
    """A shaper of ``rate`` b/s; ``burst`` in bytes, the usual one unless given."""
    usual = max(_SHAPE_BURST_BYTES, round(rate * _SHAPE_SECONDS / 8))
    return {"rate_bps": rate, "burst_bytes": burst or usual}


def conversations(rate: int) -> int:
    """Queues that flow-based fair queueing hashes its flows into on a line of ``rate`` b/s."""
    return next((count for most, count in _CONVERSATIONS if rate <= most), _MOST_CONVERSATIONS)


def drain_rates(scheduler: Scheduler, rate: int) -> list[int]:
    """The rate (b/s) that each innermost queue drains at where all have traffic, in the order of `leaf_paths`."""
    found: list[int] = []
    for queue, share in zip(scheduler.queues, expected_shares(scheduler, rate), strict=True):
        part = round(share * rate)
        inside = _inside(queue)
        found += drain_rates(inside, max(part, 1)) if inside else [part]
    return found


def leaf_queues(scheduler: Scheduler) -> list[Queue]:
    """The innermost queues, in the order of `leaf_paths`."""
    found: list[Queue] = []
    for queue in scheduler.queues:
        inside = _inside(queue)
        found += leaf_queues(inside) if inside else [queue]
    return found


def twin_scheduler(scheduler: Scheduler, rate: int) -> Json:
    """The discipline that serves the innermost queues on ``rate`` b/s."""
    if any(_inside(queue) for queue in scheduler.queues):
        return {"kind": "tree", "children": _nodes(scheduler, rate, 0)}
    found = _flat(scheduler, rate)
    shapes = {str(i): twin_shaper(q.shape_rate) for i, q in enumerate(scheduler.queues) if q.shape_rate}
    return found | {"shapes": shapes} if shapes else found


def _inside(queue: Queue) -> Scheduler | None:
    """What divides a queue among classes of its own."""
    scheduler = queue.child.scheduler if queue.child else None
    return scheduler if scheduler and scheduler.queues else None


def _nodes(scheduler: Scheduler, rate: int, first: int) -> list[Json]:
    """The classes of a policy as siblings of a tree; ``first`` is the number of its first innermost queue."""
    found = []
    for queue, guaranteed in zip(scheduler.queues, _guarantees(scheduler, rate), strict=True):
        node: Json = {"name": queue.name or f"q{queue.number}"}
        inside = _inside(queue)
        if queue.priority:
            node["priority"] = queue.level or 1
            if queue.capped and inside is None:
                node["police"] = {"rate_bps": guaranteed, "burst_bytes": priority_burst(queue, guaranteed)}
        else:
            node["weight"] = guaranteed
        if queue.shape_rate:
            bucket = twin_shaper(queue.shape_rate)
            node |= {"ceil_bps": bucket["rate_bps"], "burst_bytes": bucket["burst_bytes"]}
        if inside is None:
            node["queue"] = first
            first += 1
        else:
            # Classes inside take their shares of what the class is shaped to, else of its guarantee.
            node["children"] = _nodes(inside, queue.shape_rate or guaranteed, first)
            first += len(leaf_queues(inside))
        found.append(node)
    return found


def _guarantees(scheduler: Scheduler, rate: int) -> list[int]:
    """What each queue has of the rate for sure (b/s), whatever shapes or meters it besides.

    A priority that nothing caps has all of it, and takes nothing from the weights of the others.
    """
    unbound = {"shape_rate": None, "police": None, "child": None}
    queues = tuple(queue.model_copy(update=unbound) for queue in scheduler.queues)
    bare = scheduler.model_copy(update={"queues": queues})
    shares = expected_shares(bare, rate, priority_load=0.0)
    return [
        rate if queue.priority and not queue.capped else max(round(share * rate), 1)
        for queue, share in zip(queues, shares, strict=True)
    ]


def priority_bursts(discipline: Json) -> dict[int, int]:
    """Bytes that each policed priority queue of a discipline lets through at once, by the queue's number."""
    found = {each["queue"]: each["burst_bytes"] for each in discipline.get("priority", ()) if "burst_bytes" in each}
    waiting = list(discipline.get("children", ()))
    while waiting:
        node = waiting.pop()
        if "police" in node:
            found[node["queue"]] = node["police"]["burst_bytes"]
        waiting.extend(node.get("children", ()))
    return found


def _flat(scheduler: Scheduler, rate: int) -> Json:
    queues = scheduler.queues
    strict = [i for i, q in enumerate(queues) if q.priority]
    match scheduler.discipline:
        case Discipline.FIFO:
            return FIFO
        case Discipline.FLOW_WFQ:
            threshold = queues[0].limit_packets or DEFAULT_LIMIT
            return {
                "kind": "wfq",
                "dynamic_queues": conversations(rate),
                "congestive_discard_threshold": threshold,
            }
        case Discipline.STRICT:
            return {"kind": "strict", "order": strict or list(range(len(queues)))}
        case Discipline.LLQ_CBWFQ:
            guaranteed = _guarantees(scheduler, rate)
            return {
                "kind": "cbwfq",
                "priority": [
                    {
                        "queue": i,
                        "rate_bps": guaranteed[i],
                        "level": queues[i].level or 1,
                        "burst_bytes": priority_burst(queues[i], guaranteed[i]),
                    }
                    for i in strict
                ],
                "weights": {str(i): guaranteed[i] for i in range(len(queues)) if i not in strict},
            }
        case Discipline.SRR if len(strict) <= 1:
            weights = {str(i): max(q.share.value, 1) if q.share else 1 for i, q in enumerate(queues)}
            shape = {str(i): q.shape_weight for i, q in enumerate(queues) if q.shape_weight and i not in strict}
            return {
                "kind": "srr",
                "weights": weights,
                "strict": strict[0] if strict else None,
                "shape": shape or None,
            }
    weights = {str(i): max(q.share.value, 1) if q.share else 1 for i, q in enumerate(queues) if i not in strict}
    mode = "packets" if scheduler.discipline is Discipline.WRR else "bytes"
    return {"kind": "strict_wrr", "strict": strict, "weights": weights, "mode": mode}
