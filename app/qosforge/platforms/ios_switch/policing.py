"""Policers of the classes on host ports: rates and bursts that the hardware has, one policer a class-map."""

from __future__ import annotations

from collections.abc import Callable

from qosforge.dscp import dscp_label
from qosforge.errors import Place
from qosforge.intent.models import Police, Remark
from qosforge.note import Reason, because
from qosforge.plan.model import DROP, Action, Policer, Rule
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.capability_data import Bounds, Sourced, nearest
from qosforge.platforms.ios_switch.classes import policed_on_input
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.rounding import burst_findings, rate_findings
from qosforge.units import format_rate

Write = Callable[[ClassRequest, int, int], Reason | None]
"""Has a policer of a class write a second DSCP on packets with a first one; the reason where it cannot."""


class PortPolicers(Sourced):
    """The policers of one kind of port: rates in bits per second, bursts in bytes.

    It has the ``bursts`` of a list, or any of a range (``burst``); ``per_port`` is how many policers a port takes.
    """

    rate: Bounds
    burst: Bounds | None = None
    bursts: tuple[int, ...] = ()
    per_port: int

    def nearest_burst(self, requested: int) -> int:
        """The burst nearest to the one asked for."""
        return self.burst.nearest(requested) if self.burst else nearest(self.bursts, requested)


class PolicedMap:
    """A switch's one map from the DSCP that a class has to that of what exceeds, as classes ask for it."""

    def __init__(self) -> None:
        self._wanted: dict[int, tuple[int, str]] = {}

    def write(self, entry: ClassRequest, dscp: int, exceeding: int) -> Reason | None:
        """Have what exceeds of one DSCP become another; the reason where a class needs the map otherwise."""
        held, first = self._wanted.setdefault(dscp, (exceeding, entry.name))
        if held == exceeding:
            return None
        return because(
            "police-unsupported",
            variant="exceed-map",
            first=first,
            held=dscp_label(held),
            dscp=dscp_label(dscp),
            wanted=dscp_label(exceeding),
        )

    def table(self) -> tuple[int, ...] | None:
        """The map of all 64 DSCPs; None where no class needs it."""
        if not self._wanted:
            return None
        return tuple(self._wanted.get(dscp, (dscp, ""))[0] for dscp in range(64))


def police_rules(
    request: DeviceRequest,
    rules: dict[str, tuple[Rule, ...]],
    policers: PortPolicers,
    write: Write,
    notes: Notes,
    *,
    ports: str,
) -> dict[str, tuple[Rule, ...]]:
    """The rules of every class with its policer on this kind of ports; what the device cannot hold is noted."""
    result = dict(rules)
    for entry in request.classes:
        police = entry.treatment.police
        mine = rules.get(entry.name, ())
        if police is None or not policed_on_input(entry) or not mine:
            continue
        place = Place(device=request.device, direction="input", traffic_class=entry.name)
        actions = [_exceed(entry, police, rule, write) for rule in mine]
        refusal = next((a for a in actions if isinstance(a, Reason)), None)
        if refusal is not None:
            asked = f"{format_rate(police.committed_rate)} and another mark for what exceeds"
            notes.extend([refusal.note(place, requested=asked, applied="not policed", preferred=police.prefer)])
            continue
        rate, burst = policers.rate.nearest(police.committed_rate), policers.nearest_burst(police.burst_bytes)
        bursts, variant = policers.bursts, "ports-doubling"
        if policers.burst is not None:
            bursts, variant = (policers.burst.minimum, policers.burst.maximum), "ports"
        notes.extend(
            rate_findings(
                place,
                police,
                rate,
                request.tolerance,
                policers.rate,
                variant="ports",
                variant_beyond="ports-beyond",
                ports=ports,
            )
        )
        notes.extend(
            burst_findings(place, police, burst, variant=variant, ports=ports, least=bursts[0], most=bursts[-1])
        )
        if len(mine) > 1:
            notes.note(
                "police-per-match",
                traffic_class=entry.name,
                direction="input",
                requested=f"{format_rate(police.committed_rate)} together",
                applied=f"{format_rate(rate)} each, up to {format_rate(len(mine) * rate)} together",
                count=len(mine),
                preferred=police.prefer,
            )
        result[entry.name] = tuple(
            rule.model_copy(update={"police": Policer(rate=rate, burst=burst, exceed=action)})
            for rule, action in zip(mine, actions, strict=True)
            if isinstance(action, Action)
        )
    count = sum(rule.police is not None for entries in result.values() for rule in entries)
    if count > policers.per_port:
        notes.note(
            "too-many-policers",
            direction="input",
            requested=f"{count} policers",
            applied=f"{policers.per_port} policers at most",
            ports=ports,
            per_port=policers.per_port,
        )
    return result


def _exceed(entry: ClassRequest, police: Police, rule: Rule, write: Write) -> Action | Reason:
    """What happens to what exceeds; the reason where the device cannot do it."""
    if police.exceed == "drop":
        return DROP
    if not isinstance(police.exceed, Remark):
        return because("police-unsupported", variant="exceed-sent")
    dscp = police.exceed.code_point
    if dscp is None or rule.set_dscp is None:
        return because("police-unsupported", variant="exceed-cos")
    return write(entry, rule.set_dscp, dscp) or Action(set_dscp=dscp)
