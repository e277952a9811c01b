"""Summaries of stages: small JSON in the run store, with what is large as artifact ids in it.

Only fields that were set are written, so that a record has what its stage came to. What other releases recorded
beside these fields is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from qosforge.configtree import Gap
from qosforge.deltaq.objective import Outcome
from qosforge.findings import Finding
from qosforge.keep_rule import KeepRule
from qosforge.prediction.record import SimulatedTime, Today
from qosforge.runs.record.step_error import StepError

MEASUREMENT_STAGES = "measure-"
"""How the names of stages begin that measure one side of the push."""


class StageSummary(BaseModel):
    """What any stage may have come to.

    ``text`` is for people; ``error`` the exception that ended it; ``errors`` what went wrong on devices, and
    ``left_out`` that of devices which the change goes on without. ``taken_over`` is the attempt of the run that it
    was taken over from, where it was not done anew.
    """

    model_config = ConfigDict(extra="allow")

    text: str = ""
    error: str = ""
    errors: list[StepError] = []
    left_out: list[StepError] = []
    taken_over: int | None = None

    def document(self) -> dict[str, Any]:
        """The summary as the store keeps it."""
        return self.model_dump(mode="json", exclude_unset=True)


class ReadSummary(StageSummary):
    """What devices said they hold: ``running`` has an artifact for each that was read, of those ``asked``."""

    asked: list[str] = []
    running: dict[str, str] = {}


class CompileSummary(StageSummary):
    """The devices that the policy is about."""

    devices: list[str] = []


class ValidateSummary(StageSummary):
    """The artifact of the findings, and whether they stand against the change."""

    findings: str = ""
    refused: bool = False


class PreparedDevice(BaseModel):
    """What is prepared for a device, as artifacts; ``empty`` where nothing has to be entered.

    ``gaps`` are places that are without their policy while it is entered; ``difference`` is what the configuration
    loses and gains, empty in records of releases that did not keep it.
    """

    configuration: str
    delta: str
    inverse: str
    gaps: list[Gap] = []
    difference: str = ""
    empty: bool


class PrepareSummary(StageSummary):
    """What is prepared for every device; ``candidate`` is the artifact that lists every delta: what is approved."""

    devices: dict[str, PreparedDevice] = {}
    candidate: str = ""


class MeasurementSummary(StageSummary):
    """The artifacts of a measurement and of the verdicts on it, and what these come to."""

    measurement: str = ""
    verdicts: str = ""
    outcome: Outcome | None = None


class PredictionSummary(MeasurementSummary):
    """A prediction. ``of`` is a hash of what it depends on; ``measuring_seconds`` how long the longest measurement
    of the same scenarios takes on this machine.

    ``simulated`` are the seconds of each scenario, and ``findings`` say which bounds no measurement would decide
    either, with the seconds that would. ``today`` is what classes without an objective get by what the devices held
    when they were read. All three are ``None`` in records of releases that did not keep them.
    """

    of: str = ""
    measuring_seconds: float | None = None
    simulated: tuple[SimulatedTime, ...] | None = None
    findings: tuple[Finding, ...] | None = None
    today: Today | None = None


class PlannedWave(BaseModel):
    """A wave of a rollout: its devices, by steps that are taken one after the other, and after how many seconds
    they go back by themselves unless confirmed.
    """

    name: str
    steps: list[list[str]]
    devices: list[str]
    revert_seconds: int


class RolloutSummary(StageSummary):
    """The waves, as soon as they are planned, and how many devices may be left out."""

    waves: list[PlannedWave] | None = None
    may_fail: int = 0


class PushSummary(StageSummary):
    """The devices of a pushed wave, and its number."""

    devices: list[str] = []
    wave: int | None = None


class ReadBackSummary(ReadSummary):
    """What the devices of a wave said they hold after the push."""

    wave: int | None = None


class CountersSummary(StageSummary):
    """The artifact of the notes on counters."""

    notes: str = ""


class CompareSummary(StageSummary):
    """What the change did: the artifact of its ``changes``, the rule, and whether it may be kept by it.

    ``question`` is what an approver is asked where that is left to one.
    """

    changes: str = ""
    rule: KeepRule = "met"
    keep: bool | None = None
    question: str | None = None


class KeepSummary(StageSummary):
    """The devices that keep the change."""

    devices: list[str] = []


_MODELS: dict[str, type[StageSummary]] = {
    "read": ReadSummary,
    "compile": CompileSummary,
    "validate": ValidateSummary,
    "prepare": PrepareSummary,
    "predict": PredictionSummary,
    "rollout": RolloutSummary,
    "push": PushSummary,
    "read-back": ReadBackSummary,
    "counters": CountersSummary,
    "compare": CompareSummary,
    "keep": KeepSummary,
    "rollback": ReadSummary,
}


def parse_summary(stage: str, document: Mapping[str, Any]) -> StageSummary:
    """The summary that the store keeps of a stage of this name."""
    measures = stage.startswith(MEASUREMENT_STAGES)
    return (MeasurementSummary if measures else _MODELS.get(stage, StageSummary)).model_validate(document)
