"""WRED of policy classes: curves by precedence or DSCP; lower them, write them, and parse them.

Thresholds are packets; IOS-XE has them in time and bytes, too. The device prints the rows alone that differ from
its own. Those are not known of every release, and follow from the queue's length where they are no packets: what an
intent states is entered in any case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from qosforge.commands import ReadLine
from qosforge.dscp import DSCP_NAMES, drop_precedence, dscp_name
from qosforge.findings import Finding
from qosforge.intent.models import Remark, Treatment
from qosforge.intent.queue_size import QueueSize
from qosforge.intent.wred import WredProfile
from qosforge.note import note
from qosforge.plan.early_drop import Red, RedProfile
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.trains import has

Row = tuple[int, int, int]
"""Minimum, maximum and denominator of one mark."""

_PACKETS = "packets"
_OTHER_UNITS = {"ms", "us", "bytes"}
_COLOURS = {"green": "low", "yellow": "medium", "red": "high"}


@cache
def default_rows(by_dscp: bool) -> tuple[Row, ...]:
    """The device's own curve of each precedence (8) or DSCP (64)."""
    data = CAPABILITIES.red
    rest = (data.maximum, data.denominator.value)
    if not by_dscp:
        return tuple((minimum, *rest) for minimum in data.minimum_by_precedence)
    table = data.minimum_by_dscp
    return tuple((table.value.get(dscp, table.other), *rest) for dscp in range(64))


def make_red(by_dscp: bool, rows: Mapping[int, Row], weight: int, *, ecn: bool, unit: str = _PACKETS) -> Red:
    """A detector with one profile for all marks that have the same curve."""
    marks: dict[Row, list[int]] = {}
    for mark, row in rows.items():
        marks.setdefault(row, []).append(mark)
    kind = "dscp" if by_dscp else "precedence"
    profiles = tuple(
        RedProfile.model_validate({kind: tuple(held), "minimum": row[0], "maximum": row[1], "denominator": row[2]})
        for row, held in marks.items()
    )
    values = {"by_dscp": by_dscp, "weight_exponent": weight, "unit": unit, "profiles": profiles, "ecn": ecn}
    return Red.model_validate(values)


def red_unit(request: DeviceRequest, treatment: Treatment) -> str:
    """The unit of a class's thresholds: that of the intent if the image has it and the queue's limit is in it."""
    units = {p.minimum.unit for p in treatment.wred.profiles} if treatment.wred else set()
    limit = treatment.queue_limit
    held = limit and ("bytes" if limit.bytes is not None else "ms" if limit.time is not None else _PACKETS)
    if len(units) != 1 or not has(request, "red_units") or not units <= _OTHER_UNITS or held not in {None, *units}:
        return _PACKETS
    return units.pop()


@cache
def default_red(by_dscp: bool = False) -> Red:
    """WRED as ``random-detect`` (or ``random-detect dscp-based``) alone sets it."""
    rows = dict(enumerate(default_rows(by_dscp)))
    return make_red(by_dscp, rows, CAPABILITIES.red.weight_exponent.value, ecn=False)


