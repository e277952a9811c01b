"""Random schedulers of every kind over three queues, with what each must keep."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

QUEUES = 3
SCHEDULER_KINDS = frozenset(
    {"fifo", "strict", "wrr", "drr", "strict_wrr", "srr", "wfq", "cbwfq", "tree", "htb", "cbq", "dcbq", "dcbqe"}
)
Json = dict[str, Any]
Levels = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Discipline:
    """A scheduler; `levels` of queues, the first served before the others, are empty where nothing orders them."""

    scheduler: Json
    levels: Levels = ()
    work_conserving: bool = True


weight = st.integers(1, 12)
quantum = st.integers(40, 4000)
order = st.permutations(range(QUEUES))
rate = st.integers(20_000, 600_000)


def one_each(*queues: int) -> list[frozenset[int]]:
    return [frozenset([queue]) for queue in queues]


@st.composite
def strict(draw: st.DrawFn) -> Discipline:
    first, second, third = draw(order)
    if draw(st.booleans()):
        return Discipline(
            {"kind": "strict", "order": [first, second, third]}, tuple(one_each(first, second, third))
        )
    shared: Any = {str(first): draw(weight), str(second): draw(weight)}
    if draw(st.booleans()):
        return Discipline(
            {"kind": "strict", "order": [shared, third]}, (frozenset([first, second]), *one_each(third))
        )
    return Discipline({"kind": "strict", "order": [third, shared]}, (*one_each(third), frozenset([first, second])))


@st.composite
def leaky(draw: st.DrawFn) -> Discipline:
    out_of = draw(st.integers(2, 40))
    leak = {"packets": draw(st.integers(1, out_of - 1)), "out_of": out_of}
    return Discipline({"kind": "strict", "order": list(draw(order)), "leak": leak})


@st.composite
def wrr(draw: st.DrawFn) -> Discipline:
    scheduler: Json = {"kind": "wrr", "weights": draw(st.lists(weight, min_size=QUEUES, max_size=QUEUES))}
    if draw(st.booleans()):
        counting = draw(st.sampled_from(["exact", "rounded_up"]))
        scheduler |= {"quantum_bytes": draw(st.sampled_from([64, 256, 1500])), "counting": counting}
    return Discipline(scheduler)


@st.composite
def drr(draw: st.DrawFn) -> Discipline:
    queues = draw(order)
    first = list(queues[: draw(st.integers(0, QUEUES - 1))])
    quanta = {str(q): draw(quantum) for q in queues if q not in first}
    levels = (*one_each(*first), frozenset(queues) - {*first}) if first else ()
    return Discipline({"kind": "drr", "quantum_bytes": quanta, "strict": first}, levels)


@st.composite
def strict_wrr(draw: st.DrawFn) -> Discipline:
    queues = draw(order)
    above = draw(st.integers(0, QUEUES - 1))
    first, rest = list(queues[:above]), queues[above:]
    scheduler = {
        "kind": "strict_wrr",
        "strict": first,
        "weights": {str(q): draw(weight) for q in rest},
        "mode": draw(st.sampled_from(["packets", "bytes"])),
    }
    return Discipline(scheduler, (*one_each(*first), frozenset(rest)))


@st.composite
def srr(draw: st.DrawFn) -> Discipline:
    scheduler: Json = {"kind": "srr", "weights": draw(st.lists(weight, min_size=QUEUES, max_size=QUEUES))}
    levels: Levels = ()
    if draw(st.booleans()):
        expedite = draw(st.integers(0, QUEUES - 1))
        scheduler["strict"] = expedite
        levels = (frozenset([expedite]), frozenset(range(QUEUES)) - {expedite})
    if shaped := draw(st.booleans()):
        scheduler["shape"] = [draw(st.integers(2, 9)), 0, 0]
    # With the shaped queue as the expedite one nothing is held back.
    return Discipline(scheduler, levels, not shaped or scheduler.get("strict") == 0)


@st.composite
def cbwfq(draw: st.DrawFn) -> Discipline:
    queues = draw(order)
    above = draw(st.integers(0, QUEUES - 1))
    first, rest = queues[:above], queues[above:]
    entries = [
        {"queue": q, "rate_bps": draw(rate), "burst_bytes": draw(st.integers(2000, 9000)), "level": draw(weight)}
        for q in first
    ]
    places = sorted({entry["level"] for entry in entries})
    levels = [frozenset(e["queue"] for e in entries if e["level"] == place) for place in places]
    weights = {str(q): draw(weight) for q in rest}
    scheduler = {"kind": "cbwfq", "priority": entries, "weights": weights}
    return Discipline(scheduler, (*levels, frozenset(rest)))


@st.composite
def tree(draw: st.DrawFn) -> Discipline:
    first, second, third = draw(order)
    priority = st.sampled_from([None, 0, 1])

    def node(**rest: Any) -> Json:
        place = draw(priority)
        return {"weight": draw(weight), **({} if place is None else {"priority": place}), **rest}

    if draw(st.booleans()):
        inner = node(children=[{"queue": first, "weight": draw(weight)}, {"queue": second, "weight": draw(weight)}])
        members = [(inner, {first, second}), (node(queue=third), {third})]
    else:
        members = [(node(queue=q), {q}) for q in (first, second, third)]
    places = sorted({child.get("priority", 9) for child, _ in members})
    levels = [
        frozenset().union(*(below for child, below in members if child.get("priority", 9) == place))
        for place in places
    ]
    return Discipline({"kind": "tree", "children": [child for child, _ in members]}, tuple(levels))


@st.composite
def bounded_tree(draw: st.DrawFn) -> Discipline:
    inner: Json = {"ceil_bps": draw(rate), "children": [{"queue": 0, "priority": 0}, {"queue": 1}]}
    return Discipline({"kind": "tree", "children": [inner, {"weight": draw(weight), "queue": 2}]}, (), False)


@st.composite
def htb(draw: st.DrawFn) -> Discipline:
    classes: list[Json] = [{"name": "root", "rate_bps": draw(st.integers(300_000, 1_200_000))}]
    for queue in range(QUEUES):
        own = draw(rate)
        classes.append(
            {
                "name": f"c{queue}",
                "parent": "root",
                "rate_bps": own,
                "ceil_bps": own + draw(rate),
                "prio": draw(st.integers(0, 7)),
                "queue": queue,
            }
        )
    return Discipline({"kind": "htb", "classes": classes}, (), False)


@st.composite
def cbq(draw: st.DrawFn) -> Discipline:
    kind = draw(st.sampled_from(["cbq", "dcbq", "dcbqe"]))
    may_borrow = draw(st.booleans())
    shares = draw(st.lists(st.integers(1, 9), min_size=QUEUES, max_size=QUEUES))
    total = sum(shares) + 1
    classes: list[Json] = [
        {
            "name": f"c{q}",
            "share": share / total,
            "priority": draw(st.integers(0, 7)),
            "queue": q,
            # At the top of the decoupled kinds nobody can borrow: a class there is the root of a branch.
            "borrow": may_borrow,
        }
        for q, share in enumerate(shares)
    ]
    if kind != "cbq":
        classes = [{"name": "all", "share": 1.0}] + [each | {"parent": "all"} for each in classes]
    scheduler: Json = {"kind": kind, "classes": classes}
    efficient = kind == "dcbqe"
    if kind == "cbq":
        efficient = draw(st.booleans())
        scheduler |= {
            "guideline": draw(st.sampled_from(["formal", "top_level", "ancestor_only"])),
            "efficient": efficient,
            "leaf_suspension": draw(st.booleans()),
            "ns2_wrr_flaw": draw(st.booleans()),
        }
    return Discipline(scheduler, (), efficient and may_borrow)


@st.composite
def shaped(draw: st.DrawFn) -> Discipline:
    """Any kind over class queues with a shaper of one queue: that queue may be held while others wait."""
    inside = draw(st.one_of(strict(), wrr(), drr(), cbwfq(), tree()))
    shaper = {str(draw(st.integers(0, 2))): {"rate_bps": draw(rate), "burst_bytes": draw(quantum)}}
    return Discipline(inside.scheduler | {"shapes": shaper}, (), False)


KINDS: dict[str, Callable[[], st.SearchStrategy[Discipline]]] = {
    "fifo": lambda: st.just(Discipline({"kind": "fifo"})),
    "strict": strict,
    "leaky": leaky,
    "wrr": wrr,
    "drr": drr,
    "strict_wrr": strict_wrr,
    "srr": srr,
    "wfq": lambda: st.integers(20, 400).map(
        lambda limit: Discipline({"kind": "wfq", "congestive_discard_threshold": limit, "hold_queue": limit})
    ),
    "cbwfq": cbwfq,
    "tree": tree,
    "bounded_tree": bounded_tree,
    "htb": htb,
    "cbq": cbq,
    "shaped": shaped,
}


def egress(discipline: Discipline, limit: int, **rest: Any) -> Json:
    """An egress that puts CoS n into queue n; one queue where the kind has but one."""
    kind = discipline.scheduler["kind"]
    if kind == "wfq":
        return {"scheduler": discipline.scheduler, **rest}
    count = 1 if kind == "fifo" else QUEUES
    return {
        "queues": [{"name": f"q{q}", "limit_packets": limit} for q in range(count)],
        "rules": [{"match": {"cos": [q]}, "queue": q} for q in range(count)],
        "scheduler": discipline.scheduler,
        **rest,
    }
