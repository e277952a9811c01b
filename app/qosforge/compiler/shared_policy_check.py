"""Check policies, and parts of them, that an unchanged interface shares with one that the intent changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from qosforge.compiler.canonical_form import canonical_form
from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Egress, Ingress, InterfacePlan, Plan, Queue

_Side = Ingress | Egress
_SIDES: tuple[tuple[Literal["ingress", "egress"], str], ...] = (("ingress", "input"), ("egress", "output"))


class _Unchanged(NamedTuple):
    """An interface side with a policy that the plan leaves as it is: as it is meant to stay."""

    interface: str
    field: Literal["ingress", "egress"]
    direction: str
    side: _Side
    group: str | None = None


def _of_groups(plan: Plan) -> Iterator[tuple[str, str, Egress]]:
    """The policies that tunnels of a group get, each with its interface and group; no intent speaks of them."""
    return ((i.name, held.group, held.egress) for i in plan.interfaces for held in i.groups)


def find_shared_policies(plan: Plan, running: Plan, project: Callable[[], Plan]) -> Iterator[Finding]:
    """``policy-shared``: one finding for every interface side left as it is whose policy the plan changes.

    A policy name stands for one content on the whole device, and so do the names of most objects that policies
    refer to. ``running`` is the plan of its configuration, ``project`` gives the plan of what this becomes: it is
    called only where parts of one name differ, as devices differ in which names are theirs as a whole.
    """
    if all(i.ingress.policy is None and i.egress.policy is None and not i.groups for i in running.interfaces):
        return
    changed_sides: list[_Side] = []
    unchanged: list[_Unchanged] = []
    for side, direction in _SIDES:
        before: dict[str, _Side] = {i.name: getattr(i, side) for i in running.interfaces}
        after: dict[str, _Side] = {i.name: getattr(i, side) for i in plan.interfaces}
        changed = {name for name, made in after.items() if name not in before or not _alike(before[name], made)}
        coming = {after[name].policy: after[name] for name in after if name in changed}
        changed_sides += [after[name] for name in after if name in changed]
        for name, there in before.items():
            policy = there.policy
            if policy is None or name in changed:
                continue
            if policy in coming and not _alike(coming[policy], there):
                yield note(
                    "policy-shared",
                    Place(device=plan.device, interface=name, direction=direction),
                    requested="no change here",
                    applied="another policy of this name",
                    policy=policy,
                )
            else:
                unchanged.append(_Unchanged(name, side, direction, after.get(name, there)))
        if side == "egress":
            for name, group, there in _of_groups(running):
                if there.policy in coming and not _alike(coming[there.policy], there):
                    yield note(
                        "policy-shared",
                        Place(device=plan.device, interface=name, direction=direction),
                        requested="no change here",
                        applied="another policy of this name",
                        policy=there.policy or "",
                        variant="group",
                        group=group,
                    )
                else:
                    unchanged.append(_Unchanged(name, side, direction, there, group))
    yield from _find_shared_parts(plan.device, changed_sides, unchanged, project)


def _find_shared_parts(
    device: str, changed: Iterable[_Side], unchanged: Sequence[_Unchanged], project: Callable[[], Plan]
) -> Iterator[Finding]:
    if not unchanged:
        return
    coming: dict[tuple[str, str], list[object]] = {}
    # Ports alike have the very same rules and queues.
    for side in {(id(s.rules), id(_queues(s))): s for s in changed}.values():
        for key, content in _parts(side):
            coming.setdefault(key, []).append(content)
    met = [
        each
        for each in unchanged
        if any(content != other for key, content in _parts(each.side) for other in coming.get(key, ()))
    ]
    projection = project() if met else None
    projected = {i.name: i for i in projection.interfaces} if projection else {}
    grouped = {(name, group): side for name, group, side in _of_groups(projection)} if projection else {}
    for each in met:
        becomes: _Side = getattr(projected.get(each.interface, InterfacePlan(name="")), each.field)
        if each.group is not None:
            becomes = grouped.get((each.interface, each.group), Egress())
        if _alike(becomes, each.side):
            continue
        parts = dict(_parts(becomes))
        names = sorted({key[1] for key, content in _parts(each.side) if parts.get(key) != content})
        yield note(
            "policy-shared",
            Place(device=device, interface=each.interface, direction=each.direction),
            requested="no change here",
            applied="other content under these names",
            variant="parts",
            policy=each.side.policy or "",
            names=", ".join(names),
        )


def _parts(side: _Side) -> Iterator[tuple[tuple[str, str], object]]:
    """What of a side has a name that may be the device's as a whole: kind and name, and the content."""
    direction = "output" if isinstance(side, Egress) else "input"
    for rule in side.rules:
        yield ("match", rule.name), (rule.any_of, rule.none_of)
        yield (f"{direction} class", rule.name), rule
    for queue in _queues(side):
        if queue.name is not None:
            yield ("queue", queue.name), queue.model_copy(update={"number": 0})  # queues may share what they name
        if queue.child is not None:
            if queue.child.policy is not None:
                yield ("policy", queue.child.policy), _content(queue.child)
            yield from _parts(queue.child)


def _queues(side: _Side) -> tuple[Queue, ...]:
    return side.scheduler.queues if isinstance(side, Egress) and side.scheduler else ()


def _alike(one: _Side, other: _Side) -> bool:
    """Whether two sides have the same policy: its name, its rules and the queues behind them."""
    if one.policy != other.policy:
        return False
    # Most are equal as they are, and orders are then nobody's concern.
    return _content(one) == _content(other) or _content(canonical_form(one)) == _content(canonical_form(other))


def _content(side: _Side) -> object:
    return side.rules, side.scheduler if isinstance(side, Egress) else side.trust