def lower_red(
    request: DeviceRequest, class_request: ClassRequest, rate: float, findings: list[Finding]
) -> Red | None:
    """The detector of a class whose queue drains at ``rate`` bits per second; None where the image lacks it.

    An image without ECN drops early all the same.
    """
    requested = class_request.treatment.wred
    assert requested is not None
    by_dscp = any(p.dscp or p.colour for p in requested.profiles) or (
        not requested.profiles and _tells_drops(class_request)
    )
    if by_dscp and not has(request, "red_by_dscp"):
        findings.append(_refused(request, class_request, "no-detection-by-dscp", image=request.image))
        return None
    ecn = requested.ecn and has(request, "ecn")
    if requested.ecn and not ecn:
        findings.append(_refused(request, class_request, "no-ecn", image=request.image))
    if not requested.profiles and requested.weight_exponent is None and not ecn:
        return default_red(by_dscp)
    unit, data = red_unit(request, class_request.treatment), CAPABILITIES.red
    in_packets = unit == _PACKETS
    rows = dict(enumerate(default_rows(by_dscp))) if in_packets else {}
    limits = data.threshold if in_packets else data.threshold_in_units
    low, high = limits.minimum, limits.maximum
    for profile in requested.profiles:
        depths = profile.minimum, profile.maximum
        minimum, maximum = (whole_packets(depth, rate) if in_packets else depth.value for depth in depths)
        if not low <= minimum <= maximum <= high:
            facts = {"minimum": minimum, "maximum": maximum, "low": low, "high": high, "unit": unit}
            findings.append(_refused(request, class_request, "thresholds-out-of-range", **facts))
            return None
        denominator = round(1 / profile.probability)
        if denominator > data.denominator.maximum:
            facts = {"denominator": denominator, "most": data.denominator.maximum}
            findings.append(_refused(request, class_request, "probability-too-low", **facts))
            return None
        row = (minimum, maximum, denominator)
        findings.extend(_approximations(request, class_request, profile, row, in_packets=in_packets))
        for mark in _marks(profile):
            rows[mark] = row
    weight = data.weight_exponent.value if requested.weight_exponent is None else requested.weight_exponent
    stated = sorted({mark for profile in requested.profiles for mark in _marks(profile)}) if in_packets else ()
    red = make_red(by_dscp, dict(sorted(rows.items())), weight, ecn=ecn, unit=unit)
    return red.model_copy(update={"stated": tuple(stated)})


def _tells_drops(class_request: ClassRequest) -> bool:
    """Whether a class has code points that differ in their drop precedence alone: precedences do not tell them."""
    police = class_request.treatment.police
    marks = {d for t in class_request.terms for d in t.dscp}
    marks |= {class_request.mark.dscp} if class_request.mark and class_request.mark.dscp is not None else set()
    for action in (police.conform, police.exceed, police.violate) if police else ():
        marks |= {action.remark} if isinstance(action, Remark) and action.remark is not None else set()
    assured = [mark for mark in marks if drop_precedence(mark) is not None]
    return len({mark >> 3 for mark in assured}) < len(assured)


def whole_packets(depth: QueueSize, rate: float) -> int:
    """A length of a queue in whole packets, never more than asked but one at least."""
    size = CAPABILITIES.packet_bytes.value
    if depth.unit == "packets":
        return depth.value
    return max(1, math.floor(depth.bytes_at(rate) / size))


def _marks(profile: WredProfile) -> tuple[int, ...]:
    if profile.colour is None:
        return (*profile.dscp, *profile.precedence)
    wanted = _COLOURS[profile.colour]
    return tuple(sorted({d for d in DSCP_NAMES.values() if drop_precedence(d) == wanted}))


def _approximations(
    request: DeviceRequest, class_request: ClassRequest, profile: WredProfile, row: Row, *, in_packets: bool
) -> Iterator[Finding]:
    if profile.colour:
        names = ", ".join(dscp_name(mark) for mark in _marks(profile))
        yield note(
            "wred-colour-as-dscp",
            class_place(request, class_request, direction="output"),
            requested=profile.colour,
            applied=names,
        )
    if in_packets and profile.minimum.unit != "packets":
        unit = "B" if profile.minimum.unit == "bytes" else profile.minimum.unit
        size = CAPABILITIES.packet_bytes.value
        yield note(
            "wred-approximate",
            class_place(request, class_request, direction="output"),
            requested=f"{profile.minimum.value} and {profile.maximum.value} {unit}",
            applied=f"{row[0]} and {row[1]} packets",
            variant="in-packets",
            size=size,
        )
    if abs(profile.probability * row[2] - 1) > 1e-9:
        requested, held = f"{profile.probability * 100:.4g} %", f"1/{row[2]} ({100 / row[2]:.4g} %)"
        yield note(
            "wred-approximate",
            class_place(request, class_request, direction="output"),
            requested=requested,
            applied=held,
            variant="whole-packet",
        )


