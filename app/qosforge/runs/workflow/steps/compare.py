"""Steps that decide whether a measured change is kept: by the keep rule, or by an approver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from qosforge.keep_rule import KeepRule, in_words, strictest
from qosforge.reports.changes import change_sentence, got_better
from qosforge.runs.record.decisions import Decision
from qosforge.runs.record.status_events import ASKS
from qosforge.runs.record.summaries import CompareSummary
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.results import ComparisonResult, KeepDecision, SideMeasurement
from qosforge.runs.workflow.steps.wait import await_external, say
from qosforge.tester.measurement.changes import ClassChange, class_changes
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import ClassVerdict

STAGE = "compare"
ASK_SECONDS = 600.0
"""How long a run waits for a word after it compared; devices hold their change for as long."""
_MOST_TOLD = 3


def effective_rule(context: Context) -> KeepRule:
    """The strictest of the rules that a run was created under, and of its network's as it is now."""
    run = context.store.get_run(context.run_id)
    rules = context.rules.effective(run.network, context.resolved.approval, context.network.changes)
    if rules.unreadable:
        return "met"
    return strictest([context.resolved.keep, *(changes.keep for changes in rules.changes)])


def compare_sides(context: Context, before: SideMeasurement | None, after: SideMeasurement) -> ComparisonResult:
    """Say what the change did, and what its rule makes of that."""
    rule = effective_rule(context)
    with context.store.stage(context.run_id, STAGE, CompareSummary()) as summary:
        context.observe(STAGE, f"before and after the push; {in_words(rule)}")
        changes = _changes(context, before, after) if before else ()
        verdicts = tuple(ClassVerdict.model_validate(v) for v in context.artifacts.get_json(after.verdicts))
        met = after.outcome == "met"
        against = () if met else tuple(_against(verdicts, changes))
        better = [told for each in changes if (told := got_better(each))]
        keep: bool | None = met or (rule == "no-worse" and not against)
        if rule == "ask" and not met:
            keep = None
        artifact = context.artifacts.put_json([each.model_dump(mode="json") for each in changes])
        summary.changes, summary.rule, summary.keep = artifact, rule, keep
        summary.text = _text(rule, met, changes, against)
        if keep is None:
            # A word is about this comparison: what was measured and what came of it.
            summary.question = context.artifacts.put_json(
                {"measurement": after.measurement, "changes": artifact, "run": context.run_id}
            )
    return ComparisonResult(
        keep=keep,
        why=_listed(against) if rule == "no-worse" else "",
        restores=_listed(better),
        question=summary.question,
    )


def _changes(context: Context, before: SideMeasurement, after: SideMeasurement) -> tuple[ClassChange, ...]:
    sides = [Measurement.parse_stored(context.artifacts.get_text(side.measurement)) for side in (before, after)]
    return context.compute_to_end(class_changes, context.intent.intent, context.network, sides[0], sides[1])


def _against(verdicts: Sequence[ClassVerdict], changes: Sequence[ClassChange]) -> Iterator[str]:
    """What is neither shown to be met nor shown to be no worse than before, in words."""
    known = {(each.scenario, each.traffic_class, each.path): each for each in changes}
    for each in verdicts:
        change = known.get((each.scenario, each.traffic_class, each.path))
        for number, bound in enumerate(each.verdict.bounds):
            if bound.outcome == "met":
                continue
            if change is None:
                yield f"{each.traffic_class} {each.path or each.scenario} was not measured before"
                break
            if change.bounds[number].change in ("worse", "open"):
                yield change_sentence(change, change.bounds[number])


def _text(rule: KeepRule, met: bool, changes: Sequence[ClassChange], against: Sequence[str]) -> str:
    found = [bound.change for each in changes for bound in each.bounds]
    words = {"better": "better", "not worse": "not worse", "worse": "worse", "open": "cannot be told apart"}
    told = ", ".join(f"{found.count(change)} {word}" for change, word in words.items() if change in found)
    parts = [f"objectives compared with before the change: {told}" if told else "nothing was measured before"]
    if not met and rule == "no-worse":
        parts.append(f"not kept: {_listed(against)}" if against else "nothing unmet is worse than before")
    return "; ".join(parts)


def _listed(told: Sequence[str]) -> str:
    more = len(told) - _MOST_TOLD
    return "; ".join(told[:_MOST_TOLD]) + (f"; and {more} more" if more > 0 else "")


def await_keep_decision(context: Context, question: str, until: datetime | None) -> KeepDecision:
    """Wait a while for a word of an approver on a comparison."""
    end = until or context.store.now() + timedelta(seconds=ASK_SECONDS)
    if _word(context.store.decisions.on(context.run_id), question) is None:
        # A first step that was cut short has said till when already.
        end = say(context, ASKS, end).due or end

    def given() -> KeepDecision | None:
        word = _word(context.store.decisions.on(context.run_id), question)
        return KeepDecision(until=end, kept=word.approved, by=word.by) if word is not None else None

    return await_external(context, KeepDecision, given, end)


def _word(decisions: Sequence[Decision], question: str) -> Decision | None:
    return next((decision for decision in reversed(decisions) if decision.candidate == question), None)
