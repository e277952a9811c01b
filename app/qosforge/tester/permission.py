"""Whether packets may be sent through a network that carries others': permission, part of each link, time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from qosforge.errors import InputError, Place
from qosforge.inventory.changes import ChangeRules
from qosforge.inventory.probes import ProbePermission
from qosforge.tester.measurement_plan import MeasurementPlan, PlannedScenario
from qosforge.units import format_rate

_FILE = "probes.yaml"
_MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """What flows of a scenario put on a line in one direction: IP bits a second, ``None`` for all it carries."""

    scenario: str
    device: str
    interface: str
    line_bps: int
    load_bps: int | None

    @property
    def percent(self) -> float:
        """Of the line."""
        return 100.0 if self.load_bps is None else 100 * self.load_bps / self.line_bps

    def __str__(self) -> str:
        load = "as much as it carries" if self.load_bps is None else format_rate(self.load_bps)
        return f"{self.device} {self.interface}: {load}, {self.percent:.3g} % of {format_rate(self.line_bps)}"


def link_loads(plan: MeasurementPlan) -> tuple[LinkLoad, ...]:
    """The load of every line that a plan's flows pass, the most loaded first."""
    found = [load for scenario in plan.scenarios for load in _loads(plan, scenario)]
    return tuple(sorted(found, key=lambda load: -load.percent))


def most_loaded(plan: MeasurementPlan) -> tuple[LinkLoad, ...]:
    """The loads that are told before packets are sent."""
    return link_loads(plan)[:_MOST_TOLD]


def _loads(plan: MeasurementPlan, scenario: PlannedScenario) -> Iterator[LinkLoad]:
    rates: dict[tuple[str, str], int | None] = {}
    for flow in scenario.flows:
        source = flow.described.source
        greedy = source.kind in ("tcp", "trace")
        rate = None if greedy else source.rate or _video_bps(source.frame_bytes, source.frames_per_second)
        for port in plan.network.path(flow.source.name, flow.target.name):
            held = rates.get(port, 0)
            rates[port] = None if rate is None or held is None else held + rate
    for (device, interface), rate in rates.items():
        yield LinkLoad(
            scenario.name, device, interface, plan.network.device(device).interface(interface).usable, rate
        )


def _video_bps(frame_bytes: int | None, frames_per_second: int | None) -> int:
    return (frame_bytes or 0) * 8 * (frames_per_second or 0)


def require_permission(plan: MeasurementPlan, permission: ProbePermission, now: datetime | None = None) -> None:
    """Make sure that a plan may be carried out now in a network outside a lab.

    Raises:
        InputError: nobody permitted it, it loads a line with more than is permitted, or it is not the time for it.
    """
    if not permission.allowed:
        raise InputError(
            f"nobody permitted probes in {plan.network.name}",
            Place(file=_FILE, path="permission.allowed"),
            "who is responsible for the network writes `allowed: true` there",
        )
    over = [load for load in link_loads(plan) if load.percent > permission.percent_of_link]
    if over:
        more = f", and {len(over) - 1} more lines" if len(over) > 1 else ""
        raise InputError(
            f"scenario {over[0].scenario} would load {over[0]}, above {permission.percent_of_link:g} %{more}",
            Place(file=_FILE, path="permission.percent_of_link"),
            "describe less traffic, or permit more of each line; TCP that sends all it can takes 100",
        )
    rules = ChangeRules(zone=permission.zone, windows=permission.windows)
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    opening = rules.next_open(moment)
    if opening > moment:
        raise InputError(
            f"probes are permitted again at {opening:%Y-%m-%d %H:%M}Z",
            Place(file=_FILE, path="permission.windows"),
            "wait until then, or permit another time",
        )
