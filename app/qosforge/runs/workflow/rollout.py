"""Plan the rollout of a run: its waves, and for how long devices hold the change unconfirmed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from qosforge.compiler.waves import Pair, Wave, joined_ends, plan_waves, stranded, without_canary
from qosforge.deploy.commit_confirm import Lengths, revert_seconds, too_short, too_wide
from qosforge.errors import TesterError
from qosforge.inventory.models import Network
from qosforge.plan.model import Plan
from qosforge.platforms.cached_parse import parse_running
from qosforge.platforms.device_text import DeviceText
from qosforge.runs.record.rollout_record import STAGE, planned_waves
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import PlannedWave, PredictionSummary, PreparedDevice, RolloutSummary
from qosforge.runs.record.tables import StageOutcome
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.external_tester import EXTERNAL_TESTER_SECONDS
from qosforge.runs.workflow.results import RolloutPlan
from qosforge.runs.workflow.steps import compare
from qosforge.runs.workflow.steps.lock import scope
from qosforge.runs.workflow.steps.prepare import load_texts, recompile
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.probes.tester import seconds_taken

MEASURING_SECONDS = 600.0
"""How long measuring is taken to last where no prediction says how long the simulations of it take."""
_SPARE = 2.0
"""A machine may be that much busier after the push than it was at the prediction."""


def plan(
    context: Context, running: Mapping[str, str], prepared: Mapping[str, PreparedDevice], unread: Sequence[str]
) -> RolloutPlan:
    """Plan the waves of the devices that are to be changed, and for how long these hold the change unconfirmed.

    ``unread`` are devices that were left out already: what must not change without them is left out, too. There are
    errors of devices that cannot hold the change for so long, that have to change at the same moment as more others
    than sessions may be open, or without which too many would be left out.
    """
    rule = context.network.changes.rollout
    with context.store.stage(context.run_id, STAGE, RolloutSummary()) as summary:
        undone = context.resolved.rollback_of
        may_fail, left = 0, frozenset[str]()
        if undone is not None:
            waves = _back(context.store, undone, list(prepared))
        else:
            joined = _joined(context, running, prepared, set(unread) & set(scope(context)))
            may_fail, left = rule.may_fail(len(scope(context))), stranded(joined, unread)
            waves = plan_waves(context.network, rule, [name for name in prepared if name not in left], joined)
        lengths = Lengths(_measuring(context), _waiting(context, waves))
        seconds = revert_seconds(context.network, waves, lengths)
        errors = [StepError.of(error) for error in too_short(context.network, waves, seconds)]
        if undone is None:  # going back is never held up: a step that is too wide goes in parts
            errors += [StepError.of(error) for error in too_wide(waves, context.sessions.open.most)]
        why = f"changes with {', '.join(sorted(unread))}, which cannot be read"
        left_out = [StepError(message=why, hint="", device=name) for name in prepared if name in left]
        if len(unread) + len(left_out) > may_fail:
            errors += left_out
        planned = [
            PlannedWave(
                name=wave.name,
                steps=[list(step) for step in wave.steps],
                devices=list(wave.devices),
                revert_seconds=needed,
            )
            for wave, needed in zip(waves, seconds, strict=True)
        ]
        missed = without_canary(rule, waves) if undone is None else ""
        text = "; ".join(filter(None, [missed, in_words(planned)]))
        context.observe(STAGE, text)
        summary.waves, summary.may_fail = planned, may_fail
        summary.left_out, summary.errors, summary.text = left_out, errors, text
    return RolloutPlan(waves=planned, may_fail=may_fail, left_out=left_out, errors=errors)


def in_words(waves: Sequence[PlannedWave]) -> str:
    """The waves of a rollout with their sizes, and when devices go back by themselves."""
    sizes = ", ".join(f"{wave.name} ({len(wave.devices)})" for wave in waves)
    minutes = max((wave.revert_seconds for wave in waves), default=0) // 60
    return f"{sizes}; devices with a timer go back by themselves after {minutes} min unless confirmed"


def _joined(
    context: Context, running: Mapping[str, str], names: Collection[str], unread: Collection[str]
) -> frozenset[Pair]:
    compiled = recompile(context, running, touched=False)
    after = {device.name: device.plan for device in compiled.devices if device.name in names}
    before = _running_plans(context.network, load_texts(context, running), after)
    return joined_ends(context.network, before, after, unread)


def _running_plans(network: Network, texts: Mapping[str, DeviceText], names: Iterable[str]) -> dict[str, Plan]:
    """What devices hold, of those that were read."""
    found = {}
    for name in names:
        if name in texts:
            device = network.device(name)
            found[name] = parse_running(device.platform, texts[name], name, device.image)
    return found


def _back(store: RunStore, undone: str, devices: Sequence[str]) -> tuple[Wave, ...]:
    """The waves of a run that rolls another one back: of that one, newest first."""
    left = set(devices)
    waves = []
    for wave in reversed(planned_waves(store, undone)):
        steps = tuple(names for step in wave.steps if (names := tuple(name for name in step if name in left)))
        if steps:
            waves.append(Wave(wave.name, steps))
            left.difference_update(*steps)
    rest = tuple((name,) for name in devices if name in left)  # of a run of an earlier release
    return (*waves, Wave("all devices", rest)) if rest else tuple(waves)


def _measuring(context: Context) -> float:
    """How long measuring after the push takes at most: by the prediction, which simulates the same scenarios."""
    resolved = context.resolved
    if not resolved.measure or resolved.rollback_of is not None:
        return 0.0
    if resolved.tester == "external":
        return EXTERNAL_TESTER_SECONDS
    took = [
        stage.summary.measuring_seconds
        for stage in context.store.stages(context.run_id)
        if isinstance(stage.summary, PredictionSummary)
        and stage.outcome is StageOutcome.DONE
        and stage.summary.measuring_seconds is not None
    ]
    simulating = _SPARE * took[-1] if took else MEASURING_SECONDS
    return simulating + (_SPARE * _probing(context) if resolved.tester == "probes" else 0.0)


def _probing(context: Context) -> float:
    """How long packets are sent, where all of it can be sent; what cannot be is told when it is measured."""
    try:
        return seconds_taken(MeasurementPlan.of(context.intent.intent, context.network, context.resolved.seed))
    except TesterError:
        return MEASURING_SECONDS


def _waiting(context: Context, waves: Sequence[Wave]) -> float:
    pause = 60.0 * context.network.changes.rollout.pause if len(waves) > 1 else 0.0
    asks = context.resolved.measure and compare.effective_rule(context) == "ask"
    return pause + (compare.ASK_SECONDS if asks else 0.0)
