"""Policers of classes: their lines, and what the lines of a configuration say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qosforge.commands import ReadLine
from qosforge.dscp import dscp_name
from qosforge.intent.models import Police
from qosforge.note import Reason, because
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer
from qosforge.platforms.capability_data import Bounds, Sourced
from qosforge.platforms.mqc.lines import OUTCOMES


class PolicerBounds(Sourced):
    """Bounds of a policer's rates and bursts."""

    rate: Bounds
    burst: Bounds

    def refusals(self, police: Police) -> Iterator[Reason]:
        """``police-unsupported``: the rates and bursts of a policer that a device does not take."""
        for bounds, variant, value in (
            (self.rate, "rate-out-of-range", police.committed_rate),
            (self.burst, "burst-out-of-range", police.burst_bytes),
            (self.rate, "rate-out-of-range", police.peak_rate),
            (self.burst, "burst-out-of-range", police.excess_bytes),
        ):
            low, high = bounds.minimum, bounds.maximum
            if value is not None and not low <= value <= high:
                yield because("police-unsupported", variant=variant, value=value, low=low, high=high)


@dataclass(frozen=True)
class PoliceLines:
    """A policer as it is entered; ``below`` where its actions stand below it, one a line."""

    policer: Policer
    conform: str
    exceed: str
    violate: str | None
    below: bool


def police_lines(policer: Policer, *, below: bool = True, dscp: Callable[[int], str] = dscp_name) -> PoliceLines:
    """The lines of a policer. A second bucket is told by what violates it; ``dscp`` is as in `action_words`."""
    last = policer.violate or (policer.exceed if policer.excess_burst is not None else None)
    return PoliceLines(
        policer=policer,
        conform=action_words(policer.conform, dscp),
        exceed=action_words(policer.exceed, dscp),
        violate=action_words(last, dscp) if last is not None else None,
        below=below,
    )


def action_words(action: Action, dscp: Callable[[int], str] = dscp_name) -> str:
    """What a policer does with a packet, as the device writes it; ``dscp`` is how it writes code points."""
    if action.drop:
        return "drop"
    after = "continue" if action.proceed else "transmit"
    if action.set_dscp is not None:
        return f"set-dscp-{after} {dscp(action.set_dscp)}"
    if action.set_precedence is not None:
        return f"set-prec-{after} {action.set_precedence}"
    return f"set-cos-{after} {action.set_cos}" if action.set_cos is not None else after


def _no_table(name: str) -> None:
    del name


def read_policer(
    line: ReadLine,
    default_burst: Callable[[int], int] | None = None,
    tabled: Callable[[str], Action | None] = _no_table,
) -> Policer | None:
    """The policer of a ``police`` line with its actions; None where plans hold no such policer.

    ``default_burst`` gives the bytes of a bucket without a size, by its rate, where the device's own are known.
    ``tabled`` is what an action does that names a table-map, None where plans do not hold that. An excess burst of
    the size of the burst is what the device prints for a single bucket where nothing violates.
    """
    values: dict[str, Any] = dict(line.values)
    if len(line.below) != len(line.line.children):
        return None
    for below in line.below:
        # Several actions for one outcome: a plan has one mark for each.
        if "rest" in below or values.keys() & below.values.keys():
            return None
        values |= below.values
    for outcome in OUTCOMES:
        if (table := values.get(f"{outcome}_table")) is not None:
            if (action := tabled(table)) is None:
                return None
            values[outcome] = action
    conform, exceed, violate = (read_action(values, outcome) for outcome in OUTCOMES)
    exceed = exceed or DROP
    violate = violate or exceed
    if "percent" in values:
        if violate != exceed and not values.keys() & {"peak_percent", "excess_burst_ms"}:
            return None  # one bucket has no packets that violate it
        return Policer(
            **{name: values.get(name) for name in ("percent", "peak_percent", "burst_ms", "excess_burst_ms")},
            conform=conform or TRANSMIT,
            exceed=exceed,
            violate=violate if violate != exceed else None,
        )
    excess = values.get("excess", values.get("extended"))
    if default_burst is not None:
        values.setdefault("burst", default_burst(values["rate"]))
        if "peak" in values and excess is None:
            excess = default_burst(values["peak"])
    if values.get("extended") == values.get("burst") and "violate" not in values:
        excess = None
    if "burst" not in values or (excess is None and ("peak" in values or violate != exceed)):
        return None  # the device's own bursts are not known
    return Policer(
        rate=values["rate"],
        burst=values["burst"],
        peak_rate=values.get("peak"),
        excess_burst=excess,
        conform=conform or TRANSMIT,
        exceed=exceed,
        violate=violate if violate != exceed else None,
    )


def read_action(values: Mapping[str, Any], outcome: str) -> Action | None:
    """What a policer does with the packets of one outcome; None where its line does not say it."""
    if outcome not in values or isinstance(values[outcome], Action):
        return values.get(outcome)
    marks = {f"set_{mark}": values.get(f"{outcome}_{mark}") for mark in ("dscp", "precedence", "cos")}
    return Action(drop=values[outcome] == "drop", proceed="continue" in values[outcome], **marks)
