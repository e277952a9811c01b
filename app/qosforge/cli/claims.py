"""Prints claims: published and obtained figures, and the reason where they differ."""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.text import Text

from qosforge.cli.terminal import out
from qosforge.experiments import ClaimComparison
from qosforge.experiments.compare import ObtainedValue
from qosforge.experiments.model import Ascending, Claim, Operand, OperandRatio, Relation

_STATUS = {"holds": "green", "explained": "yellow", "fails": "red"}
_INDENT = max(map(len, _STATUS)) + 2
_SIGN = {
    Relation.EQUAL: "",
    Relation.APPROX: "≈ ",
    Relation.BELOW: "< ",
    Relation.ABOVE: "> ",
    Relation.AT_LEAST: "≥ ",
    Relation.AT_MOST: "≤ ",
}


def print_claims(experiment: str, comparisons: Sequence[ClaimComparison], *, every: bool) -> None:
    """The count of claims by status, then a paragraph for each that does not hold, or for each.

    Nothing stands in columns, so that reasons have the whole width of any terminal.
    """
    print_count(experiment, comparisons)
    for comparison in comparisons:
        status = _status(comparison)
        if every or status != "holds":
            _print(comparison, status)


def print_count(what: str, comparisons: Sequence[ClaimComparison]) -> None:
    """How many claims hold, are explained, and fail."""
    found = [_status(c) for c in comparisons]
    line = Text.assemble((what, "bold"), f"  {found.count('holds')} of {len(found)} claims hold")
    for status, word in (("explained", "explained"), ("fails", "fail")):
        if status in found:
            line.append(f", {found.count(status)} {word}", style=_STATUS[status])
    out.print(line)


def _status(comparison: ClaimComparison) -> str:
    return "holds" if comparison.holds else "explained" if comparison.explained else "fails"


def _print(comparison: ClaimComparison, status: str) -> None:
    claim = comparison.claim
    out.print(Text.assemble((f"{status:<{_INDENT}}", _STATUS[status]), (claim.id, "bold"), f"  {claim.kind.value}"))
    what = f"{claim.metric} of {claim.subject.replace('+', ', ')} in {claim.scenario}"
    figures = f"published {published_text(claim)}; obtained {obtained_text(comparison.obtained)}"
    for text, style in ((f"{what}: {figures}", ""), (comparison.reason, "dim")):
        if text:
            out.print(Padding(Text(text, style=style), (0, 0, 0, _INDENT)))


def published_text(claim: Claim) -> str:
    """What a claim says, with its tolerance: a figure, a limit, a ratio or an order."""
    match claim.value:
        case Ascending(ascending=steps, strict=strict):
            return (" < " if strict else " ≤ ").join(_operand(step, claim) for step in steps)
        case OperandRatio(top=top, bottom=bottom, value=number, relation=relation):
            sides = f"{_operand(top, claim)} ÷ {_operand(bottom, claim)}"
            return f"{sides} {_SIGN[relation] or '= '}{_number(number)}{_tolerance(claim)}"
        case number:
            return f"{_SIGN[claim.type]}{_number(number)}{_tolerance(claim)}"


def obtained_text(value: ObtainedValue) -> str:
    """What came out: a number, those of an order in the order claimed, or either by subject."""
    match value:
        case None:
            return "nothing"
        case dict():
            return ", ".join(f"{name} {obtained_text(one)}" for name, one in value.items())
        case list():
            return "; ".join(_number(one) for one in value)
        case _:
            return _number(value)


def _operand(operand: Operand, claim: Claim) -> str:
    """What an operand names of its own; of the claim's subject where that is nothing."""
    own = (operand.experiment, operand.subject, operand.scenario, operand.metric)
    named = " ".join(name for name in own if name) or claim.subject
    return f"{named} against {_operand(operand.against, claim)}" if operand.against else named


def _tolerance(claim: Claim) -> str:
    parts = []
    if claim.tolerance.rel:
        parts.append(f"{claim.tolerance.rel * 100:g} %")
    if claim.tolerance.abs:
        parts.append(f"{claim.tolerance.abs:g}")
    return f" ± {' or '.join(parts)}" if parts else ""


def _number(value: float) -> str:
    """Five digits, never an exponent for what is large."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.5g}"
