"""Rules about the lines of IOS routers: what came with which release, and what an interface has to give away.

Sources: those of the capability data; IOS QoS command reference (bandwidth, priority, queue-limit, shape,
rate-limit) and "service-policy" in IOS in a Nutshell (12.3) for what is refused when a policy is attached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from qosforge.commands import PlacedLine
from qosforge.note import because
from qosforge.plan.model import Discipline, Queue, Scheduler
from qosforge.plan.shares import divided_rate
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, default_bandwidth, since
from qosforge.platforms.cisco_ios.trains import train
from qosforge.platforms.line_rules import (
    ConfigurationLines,
    Fault,
    not_together,
    out_of_range,
    sum_above,
)
from qosforge.platforms.mqc import line_rules as mqc
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.mqc.list_rules import access_lists
from qosforge.platforms.mqc.policies import read_guarantee

_TRAINS = {feature.since: feature.train for feature in CAPABILITIES.features.values() if feature.train}
"""Releases whose features are those of one train alone."""
_LIMIT = CAPABILITIES.class_queue_limit


class _Bounds(NamedTuple):
    """What a value of a line may be on this device; ``step`` is what it is a multiple of."""

    line: str
    value: str
    low: int
    high: int
    step: int = 1


def _hqf(lines: ConfigurationLines) -> bool:
    return "hqf" in lines.features or train(lines.image).since(since("hqf"))


def releases(lines: ConfigurationLines) -> Iterator[Fault]:
    """Lines that the release of the device does not have yet."""
    image = train(lines.image)
    for line in lines.everywhere:
        onset = line.row.since if line.id and line.row is not None else ""
        if not onset or (onset == since("hqf") and "hqf" in lines.features):
            continue
        if not image.since(onset) or _TRAINS.get(onset, image.letter) != image.letter:
            yield Fault(line, because("line-too-new", since=onset, image=lines.image))


def _bounds(lines: ConfigurationLines) -> Iterator[_Bounds]:
    hqf, image = _hqf(lines), train(lines.image)
    yield _Bounds("queue-limit", "limit", _LIMIT.minimum, _LIMIT.maximum_hqf if hqf else _LIMIT.maximum)
    shape, shaped = CAPABILITIES.shape_bps, CAPABILITIES.shape_bps_hqf
    step = 1 if image.since(since("shape_any_rate")) else shape.step
    yield _Bounds("shape", "shape_rate", shape.minimum, shaped.maximum if hqf else shape.maximum, step)
    yield _Bounds("priority", "kbps", CAPABILITIES.priority_kbps.minimum, CAPABILITIES.priority_kbps.maximum)
    yield _Bounds("priority", "burst", CAPABILITIES.priority_burst.minimum, CAPABILITIES.priority_burst.maximum)
    yield _Bounds("bandwidth", "kbps", CAPABILITIES.bandwidth_kbps.minimum, CAPABILITIES.bandwidth_kbps.maximum)
    for value, limits in (
        ("rate", CAPABILITIES.police.rate),
        ("peak", CAPABILITIES.police.rate),
        ("burst", CAPABILITIES.police.burst),
        ("excess", CAPABILITIES.police.burst),
    ):
        yield _Bounds("police", value, limits.minimum, limits.maximum)
    for line in ("rate-limit", "rate-limit-list"):
        car = CAPABILITIES.car
        yield _Bounds(line, "rate", car.rate.minimum, car.rate.maximum, car.rate.step)
        yield _Bounds(line, "burst", car.burst.minimum, car.burst.maximum)
    if not hqf:
        for value in ("minimum", "maximum"):
            yield _Bounds("red-row", value, 1, CAPABILITIES.red.threshold.maximum)


def ranges(lines: ConfigurationLines) -> Iterator[Fault]:
    """Numbers that the release of the device does not take."""
    for bounds in _bounds(lines):
        for line in lines.all(bounds.line):
            value = line.get(bounds.value)
            if not isinstance(value, int):
                continue
            if not bounds.low <= value <= bounds.high:
                yield out_of_range(line, f"{value} is not between {bounds.low} and {bounds.high}")
            elif value % bounds.step:
                yield out_of_range(line, f"{value} is no multiple of {bounds.step}")
    for line in lines.all("rate-limit", "rate-limit-list"):
        least = line.values["rate"] // CAPABILITIES.car.burst.rate_part
        if line.values["burst"] < least:
            yield out_of_range(line, f"{line.values['burst']} is below {least}, the least burst for this rate")
        if line.values["most"] < line.values["burst"]:
            yield out_of_range(line, f"{line.values['most']} is below the normal burst {line.values['burst']}")


def drops(lines: ConfigurationLines) -> Iterator[Fault]:
    """What queue lengths, fair queues and WRED of a class want beside them, and what they exclude."""
    hqf = _hqf(lines)
    wanted = ("bandwidth", "shape", "fair-queue", *(("priority",) if hqf else ()))
    for held in lines.all("class"):
        limit, red = held.first("queue-limit"), held.first("red")
        there = [line.id for line in held.below]
        if held.name != CLASS_DEFAULT:
            if limit is not None and not set(wanted) & set(there):
                yield not_together(limit, held.text, "queue-limit wants a bandwidth or a shape in the class")
            if red is not None and not {"bandwidth", "shape", "fair-queue", "priority"} & set(there):
                yield not_together(red, held.text, "random-detect wants a bandwidth or a shape in the class")
            if not hqf and (fair := held.first("fair-queue")) is not None:
                yield not_together(fair, held.text, "before HQF the class of everything else alone has fair-queue")
        if not hqf and limit is not None:
            for other in held.all("priority", "red"):
                yield not_together(limit, other.text, "before HQF queue-limit excludes priority and random-detect")
        for row in held.all("red-row"):
            if red is None:
                yield not_together(row, held.text, "thresholds want random-detect in the class first")
                break


class _Place(NamedTuple):
    """Where a policy queues: the kb/s that its shares are of, and how many of these it may give away."""

    port: str
    policy: str
    kbps: int
    free: int


def _rate(interface: PlacedLine, ports: dict[str, PlacedLine], *, whole: bool) -> int | None:
    """The kb/s of an interface; None where that is not known."""
    name = interface.name
    for port in (interface, ports.get(name.split(".")[0])):
        if port is not None and (stated := port.first("bandwidth")) is not None:
            return int(stated.values["kbps"])
    return default_bandwidth(name) if whole else None


def _places(lines: ConfigurationLines) -> Iterator[_Place]:
    ports, hqf = lines.named("interface"), _hqf(lines)
    for interface in ports.values():
        kbps, stated = _rate(interface, ports, whole=lines.whole), interface.first("reservable")
        percent = 100 if hqf else stated.values["percent"] if stated else CAPABILITIES.max_reserved_percent.value
        for line in (*interface.all("service-policy"), *_circuits(interface)):
            rate = kbps
            if line.above is not interface and line.above is not None:
                contract = line.above.first("contract")
                rate = contract.get("sustained", contract.get("peak")) if contract else None
            if line.get("direction") == "output" and rate:
                yield _Place(interface.name, line.name, rate, rate * percent // 100)


def _circuits(interface: PlacedLine) -> Iterator[PlacedLine]:
    return (line for circuit in interface.all("pvc") for line in circuit.all("service-policy"))


def reserved(lines: ConfigurationLines) -> Iterator[Fault]:
    """Policies that give away more than the interface has."""
    policies = lines.named("policy-map")
    for place in _places(lines):
        if place.policy in policies:
            yield from _booked(lines, policies[place.policy], place, frozenset({place.policy}))


def _booked(lines: ConfigurationLines, policy: PlacedLine, place: _Place, seen: frozenset[str]) -> Iterator[Fault]:
    policies = lines.named("policy-map")
    free: float = place.free
    if _hqf(lines) and not _default_reserves(policy):
        free = min(free, place.kbps * CAPABILITIES.max_reserved_percent_hqf.value / 100)
    total = 0.0
    for held in policy.all("class"):
        for line in held.all("bandwidth", "priority"):
            amount = line.get("kbps", 0) + line.get("percent", 0) * place.kbps / 100
            total += amount
            if amount and total > free:
                fault = sum_above("guarantees", line, round(total), int(free), "kb/s")
                yield fault._replace(port=place.port)
        shape, child = held.first("shape"), held.first("child")
        if shape is None or child is None or child.name not in policies or child.name in seen:
            continue
        if rate := _divided_kbps(lines, policy, held, place.kbps):
            inner = _Place(place.port, child.name, rate, rate)
            yield from _booked(lines, policies[child.name], inner, seen | {child.name})


def _divided_kbps(lines: ConfigurationLines, policy: PlacedLine, held: PlacedLine, kbps: int) -> int:
    """The kb/s that a policy inside a shaped class divides, where ``kbps`` are those around it; 0 if not known."""
    classes = list(policy.all("class"))
    if all(c.name != CLASS_DEFAULT for c in classes):
        classes.append(replace(held, values={"name": CLASS_DEFAULT}, below=()))
    queues = [Queue.model_validate({"number": number, **_queued(c)}) for number, c in enumerate(classes)]
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(queues), divides_guarantees=_hqf(lines))
    return (divided_rate(scheduler, queues[classes.index(held)], kbps * 1000) or 0) // 1000


def _queued(held: PlacedLine) -> dict[str, object]:
    """The fields of a class's queue that say what it has of a rate."""
    values: dict[str, object] = {}
    for line in held.all("priority", "bandwidth"):
        values |= read_guarantee(line)
    for line in held.all("shape"):
        values |= {name: line.values[name] for name in ("shape_rate", "shape_percent") if name in line.values}
    return values


