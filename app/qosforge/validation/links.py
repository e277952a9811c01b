"""Checks of the two ends of a link against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.inventory.models import Link, Port
from qosforge.note import note
from qosforge.plan.model import Efficiency, InterfacePlan
from qosforge.plan.shares import expected_shares
from qosforge.units import format_ratio
from qosforge.validation.context import ValidationContext

_MECHANISMS = {"header_compression": "header compression", "fragmentation": "fragmentation"}


def check_efficiency(context: ValidationContext) -> Iterator[Finding]:
    """``one-sided-efficiency``: header compression and fragmentation need both ends of a link.

    It has to be so in the plans and in what devices come to hold. An end of which nothing is known is a warning:
    it may or may not do its part. Links between devices that the intent leaves alone are for an audit.
    """
    for link in context.compilation.network.links:
        if link.a[0] not in context.compiled and link.b[0] not in context.compiled:
            continue
        planned = [context.interface(port) for port in (link.a, link.b)]
        if any(_has(end.efficiency, mechanism) for end in planned if end is not None for mechanism in _MECHANISMS):
            planned_or_held = (*one_sided(link, context.interface), *one_sided(link, context.coming))
            yield from dict.fromkeys(planned_or_held)


def one_sided(
    link: Link, interface: Callable[[Port], InterfacePlan | None], *, audited: bool = False
) -> Iterator[Finding]:
    """``one-sided-efficiency`` of a link, by what is at its ports; ``audited`` where there is no intent."""
    unknown, missing = ("audited-unknown", "audited-missing") if audited else ("unknown", "missing")
    for near, far in ((link.a, link.b), (link.b, link.a)):
        ours, theirs = interface(near), interface(far)
        if ours is None:
            continue
        for mechanism, words in _MECHANISMS.items():
            if not _has(ours.efficiency, mechanism) or (theirs and _has(theirs.efficiency, mechanism)):
                continue
            yield note(
                "one-sided-efficiency",
                Place(device=near[0], interface=near[1], direction="output"),
                variant=unknown if theirs is None else missing,
                mechanism=words,
                far=f"{far[0]} {far[1]}",
            )


def _has(efficiency: Efficiency, mechanism: str) -> bool:
    if mechanism == "header_compression":
        return efficiency.header_compression
    return efficiency.fragment_bytes is not None or efficiency.fragment_delay_ms is not None


def check_ends(context: ValidationContext) -> Iterator[Finding]:
    """``link-ends-differ``: where both ends serve classes, priority gets the same share in both directions."""
    tolerance = context.compilation.intent.intent.tolerance
    for link in context.compilation.network.links:
        if not (context.schedules(link.a) and context.schedules(link.b)):
            continue
        here, there = (_priority_share(context, link, port) for port in (link.a, link.b))
        if here is None or there is None or abs(here - there) <= tolerance:
            continue
        yield note(
            "link-ends-differ",
            Place(device=link.a[0], interface=link.a[1], direction="output"),
            requested=format_ratio(there),
            applied=format_ratio(here),
            here=format_ratio(here),
            there=format_ratio(there),
            far=f"{link.b[0]} {link.b[1]}",
        )


def _priority_share(context: ValidationContext, link: Link, port: Port) -> float | None:
    """Share of the link that priority queues may take when everything is backlogged (0–1)."""
    scheduler, requested = context.scheduler(port), context.request(port)
    if scheduler is None or requested is None:
        return None
    shares = expected_shares(scheduler, min(requested.usable, link.rate))
    return sum(share for share, queue in zip(shares, scheduler.queues, strict=True) if queue.priority)
