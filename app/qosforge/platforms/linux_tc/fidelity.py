"""What the classes of a port get of it, on each level of its tree, beside what they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.model import Queue, Scheduler
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.requested import requested_shares
from qosforge.plan.shares import Path, expected_shares
from qosforge.platforms.base import ClassFidelity
from qosforge.platforms.linux_tc.bands import is_strict
from qosforge.platforms.linux_tc.class_tree import greatest_part
from qosforge.platforms.linux_tc.kinds import is_uncapped
from qosforge.platforms.linux_tc.policing import policer
from qosforge.platforms.linux_tc.sharing import rate_of
from qosforge.platforms.linux_tc.trees import Tree
from qosforge.platforms.share_fidelity import EXACT, ClassShare, fidelity, share_findings
from qosforge.units import format_rate


def tree_fidelity(
    request: DeviceRequest, interface_request: InterfaceRequest, tree: Tree
) -> tuple[tuple[ClassFidelity, ...], tuple[Finding, ...]]:
    """How near the classes of a port come to their shares, those below others too, and what is to be said of it."""
    nearness: list[ClassFidelity] = []
    findings: list[Finding] = []
    for level, shares in _levels(_Port(request, interface_request.name, tree), request.classes, tree.scheduler):
        nearness.extend(fidelity(shares))
        findings.extend(share_findings(level, shares))
        findings.extend(_excess_findings(level, shares, tree))
    return tuple(nearness), tuple(findings)


@dataclass(frozen=True)
class _Port:
    request: DeviceRequest
    interface: str
    tree: Tree


@dataclass(frozen=True)
class _Above:
    """What a level divides: the parts of the link (0 to 1) that its class asks for and gets, and what bounds it.

    ``rate`` are the b/s that shares are parts of.
    """

    rate: int
    path: Path = ()
    requested: float = 1.0
    applied: float = 1.0
    policed: float = 1.0


def _levels(
    port: _Port, classes: Sequence[ClassRequest], scheduler: Scheduler, above: _Above | None = None
) -> Iterator[tuple[DeviceRequest, tuple[ClassShare, ...]]]:
    """Each level's classes as a request, and what they ask for and get when all have traffic, a priority class at
    most.

    Priority that nothing caps is taken to send what the intent caps it to, and nothing where it does not.
    """
    above = above or _Above(port.tree.rate)
    requested = requested_shares(classes, above.rate)
    uncapped = [queue.name for queue in scheduler.queues if is_strict(queue)]
    load = sum(requested[name or ""] for name in uncapped) / max(len(uncapped), 1)
    parts = expected_shares(scheduler, above.rate, priority_load=load)
    applied = {queue.name: (queue, part) for queue, part in zip(scheduler.queues, parts, strict=True)}
    inside: list[tuple[DeviceRequest, tuple[ClassShare, ...]]] = []
    shares = []
    for c in classes:
        queue, part = applied[c.name]
        own = _Above(
            rate=rate_of(queue) if queue.child else above.rate,
            path=(*above.path, queue.number),
            requested=1.0 if is_uncapped(c) else requested[c.name] * above.requested,
            applied=part * above.applied,
            policed=_policed(c, port.tree.rate, above),
        )
        if queue.child is not None and queue.child.scheduler is not None:
            inside += _levels(port, c.children, queue.child.scheduler, own)
        most = _greatest(port.tree, c, queue, own)
        shares.append(ClassShare(c, port.interface, own.requested, most or own.applied))
    yield port.request.model_copy(update={"classes": tuple(classes)}), tuple(shares)
    yield from inside


def _policed(class_request: ClassRequest, link: int, above: _Above) -> float:
    """The part of the link to which policers of the output hold a class.

    Those of inputs do not: packets may come in where there is none.
    """
    police = policer(class_request, "output")
    return above.policed if police is None else min(above.policed, police.rate / link)


def _greatest(tree: Tree, class_request: ClassRequest, queue: Queue, own: _Above) -> float | None:
    """The part of the link that a priority class gets at most while others wait; None where its rate bounds it."""
    if is_uncapped(class_request):
        return 1.0
    if not queue.priority or not (tree.scheduler.decoupled or is_strict(queue)):
        return None
    most = greatest_part(tree.scheduler, own.path, tree.rate) if tree.scheduler.decoupled else 1.0
    return min(most, own.policed)


def _excess_findings(request: DeviceRequest, shares: Iterable[ClassShare], tree: Tree) -> Iterator[Finding]:
    """``priority-cap-not-enforced``: priority that takes its share of what others leave, or all that there is."""
    for share in shares:
        if share.traffic_class.treatment.priority is None or share.applied - share.requested < EXACT:
            continue
        most = format_rate(round(share.applied * tree.rate))
        yield note(
            "priority-cap-not-enforced",
            class_place(request, share.traffic_class, interface=share.interface, direction="output"),
            variant="borrows" if tree.scheduler.decoupled else "band",
            requested=f"at most {format_rate(round(share.requested * tree.rate))} while others wait",
            applied=f"up to {most} while one of them waits" if tree.scheduler.decoupled else f"up to {most}",
        )