def _default_reserves(policy: PlacedLine) -> bool:
    """Whether class-default has a bandwidth of its own, in kb/s or per cent."""
    default = [held for held in policy.all("class") if held.name == CLASS_DEFAULT]
    return any({"kbps", "percent"} & set(line.values) for held in default for line in held.all("bandwidth"))


def _map_classes(lines: ConfigurationLines) -> Iterator[Fault]:
    """What the policy of a Frame Relay map class reserves, against what the class guarantees (``mincir``)."""
    policies = lines.named("policy-map")
    for map_class in lines.all("map-class"):
        values: dict[str, int] = {}
        for line in map_class.all("map-class-value"):
            values.update({name: value for name, value in line.values.items() if isinstance(value, int)})
        cir = values.get("cir", CAPABILITIES.frame_relay.cir.default)
        rate = values.get("mincir", cir // 2) // 1000
        if values.get("mincir", 0) > cir:
            line = next(line for line in map_class.all("map-class-value") if "mincir" in line.values)
            yield out_of_range(line, f"{values['mincir']} is above the CIR of {cir}")
        for attached in map_class.all("service-policy"):
            policy = policies.get(attached.name)
            if attached.get("direction") == "input" and policy and mqc.queues(policy, policies):
                continue  # `mqc.sides` says so
            if policy is not None and attached.get("direction") != "input":
                place = _Place("", policy.name, rate, rate)
                yield from _booked(lines, policy, place, frozenset({policy.name}))


def subinterfaces(lines: ConfigurationLines) -> Iterator[Fault]:
    """Class-based queueing at a subinterface wants a shape around it."""
    policies = lines.named("policy-map")
    queued = set(mqc.QUEUEING) - {"shape"}
    for interface in lines.all("interface"):
        for attached in interface.all("service-policy") if "." in interface.name else ():
            policy = policies.get(attached.name)
            if policy is None or attached.get("direction") != "output":
                continue
            for held in policy.all("class"):
                if held.first("shape") is None and held.first(*queued) is not None:
                    why = f"{held.text} of {policy.text} queues without a shape, which subinterfaces do not take"
                    yield Fault(attached, because("policy-side", why=why))
                    break


def fragments(lines: ConfigurationLines) -> Iterator[Fault]:
    """Fragments and interleaving go together: without the one the other does nothing."""
    for interface in lines.all("interface"):
        delay = interface.first("fragment")
        options = {line.get("option") for line in interface.all("multilink-option")}
        if delay is not None and "interleave" not in options:
            yield not_together(delay, interface.text, "fragments let nothing pass without ppp multilink interleave")
        if delay is not None and lines.whole and interface.first("multilink", "bundle") is None:
            yield not_together(delay, interface.text, "fragments want ppp multilink at the interface")


def _nested(lines: ConfigurationLines) -> Iterator[Fault]:
    depth = CAPABILITIES.policy_depth
    return mqc.nested(lines, depth.hqf if _hqf(lines) else depth.value)


LINE_RULES = (
    releases,
    ranges,
    mqc.shares,
    mqc.exclusive,
    mqc.bounds,
    _nested,
    mqc.sides,
    drops,
    reserved,
    _map_classes,
    subinterfaces,
    fragments,
    access_lists,
)
"""The rules of these routers."""
