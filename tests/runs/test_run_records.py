"""Records of runs keep their keys, so that those of earlier releases are read, and those of this one by them."""

from __future__ import annotations

from typing import Any

from qosforge.configtree import Gap
from qosforge.errors import DeviceError, Place
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.run import Run
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.step_error import StepError
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import (
    PreparedDevice,
    PrepareSummary,
    ReadSummary,
    RolloutSummary,
    StageSummary,
    parse_summary,
)
from qosforge.runs.record.tables import StageOutcome
from qosforge.runs.workflow.results import SideMeasurement, WaveResult

PARAMS: dict[str, Any] = {
    "intent_file": "gold.yaml",
    "intent_text": "a" * 64,
    "intent_included": {"classes.yaml": "c" * 64},
    "intent_parameters": ["share=20"],
    "network": "b" * 64,
    "lab": "/var/lab",
    "measure": False,
    "tester": "external",
    "undo_of": "01890000-0000-7000-8000-000000000000",
    "redoes": True,
    "only": ["r1"],
}


def test_params_keep_their_keys(store: RunStore) -> None:
    run = store.create_run("campus", "gold", "f" * 64, PARAMS)
    resolved = run.resolved
    assert (resolved.network_name, resolved.network_artifact) == ("campus", "b" * 64)
    assert (resolved.rollback_of, resolved.reapplies, resolved.brings_policy) == (PARAMS["undo_of"], True, True)
    copy, _ = store.add_run(resolved, "ada")
    assert PARAMS.items() <= copy.params.items()
    assert (copy.network, copy.policy, copy.policy_version) == ("campus", "gold", "f" * 64)
    assert copy.resolved == resolved


def test_what_a_record_lacks_has_the_value_that_it_had() -> None:
    first = ResolvedRun.model_validate({"network_name": "campus", "policy": "gold", "policy_version": ""})
    assert (first.measure, first.tester, first.approval, first.keep) == (True, "twin", "none", "met")
    assert first.brings_policy
    assert first.measures_before


def reread(store: RunStore, run: Run, name: str, document: dict[str, Any]) -> Stage:
    store.end_stage(store.begin_stage(run.id, name), StageOutcome.DONE, parse_summary(name, document))
    return [stage for stage in store.stages(run.id) if stage.name == name][-1]


def test_a_summary_is_written_as_it_was_read(store: RunStore, run: Run) -> None:
    """With no field that was not set, and with those that this release does not know."""
    entry = {"configuration": "a", "delta": "b", "inverse": "c", "empty": False}
    for name, document in (
        ("read", {"running": {"r1": "a" * 64}, "errors": []}),
        ("prepare", {"devices": {"r1": {**entry, "gaps": [{"place": "x", "first": 0, "lines": 2}]}}}),
        ("rollout", {"waves": [], "may_fail": 2, "left_out": [], "errors": []}),
        ("retention", {"text": "artifacts dropped", "of_another_release": [1]}),
        ("measure-before-look-2", {"measurement": "m", "verdicts": "v", "outcome": "met"}),
    ):
        assert reread(store, run, name, document).summary.document() == document
    prepared = reread(store, run, "prepare", {"devices": {"r1": {**entry}}}).summary
    assert isinstance(prepared, PrepareSummary)
    assert prepared.devices["r1"].gaps == []


def test_waves_that_are_not_planned_yet_are_none() -> None:
    assert RolloutSummary().waves is None
    assert RolloutSummary().document() == {}
    assert parse_summary("rollout", {"waves": []}).document() == {"waves": []}


def test_errors_of_an_earlier_release_have_their_hint() -> None:
    summary = parse_summary("push", {"errors": [{"device": "r1", "message": "refuses", "mend": "look at it"}]})
    assert type(summary.errors[0]) is StepError
    assert str(summary.errors[0]) == "r1: refuses (look at it)"
    assert parse_summary("push", {"errors": [{"device": None, "message": "m", "hint": None}]}).errors[0].hint == ""


def test_an_error_keeps_what_is_known_of_its_place() -> None:
    error = DeviceError("refuses a line", Place(device="r1", interface="Serial0"), "look at it")
    recorded = StageSummary(errors=[StepError.of(error)]).document()["errors"]
    assert recorded == [error.document()]


def test_results_of_steps_say_no_more_than_was_set() -> None:
    assert WaveResult(running={"r1": "a"}, errors=[]).document() == {"running": {"r1": "a"}, "errors": []}
    earlier = SideMeasurement.model_validate({"measurement": "m", "verdicts": "v", "outcome": "inconclusive"})
    assert earlier.is_open, "an earlier release did not say whether there is more to look at"
    assert not earlier.model_copy(update={"more": False}).is_open


def test_gaps_are_those_of_the_configuration() -> None:
    device = PreparedDevice(configuration="a", delta="b", inverse="c", gaps=[Gap("Serial0", 1, 2)], empty=False)
    written = PrepareSummary(devices={"r1": device}).document()["devices"]["r1"]
    assert written["gaps"] == [{"place": "Serial0", "first": 1, "lines": 2}]
    assert PreparedDevice.model_validate(written) == device


def test_what_was_taken_over_names_its_attempt(store: RunStore, run: Run) -> None:
    taken = ReadSummary(running={"r1": "a" * 64}).model_copy(deep=True)
    taken.taken_over = 1
    assert taken.document() == {"running": {"r1": "a" * 64}, "taken_over": 1}
    assert reread(store, run, "read", taken.document()).summary.taken_over == 1
