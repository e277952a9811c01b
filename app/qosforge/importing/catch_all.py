"""Classes of a router's output that take every packet (``match any``): the default class by another name."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.plan.model import Egress, Queue, Rule, Term

_EVERY = Term()


def with_default(egress: Egress) -> Egress:
    """The output with its last class as the default class where that takes every packet, in child policies too.

    The default class behind it then gets no packet; one that is served somehow stays as it is. Where it is the only
    queue left, what is inside it divides what it is shaped to: a class of its own would have half of the interface
    for sure, which matters with HQF alone and only where it is shaped to more than that.
    """
    scheduler = egress.scheduler
    if scheduler is None:
        return egress
    queues = tuple(
        q.model_copy(update={"child": with_default(q.child)}) if q.child else q for q in scheduler.queues
    )
    rules, default = egress.rules, egress.default_queue
    last = _catch_all(egress)
    if last is not None:
        rest = next(q for q in queues if q.number == default)
        queues = tuple(
            q.model_copy(update={"name": rest.name}) if q.number == last.queue else q
            for q in queues
            if q is not rest
        )
        rules, default = rules[:-1], last.queue
    divides = scheduler.divides_guarantees and len(queues) > 1
    scheduler = scheduler.model_copy(update={"queues": queues, "divides_guarantees": divides})
    return egress.model_copy(update={"rules": rules, "default_queue": default, "scheduler": scheduler})


def catch_alls(egress: Egress) -> Iterator[str]:
    """Names of the classes that `with_default` takes for the default class."""
    last = _catch_all(egress)
    if last is not None and last.name is not None:
        yield last.name
    for queue in egress.scheduler.queues if egress.scheduler else ():
        if queue.child is not None:
            yield from catch_alls(queue.child)


def _catch_all(egress: Egress) -> Rule | None:
    last = egress.rules[-1] if egress.rules else None
    if last is None or last.queue is None or last.queue == egress.default_queue or egress.scheduler is None:
        return None
    rest = next((q for q in egress.scheduler.queues if q.number == egress.default_queue), None)
    every = _EVERY in last.any_of and not last.none_of and not last.ipv4
    plain = not last.writes and last.police is None
    return last if every and plain and rest is not None and _unserved(rest) else None


def _unserved(queue: Queue) -> bool:
    """Whether nothing was said of a queue but what the device gives every one."""
    bare = Queue(number=queue.number, name=queue.name, limit_packets=queue.limit_packets)
    return queue == bare