def _refused(request: DeviceRequest, class_request: ClassRequest, variant: str, **facts: Any) -> Finding:
    prefer = class_request.treatment.wred is not None and class_request.treatment.wred.prefer
    return note(
        "wred-unsupported",
        class_place(request, class_request, direction="output"),
        applied="drops instead of marks" if variant == "no-ecn" else "no early detection",
        variant=variant,
        preferred=prefer,
        **facts,
    )


@dataclass(frozen=True)
class RedLines:
    """What is entered for a detector beside its first line: ``weight`` is None where it is the device's own.

    ``unit`` stands behind thresholds that are no packets.
    """

    by_dscp: bool
    weight: int | None
    ecn: bool
    rows: tuple[tuple[str, Row], ...]
    unit: str


def red_lines(red: Red) -> RedLines:
    """The lines of a detector, without what the device has of itself and nobody states."""
    usual = dict(enumerate(default_rows(red.by_dscp))) if red.unit == _PACKETS else {}
    data = CAPABILITIES.red
    held = {
        mark: (profile.minimum, profile.maximum, profile.denominator)
        for profile in red.profiles
        for mark in (profile.dscp if red.by_dscp else profile.precedence)
    }
    rows = tuple(
        (f"dscp {dscp_name(mark)}" if red.by_dscp else f"precedence {mark}", row)
        for mark, row in sorted(held.items())
        if row != usual.get(mark) or mark in red.stated
    )
    weight = red.weight_exponent if red.weight_exponent != data.weight_exponent.value else None
    return RedLines(red.by_dscp, weight, red.ecn, rows, "" if red.unit == _PACKETS else f" {red.unit}")


class QueueLines:
    """Collects the lines of one class that say how long its queue is and what it drops."""

    def __init__(self) -> None:
        self._by_dscp: bool | None = None
        self._rows: dict[int, Row] = {}
        self._units: set[str] = set()
        self._weight = CAPABILITIES.red.weight_exponent.value
        self._ecn = False
        self._detects = False
        self._fields: dict[str, object] = {"limit_packets": CAPABILITIES.class_queue_limit.value}

    def take(self, line: ReadLine) -> bool:
        """Take a line; False where it is not understood."""
        match line.id:
            case "queue-limit":
                self._fields |= {"limit_packets": None, f"limit_{line.get('unit', 'packets')}": line["limit"]}
                return True
            case "fair-queue":
                self._fields |= {"fair": True, "flows": line.get("flows")}
                return True
            case "red":
                taken = self._based("dscp" in line)
            case "red-row":
                taken = self._row(line)
            case "red-option":
                self._weight = line.get("weight_exponent", self._weight)
                self._ecn |= "weight_exponent" not in line
                taken = True
            case _:
                return False
        self._detects |= taken
        return taken

    def _based(self, by_dscp: bool) -> bool:
        if self._by_dscp is None:
            self._by_dscp = by_dscp
        return self._by_dscp == by_dscp

    def _row(self, line: ReadLine) -> bool:
        unit = line.get("unit", _PACKETS)
        if line["minimum"] > line["maximum"] or not self._based("dscp" in line):
            return False
        if self._units - {unit} or line.get("again", unit) != unit:
            return False
        self._units = {unit}
        denominator = line.get("denominator", CAPABILITIES.red.denominator.value)
        mark = line["dscp"] if "dscp" in line else line["precedence"]
        self._rows[mark] = (line["minimum"], line["maximum"], denominator)
        return True

    @property
    def fields(self) -> dict[str, object]:
        """What the lines taken say of a queue."""
        by_dscp = bool(self._by_dscp)
        unit = next(iter(self._units), _PACKETS)
        rows = dict(sorted(self._rows.items()))
        if unit == _PACKETS:
            rows = {mark: self._rows.get(mark, row) for mark, row in enumerate(default_rows(by_dscp))}
        red = make_red(by_dscp, rows, self._weight, ecn=self._ecn, unit=unit) if self._detects else None
        return {**self._fields, "red": red}
