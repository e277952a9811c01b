"""Policers of input classes: rates and bursts that the device has, and what exceeds marked down by a table."""

from __future__ import annotations

from qosforge.errors import Place
from qosforge.intent.models import Police, PoliceAction, Remark
from qosforge.note import Reason, because
from qosforge.plan.model import DROP, TRANSMIT, Action, Policer, Rule
from qosforge.plan.request import ClassRequest
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.ios_switch.notes import Notes
from qosforge.platforms.ios_switch.policing import PolicedMap
from qosforge.platforms.mqc.tables import marks_of
from qosforge.units import format_rate


def policer(entry: ClassRequest, rule: Rule, exceeding: PolicedMap, notes: Notes) -> Policer | None:
    """The policer of a class that ``rule`` recognises; None where none is asked for, or the device refuses it."""
    police = entry.treatment.police
    if police is None or police.direction != "input":
        return None
    found = next(CAPABILITIES.police.refusals(police), None) or _made(entry, police, rule, exceeding)
    if isinstance(found, Policer):
        return found
    place = Place(device=notes.request.device, direction="input", traffic_class=entry.name)
    asked = format_rate(police.committed_rate)
    notes.extend([found.note(place, requested=asked, applied="not policed", preferred=police.prefer)])
    return None


def _made(entry: ClassRequest, police: Police, rule: Rule, exceeding: PolicedMap) -> Policer | Reason:
    """A policer of one rate, or of two: one rate with three colours the device refuses."""
    if police.excess_bytes is not None and police.peak_rate is None:
        return because("police-unsupported", variant="one-rate-three-colours")
    violate = police.exceed if police.violate is None else police.violate
    if isinstance(violate, Remark) and violate != police.exceed:
        return because("police-unsupported", variant="violate-map")
    if violate == "transmit" and police.exceed != "transmit":
        return because("police-unsupported", variant="violate-milder")
    exceed = _action(entry, police.exceed, rule, exceeding)
    if isinstance(exceed, Reason):
        return exceed
    last = exceed if violate == police.exceed else DROP
    return Policer(
        rate=police.committed_rate,
        burst=police.burst_bytes,
        peak_rate=police.peak_rate,
        excess_burst=police.excess_bytes,
        exceed=exceed,
        violate=last if last != exceed else None,
    )


def _action(entry: ClassRequest, requested: PoliceAction, rule: Rule, exceeding: PolicedMap) -> Action | Reason:
    """What happens to what exceeds: another mark is written by a table of the marks that the class has."""
    if not isinstance(requested, Remark):
        return DROP if requested == "drop" else TRANSMIT
    dscp, points = requested.code_point, marks_of(rule)
    if dscp is None:
        return because("police-unsupported", variant="exceed-cos")
    if points is None:
        return because("police-unsupported", variant="exceed-unmarked")
    refused = next(filter(None, (exceeding.write(entry, point, dscp) for point in sorted(points))), None)
    return refused or (TRANSMIT if points == {dscp} else Action(set_dscp=dscp))
