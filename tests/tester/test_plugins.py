"""Testers of others: how they are found, what they may send, and what is made sure of what they give."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from qosforge import errors
from qosforge.tester import plugins
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult
from qosforge.tester.measurement_plan import MeasurementPlan

from .probes.two_sites import VOICE, intent, network

PERMITTED = {"permission": {"allowed": True, "percent_of_link": 100}}


@dataclass
class Generator:
    """A tester that loses every tenth packet; ``changes`` are of the document that it gives."""

    changes: dict[str, Any] = field(default_factory=dict)
    asked: list[MeasurementPlan] = field(default_factory=list)

    def measure(self, plan: MeasurementPlan, when: str) -> Measurement:
        self.asked.append(plan)
        scenarios = tuple(
            ScenarioResult(name=each.name, title=each.title, seconds=each.seconds, flows=self._flows(each.flows))
            for each in plan.scenarios
        )
        said = {"when": when, "evidence": "measured", "tester": "other", "seed": 1, "delay_reference": "bit to bit"}
        return Measurement(**{**said, "scenarios": scenarios, **self.changes})

    @staticmethod
    def _flows(flows: Any) -> tuple[FlowResult, ...]:
        samples = tuple((number * 10**10, -1 if number % 10 == 0 else 10**9 + number) for number in range(100))
        return tuple(
            FlowResult(
                name=flow.name,
                traffic_class=flow.traffic_class,
                path=flow.path,
                sent=100,
                delivered=90,
                lost=10,
                samples=samples,
            )
            for flow in flows
        )


GENERATOR = Generator()
SAYS_NOTHING = object()


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> dict[str, EntryPoint]:
    """The entry points of installed plug-ins, to be filled."""
    entries = {
        name: EntryPoint(name, f"{__name__}:{what}", plugins.GROUP)
        for name, what in (("other", "GENERATOR"), ("mute", "SAYS_NOTHING"), ("broken", "NO_SUCH_NAME"))
    }
    monkeypatch.setattr(plugins, "installed", lambda: entries)
    return entries


def plan(folder: Path, probes: dict[str, Any] | None = None) -> MeasurementPlan:
    return MeasurementPlan.of(intent(folder).intent, network(folder, [VOICE], probes or PERMITTED))


@pytest.mark.usefixtures("named")
def test_a_plug_in_measures_the_plan_that_it_is_given(tmp_path: Path) -> None:
    asked = plan(tmp_path)
    measured = plugins.measure_packets("other", asked, "after")
    assert GENERATOR.asked[-1] is asked
    (voice,) = measured.scenarios[0].flows
    assert (measured.when, voice.traffic_class, voice.lost) == ("after", "voice", 10)
    assert plugins.tester_names() == ("probes", "otg", "broken", "mute", "other")


@pytest.mark.usefixtures("named")
def test_a_document_that_is_faulty_is_an_error_of_its_tester(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no error of ours would leave a run that pushed where it stands."""
    monkeypatch.setattr(GENERATOR, "changes", {"look": 2})
    with pytest.raises(errors.TesterError, match=r"'other' gives a faulty measurement: .*there is no look 2 of 1"):
        plugins.measure_packets("other", plan(tmp_path), "after")


@pytest.mark.usefixtures("named")
def test_a_plug_in_takes_permission_before_it_is_asked(tmp_path: Path) -> None:
    before = len(GENERATOR.asked)
    with pytest.raises(errors.InputError, match="nobody permitted probes"):
        plugins.measure_packets("other", plan(tmp_path, {"permission": {"allowed": False}}), "after")
    assert len(GENERATOR.asked) == before


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "there is no tester 'nobody'"),
        ("broken", "the tester 'broken' cannot be loaded"),
        ("mute", "the tester 'mute' cannot measure"),
    ],
)
def test_what_is_no_tester_is_told(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(errors.InputError, match=message):
        plugins.measure_packets(name, plan(tmp_path), "before")


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evidence": "emulated"}, "says emulated before, and was asked for measured before"),
        ({"when": "after"}, "says measured after, and was asked for measured before"),
        ({"scenarios": ()}, "left out scenario both"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], message: str
) -> None:
    monkeypatch.setattr(GENERATOR, "changes", changes)
    with pytest.raises(errors.TesterError, match=message):
        plugins.measure_packets("other", plan(tmp_path), "before")
