"""Policers of the classes on host ports: rates and bursts that the hardware has, one policer a class-map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qosforge.findings import Severity
from qosforge.intent.models import Police, Remark
from qosforge.plan.model import DROP, Action, Policer, Rule
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.ios_switch.classes import policed_on_input
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.units import format_rate

Write = Callable[[ClassRequest, int, int], str | None]
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
        refusal = next((a for a in actions if isinstance(a, str)), None)
        if refusal is not None:
            _refuse(entry, police, refusal, notes)
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
        notes.add(
            Severity.ERROR,
            "too-many-policers",
            f"a {policer_range.ports} port has {policer_range.per_port} policers",
            direction="input",
            requested=f"{count} policers",
            applied=f"{policer_range.per_port} policers at most",
            hint=f"police {policer_range.per_port} classes at most, each matched in one way",
        )
    return result


def _exceed(entry: ClassRequest, police: Police, rule: Rule, write: Write) -> Action | str:
    """What happens to what exceeds; a text where the device cannot do it."""
    if police.exceed == "drop":
        return DROP
    if not isinstance(police.exceed, Remark):
        return "what exceeds can be dropped or remarked, not sent as it is"
    mark = police.exceed
    if mark.cos is not None or rule.set_dscp is None:
        return "a policer here writes a DSCP and derives the CoS from it"
    dscp = mark.remark if mark.remark is not None else 8 * (mark.precedence or 0)
    return write(entry, rule.set_dscp, dscp) or Action(set_dscp=dscp)


def _severity(police: Police) -> Severity:
    return Severity.WARNING if police.prefer else Severity.ERROR


def _refuse(entry: ClassRequest, police: Police, reason: str, notes: Notes) -> None:
    notes.add(
        _severity(police),
        "police-unsupported",
        reason,
        traffic_class=entry.name,
        direction="input",
        requested=f"{format_rate(police.rate)} and another mark for what exceeds",
        applied="not policed",
        hint="drop what exceeds, or remark it to a DSCP that the device can write",
    )


def _note_numbers(
    entry: ClassRequest, police: Police, policer_range: PolicerRange, tolerance: float, notes: Notes
) -> None:
    rate, burst = policer_range.rate(police.rate), policer_range.burst(police.burst_bytes)
    if rate != police.rate:
        beyond = abs(rate - police.rate) > tolerance * police.rate
        notes.add(
            _severity(police) if beyond else Severity.INFO,
            "police-rate-approximate",
            f"policers of {policer_range.ports} ports have rates from {format_rate(policer_range.lowest)} to "
            f"{format_rate(policer_range.highest)} in steps of {format_rate(policer_range.step)}",
            traffic_class=entry.name,
            direction="input",
            requested=format_rate(police.rate),
            applied=format_rate(rate),
            hint="ask for a rate the device has" if beyond else None,
        )
    if police.burst is not None and burst != police.burst:
        notes.add(
            Severity.INFO,
            "police-burst-approximate",
            f"policers of {policer_range.ports} ports have bursts from {policer_range.bursts[0]} to "
            f"{policer_range.bursts[-1]} bytes" + ("" if policer_range.any_burst else ", doubling"),
            traffic_class=entry.name,
            direction="input",
            requested=f"{police.burst} bytes",
            applied=f"{burst} bytes",
        )


def _note_apart(entry: ClassRequest, police: Police, rate: int, count: int, notes: Notes) -> None:
    notes.add(
        _severity(police),
        "police-per-match",
        f"the class takes {count} class-maps here, and each has a policer of its own",
        traffic_class=entry.name,
        direction="input",
        requested=f"{format_rate(police.rate)} together",
        applied=f"{format_rate(rate)} each, up to {format_rate(count * rate)} together",
        hint="match the class in one way (IP or MAC addresses), and give it a mark",
    )
