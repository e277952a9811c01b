"""Policers of the classes on host ports: rates and bursts that the hardware has, one policer a class-map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qosforge.errors import Place
from qosforge.intent.models import Police, Remark
from qosforge.note import Reason, because
from qosforge.plan.model import DROP, Action, Policer, Rule
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.ios_switch.classes import policed_on_input
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.units import format_rate

Write = Callable[[ClassRequest, int, int], Reason | None]
"""Has a policer of a class write a second DSCP on packets with a first one; the reason where it cannot."""


@dataclass(frozen=True)
class PolicerRange:
    """Policers of one kind of port: rates in bits per second, bursts in bytes.

    ``bursts`` are those it has, or the lowest and the highest where ``any_burst``; ``per_port`` how many policers
    a port takes.
    """

    ports: str
    lowest: int
    highest: int
    step: int
    bursts: tuple[int, ...]
    any_burst: bool
    per_port: int

    def rate(self, requested: int) -> int:
        """The rate nearest to the one asked for; the lower one of two."""
        steps = (2 * requested + self.step - 1) // (2 * self.step)
        return min(max(steps * self.step, self.lowest), self.highest)

    def burst(self, requested: int) -> int:
        """The burst nearest to the one asked for."""
        if self.any_burst:
            return min(max(requested, self.bursts[0]), self.bursts[-1])
        return min(self.bursts, key=lambda b: (abs(b - requested), b))


def police_rules(
    request: DeviceRequest,
    rules: dict[str, tuple[Rule, ...]],
    policer_range: PolicerRange,
    write: Write,
    notes: Notes,
) -> dict[str, tuple[Rule, ...]]:
    """The rules of every class with its policer; what the device cannot hold is noted with numbers."""
    result = dict(rules)
    for entry in request.classes:
        police = entry.treatment.police
        mine = rules.get(entry.name, ())
        if police is None or not policed_on_input(entry) or not mine:
            continue
        actions = [_exceed(entry, police, rule, write) for rule in mine]
        refusal = next((a for a in actions if isinstance(a, Reason)), None)
        if refusal is not None:
            place = Place(device=request.device, direction="input", traffic_class=entry.name)
            asked = f"{format_rate(police.rate)} and another mark for what exceeds"
            notes.extend([refusal.note(place, requested=asked, applied="not policed", preferred=police.prefer)])
            continue
        rate, burst = policer_range.rate(police.rate), policer_range.burst(police.burst_bytes)
        _note_numbers(entry, police, policer_range, request.tolerance, notes)
        if len(mine) > 1:
            _note_apart(entry, police, rate, len(mine), notes)
        result[entry.name] = tuple(
            rule.model_copy(update={"police": Policer(rate=rate, burst=burst, exceed=action)})
            for rule, action in zip(mine, actions, strict=True)
            if isinstance(action, Action)
        )
    count = sum(rule.police is not None for entries in result.values() for rule in entries)
    if count > policer_range.per_port:
        notes.note(
            "too-many-policers",
            direction="input",
            requested=f"{count} policers",
            applied=f"{policer_range.per_port} policers at most",
            ports=policer_range.ports,
            per_port=policer_range.per_port,
        )
    return result


def _exceed(entry: ClassRequest, police: Police, rule: Rule, write: Write) -> Action | Reason:
    """What happens to what exceeds; the reason where the device cannot do it."""
    if police.exceed == "drop":
        return DROP
    if not isinstance(police.exceed, Remark):
        return because("police-unsupported", variant="exceed-sent")
    mark = police.exceed
    if mark.cos is not None or rule.set_dscp is None:
        return because("police-unsupported", variant="exceed-cos")
    dscp = mark.remark if mark.remark is not None else 8 * (mark.precedence or 0)
    return write(entry, rule.set_dscp, dscp) or Action(set_dscp=dscp)


def _note_numbers(
    entry: ClassRequest, police: Police, policer_range: PolicerRange, tolerance: float, notes: Notes
) -> None:
    rate, burst = policer_range.rate(police.rate), policer_range.burst(police.burst_bytes)
    if rate != police.rate:
        beyond = abs(rate - police.rate) > tolerance * police.rate
        notes.note(
            "police-rate-approximate",
            traffic_class=entry.name,
            direction="input",
            requested=format_rate(police.rate),
            applied=format_rate(rate),
            variant="ports-beyond" if beyond else "ports",
            ports=policer_range.ports,
            lowest=format_rate(policer_range.lowest),
            highest=format_rate(policer_range.highest),
            step=format_rate(policer_range.step),
            preferred=police.prefer,
        )
    if police.burst is not None and burst != police.burst:
        notes.note(
            "police-burst-approximate",
            traffic_class=entry.name,
            direction="input",
            requested=f"{police.burst} bytes",
            applied=f"{burst} bytes",
            variant="ports" if policer_range.any_burst else "ports-doubling",
            ports=policer_range.ports,
            least=policer_range.bursts[0],
            most=policer_range.bursts[-1],
        )


def _note_apart(entry: ClassRequest, police: Police, rate: int, count: int, notes: Notes) -> None:
    notes.note(
        "police-per-match",
        traffic_class=entry.name,
        direction="input",
        requested=f"{format_rate(police.rate)} together",
        applied=f"{format_rate(rate)} each, up to {format_rate(count * rate)} together",
        count=count,
        preferred=police.prefer,
    )
