"""Which queue of a queue set serves which class, and how well each set would do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from app.findings import Finding, Severity
from app.plan.asked import asked_shares
from app.plan.model import Queue
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.nortel_5510.capabilities import capabilities, queue_sets, scheduler
from app.platforms.service import percent

_WORTH = 0.005
"""Another queue set is named when it comes nearer by at least this part of the link."""


@dataclass(frozen=True)
class Choice:
    """Queues of the classes in a queue set; ``shares`` are what the weighted ones get, priority at its cap.

    ``error`` is the largest distance from what was asked (parts of the link rate); ``fits`` says that every
    weighted class has a weighted queue of its own.
    """

    queue_set: int
    queue_of: Mapping[str, int]
    control: int
    shares: Mapping[str, float]
    error: float
    fits: bool


def choose(classes: Sequence[ClassRequest], queue_set: int, rate: int) -> Choice:
    """The assignment with the smallest largest share error; ``rate`` in bits per second."""
    asked = asked_shares(classes, rate)
    queues = scheduler(queue_set).queues
    strict = [q.number for q in queues if q.priority]
    weighted = {q.number: q for q in queues if not q.priority}
    first = [c.name for c in classes if c.treatment.priority]
    rest = [c.name for c in classes if not c.treatment.priority]
    queue_of = dict.fromkeys(first, strict[0])
    if not weighted or not rest:
        queue_of |= dict.fromkeys(rest, queues[-1].number)
        shares = {name: asked[name] for name in rest}
        return Choice(queue_set, queue_of, queues[-1].number, shares, 0.0 if not rest else 1.0, fits=not rest)
    apart = rest if len(rest) <= len(weighted) else [*rest[: len(weighted) - 1], rest[-1]]
    together = rest[len(weighted) - 1 : -1] if len(apart) < len(rest) else []
    wanted = {name: asked[name] for name in apart}
    wanted[rest[-1]] += sum(asked[name] for name in together)
    chosen, shares = _nearest(wanted, weighted, 1 - sum(asked[name] for name in first))
    queue_of |= chosen | dict.fromkeys(together, chosen[rest[-1]])
    error = max(abs(shares[name] - wanted[name]) for name in wanted)
    free = [number for number in weighted if number not in queue_of.values()]
    # Network control gets a weighted queue of its own, else the one with the largest weight.
    control = max(free or weighted, key=lambda number: _weight(weighted[number]))
    return Choice(queue_set, queue_of, control, shares, error, fits=not together)


def _nearest(
    wanted: Mapping[str, float], weighted: Mapping[int, Queue], left: float
) -> tuple[dict[str, int], dict[str, float]]:
    """Queues and shares of the classes: the least largest error, and of those the largest weights."""

    def judged(numbers: tuple[int, ...]) -> tuple[float, int]:
        shares = _shares(numbers, weighted, left)
        error = max(abs(s - w) for s, w in zip(shares, wanted.values(), strict=True))
        return round(error, 9), -sum(_weight(weighted[n]) for n in numbers)

    best = min(permutations(weighted, len(wanted)), key=judged)
    return (
        dict(zip(wanted, best, strict=True)),
        dict(zip(wanted, _shares(best, weighted, left), strict=True)),
    )


def _shares(numbers: tuple[int, ...], weighted: Mapping[int, Queue], left: float) -> list[float]:
    weights = [_weight(weighted[n]) for n in numbers]
    return [left * weight / sum(weights) for weight in weights]


def _weight(queue: Queue) -> int:
    assert queue.share is not None
    return queue.share.value


def queue_findings(request: DeviceRequest, chosen: Choice, rate: int, *, known: bool) -> Iterator[Finding]:
    """What the queue set means for the classes; ``known`` says that the box told which set it has."""
    number = chosen.queue_set
    if not known:
        yield _finding(
            request,
            "queue-set-unknown",
            Severity.WARNING,
            f"the box's queue set is not known: {number} is assumed",
            mend="compile against the running configuration ('show qos agent' tells the set)",
        )
    asked = asked_shares(request.classes, rate)
    others = [choose(request.classes, other, rate) for other in queue_sets() if other != number]
    better = min((o for o in others if o.fits), key=lambda o: (o.error, o.queue_set), default=None)
    reset = f"'qos agent queue-set {better.queue_set}' and a reset of the switch" if better else None
    weighted = [c for c in request.classes if not c.treatment.priority]
    if not chosen.fits:
        queues = sum(not q.priority for q in scheduler(number).queues)
        yield _finding(
            request,
            "queue-set-unfit" if better else "too-many-classes",
            Severity.ERROR,
            f"queue set {number} has {queues} weighted queues for {len(weighted)} weighted classes",
            mend=reset or "merge classes",
        )
        return
    if not weighted:
        return
    weights = "/".join("strict" if q.share is None else str(q.share.value) for q in scheduler(number).queues)
    yield _finding(
        request,
        "queue-weights-unconfirmed",
        Severity.WARNING,
        f"the weights of queue set {number} ({weights}) have no published source",
        asked=", ".join(f"{c.name} {percent(asked[c.name])}" for c in weighted),
        will_be=", ".join(f"{c.name} {percent(chosen.shares[c.name])}" for c in weighted),
        mend="compare with 'show qos queue-set'",
    )
    if better is not None and better.error < chosen.error - _WORTH:
        yield _finding(
            request,
            "queue-set-better",
            Severity.INFO,
            f"queue set {better.queue_set} would come nearer to the shares, and needs a reset of the switch",
            asked=", ".join(f"{c.name} {percent(asked[c.name])}" for c in weighted),
            will_be=", ".join(f"{c.name} {percent(better.shares[c.name])}" for c in weighted)
            + f" with set {better.queue_set}",
            mend=reset,
        )
    control = ", ".join(map(str, capabilities()["control_cos"]["value"]))
    own = chosen.control not in chosen.queue_of.values()
    yield _finding(
        request,
        "network-control-queue",
        Severity.INFO,
        f"802.1p {control} (network control) goes to queue {chosen.control}"
        + ("" if own else ", which it shares with a class"),
    )


def _finding(
    request: DeviceRequest,
    code: str,
    severity: Severity,
    message: str,
    *,
    asked: str | None = None,
    will_be: str | None = None,
    mend: str | None = None,
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=message,
        device=request.device,
        direction="output",
        asked=asked,
        will_be=will_be,
        mend=mend,
    )
