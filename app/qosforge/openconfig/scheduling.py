"""Map schedulers to OpenConfig: strict queues first, then one round of weights; uniform RED."""

from __future__ import annotations

import math

from qosforge.openconfig.unmapped_fields import UnmappedFields
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.model import Discipline, Queue, Scheduler, Share, ShareUnit

QUEUE_CARRIED = ("number", "name", "priority", "share", "capped", "red", "limit_packets", "burst")
PACKET_BYTES = 1500
"""Bytes that stand for a packet where a device counts its thresholds in packets (an Ethernet MTU)."""
_BYTES_A_UNIT = {"packets": PACKET_BYTES, "bytes": 1}
_CAPS = (ShareUnit.PERCENT, ShareUnit.KBPS, ShareUnit.REMAINING_PERCENT)


def discipline(queues: tuple[Queue, ...]) -> Discipline:
    """What the model's schedulers amount to: it knows strict priority and weights only."""
    if all(queue.priority for queue in queues):
        return Discipline.STRICT
    return Discipline.FIFO if len(queues) == 1 else Discipline.WRR


def carried_scheduler(
    scheduler: Scheduler, bandwidth_kbps: int | None, unmapped: UnmappedFields, interface: str
) -> Scheduler | None:
    """The scheduler in the model's terms; None where it has no queues. ``bandwidth_kbps`` is the link's rate."""
    unmapped.others(scheduler, ("discipline", "queues"), "the scheduler", interface)
    strict = scheduler.discipline is Discipline.STRICT
    queues = [q.model_copy(update={"priority": True}) if strict else q for q in scheduler.queues]
    ordered = [q for q in queues if q.priority] + [q for q in queues if not q.priority]
    weights = _weights(scheduler, ordered, bandwidth_kbps)
    carried = tuple(_queue(q, weights.get(q.number), unmapped, interface) for q in ordered)
    if scheduler.discipline is Discipline.FLOW_WFQ:
        _scheduling(unmapped, interface, scheduler.discipline.value, "first in, first out")
    if not carried or (scheduler.discipline is Discipline.FLOW_WFQ and len(carried) > 1):
        return None
    chosen = discipline(carried)
    if chosen is not scheduler.discipline and scheduler.discipline not in (Discipline.FIFO, Discipline.FLOW_WFQ):
        mixed = "strict queues, then weights" if any(q.priority for q in carried) else "weights"
        _scheduling(unmapped, interface, scheduler.discipline.value, mixed)
    if chosen is Discipline.FIFO:
        carried = tuple(q.model_copy(update={"share": None}) for q in carried)
    return Scheduler(discipline=chosen, queues=carried)


def _scheduling(unmapped: UnmappedFields, interface: str, requested: str, applied: str) -> None:
    unmapped.note(
        "openconfig-scheduling-approximate",
        interface=interface,
        direction="output",
        requested=requested,
        applied=applied,
    )


