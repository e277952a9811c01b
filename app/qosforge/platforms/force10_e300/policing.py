"""Rates of classes: policers on input, meters and shapers on output, in the steps that the device has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qosforge.findings import Finding
from qosforge.intent.models import Police, Shape
from qosforge.note import Reason, because, note
from qosforge.plan.model import DROP, TRANSMIT, Policer
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.force10_e300.capabilities import CAPABILITIES, has_kbps
from qosforge.platforms.rounding import burst_findings
from qosforge.units import format_rate

KB = 1024
_MEGA = 1_000_000
_KILO = 1000


def refusal(police: Police, image: str) -> Reason | None:
    """Why a release of the device does not police like this; None where it does."""
    data = CAPABILITIES.meter
    minimum = max(data.minimum, _step(image) // _KILO)
    if not minimum * _KILO <= police.committed_rate <= data.maximum * _KILO:
        return because("police-unsupported", variant="rates", minimum=minimum, maximum=data.maximum)
    if police.buckets == 1:
        return None if police.exceed == "drop" else because("police-unsupported", variant="one-bucket-drops")
    if police.peak_rate is None:
        return because("police-unsupported", variant="peak-rate-fills")
    sent = police.exceed == "transmit" and police.violate == "drop"
    return None if sent else because("police-unsupported", variant="two-buckets")


def policer(class_request: ClassRequest, side: str, image: str) -> Policer | None:
    """The policer of a class on one side; None where none is asked for or the release has none like it."""
    police = class_request.treatment.police
    if police is None or police.direction != side or refusal(police, image) is not None:
        return None
    rate, burst = _rate(police.committed_rate, image), _burst(police.burst_bytes)
    if police.peak_rate is None or police.excess_bytes is None:
        return Policer(rate=rate, burst=burst)
    return Policer(
        rate=rate,
        burst=burst,
        peak_rate=_rate(police.peak_rate, image),
        excess_burst=_burst(police.excess_bytes),
        exceed=TRANSMIT,
        violate=DROP,
    )


def _rate(requested: int, image: str) -> int:
    step = _step(image)
    return (requested + step // 2) // step * step


def _step(image: str) -> int:
    """The steps of a policer's rate (b/s)."""
    return _KILO if has_kbps(image) else _MEGA


def _burst(requested: int) -> int:
    bounds = CAPABILITIES.meter_burst
    return min(max((requested + KB // 2) // KB, bounds.minimum), bounds.maximum) * KB


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
    usual = CAPABILITIES.meter_burst.default
    rate, burst = _read_rate(values, "", usual)
    if "peak_mbps" not in values and "peak_kbps" not in values:
        return Policer(rate=rate, burst=burst)
    peak, excess = _read_rate(values, "peak_", usual)
    return Policer(rate=rate, burst=burst, peak_rate=peak, excess_burst=excess, exceed=TRANSMIT, violate=DROP)


def read_shape(values: Mapping[str, Any]) -> tuple[int, int]:
    """Rate (b/s) and burst (bytes) of a shaper."""
    return _read_rate(values, "", CAPABILITIES.shape.default_burst)


def _read_rate(values: Mapping[str, Any], part: str, burst_kb: int) -> tuple[int, int]:
    mbps = values.get(f"{part}mbps")
    rate = values[f"{part}kbps"] * _KILO if mbps is None else mbps * _MEGA
    return rate, values.get(f"{part}burst_kb", burst_kb) * KB


def shape_rate(class_request: ClassRequest) -> int | None:
    """The rate (b/s) that a class is shaped to; None where none is asked for or it is below the lowest."""
    if class_request.treatment.shape is None:
        return None
    step = CAPABILITIES.shape.step * _MEGA
    return _requested(class_request.treatment.shape) // step * step or None


def _requested(shape: Shape) -> int:
    assert shape.rate is not None  # the device has no shaper at a percentage
    return shape.rate


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
    reason, side = refusal(police, request.image), police.direction
    place = class_place(request, c, direction=side)
    if reason is not None:
        asked = format_rate(police.committed_rate)
        yield reason.note(place, requested=asked, applied="not policed", preferred=police.prefer)
        return
    held = policer(c, side, request.image)
    assert held is not None
    if held.rate != police.committed_rate:
        yield _rounded(request, police, held.rate).note(
            place,
            requested=format_rate(police.committed_rate),
            applied=format_rate(held.rate),
            preferred=police.prefer,
        )
    data = CAPABILITIES.meter_burst
    yield from burst_findings(place, police, held.burst, variant="whole-kb", least=data.minimum, most=data.maximum)


def _rounded(request: DeviceRequest, police: Police, rate: int) -> Reason:
    """Why a policer has another rate than asked for."""
    code, since = "police-rate-approximate", CAPABILITIES.kbps_since.value
    if has_kbps(request.image):
        return because(code, variant="whole-kbps")
    beyond = abs(rate - police.committed_rate) > request.tolerance * police.committed_rate
    return because(code, variant="whole-mbps-beyond" if beyond else "whole-mbps", image=request.image, since=since)


def _shape_findings(request: DeviceRequest, c: ClassRequest) -> Iterator[Finding]:
    shape, rate, step = c.treatment.shape, shape_rate(c), CAPABILITIES.shape.step
    assert shape is not None
    asked = _requested(shape)
    if rate == asked:
        return
    place, requested = class_place(request, c, direction="output"), format_rate(asked)
    if rate is None:
        yield note(
            "shape-unsupported",
            place,
            requested=requested,
            applied="not shaped",
            variant="whole-mbps",
            step=step,
            preferred=shape.prefer,
        )
        return
    beyond = asked - rate > request.tolerance * asked
    yield note(
        "shape-approximate",
        place,
        requested=requested,
        applied=format_rate(rate),
        variant="whole-mbps-beyond" if beyond else "whole-mbps",
        step=step,
        preferred=shape.prefer,
    )
