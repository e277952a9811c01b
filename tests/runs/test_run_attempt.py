"""The order of an attempt's steps, on an engine that answers for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest

from qosforge import errors
from qosforge.intent.loader import parse_intent
from qosforge.inventory.models import Device, DeviceRole, Interface, Link, Network, Station, TrafficScenario
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.tables import RunStatus
from qosforge.runs.workflow.run_attempt import RunAttempt

ON = {"stop": None}
UNTIL = "2004-06-01T12:10:00+00:00"
DEVICE = {"configuration": "x", "delta": "y", "inverse": "z", "gaps": [], "empty": False}


def measured(outcome: str, artifact: str = "a") -> dict[str, str]:
    """What a measurement came to."""
    return {"measurement": artifact, "verdicts": "v", "outcome": outcome}


ANSWERS: dict[str, Any] = {
    "begin": {"over": False, "start": "read", "since": "2004-06-01T12:00:00+00:00"},
    "lock": {"devices": ["r1", "r3"]},
    "read": {"running": {"r1": "a", "r3": "b"}, "errors": []},
    "prepare": {"refused": False, "devices": {"r1": DEVICE, "r3": DEVICE}, "candidate": "c"},
    "reuse": {
        "running": {"r1": "a"},
        "prepared": {"refused": False, "devices": {"r1": DEVICE}, "candidate": "c"},
        "before": measured("broken", "b"),
    },
    "rollout": {
        "waves": [
            {"name": "all devices", "devices": ["r1", "r3"], "steps": [["r1"], ["r3"]], "revert_seconds": 900}
        ],
        "may_fail": 0,
        "left_out": [],
        "errors": [],
    },
    "gate": {"wait": None},
    "measure-before": measured("broken", "b"),
    "push": {"running": {"r1": "c", "r3": "d"}, "errors": []},
    "counters": {"errors": []},
    "measure-after": measured("met"),
    "keep": {"errors": []},
    "rollback": {"running": {}, "errors": []},
    **{f"checkpoint-{name}": ON for name in ("prepare", "measure-before", "measure-after", "keep")},
}
CANCELLED = {"stop": {"status": "cancelled", "reason": "cancelled by ada"}}
WAIT = {"wait": {"status": "needs_approval", "waits_for": "approval", "due": None}}


def compared(keep: bool | None, **told: str) -> dict[str, Any]:
    """What the comparison of before and after comes to."""
    return {"keep": keep, "why": "", "restores": "", "question": "q" if keep is None else None, **told}


def device(name: str) -> Device:
    ports = tuple(Interface(name=port, rate=10**8, role=DeviceRole.CORE) for port in "1234")
    return Device(
        name=name, platform="cisco_ios", image="12.4", role=DeviceRole.CORE, driver="ios", interfaces=ports
    )


def station(name: str, at: str, host: int) -> Station:
    return Station(name=name, address=f"192.0.2.{host}", attach=(at, "4"), rate=10**8)


NETWORK = Network(
    name="six",
    devices=tuple(map(device, ("r1", "r3", "r5", "r7", "r8", "r9"))),
    links=(Link(a=("r3", "1"), b=("r5", "1"), rate=10**8), Link(a=("r7", "1"), b=("r8", "1"), rate=10**8)),
    stations=(station("one", "r7", 1), station("other", "r8", 2)),
    traffic=(TrafficScenario(name="calls", title="calls", between=(("one", "other"),), flows=()),),
)
INTENT = """\
version: 1
intent: few
classes:
  - {name: voice, match: {any: [{dscp: [ef]}]}, treatment: {priority: {percent: 20}}, objective: {loss: 1 %}}
apply:
  - {devices: [r1, r3], direction: output}
verify:
  - {from: one, to: other, classes: [voice], seconds: 10, confidence: 95 %}