def _weights(scheduler: Scheduler, queues: list[Queue], bandwidth_kbps: int | None) -> dict[int, int]:
    """Weights of the queues without priority, by number; those without a share take what the others leave."""
    shares = {q.number: q.share for q in queues if not q.priority and q.share is not None}
    units = {share.unit for share in shares.values()}
    kbps = ShareUnit.KBPS in units
    whole = bandwidth_kbps if kbps else 100
    weights = {number: _in(share, kbps, bandwidth_kbps) for number, share in shares.items()}
    unset = [q.number for q in queues if not q.priority and q.share is None and not q.shape_weight]
    if scheduler.discipline is Discipline.LLQ_CBWFQ and unset and whole and ShareUnit.WEIGHT not in units:
        caps = 0
        if ShareUnit.REMAINING_PERCENT not in units:
            caps = sum(_in(q.share, kbps, bandwidth_kbps) for q in queues if q.priority and q.capped and q.share)
        left = whole - caps - sum(weights.values())
        weights.update(dict.fromkeys(unset, max(left // len(unset), 1)))
    # Devices that speak OpenConfig may refuse weights above 100: rates are told in lowest terms.
    factor = (math.gcd(*weights.values()) or 1) if kbps else 1
    return {number: weight // factor for number, weight in weights.items()}


def _in(share: Share, kbps: bool, bandwidth_kbps: int | None) -> int:
    """A share as a number that compares with the others: kb/s where one of them is given so."""
    if kbps and bandwidth_kbps and share.unit in (ShareUnit.PERCENT, ShareUnit.REMAINING_PERCENT):
        return share.value * bandwidth_kbps // 100
    if not kbps and share.unit is ShareUnit.KBPS:
        return share.value * 100 // bandwidth_kbps if bandwidth_kbps else 0
    return share.value


def _queue(queue: Queue, weight: int | None, unmapped: UnmappedFields, interface: str) -> Queue:
    unmapped.others(queue, QUEUE_CARRIED, f"queue {queue.name or queue.number}", interface)
    if queue.limit_packets is not None:
        unmapped.note(
            "openconfig-queue-limit-not-carried",
            interface=interface,
            direction="output",
        )
    capped = queue.priority and queue.capped and queue.share is not None and queue.share.unit in _CAPS
    share = queue.share if capped else None
    if not queue.priority and weight is not None:
        share = Share(unit=ShareUnit.WEIGHT, value=weight)
    requested = queue.share
    if requested is not None and share is None:
        unmapped.note(
            "openconfig-share-not-carried",
            interface=interface,
            direction="output",
            traffic_class=queue.name,
            requested=f"{requested.value} {requested.unit.value}",
        )
    if requested is not None and share is not None and requested.unit is not share.unit:
        unmapped.note(
            "openconfig-share-as-weight",
            interface=interface,
            direction="output",
            traffic_class=queue.name,
            requested=f"{requested.value} {requested.unit.value}",
            applied=f"weight {share.value}",
        )
    red = None if queue.red is None else _red(queue.red, queue.name or str(queue.number), unmapped, interface)
    if queue.burst is not None and not capped:
        unmapped.others(
            Queue(number=queue.number, burst=queue.burst), ("number",), f"queue {queue.name}", interface
        )
    return Queue(
        number=queue.number,
        name=queue.name,
        priority=queue.priority,
        share=share,
        capped=capped,
        red=red,
        burst=queue.burst if capped else None,
    )


def drop_percent(denominator: int) -> int:
    """The model's drop probability (whole per cents, 1 to 100) for one in ``denominator``."""
    return min(max(round(100 / denominator), 1), 100)


def drop_denominator(percent: int) -> int:
    """One in how many packets a drop probability of 1 to 100 % is."""
    return round(100 / percent)


def _red(red: Red, name: str, unmapped: UnmappedFields, interface: str) -> Red | None:
    """One profile for all packets: that of unmarked traffic where the device has several."""
    unit = _BYTES_A_UNIT.get(red.unit)
    if not red.profiles or unit is None:
        unmapped.note(
            "openconfig-wred-not-carried",
            interface=interface,
            direction="output",
            traffic_class=name,
            **({"variant": "unit", "unit": red.unit} if red.profiles else {}),
        )
        return None
    chosen = next((p for p in red.profiles if 0 in p.dscp or 0 in p.precedence), red.profiles[0])
    profile = RedProfile(
        minimum=chosen.minimum * unit,
        maximum=chosen.maximum * unit,
        denominator=drop_denominator(drop_percent(chosen.denominator)),
    )
    carried = Red(weight_exponent=red.weight_exponent, unit="bytes", profiles=(profile,), ecn=red.ecn)
    # How drops are spaced and whether the average falls while idle is the device's own: the model does not say it.
    same = {"even": red.even, "idle_decay": red.idle_decay}
    if carried.model_copy(update=same) != red:
        unmapped.note(
            "openconfig-wred-approximate",
            interface=interface,
            direction="output",
            traffic_class=name,
            requested=f"{len(red.profiles)} profiles, {_profile_words(chosen, red.unit)} for unmarked packets",
            applied=_profile_words(profile, "bytes"),
        )
    return carried


def _profile_words(profile: RedProfile, unit: str) -> str:
    return f"{profile.minimum} to {profile.maximum} {unit}, 1 in {profile.denominator}"
