"""Whether the marks by which outputs tell classes reach them: an input must trust marks, or set them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qosforge.dscp import dscp_name
from qosforge.plan.model import Ingress, Plan, Trust
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.ios_switch.marks import SwitchClassMarks
from qosforge.platforms.ios_switch.notes import Notes

_TRUSTING = frozenset({Trust.DSCP, Trust.COS, Trust.PHONE})


def note_arrivals(
    request: DeviceRequest, plan: Plan, running: Plan | None, marks: Mapping[str, SwitchClassMarks], notes: Notes
) -> None:
    """Classes whose marks no input trusts or sets: behind such inputs packets have CoS 0, and DSCP 0 unless the
    device leaves it.

    Without a running configuration the other ports are as delivered, that is untrusted.
    """
    if not any(i.schedule for i in request.interfaces):
        return
    planned = {i.name for i in plan.interfaces}
    others = [i for i in running.interfaces if i.name not in planned] if running else []
    inputs = [i.ingress for i in (*plan.interfaces, *others)]
    if any(i.trust in _TRUSTING for i in inputs):
        return
    dscps, cos = _set_by(inputs)
    for entry in request.classes:
        held = marks.get(entry.name)
        if held is None or not (held.code_points or held.cos):
            continue  # the default class, or one without a mark, which is told elsewhere
        if dscps.isdisjoint(held.code_points) and cos.isdisjoint(held.cos):
            said = [*map(dscp_name, held.code_points), *(f"CoS {c}" for c in held.cos)]
            notes.note(
                "mark-never-arrives",
                traffic_class=entry.name,
                direction="output",
                requested=", ".join(said),
                applied="served as default",
            )


def _set_by(inputs: Iterable[Ingress]) -> tuple[frozenset[int], frozenset[int]]:
    """The DSCPs and the CoS that rules of inputs set."""
    rules = [rule for ingress in inputs for rule in ingress.rules]
    dscps = {r.set_dscp if r.set_precedence is None else 8 * r.set_precedence for r in rules} - {None, 0}
    return frozenset(d for d in dscps if d is not None), frozenset(r.set_cos for r in rules if r.set_cos)
