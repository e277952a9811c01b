"""Measure traffic at the ports of stations by reading the devices' counters twice (show commands only)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from qosforge.deploy.device_driver import DeviceDriver
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.transaction import running
from qosforge.discovery.class_parts import ClassPart, class_parts
from qosforge.discovery.facts import Note, Topic
from qosforge.errors import DeviceError, InputError, Place, QosforgeError
from qosforge.inventory.models import Device, Network, Station
from qosforge.plan.model import Plan
from qosforge.platforms.base import QueueCount, platform
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.port_counters import FRAME_OVERHEAD_BYTES, PortCounterForm, PortCounters
from qosforge.tester.counters.comparison import read_counters as read_classes

SHORTEST_SECONDS = 10
"""Least time between the readings: switches refresh what their show commands print only every few seconds."""
MOST_DOUBT = 0.1
"""How much of the interval an answer may take: when in that time the device looked at its counters is not known."""
_LEAST_IP_BYTES = 20
_MOST_IP_BYTES = 65_535


@dataclass(frozen=True)
class Sending:
    """What went one way at a port: IP bits per second, and the mean size of its IP packets in bytes."""

    rate_bps: int
    ip_bytes: int


@dataclass(frozen=True)
class StationTraffic:
    """What a station sent and received, ``None`` where that was nothing; ``seconds`` is the measured interval.

    ``classes`` divide what it sent, by the policy at its port; empty where the device does not count by class.
    """

    station: str
    seconds: float
    sent: Sending | None
    received: Sending | None
    classes: tuple[ClassPart, ...] = ()


@dataclass(frozen=True)
class MeasuredTraffic:
    """The traffic of all stations that could be measured, and what stopped others: an error each.

    ``notes`` are on devices whose counters are not read at all.
    """

    began: datetime
    seconds: float
    stations: tuple[StationTraffic, ...]
    problems: tuple[QosforgeError, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class _Reading:
    at: float
    took: float
    ports: Mapping[str, PortCounters]
    classes: Sequence[QueueCount]
    plan: Plan


def measure_stations(fleet: Fleet, seconds: float, wait: Callable[[float], None] = time.sleep) -> MeasuredTraffic:
    """Read the counters of every port with a station, wait, and read them again.

    A device or port that cannot be measured is a problem in the result, never an abort.

    Raises:
        InputError: the interval is too short or none, or the network has fewer than two stations.
    """
    network = fleet.network
    if not math.isfinite(seconds):
        hint = "give --seconds a number, such as 300"
        raise InputError(
            f"{seconds:g} seconds between two readings are no time to wait", Place(path="--seconds"), hint
        )
    if seconds < SHORTEST_SECONDS:
        hint = f"give --seconds {SHORTEST_SECONDS} or more; a minute or longer says more of a network"
        raise InputError(f"{seconds:g} seconds between two readings are too short", Place(path="--seconds"), hint)
    if len(network.stations) < 2:
        hint = "derive them from access ports first: qosforge network stations"
        message = f"{network.name} has {len(network.stations)} stations, and traffic goes between two"
        raise InputError(message, Place(path="stations"), hint)
    names = list(dict.fromkeys(station.attach[0] for station in network.stations))
    problems: list[QosforgeError] = []
    forms = {name: platform(network.device(name).platform, name).port_counters for name in names}
    known = {name: form for name, form in forms.items() if form is not None}
    notes = tuple(_not_counted(network.device(name)) for name in names if name not in known)
    began = datetime.now(UTC)
    first = _read_all(fleet, known, problems)
    fleet.close()  # no session sits idle meanwhile: devices end those
    if first:
        wait(seconds)
    second = _read_all(fleet, {name: known[name] for name in first}, problems)
    found: list[StationTraffic] = []
    for name, after in second.items():
        try:
            _require_long(name, first[name], after)
        except DeviceError as error:
            problems.append(error)
            continue
        for station in network.stations:
            if station.attach[0] == name:
                try:
                    found.append(_traffic(station, first[name], after))
                except DeviceError as error:
                    problems.append(error)
    return MeasuredTraffic(began, seconds, tuple(found), tuple(problems), notes)


def _not_counted(device: Device) -> Note:
    hint = "give the flows of its stations to traffic.yaml by hand"
    message = f"no form of the port counters of a {device.platform} is known: its stations are not measured"
    return Note(Topic.LEFT_OUT, device.name, device.platform, message, hint)


def _read_all(
    fleet: Fleet, forms: Mapping[str, PortCounterForm], problems: list[QosforgeError]
) -> dict[str, _Reading]:
    network: Network = fleet.network
    outcomes = fleet.run(forms, lambda name, driver: _read(driver, network.device(name), forms[name]))
    found = {}
    for name in forms:
        outcome = outcomes[name]
        if outcome.value is not None:
            found[name] = outcome.value
        elif outcome.error is not None:
            problems.append(outcome.error)
    return found


def _read(driver: DeviceDriver, device: Device, form: PortCounterForm) -> _Reading:
    plan = parse_running(device.platform, running(driver), device.name, device.image)
    began = time.monotonic()
    answer = driver.cli([form.command])[form.command]
    ended = time.monotonic()
    try:
        ports = form.read(answer.unmasked)
    except ValueError as error:
        hint = "is it the platform and image that the inventory names?"
        raise DeviceError(f"its counters cannot be read: {error}", Place(device=device.name), hint) from None
    return _Reading((began + ended) / 2, ended - began, ports, read_classes(driver, plan), plan)


def _require_long(device: str, first: _Reading, second: _Reading) -> None:
    took = max(first.took, second.took)
    elapsed = second.at - first.at
    if took > elapsed * MOST_DOUBT:
        message = f"its counters took {took:.1f} s to show, which is too long for an interval of {elapsed:.1f} s"
        raise DeviceError(message, Place(device=device), f"give --seconds {int(took / MOST_DOUBT) + 1} or more")


def _traffic(station: Station, first: _Reading, second: _Reading) -> StationTraffic:
    device, port = station.attach
    place = Place(device=device, interface=port)
    before, after = first.ports.get(port), second.ports.get(port)
    if before is None or after is None:
        hint = "correct the port in hosts.yaml and links.yaml"
        raise DeviceError(f"shows no counters of this port: {station.name} is not measured", place, hint)
    grown = [
        getattr(after, name) - getattr(before, name)
        for name in ("input_packets", "input_bytes", "output_packets", "output_bytes")
    ]
    if min(grown) < 0:
        message = f"its counters went backwards: {station.name} is not measured"
        hint = "they were cleared or the device restarted, or they began anew at their end: measure again"
        raise DeviceError(message, place, hint)
    elapsed = second.at - first.at
    sent = _sending(grown[0], grown[1], elapsed)
    return StationTraffic(
        station.name,
        elapsed,
        sent,
        _sending(grown[2], grown[3], elapsed),
        class_parts(second.plan, port, first.classes, second.classes) if sent else (),
    )


def ip_bytes_of(packets: int, size_bytes: int) -> int:
    """Mean size of IP packets in bytes, of packets and the bytes of their frames."""
    return min(max(round(size_bytes / packets) - FRAME_OVERHEAD_BYTES, _LEAST_IP_BYTES), _MOST_IP_BYTES)


def _sending(packets: int, size_bytes: int, seconds: float) -> Sending | None:
    if not packets or not size_bytes:
        return None
    ip_bytes = ip_bytes_of(packets, size_bytes)
    return Sending(max(round(packets * ip_bytes * 8 / seconds), 1), ip_bytes)


def unmeasured(network: Network, measured: MeasuredTraffic) -> Iterator[str]:
    """Names of the stations without a measurement."""
    told = {one.station for one in measured.stations}
    return (station.name for station in network.stations if station.name not in told)
