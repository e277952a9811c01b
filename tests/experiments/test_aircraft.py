"""The aircraft study: which claims do not hold, what the testbed refuses, and physics beside what was published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from qosforge.errors import ServiceError
from qosforge.experiments.catalogue import load_experiment
from qosforge.experiments.compare import ClaimComparison, compare_claims
from qosforge.experiments.model import Experiment
from qosforge.experiments.running import ExperimentOutcome, ExperimentSession
from qosforge.experiments.testbeds.switch_fan_in import cases

NAMES = ("aircraft-best-effort", "aircraft-platinum", "aircraft-mixed")
PREAMBLE, GAP = 8, 12

NOT_HELD = {
    "aircraft-best-effort": {
        "aircraft-be-baystack-1518-mean-59",
        "aircraft-be-baystack-128-jitter-above",
        "aircraft-be-baystack-1518-jitter-rise",
        "aircraft-be-catalyst-loss-by-size",
        "aircraft-be-catalyst-loss-only-there",
        "aircraft-be-e300-1518-jitter-16-spread",
        "aircraft-be-cmp-128-catalyst-less-loss",
        "aircraft-be-cmp-1518-catalyst-less-loss",
        "aircraft-be-cmp-loss-linear",
    },
    "aircraft-platinum": {
        "aircraft-pl-catalyst-128-jitter-1",
        "aircraft-pl-catalyst-1518-jitter-1",
        "aircraft-pl-catalyst-1518-jitter-max",
        "aircraft-pl-e300-ten-times-baystack",
        "aircraft-pl-e300-ten-times-catalyst",
        "aircraft-pl-e300-128-jitter-rise",
        "aircraft-pl-e300-1518-jitter-rise",
        "aircraft-pl-e300-128-jitter-unchanged",
        "aircraft-pl-e300-1518-jitter-low-load",
        "aircraft-pl-e300-ten-microseconds-less-1518",
        "aircraft-pl-cmp-baystack-1518-jitter-five-less",
        "aircraft-pl-e300-128-slower-than-1518",
    },
    "aircraft-mixed": {
        "aircraft-mx-baystack-1518-mean",
        "aircraft-mx-catalyst-128-one-more",
        "aircraft-mx-e300-like-platinum-above",
        "aircraft-mx-e300-128-slower-than-1518",
    },
}


@pytest.fixture(scope="session")
def session() -> ExperimentSession:
    """All three experiments, each run once."""
    made = ExperimentSession(1)
    for name in NAMES:
        made.outcome(name)
    return made


@pytest.fixture(scope="session")
def compared(session: ExperimentSession) -> Mapping[str, tuple[ClaimComparison, ...]]:
    return {name: compare_claims(session, load_experiment(name)) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_the_claims_that_do_not_hold_are_these(
    compared: Mapping[str, tuple[ClaimComparison, ...]], name: str
) -> None:
    assert {one.claim.id for one in compared[name] if not one.holds} == NOT_HELD[name]


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_hold_is_explained(compared: Mapping[str, tuple[ClaimComparison, ...]], name: str) -> None:
    assert [one.claim.id for one in compared[name] if not one.explained] == []


@pytest.mark.parametrize("name", NAMES)
def test_reasons_stand_only_where_claims_do_not_hold(name: str) -> None:
    assert set(load_experiment(name).reasons) <= NOT_HELD[name]


def row(outcome: ExperimentOutcome, scenario: str, subject: str, load: float) -> Any:
    return next(point.pooled[subject] for point in outcome.at(scenario, subject) if point.load == load)


@pytest.mark.parametrize("load", [15, 16, 20, 25, 30])
def test_beyond_saturation_a_full_device_loses_what_the_line_cannot_carry(
    session: ExperimentSession, load: int
) -> None:
    lost = row(session.outcome("aircraft-best-effort"), "above-128", "ideal.all", load)
    assert lost.loss_ratio == pytest.approx(1 - 100 / (7 * load), abs=0.002)
    assert lost.selection.expected["loss_ratio"] == pytest.approx(1 - 100 / (7 * load))


@pytest.mark.parametrize("frame", [128, 1518])
@pytest.mark.parametrize("name", NAMES)
def test_no_delay_is_below_that_of_an_empty_device(session: ExperimentSession, name: str, frame: int) -> None:
    # Preamble and frame in, the device, preamble out: microseconds at 1 Gb/s.
    least = (PREAMBLE + frame + PREAMBLE) * 8e-3 + 4.8
    measured = row(session.outcome(name), f"below-{frame}", "baystack5510.all", 1)
    assert measured.delay_us["min"] == pytest.approx(least, abs=0.15)
    assert measured.delay_us["min"] >= least - 0.07


def test_the_priority_stream_waits_for_the_frames_that_the_hardware_holds(session: ExperimentSession) -> None:
    slot = (1518 + PREAMBLE + GAP) * 8e-3
    empty = (PREAMBLE + 1518 + PREAMBLE) * 8e-3 + 4.8
    for load in (15, 20, 30):
        delay = row(session.outcome("aircraft-platinum"), "above-1518", "baystack5510.platinum", load).delay_us
        # Two whole frames, and what is left of the one on the wire.
        assert empty + 2 * slot - 0.1 <= delay["min"]
        assert delay["max"] <= empty + 3 * slot + 0.1


def test_the_platinum_stream_costs_the_others_what_it_gains(session: ExperimentSession) -> None:
    outcome = session.outcome("aircraft-platinum")
    for load in (15, 20, 30):
        others = row(outcome, "above-128", "baystack5510.best-effort", load)
        assert row(outcome, "above-128", "baystack5510.platinum", load).loss_ratio == 0
        assert others.loss_ratio == pytest.approx((7 * load - 100) / (6 * load), abs=0.01)


def changed(**setup: Any) -> Experiment:
    made = load_experiment("aircraft-platinum")
    return made.model_copy(update={"setup": {**made.setup, **setup}})


@pytest.mark.parametrize(
    ("setup", "where", "said"),
    [
        ({"discipline": "fair"}, "setup.discipline", "nortel_5510 has no discipline 'fair'"),
        ({"classes": {"platinum": 1, "rest": 5}}, "setup.classes", "6 stations have a class, 7 send"),
        ({"frame_bytes": [128, 512]}, "frame_bytes", "no frames of 1518 bytes"),
        ({"load_percent": [20, 30]}, "load_percent", "no load of the set-up's list"),
    ],
)
def test_wrong_data_are_refused_by_name(setup: dict[str, Any], where: str, said: str) -> None:
    with pytest.raises(ServiceError, match=said) as error:
        list(cases(changed(**setup)))
    assert where in str(error.value)


def test_an_ideal_device_does_not_serve_as_no_device_does() -> None:
    made = load_experiment("aircraft-mixed")
    devices = {**made.devices, "ideal": {}}
    with pytest.raises(ServiceError, match="does not serve by weighted"):
        list(cases(made.model_copy(update={"devices": devices})))
