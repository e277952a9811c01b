"""Rates of classes: policers on input, meters and shapers on output, in the steps that the device has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qosforge.findings import Finding, Severity
from qosforge.intent.models import Police
from qosforge.plan.model import DROP, TRANSMIT, Policer
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.force10_e300.capabilities import capabilities
from qosforge.units import format_rate

KB = 1024
_MEGA = 1_000_000
_KILO = 1000


def refusal(police: Police) -> str | None:
    """Why the device does not police like this; None where it does."""
    data = capabilities()["meter"]
    if police.rate < data["minimum"] * _KILO or police.rate > data["maximum"] * _KILO:
        return f"rates are from {data['minimum']} to {data['maximum']} kb/s"
    if police.buckets == 1:
        return None if police.exceed == "drop" else "what exceeds is dropped, with one bucket"
    if police.peak_rate is None:
        return "the second bucket is filled at a peak rate"
    sent = police.exceed == "transmit" and police.violate == "drop"
    return None if sent else "what exceeds is sent and what violates is dropped, with two buckets"


def policer(class_request: ClassRequest, side: str) -> Policer | None:
    """The policer of a class on one side; None where none is asked for or the device has none like it."""
    police = class_request.treatment.police
    if police is None or police.direction != side or refusal(police) is not None:
        return None
    rate, burst = _rate(police.rate), _burst(police.burst_bytes)
    if police.peak_rate is None or police.excess_bytes is None:
        return Policer(rate=rate, burst=burst)
    return Policer(
        rate=rate,
        burst=burst,
        peak_rate=_rate(police.peak_rate),
        excess_burst=_burst(police.excess_bytes),
        exceed=TRANSMIT,
        violate=DROP,
    )


def _rate(requested: int) -> int:
    return (requested + _KILO // 2) // _KILO * _KILO


def _burst(requested: int) -> int:
    data = capabilities()["meter_burst"]
    low, high = int(data["minimum"]), int(data["maximum"])
    return min(max((requested + KB // 2) // KB, low), high) * KB


def meter_text(police: Policer) -> str:
    """A policer as it is typed: rates in Mb/s where they are whole, bursts in KB."""
    text = f"{_rate_text(police.rate)} {police.burst // KB}"
    if police.peak_rate is not None and police.excess_burst is not None:
        text += f" peak {_rate_text(police.peak_rate)} {police.excess_burst // KB}"
    return text


def _rate_text(rate: int) -> str:
    return str(rate // _MEGA) if rate % _MEGA == 0 else f"kbps {rate // _KILO}"


def read_meter(values: Mapping[str, Any]) -> Policer:
    """The policer of what a line says (`lines.METER`)."""
    usual: int = capabilities()["meter_burst"]["default"]
    rate, burst = _read_rate(values, "", usual)
    if "peak_mbps" not in values and "peak_kbps" not in values:
        return Policer(rate=rate, burst=burst)
    peak, excess = _read_rate(values, "peak_", usual)
    return Policer(rate=rate, burst=burst, peak_rate=peak, excess_burst=excess, exceed=TRANSMIT, violate=DROP)


def read_shape(values: Mapping[str, Any]) -> tuple[int, int]:
    """Rate (b/s) and burst (bytes) of a shaper."""
    return _read_rate(values, "", capabilities()["shape"]["default_burst"])


def _read_rate(values: Mapping[str, Any], part: str, burst_kb: int) -> tuple[int, int]:
    mbps = values.get(f"{part}mbps")
    rate = values[f"{part}kbps"] * _KILO if mbps is None else mbps * _MEGA
    return rate, values.get(f"{part}burst_kb", burst_kb) * KB


def shape_rate(class_request: ClassRequest) -> int | None:
    """The rate (b/s) that a class is shaped to; None where none is asked for or it is below the lowest."""
    if class_request.treatment.shape is None:
        return None
    step = capabilities()["shape"]["step"] * _MEGA
    return class_request.treatment.shape.rate // step * step or None


def rate_findings(request: DeviceRequest) -> Iterator[Finding]:
    """Where a policer or a shaper is not what was asked for."""
    for c in request.classes:
        police = c.treatment.police
        side = police.direction if police else None
        if police and any(i.recognise if side == "input" else i.schedule for i in request.interfaces):
            yield from _police_findings(request, c, police)
        if c.treatment.shape and any(i.schedule for i in request.interfaces):
            yield from _shape_findings(request, c)


def _police_findings(request: DeviceRequest, c: ClassRequest, police: Police) -> Iterator[Finding]:
    reason, side = refusal(police), police.direction
    if reason is not None:
        graver = Severity.WARNING if police.prefer else Severity.ERROR
        numbers = (format_rate(police.rate), "not policed")
        yield _finding(request, c, ("police-unsupported", graver, reason), numbers, side)
        return
    held = policer(c, side)
    assert held is not None
    if held.rate != police.rate:
        message = "policers have rates of whole kb/s"
        numbers = (format_rate(police.rate), format_rate(held.rate))
        yield _finding(request, c, ("police-rate-approximate", Severity.INFO, message), numbers, side)
    if police.burst is not None and held.burst != police.burst:
        data = capabilities()["meter_burst"]
        message = f"policers have bursts from {data['minimum']} to {data['maximum']} KB, in whole KB"
        numbers = (f"{police.burst} bytes", f"{held.burst} bytes")
        yield _finding(request, c, ("police-burst-approximate", Severity.INFO, message), numbers, side)


def _shape_findings(request: DeviceRequest, c: ClassRequest) -> Iterator[Finding]:
    shape, rate, step = c.treatment.shape, shape_rate(c), capabilities()["shape"]["step"]
    assert shape is not None
    if rate == shape.rate:
        return
    beyond = rate is None or shape.rate - rate > request.tolerance * shape.rate
    graver = Severity.WARNING if shape.prefer else Severity.ERROR
    code = "shape-unsupported" if rate is None else "shape-approximate"
    message = f"queues are shaped to multiples of {step} Mb/s"
    numbers = (format_rate(shape.rate), "not shaped" if rate is None else format_rate(rate))
    yield _finding(request, c, (code, graver if beyond else Severity.INFO, message), numbers, "output")


def _finding(
    request: DeviceRequest,
    c: ClassRequest,
    what: tuple[str, Severity, str],
    numbers: tuple[str, str],
    direction: str,
) -> Finding:
    """A finding of this code, severity and message, with what is asked and what will be."""
    return Finding(
        code=what[0],
        severity=what[1],
        message=what[2],
        device=request.device,
        direction=direction,
        traffic_class=c.name,
        line=c.line,
        requested=numbers[0],
        applied=numbers[1],
        hint=None if what[1] is Severity.INFO else "ask for what the device has, or say 'prefer: true'",
    )
