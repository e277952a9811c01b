"""The configuration objects of a Linux router's plan: a tree of queues for each interface, and the rules of all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napalm_linux_tc.fair import USUAL_FLOWS, fair_words
from napalm_linux_tc.gred import gred_words
from napalm_linux_tc.red import red_words
from napalm_linux_tc.turns import filter_words as untold_words
from napalm_linux_tc.virtual_queues import PREFERENCES, filter_words, holder_words

from qosforge.plan.model import Egress, InterfacePlan, Plan, Queue, Rule, Scheduler, Term
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.platforms.blocks import BlockWriter
from qosforge.platforms.linux_tc.available import available_schedulers
from qosforge.platforms.linux_tc.bands import (
    Band,
    band_words,
    class_id,
    has_bands,
    has_inner_tree,
    is_strict,
)
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES, held_burst
from qosforge.platforms.linux_tc.class_tree import every_queue, queues_in, rest_of
from qosforge.platforms.linux_tc.numbering import ABOVE, BANDS, WHOLE, minor
from qosforge.platforms.linux_tc.sharing import SharedClass, curves, rate_of
from qosforge.platforms.linux_tc.trees import burst, waiting_bytes
from qosforge.platforms.linux_tc.turns import Turn, has_turns, turn_id
from qosforge.platforms.linux_tc.virtual_queues import Marks, numbers, profiles_by_dscp

R2Q = 10
"""By which the kernel divides the rate of a class without a quantum, where nothing is said (sch_htb.c)."""


@dataclass(frozen=True)
class HtbClass:
    """A class of a tree as tc takes it: rates in its words, buckets and quantum in bytes."""

    number: str
    prio: int
    rate: str
    ceil: str
    burst: int
    cburst: int
    quantum: int
    queue: tuple[str, ...]
    """The words of the queue below it, and those of its virtual queues."""


@dataclass(frozen=True)
class Chain:
    """A chain of rules: the rules without their place, which is theirs in the chain."""

    name: str
    rules: list[str] = field(default_factory=list)


def blocks(plan: Plan, lowered: LoweredDevice, request: DeviceRequest) -> tuple[Block, ...]:
    """The trees, and the table of nft."""
    result = BlockWriter("linux_tc", lowered, request)
    there = {interface.name: interface for interface in lowered.held.interfaces} if lowered.held else {}
    schedulers = available_schedulers(request.features, lowered.held)
    scheduled = {each.name for each in request.interfaces if each.schedule}
    for interface in plan.interfaces:
        if interface.name in scheduled:
            if interface.egress.scheduler is not None:
                tree = _tree(interface, schedulers, dict(plan.mtus).get(interface.name))
                result.add(_kind(interface.egress.scheduler), interface.name, **tree)
        elif interface.egress.scheduler is None and _has_tree(there.get(interface.name)):
            result.add("no-tree", interface.name, dev=interface.name)
    # The table is written as a whole, and interfaces that no scope names have their rules in it, too.
    told = {**there, **{interface.name: interface for interface in plan.interfaces}}.values()
    chains = tuple(_chains(told))
    if chains:
        sides = {"input": "prerouting", "output": "postrouting"}
        result.add("rules", "inet qosforge", chains=chains, sides=sides, jumps=_jumps(told))
    elif any(interface.ingress.rules or interface.egress.rules for interface in there.values()):
        result.add("no-rules", "inet qosforge")
    return tuple(result.blocks)


def _has_tree(interface: InterfacePlan | None) -> bool:
    return interface is not None and interface.egress.scheduler is not None


def rate_words(rate: int) -> str:
    """A rate as tc shows it, in the greatest unit that it is a multiple of."""
    for unit, size in (("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000)):
        if rate % size == 0:
            return f"{rate // size}{unit}"
    return f"{rate}bit"


def _tree(interface: InterfacePlan, schedulers: Collection[str], mtu: int | None) -> dict[str, Any]:
    dev, egress = interface.name, interface.egress
    assert egress.scheduler is not None
    assert egress.shape_rate is not None
    rate, scheduler = egress.shape_rate, egress.scheduler
    queues = every_queue(scheduler)
    virtual = numbers(queues)
    rest = next((q for q in queues if q.number == egress.default_queue), None)
    whole = {
        "dev": dev,
        "default": minor(rest_of(rest) if rest else 0),
        "whole": WHOLE,
        "by_tbf": egress.shape_burst is not None,
        "rate": rate_words(rate),
        "burst": egress.shape_burst or burst(rate),
        "waiting": waiting_bytes(egress.shape_burst or 0, mtu),
        "r2q": max(R2Q, -(-rate // (8 * CAPABILITIES.quantum.maximum))),
        "filters": tuple(_filters(dev, virtual)),
    }
    if has_turns(scheduler):
        words = band_words(scheduler, schedulers) if has_inner_tree(scheduler) else ""
        return whole | {"words": words, **_turns(egress, scheduler, rate, virtual)}
    if has_bands(scheduler) or has_inner_tree(scheduler):
        banded = [q for q in scheduler.queues if has_bands(scheduler) or is_strict(q)]
        inner = [q for q in scheduler.queues if q not in banded]
        bands = _bands(banded, rate, virtual)
        held = _classes(inner, rate, virtual)
        classes = [_in_turn(each, queue) for each, queue in zip(held, inner, strict=True)]
        words = band_words(scheduler, schedulers)
        return whole | {"words": words, "bands": bands, "last": f"{len(bands) + 1:x}", "classes": classes}
    if scheduler.decoupled:
        above = {below.number: minor(queue.number) for queue in queues for below in queues_in(queue)}
        return whole | {"classes": [_shared(each, above.get(each.number, ""), rate, virtual) for each in queues]}
    return whole | {"classes": _classes(scheduler.queues, rate, virtual)}


def _bands(queues: Sequence[Queue], link: int, virtual: Mapping[Marks, int]) -> list[Band]:
    return [Band(f"{q.number + 1:x}", minor(q.number), _queue_words(q, link, virtual)) for q in queues]


def _turns(egress: Egress, scheduler: Scheduler, link: int, virtual: Mapping[Marks, int]) -> dict[str, Any]:
    """Bands of priority, and what is served in turn behind them."""
    bands = _bands([queue for queue in scheduler.queues if is_strict(queue)], link, virtual)
    turns = [
        Turn(turn_id(q.number), q.share.value, minor(q.number), _queue_words(q, link, virtual))
        for q in scheduler.queues
        if q.share is not None
    ]
    above = f"{BANDS}:{len(bands) + 1:x}" if bands else f"{ABOVE}:1"
    return {
        "bands": bands,
        "turns": turns,
        "above": above,
        "untold": untold_words(turn_id(egress.default_queue or 0)),
    }


def _kind(scheduler: Scheduler) -> str:
    """The template of a tree."""
    if has_turns(scheduler):
        return "turn-tree"
    if has_bands(scheduler) or has_inner_tree(scheduler):
        return "band-tree"
    return "sharing-tree" if scheduler.decoupled else "tree"


def _classes(queues: Sequence[Queue], link: int, virtual: Mapping[Marks, int]) -> list[HtbClass]:
    quanta = _quanta(queues)
    return [_class(queue, link, quanta[queue.number], virtual) for queue in queues]


def _filters(dev: str, virtual: Mapping[Marks, int]) -> Iterator[str]:
    """The commands that direct packets to the virtual queues of their DSCPs."""
    if virtual:
        yield holder_words(dev)
    for protocol in PREFERENCES:
        for marks, number in virtual.items():
            yield from (filter_words(dev, protocol, dscp, number) for dscp in marks)


def _class(queue: Queue, link: int, quantum: int, virtual: Mapping[Marks, int]) -> HtbClass:
    assert queue.share is not None
    rate = queue.share.value * 1000
    ceiling = queue.shape_rate or link
    held = (queue.shape_burst_bits or 0) // 8
    return HtbClass(
        number=minor(queue.number),
        prio=0 if queue.priority else 1,
        rate=rate_words(rate),
        ceil=rate_words(ceiling),
        burst=held if queue.priority else burst(rate),
        cburst=held or burst(ceiling),
        quantum=quantum,
        queue=_queue_words(queue, rate, virtual),
    )


def _in_turn(each: HtbClass, queue: Queue) -> HtbClass:
    """A class of what priority leaves: its bucket lasts for a turn.

    What is left may be less than the rates of the classes. HTB divides it in turns among those within their rates,
    and serves those above later (htb_dequeue in net/sched/sch_htb.c). Buckets of a packet end every turn alike: a
    kernel then divided 60 % of a line 22 to 38 between rates of 30 % and 70 %, and with these 18 to 42.
    """
    assert queue.share is not None
    if queue.priority:
        return each
    size = max(each.quantum + 2 * CAPABILITIES.burst.minimum, each.burst)
    return replace(each, burst=held_burst(size, queue.share.value * 1000))


def _shared(queue: Queue, above: str, link: int, virtual: Mapping[Marks, int]) -> SharedClass:
    words = () if queues_in(queue) else _queue_words(queue, rate_of(queue), virtual)
    return SharedClass(number=minor(queue.number), above=above, curves=curves(queue, link), queue=words)


def _queue_words(queue: Queue, rate: int, virtual: Mapping[Marks, int]) -> tuple[str, ...]:
    """A queue as tc takes it; ``rate`` is that of its class (b/s), ``virtual`` numbers its profiles."""
    if queue.red is not None:
        held: dict[str, Any] = {
            "limit": queue.limit_bytes or 0,
            "weight": queue.red.weight_exponent,
            "ecn": queue.red.ecn,
            "rate": rate,
        }
        several = [(virtual[p.dscp], p.minimum, p.maximum, p.denominator) for p in profiles_by_dscp(queue)]
        if several:
            words: tuple[str, ...] = gred_words(queues=several, **held)
            return words
        (profile,) = queue.red.profiles
        curve = {"minimum": profile.minimum, "maximum": profile.maximum, "denominator": profile.denominator}
        return (red_words(**curve, **held),)
    if queue.fair:
        limit = queue.limit_packets or CAPABILITIES.queue_limit.default
        return (fair_words(limit=limit, flows=queue.flows or USUAL_FLOWS),)
    if queue.limit_bytes is not None:
        return (f"bfifo limit {queue.limit_bytes}",)
    return (f"pfifo limit {queue.limit_packets or CAPABILITIES.queue_limit.default}",)


def _quanta(queues: Sequence[Queue]) -> dict[int, int]:
    """Bytes that classes send in turn of what others leave, in the ratio of their rates as far as bounds allow."""
    bounds = CAPABILITIES.quantum
    rates = {queue.number: queue.share.value if queue.share else 1 for queue in queues}
    least = min(rates.values(), default=1)
    return {
        number: min(max(bounds.minimum * rate // least, bounds.minimum), bounds.maximum)
        for number, rate in rates.items()
    }


def _jumps(interfaces: Collection[InterfacePlan]) -> dict[str, list[str]]:
    """The interfaces with rules, by side."""
    return {
        "input": [i.name for i in interfaces if i.ingress.rules],
        "output": [i.name for i in interfaces if i.egress.rules],
    }


def _chains(interfaces: Collection[InterfacePlan]) -> Iterator[Chain]:
    """The chains of each side of an interface, those of its classes first."""
    for interface in interfaces:
        if interface.ingress.rules:
            yield from _chains_of(f"in/{interface.name}", interface.ingress.rules, None)
        if interface.egress.rules:
            yield from _chains_of(f"out/{interface.name}", interface.egress.rules, interface.egress.scheduler)


def _chains_of(
    name: str, rules: Sequence[Rule], scheduler: Scheduler | None, first: Sequence[str] = ()
) -> Iterator[Chain]:
    """The chains of rules, and those of the rules of classes inside their queues; the last one has ``first``."""
    queues = {queue.number: queue for queue in scheduler.queues} if scheduler else {}
    for rule in rules:
        queue = queues.get(rule.queue) if rule.queue is not None else None
        child = queue.child if queue is not None and queue.child is not None else Egress()
        actions = list(_actions(rule, queue, scheduler))
        yield from _chains_of(f"{name}/{rule.name}", child.rules, child.scheduler, actions)
    matches = [f"{match}goto {name}/{r.name}" for r in rules for t in r.any_of for match in _matches(t)]
    yield Chain(name, [*first, *matches])


def _actions(rule: Rule, queue: Queue | None, scheduler: Scheduler | None) -> Iterator[str]:
    yield "counter"
    if rule.police is not None:
        yield f"limit rate over {rule.police.rate // 8} bytes/second burst {rule.police.burst} bytes drop"
    if rule.set_dscp is not None:
        yield from (f"{family} dscp set {rule.set_dscp}" for family in ("ip", "ip6"))
    if rule.queue is not None:
        yield f"meta priority set {class_id(scheduler, rest_of(queue) if queue else rule.queue)}"


def _matches(term: Term) -> Iterator[str]:
    """The conditions of a term, for each version of IP that it is about where they name one."""
    prefix = term.source or term.destination
    families: tuple[str, ...] = ("ip6" if ":" in prefix else "ip",) if prefix else ("ip", "ip6")
    for family in families if prefix or term.dscp else families[:1]:
        yield "".join(f"{word} " for word in _conditions(term, family))


def _conditions(term: Term, family: str) -> Iterator[str]:
    if term.input_interface:
        yield f'iifname "{term.input_interface}"'
    if term.source:
        yield f"{family} saddr {_address(term.source)}"
    if term.destination:
        yield f"{family} daddr {_address(term.destination)}"
    if term.dscp:
        yield f"{family} dscp {term.dscp[0]}"
    ports = (("sport", term.source_ports), ("dport", term.destination_ports))
    if term.protocol is not None and not any(held for _, held in ports):
        yield f"meta l4proto {term.protocol}"
    for side, held in ports:
        if held:
            first, last = held[0].first, held[0].last
            transport = _TRANSPORTS.get(term.protocol or 0, "th")
            yield f"{transport} {side} {first if first == last else f'{first}-{last}'}"


def _address(prefix: str) -> str:
    """A prefix as nft shows it: that of one address without its length."""
    return prefix.removesuffix("/128" if ":" in prefix else "/32")


_TRANSPORTS = {6: "tcp", 17: "udp"}