"""


class Steps:
    """Records the steps; an answer that is an error is raised."""

    def __init__(self, **answers: object) -> None:
        self.answers = {
            **ANSWERS,
            "compare": None,
            **{name.replace("_", "-"): answer for name, answer in answers.items()},
        }
        self.done: list[str] = []
        self.told: list[tuple[str, tuple[object, ...]]] = []
        self.options: dict[str, Any] = {}
        """Of the last step."""

    def run_step(self, name: str, step: Callable[..., Any], *arguments: object, **options: object) -> Any:
        del step
        answer = self.answers.get(name, {})
        if name == "compare" and answer is None:
            after: Any = arguments[-1]
            answer = compared(after.outcome == "met")
        if isinstance(answer, BaseException):
            raise answer
        self.done.append(name)
        self.told.append((name, arguments))
        self.options = options
        return answer

    wait_step = run_step


def attempt(steps: Steps, **options: Any) -> RunAttempt:
    context: Any = SimpleNamespace(
        resolved=ResolvedRun(network_name="six", policy="few", policy_version="0" * 64, **options),
        network=NETWORK,
        intent=parse_intent(INTENT, "i.yaml"),
        run_id="01890000",
    )
    engine: Any = steps
    return RunAttempt(context, engine)


def test_only_what_is_needed_is_read() -> None:
    """What is changed, what is linked to it, and what the packets pass that are verified."""
    steps = Steps()
    attempt(steps).run()
    assert ("read", (ANY, ["r1", "r3", "r5", "r7", "r8"])) in [
        (name, (ANY, *given[2:])) for name, given in steps.told
    ]


def test_a_good_run_is_kept_and_gives_the_boxes_back_first() -> None:
    steps = Steps()
    assert attempt(steps).run().status == RunStatus.KEPT
    assert steps.done == [
        *("begin", "lock", "read", "checkpoint-prepare", "prepare", "rollout", "gate"),
        *("checkpoint-measure-before", "measure-before", "push", "counters"),
        *(
            "checkpoint-measure-after",
            "measure-after",
            "checkpoint-keep",
            "compare",
            "keep",
            "release",
            "status-kept",
        ),
    ]


@pytest.mark.parametrize("at", ["lock", "read", "gate", "push", "counters", "measure-after", "keep"])
def test_an_interrupted_run_leaves_the_steps_in_order_for_the_one_that_goes_on(at: str) -> None:
    whole = Steps()
    attempt(whole).run()
    cut = Steps(**{at: KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        attempt(cut).run()
    assert cut.done == whole.done[: whole.done.index(at)]


@pytest.mark.parametrize("at", ["lock", "read", "prepare", "push", "rollback"])
def test_a_step_that_fails_for_good_gives_the_boxes_back(at: str) -> None:
    failing: Any = {at: errors.StoreError("the store is gone")}
    steps = Steps(**{"keep": {"errors": [{"device": "r3", "message": "refused a line", "hint": ""}]}, **failing})
    with pytest.raises(errors.StoreError):
        attempt(steps).run()
    assert steps.done[-1] == "release"


STOPPED = {"stopped": {"status": "failed", "reason": "timed out"}}


def test_a_computation_that_is_stopped_ends_the_run_and_takes_back_what_was_pushed() -> None:
    before, after = Steps(prepare=STOPPED), Steps(measure_after=STOPPED)
    for steps in (before, after):
        ended = attempt(steps).run()
        assert (ended.status, ended.reason) == (RunStatus.FAILED, "timed out")
        assert "keep" not in steps.done
    assert "push" not in before.done
    assert after.done[after.done.index("push") :] == [
        *("push", "counters", "checkpoint-measure-after", "measure-after"),
        *("rollback", "release", "status-failed"),
    ]


@pytest.mark.parametrize("outcome", ["broken", "inconclusive"])
def test_anything_but_met_is_rolled_back(outcome: str) -> None:
    longer = {f"measure_after_look_{n}": measured(outcome, f"a{n}") for n in (2, 3)}
    steps = Steps(measure_after=measured(outcome), **longer)
    ended = attempt(steps).run()
    assert (ended.status, ended.verdict) == (RunStatus.ROLLED_BACK, outcome)
    assert "keep" not in steps.done
    assert [s for s in steps.done if s.startswith("measure-after-look")] == (
        ["measure-after-look-2", "measure-after-look-3"] if outcome == "inconclusive" else []
    )


def test_a_box_that_cannot_be_confirmed_takes_the_whole_run_back() -> None:
    steps = Steps(keep={"errors": [{"device": "r3", "message": "it went back by itself", "hint": None}]})
    ended = attempt(steps).run()
    assert ended.status == RunStatus.ROLLED_BACK
    assert steps.done[-4:] == ["keep", "rollback", "release", "status-rolled_back"]


@pytest.mark.parametrize("at", ["counters", "measure_after", "checkpoint_keep"])
def test_what_fails_after_the_push_takes_the_run_back(at: str) -> None:
    steps = Steps(**{at: errors.TesterError("the twin refuses the scenario")})
    ended = attempt(steps).run()
    assert ended.status == RunStatus.ROLLED_BACK
    assert ended.errors[0].message == "the twin refuses the scenario"
    assert steps.done[-3:] == ["rollback", "release", "status-rolled_back"]


def test_a_tester_that_fails_before_the_push_ends_the_run_untouched() -> None:
    steps = Steps(measure_before=errors.TesterError("no traffic is described"))
    assert attempt(steps).run().status == RunStatus.FAILED
    assert "push" not in steps.done
    assert steps.done[-2:] == ["release", "status-failed"]


@pytest.mark.parametrize("at", ["lock", "checkpoint_prepare", "checkpoint_measure_before", "push"])
def test_a_run_cancelled_before_the_push_ends_untouched(at: str) -> None:
    steps = Steps(**{at: {**CANCELLED, "begun": False}})
    ended = attempt(steps).run()
    assert (ended.status, ended.reason) == (RunStatus.CANCELLED, "cancelled by ada")
    assert "rollback" not in steps.done
    assert steps.done[-2:] == ["release", "status-cancelled"]


@pytest.mark.parametrize("at", ["push", "checkpoint_measure_after", "checkpoint_keep"])
def test_a_run_cancelled_after_a_touch_is_undone(at: str) -> None:
    steps = Steps(**{at: {**CANCELLED, "begun": True}})
    assert attempt(steps).run().status == RunStatus.CANCELLED
    assert steps.done[-3:] == ["rollback", "release", "status-cancelled"]


def test_a_cancelled_run_that_cannot_be_undone_needs_recovery() -> None:
    steps = Steps(
        checkpoint_keep=CANCELLED,
        rollback={"running": {}, "errors": [{"device": "r1", "message": "is gone", "hint": ""}]},
    )
    assert attempt(steps).run().status == RunStatus.NEEDS_RECOVERY


@pytest.mark.parametrize("at", ["gate", "push"])
def test_a_closed_gate_lets_go_of_the_boxes_and_waits(at: str) -> None:
    steps = Steps(**{at: {**WAIT, "begun": False}})
    ended = attempt(steps).run()
    assert (ended.status, ended.waits_for) == (RunStatus.NEEDS_APPROVAL, "approval")
    assert "rollback" not in steps.done
    assert steps.done[-2:] == ["release", "status-needs_approval"]


def test_boxes_that_another_run_holds_are_waited_for() -> None:
    steps = Steps(lock={}, **{"lock-2": {}, "lock-3": {"devices": ["r1", "r3"]}})
    assert attempt(steps).run().status == RunStatus.KEPT
    assert steps.done[1:5] == ["lock", "lock-2", "lock-3", "read"]


def test_boxes_that_cannot_be_had_end_the_run() -> None:
    steps = Steps(lock={"errors": [{"device": "r1", "message": "left between two states"}]})
    assert attempt(steps).run().status == RunStatus.FAILED
    assert "read" not in steps.done


def test_an_attempt_that_is_over_does_nothing() -> None:
    steps = Steps(begin={"over": True, "status": "cancelled", "verdict": None})
    assert attempt(steps).run().status == RunStatus.CANCELLED
    assert steps.done == ["begin"]


def test_nothing_to_change_needs_no_gate() -> None:
    steps = Steps(
        prepare={"refused": False, "devices": {"r1": {**DEVICE, "empty": True}}, "candidate": "c"}, gate=WAIT
    )
    ended = attempt(steps).run()
    assert (ended.status, ended.verdict) == (RunStatus.NO_CHANGES, "broken")


def test_going_back_is_not_held_up_nor_measured() -> None:
    steps = Steps(gate=WAIT)
    assert attempt(steps, rollback_of="run", measure=False).run().status == RunStatus.KEPT
    assert not {"gate", "counters", "measure-before", "measure-after"} & set(steps.done)


def test_to_bring_a_change_again_is_held_up_like_any() -> None:
    steps = Steps(gate=WAIT)
    assert attempt(steps, rollback_of="run", reapplies=True, measure=False).run().status == RunStatus.NEEDS_APPROVAL


def test_a_retry_from_the_push_takes_over_what_was_measured() -> None:
    steps = Steps(begin={**ANSWERS["begin"], "start": "push"})
    ended = attempt(steps).run()
    assert ended.before is not None
    assert (ended.status, ended.before.outcome) == (RunStatus.KEPT, "broken")
    assert not {"read", "prepare", "measure-before"} & set(steps.done)
    assert {"lock", "gate"} <= set(steps.done)


def test_an_outside_measurement_is_waited_for_step_by_step() -> None:
    steps = Steps(
        **{
            "await-after-1": {"until": "2004-06-01T12:10:00+00:00"},
            "await-after-2": {"until": "2004-06-01T12:10:00+00:00", "measurement": "m"},
        }
    )
    assert attempt(steps, tester="external").run().status == RunStatus.KEPT
    assert "measure-before" not in steps.done
    at = steps.done.index("await-after-1")
    assert steps.done[at : at + 3] == ["await-after-1", "await-after-2", "measure-after"]


@pytest.mark.parametrize(
    ("given", "status"),
    [({"until": UNTIL, "late": True}, RunStatus.ROLLED_BACK), ({"until": UNTIL, **CANCELLED}, RunStatus.CANCELLED)],
)
def test_no_outside_measurement_takes_the_run_back(given: dict[str, Any], status: RunStatus) -> None:
    steps = Steps(**{"await-after-1": given})
    ended = attempt(steps, tester="external").run()
    assert ended.status == status
    assert "rollback" in steps.done
    assert ("no outside measurement" in str(ended.errors)) == (status is RunStatus.ROLLED_BACK)


def final_reason(steps: Steps) -> Any:
    """The reason that the last step wrote."""
    ended = attempt(steps).run()
    assert steps.done[-1] == f"status-{ended.status}"
    return steps.options["reason"]


def documents(found: Sequence[StepError]) -> list[dict[str, Any]]:
    """Errors as they were recorded."""
    return [error.model_dump(exclude_unset=True) for error in found]


LEFT = {
    "device": "r1",
    "message": "run 1 left r1 between two states",
    "hint": "finish run 1 first: qosforge recover",
}


@pytest.mark.parametrize(
    ("answers", "step", "device", "message", "hint"),
    [
        ({"lock": {"errors": [LEFT]}}, "lock", "r1", "run 1 left r1", "qosforge recover"),
        ({"read": {"running": {}, "errors": [LEFT, LEFT]}}, "read", "r1", "run 1 left r1", "recover"),
        (
            {"read": {"running": {}, "errors": [LEFT | {"device": f"r{n}"} for n in range(1, 301)]}},
            "read",
            "",
            "r1 and 299 more: run 1 left r1",
            "recover",
        ),
        (
            {"prepare": {**ANSWERS["prepare"], "refused": True}},
            "validate",
            "",
            "findings stand against it",
            "correct the policy",
        ),
        (
            {"measure_before": errors.TesterError("no traffic")},
            "measure-before",
            "",
            "no traffic",
            "qosforge retry",
        ),
        ({"push": {**CANCELLED, "begun": False}}, "push", "", "cancelled by ada", "qosforge retry"),
        ({"push": {"running": {}, "errors": [LEFT]}}, "push", "r1", "run 1 left", "recover"),
        ({"counters": {"errors": [LEFT]}}, "counters", "r1", "run 1 left", "recover"),
        ({"measure_after": measured("broken")}, "measure-after", "", "are not met", "change the policy"),
        ({"checkpoint_keep": CANCELLED}, "keep", "", "cancelled by ada", "qosforge retry"),
        ({"keep": {"errors": [LEFT]}}, "keep", "r1", "run 1 left", "recover"),
        (
            {"measure_after": measured("broken"), "rollback": {"running": {}, "errors": [LEFT]}},
            "rollback",
            "r1",
            "it was rolled back because of: after the push the objectives are not met",
            "qosforge recover",
        ),
    ],
)
def test_every_end_without_the_change_has_its_reason(
    answers: Any, step: str, device: str, message: str, hint: str
) -> None:
    reason = final_reason(Steps(**answers))
    assert (reason.step, reason.device) == (step, device)
    assert message in reason.message
    assert hint in reason.advice.text


def test_an_attempt_that_keeps_its_change_has_no_reason() -> None:
    assert final_reason(Steps()) is None


@pytest.mark.parametrize("at", ["read", "push", "counters", "keep"])
@pytest.mark.parametrize(
    ("stop", "status"),
    [(CANCELLED["stop"], RunStatus.CANCELLED), ({"status": "failed", "reason": "timed out"}, RunStatus.FAILED)],
)
def test_a_stop_in_the_midst_of_devices_ends_the_run_as_stopped(at: str, stop: Any, status: RunStatus) -> None:
    cut = [{"device": "r3", "message": "left before it was done"}]
    answers: Any = {at: {**ANSWERS[at], "errors": cut, "stop": stop, "begun": True}}
    steps = Steps(**answers)
    ended = attempt(steps).run()
    assert (ended.status, ended.reason) == (status, stop["reason"])
    assert ("rollback" in steps.done) is (at != "read")
    if at in ("push", "keep"):
        assert documents(ended.errors) == cut


BROKEN = measured("broken")


def test_a_push_that_entered_nothing_ends_as_failed() -> None:
    gone = [{"device": "r1", "message": "it does not answer", "hint": ""}]
    steps = Steps(push={"running": {}, "errors": gone}, rollback={"running": {}, "errors": [], "unchanged": True})
    assert attempt(steps).run().status == RunStatus.FAILED
    assert steps.done[-3:] == ["rollback", "release", "status-failed"]


def test_what_is_not_met_is_kept_where_its_rule_says_so() -> None:
    ended = attempt(Steps(measure_after=BROKEN, compare=compared(True))).run()
    assert (ended.status, ended.verdict) == (RunStatus.KEPT, "broken")


def test_a_run_rolled_back_says_what_is_worse_again() -> None:
    told = compared(False, why="voice a→b loss is worse", restores="voice a→b delay p95 177 ms → 72 ms (better)")
    reason = final_reason(Steps(measure_after=BROKEN, compare=told)).message
    assert "nor is it shown that nothing is worse than before: voice a→b loss is worse" in reason
    assert "What the change made better is lost again: voice a→b delay p95 177 ms → 72 ms (better)" in reason


@pytest.mark.parametrize(
    ("word", "status", "said"),
    [
        ({"kept": True, "by": "ada"}, RunStatus.KEPT, None),
        ({"kept": False, "by": "ada"}, RunStatus.ROLLED_BACK, "ada rejected keeping it"),
        ({"late": True}, RunStatus.ROLLED_BACK, "nobody said in time to keep it"),
        (CANCELLED, RunStatus.CANCELLED, "cancelled by ada"),
    ],
)
def test_an_approver_is_asked_step_by_step(word: dict[str, Any], status: RunStatus, said: str | None) -> None:
    waits = {"await-keep-1": {"until": UNTIL}, "await-keep-2": {"until": UNTIL, **word}}
    steps = Steps(measure_after=BROKEN, compare=compared(None), **waits)
    reason = final_reason(steps)
    assert [step for step in steps.done if step.startswith("await-keep")] == ["await-keep-1", "await-keep-2"]
    assert steps.done[-1] == f"status-{status}"
    assert (said in reason.message) if said else reason is None
    assert ("rollback" in steps.done) == (status is not RunStatus.KEPT)


def test_a_comparison_that_fails_takes_the_run_back() -> None:
    steps = Steps(compare=errors.TesterError("the tester kept no samples"))
    ended = attempt(steps).run()
    assert ended.status == RunStatus.ROLLED_BACK
    assert ended.errors[0].message == "the tester kept no samples"


def waves(*names: str, may_fail: int = 0) -> dict[str, Any]:
    """A rollout of one device a wave, r1 and r3 in turn."""
    devices = ("r1", "r3") * len(names)
    planned = [
        {"name": name, "devices": [device], "steps": [[device]], "revert_seconds": 900}
        for name, device in zip(names, devices, strict=False)
    ]
    return {"waves": planned, "may_fail": may_fail, "left_out": [], "errors": []}


GO = {"go": True, "used": 0.0}
TWO = {"rollout": waves("canary", "the rest"), "wave-2": GO, "counters-canary": {"errors": []}}
PUSHED = {"push": {"running": {"r1": "c"}, "errors": []}, "push-2": {"running": {"r3": "d"}, "errors": []}}
REFUSED = {"device": "r3", "message": "refuses a line", "hint": ""}


def test_a_wave_follows_when_the_canary_has_been_counted_and_nobody_paused() -> None:
    steps = Steps(**TWO, **PUSHED)
    assert attempt(steps, measure=False).run().pushed == {"r1": "c", "r3": "d"}
    begun = steps.done.index("push")
    assert steps.done[begun : begun + 5] == ["push", "counters-canary", "wave-2", "push-2", "counters"]


@pytest.mark.parametrize(
    ("answers", "status", "step"),
    [
        ({"push": {"running": {}, "errors": [LEFT]}}, RunStatus.ROLLED_BACK, "push"),
        ({"counters-canary": {"errors": [LEFT]}}, RunStatus.ROLLED_BACK, "counters"),
        ({"wave-2": CANCELLED}, RunStatus.CANCELLED, "push"),
        ({"wave-2": {"late": "paused by ada for longer than 10 min"}}, RunStatus.ROLLED_BACK, "push"),
        ({"push-2": {"begun": True, **CANCELLED}}, RunStatus.CANCELLED, "push"),
        ({"push-2": {"running": {}, "errors": [REFUSED]}}, RunStatus.ROLLED_BACK, "push"),
        ({"push-2": errors.StoreError("the lease is lost")}, RunStatus.ROLLED_BACK, "push"),
    ],
)
def test_what_stops_a_rollout_takes_all_of_it_back(answers: Any, status: RunStatus, step: str) -> None:
    steps = Steps(**{**TWO, **PUSHED, **answers})
    ended = attempt(steps, measure=False).run()
    assert ended.status == status
    assert steps.done[-3:] == ["rollback", "release", f"status-{status}"]
    assert steps.options["reason"].step == step


def test_a_pause_is_waited_for_step_by_step_and_counts_for_the_next_one() -> None:
    steps = Steps(**{**TWO, **PUSHED, "wave-2": {"until": UNTIL}, "wave-2-2": {"go": True, "used": 7.0}})
    assert attempt(steps, measure=False).run().status == RunStatus.KEPT
    assert [name for name in steps.done if name.startswith("wave")] == ["wave-2", "wave-2-2"]
    (arguments,) = [arguments for name, arguments in steps.told if name == "wave-2-2"]
    assert arguments[-2:] == (datetime.fromisoformat(UNTIL), 0.0)


def test_a_device_that_fails_is_left_out_and_told_where_so_many_may() -> None:
    left = {"leave-out-2": {"running": {}, "errors": [], "left_out": [REFUSED]}}
    answers: Any = {**TWO, **PUSHED, "push-2": {"running": {}, "errors": [REFUSED]}, **left}
    steps = Steps(**{**answers, "rollout": waves("canary", "the rest", may_fail=1)})
    ended = attempt(steps, measure=False).run()
    assert (ended.status, documents(ended.errors)) == (RunStatus.KEPT, [REFUSED])
    assert ended.reason == "left out: r3: refuses a line"
    assert steps.options["reason"].advice.text == "qosforge retry 01890000 changes just these"


def test_a_device_that_cannot_be_put_back_is_not_left_out() -> None:
    left = {"leave-out-2": {"running": {}, "errors": [LEFT], "left_out": []}}
    answers: Any = {**TWO, **PUSHED, "push-2": {"running": {}, "errors": [REFUSED]}, **left}
    steps = Steps(**{**answers, "rollout": waves("canary", "the rest", may_fail=1)})
    assert attempt(steps, measure=False).run().status == RunStatus.ROLLED_BACK


def test_a_timer_that_is_too_short_ends_the_run_before_the_gate() -> None:
    steps = Steps(rollout={"waves": [], "may_fail": 0, "left_out": [], "errors": [LEFT]})
    assert attempt(steps).run().status == RunStatus.FAILED
    assert not {"gate", "measure-before", "push"} & set(steps.done)
