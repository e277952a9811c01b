"""What classes get of a line by what a device holds, beside what was said of it."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Fidelity
from qosforge.plan.model import Discipline, Plan, Queue, Scheduler, Share, ShareUnit
from qosforge.plan.request import ClassRequest, InterfaceRequest
from qosforge.plan.requested import requested_shares
from qosforge.plan.shares import expected_shares

POINT = 0.01
NEAR = POINT / 10
"""Shares that are told with one digit behind the point."""


def check_shares(made: CompiledDevice, held: Plan) -> int:
    """Every weighted class gets, by what the box holds, what its fidelity says; what differs from what was asked is
    told, and lies within the tolerance; how many were compared."""
    compared = 0
    told = {(f.traffic_class, f.interface): f for f in made.fidelity}
    for wanted in made.request.interfaces:
        if not wanted.schedule:
            continue
        asked = requested_shares(made.request.classes, wanted.usable)
        for c, share in _realised(made, wanted, held):
            compared += 1
            where = f"{c.name} on {wanted.name}: asked {asked[c.name]}, held {share}"
            said = told[c.name, wanted.name]
            assert said.requested_percent is not None, where
            assert said.applied_percent is not None, where
            assert abs(said.applied_percent / 100 - share) < NEAR, (where, said)
            if not any(c.treatment.shape or c.treatment.bounded for c in made.request.classes):
                # A class that may not borrow asks for less than its neighbours leave it.
                assert abs(said.requested_percent / 100 - asked[c.name]) < NEAR, (where, said)
            error = abs(share - said.requested_percent / 100)
            assert error <= made.request.tolerance + NEAR, (where, said)
            if error > NEAR:
                assert said.fidelity is Fidelity.APPROXIMATE, (where, said)
                names = {f.traffic_class for f in made.findings}
                assert c.name in names, (where, made.findings)
    return compared


def _realised(made: CompiledDevice, wanted: InterfaceRequest, held: Plan) -> Iterator[tuple[ClassRequest, float]]:
    """The weighted classes that have a queue of their own, and their shares of the line."""
    port = held.interface(wanted.name)
    assert port is not None
    scheduler = port.egress.dividing.scheduler
    if not scheduler or len(scheduler.queues) < 2:
        scheduler = held.system.scheduler
    assert scheduler is not None
    classes = {c.name: c for c in made.request.classes}
    owners: dict[int, ClassRequest] = {}
    for queue in scheduler.queues:
        name = made.classes.get(queue.name or f"queue {queue.number}")
        if name in classes:
            owners[queue.number] = classes[name]
    if len(owners) < len(classes):
        return  # classes share a queue: what of it is whose, no device says
    asked = requested_shares(made.request.classes, wanted.usable)
    queues = [_offered(q, owners[q.number], asked, wanted.usable) for q in scheduler.queues if q.number in owners]
    first = sum(asked[c.name] for c in owners.values() if c.treatment.priority)
    whole = Scheduler(discipline=scheduler.discipline, queues=tuple(queues), limit_percent=scheduler.limit_percent)
    # A limit is in per cent of the port, shares are told of what it may send, also where somebody's limit stays.
    limit = scheduler.limit_percent
    kept = any(f.code == "port-limit-kept" and f.interface == wanted.name for f in made.findings)
    scale = 1.0 if limit is None else 100 / limit if kept else wanted.rate / wanted.usable
    held_to_share = scheduler.discipline is Discipline.LLQ_CBWFQ  # priority is policed
    shares = expected_shares(whole, wanted.usable, priority_load=0.0 if held_to_share else first / scale)
    for queue, share in zip(queues, shares, strict=True):
        # Of queues that are all served strictly, the model divides nothing.
        if owners[queue.number].treatment.priority is None and not queue.priority:
            yield owners[queue.number], share * scale


def _offered(queue: Queue, owner: ClassRequest, asked: dict[str, float], rate: int) -> Queue:
    """A queue as it is loaded: a class that asks for priority sends what it asks for, whatever serves it."""
    if owner.treatment.priority is None or queue.priority:
        return queue
    share = Share(unit=ShareUnit.KBPS, value=round(asked[owner.name] * rate / 1000))
    return queue.model_copy(update={"priority": True, "capped": True, "share": share})
